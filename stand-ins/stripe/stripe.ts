import { canonicalJson } from '#domain/canonical-json.ts'
import { startStandIn, type StandIn, type StandInAnswer, type StandInRequest } from '../stand-in.ts'
import { listOf, parseForm, type Form } from './form.ts'
import { invalid, Refused, type StripeObject } from './objects.ts'
import { answerAsBanks, operations, type Account } from './operations.ts'
import { makeNews, type WebhookEndpoint } from './webhooks.ts'

export type StripeStandIn = StandIn & {
  /** Everything that was made, by id, whoever made it. */
  readonly objects: () => readonly StripeObject[]
  /** Posts events to these endpoints from now on. */
  readonly announceTo: (endpoints: readonly WebhookEndpoint[]) => void
  /** How the banks answer from now on; undefined: they wait to be told. */
  readonly letBanks: (banks: Banks | undefined) => void
  /** Resolves when every event that has happened was posted, or given up. */
  readonly announced: () => Promise<void>
}

/** They answer by themselves so long after they were given a mandate or a debit: as their account is known for, or so. */
export type Banks = { readonly afterMs: number; readonly failure_code?: string }

type Kept = { readonly fingerprint: string; readonly answer: StandInAnswer }

const mostKept = 100_000

/**
 * Speaks as much of Stripe's protocol as the service uses. Its own addresses, below `/stand-in/`, do what the page, the
 * banks and the cardholder do. See README.md for the magic values.
 */
export const startStripe = async (
  port?: number,
  endpoints: readonly WebhookEndpoint[] = [],
  initialBanks?: Banks,
): Promise<StripeStandIn> => {
  const answering = new Set<NodeJS.Timeout>()
  let banks = initialBanks
  const accounts = new Map<string, Account>()
  const news = makeNews(endpoints)
  const keptAnswers = new Map<string, Kept>()

  const accountOf = (name: string): Account => {
    const known = accounts.get(name)
    if (known) return known
    const account: Account = {
      objects: new Map<string, StripeObject>(),
      announce: news.announce,
      given: (object) => {
        if (!banks) return
        const { afterMs, failure_code } = banks
        const timer = setTimeout(() => {
          answering.delete(timer)
          answerAsBanks(account, object, failure_code)
        }, afterMs)
        answering.add(timer)
      },
    }
    accounts.set(name, account)
    return account
  }

  const perform = (account: Account, request: StandInRequest, form: Form): StandInAnswer => {
    for (const { method, path, act } of operations) {
      const found = path.exec(request.url.pathname)
      if (!found || method !== request.method) continue
      const object = act(account, form, found[1] ?? '')
      return { status: 200, body: expanded(account, object, listOf(form, 'expand')) }
    }
    throw new Refused(404, {
      type: 'invalid_request_error',
      message: `Unrecognized request URL (${request.method}: ${request.url.pathname}).`,
    })
  }

  /** The same key with the same parameters is answered as before; what was refused for its parameters is not kept. */
  const once = (name: string, account: Account, request: StandInRequest, form: Form): StandInAnswer => {
    const key = request.header('idempotency-key')
    if (request.method !== 'POST' || key === undefined) return perform(account, request, form)
    const fingerprint = `${request.url.pathname} ${canonicalJson(form)}`
    const kept = keptAnswers.get(`${name} ${key}`)
    if (kept && kept.fingerprint !== fingerprint)
      throw new Refused(400, {
        type: 'idempotency_error',
        message: 'Keys for idempotent requests can only be used with the same parameters they were first used with.',
      })
    if (kept) return kept.answer
    const answer = perform(account, request, form)
    keptAnswers.set(`${name} ${key}`, { fingerprint, answer })
    if (keptAnswers.size > mostKept) keptAnswers.delete([...keptAnswers.keys()][0] ?? '')
    return answer
  }

  const answer = (request: StandInRequest): StandInAnswer => {
    const form = parseForm(request.method === 'POST' ? request.text : request.url.search)
    try {
      if (request.url.pathname.startsWith('/stand-in/')) return actAsOutsider([...accounts.values()], request, form)
      const key = /^Bearer ((?:sk|rk)_\w+)$/.exec(request.header('authorization') ?? '')?.[1]
      if (key === undefined || key.includes('invalid'))
        return refusal(new Refused(401, { type: 'invalid_request_error', message: 'Invalid API Key provided.' }))
      const name = `${key} ${request.header('stripe-account') ?? ''}`
      return once(name, accountOf(name), request, form)
    } catch (error) {
      if (error instanceof Refused) return refusal(error)
      throw error
    }
  }

  /** The page, the banks and the cardholder have no key. */
  const actAsOutsider = (all: readonly Account[], request: StandInRequest, form: Form): StandInAnswer => {
    const named = request.url.pathname.split('/')
    const owner = all.find(({ objects }) => named.some((id) => objects.has(id)))
    if (!owner) throw invalid('No such object.', 'resource_missing')
    return perform(owner, request, form)
  }

  const standIn = await startStandIn(answer, port)
  return {
    ...standIn,
    objects: () => [...accounts.values()].flatMap(({ objects }) => [...objects.values()]),
    announceTo: news.announceTo,
    announced: news.announced,
    letBanks: (others) => {
      banks = others
    },
    close: async () => {
      for (const timer of answering) clearTimeout(timer)
      news.stop()
      await standIn.close()
    },
  }
}

const refusal = ({ status, error }: Refused): StandInAnswer => ({ status, body: { error } })

/** Puts objects in the place of their ids, for each path that was asked for (`setup_intent.mandate`). */
const expanded = (account: Account, object: StripeObject, paths: readonly string[]): StripeObject => {
  const whole: Record<string, unknown> = { ...object }
  for (const path of paths) {
    const [first = '', ...rest] = path.split('.')
    const value = whole[first]
    const inner = typeof value === 'string' ? account.objects.get(value) : (value as StripeObject | undefined)
    if (inner) whole[first] = expanded(account, inner, rest.length > 0 ? [rest.join('.')] : [])
  }
  return whole as StripeObject
}
