import { createHash } from 'node:crypto'
import { canonicalJson } from '#domain/canonical-json.ts'
import { startStandIn, type StandIn, type StandInAnswer, type StandInRequest } from '../stand-in.ts'
import type { Account } from './account.ts'
import { balanceReport } from './balance.ts'
import { openBooks, type Kept } from './books.ts'
import { listOf, parseForm, type Form } from './form.ts'
import { invalid, Refused, type StripeObject } from './objects.ts'
import { awaited, operations } from './operations.ts'
import { makeWebhooks, type WebhookEndpoint } from './webhooks.ts'

export type StripeStandIn = StandIn & {
  /** Everything that was made, by id, whoever made it. */
  readonly objects: () => readonly StripeObject[]
  /** Posts events to these endpoints from now on. */
  readonly announceTo: (endpoints: readonly WebhookEndpoint[]) => void
  /** Sets the banks' answers from now on; undefined: they wait for instructions. */
  readonly letBanks: (banks: Banks | undefined) => void
  /** Resolves when every event that has happened was posted, or given up. */
  readonly announced: () => Promise<void>
}

/** They answer by themselves so long after they were given a mandate or a debit: as their account is known for, or so. */
type Banks = { readonly afterMs: number; readonly failure_code?: string }

type StripeOptions = {
  readonly endpoints?: readonly WebhookEndpoint[]
  readonly banks?: Banks
  /** The file of the books: without it they end with the stand-in. */
  readonly file?: string
}

const reportPath = '/stand-in/balance_change_from_activity.csv'

type Answer = Exclude<StandInAnswer, 'hang'>

/**
 * Speaks as much of Stripe's protocol as the service uses. Its own addresses, below `/stand-in/`, do what the page, the
 * banks and the cardholder do. See README.md for the magic values. What it answers and tells is in its books before.
 */
export const startStripe = async (port?: number, options: StripeOptions = {}): Promise<StripeStandIn> => {
  const answering = new Set<NodeJS.Timeout>()
  let { banks } = options
  const news = makeWebhooks(options.endpoints ?? [])
  const books = await openBooks(options.file)

  /** Does something, and takes down in one piece all that it changed and what is answered to its key. */
  const act = <Result>(account: Account, work: () => Result, keptOf?: (result: Result) => Kept | undefined): Result => {
    const result = work()
    const changed = [...account.changed]
    const events = account.announced.splice(0)
    const due = news.isHeard() ? events : []
    const kept = keptOf?.(result)
    books.record(account, { ...(due.length > 0 && { due }), ...(kept && { kept }) })
    deliver(account, due)
    leaveToBanks(account, changed)
    return result
  }

  const deliver = (account: Account, events: readonly StripeObject[]): void => {
    for (const event of events) news.announce(event, books.written(), () => books.record(account, { told: [event.id] }))
  }

  const leaveToBanks = (account: Account, ids: Iterable<string>): void => {
    if (!banks) return
    const { afterMs, failure_code } = banks
    for (const id of ids) {
      if (!awaited(account, id)) continue
      const timer = setTimeout(() => {
        answering.delete(timer)
        // Somebody may have said it for them meanwhile.
        act(account, () => awaited(account, id)?.(failure_code))
      }, afterMs)
      answering.add(timer)
    }
  }

  const answer = (request: StandInRequest): Answer => {
    const form = parseForm(request.method === 'POST' ? request.text : request.url.search)
    const { pathname } = request.url
    if (pathname.startsWith('/stand-in/') && pathname !== reportPath) return actAsOutsider(request, form)
    const key = keyIn(request.header('authorization') ?? '')
    if (key === undefined || key.includes('invalid'))
      return refusal(new Refused(401, { type: 'invalid_request_error', message: 'Invalid API Key provided.' }))
    // The books name nobody's key.
    const account = books.account(digest(`${key} ${request.header('stripe-account') ?? ''}`))
    if (pathname === reportPath) return { status: 200, body: balanceReport(account, form), type: 'text/csv' }
    return once(account, request, form)
  }

  /** The same key with the same parameters is answered as before; what was refused for its parameters is not kept. */
  const once = (account: Account, request: StandInRequest, form: Form): Answer => {
    const key = request.header('idempotency-key')
    if (request.method !== 'POST' || key === undefined) return act(account, () => perform(account, request, form))
    const fingerprint = digest(`${request.url.pathname} ${canonicalJson(form)}`)
    const kept = books.keptFor(account, key)
    if (kept && kept.fingerprint !== fingerprint) return refusal(otherParameters(key))
    if (kept) return { status: kept.status, body: kept.body }
    return act(
      account,
      () => perform(account, request, form),
      ({ status, body }) => (status === 200 || status === 402 ? { key, fingerprint, status, body } : undefined),
    )
  }

  /** The page, the banks and the cardholder have no key. */
  const actAsOutsider = (request: StandInRequest, form: Form): Answer => {
    const named = request.url.pathname.split('/')
    const owner = books.accounts().find(({ objects }) => named.some((id) => objects.has(id)))
    if (!owner) return refusal(invalid('No such object.', 'resource_missing'))
    return act(owner, () => perform(owner, request, form))
  }

  const standIn = await startStandIn(async (request) => {
    const answered = answer(request)
    await books.written()
    return answered
  }, port).catch(async (error: unknown) => {
    await books.close()
    throw error
  })
  for (const account of books.accounts()) {
    deliver(account, books.due(account))
    leaveToBanks(account, account.objects.keys())
  }
  return {
    ...standIn,
    objects: () => books.accounts().flatMap(({ objects }) => [...objects.values()]),
    announceTo: news.announceTo,
    announced: news.announced,
    letBanks: (others) => {
      banks = others
    },
    close: async () => {
      for (const timer of answering) clearTimeout(timer)
      news.stop()
      await standIn.close()
      await news.announced()
      await books.close()
    },
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A secret key, as Stripe takes it: by itself, or as the name of a user without a password. */
const keyIn = (authorization: string): string | undefined => {
  const [, scheme, given = ''] = /^(Bearer|Basic) (\S+)$/.exec(authorization) ?? []
  const key = scheme === 'Basic' ? Buffer.from(given, 'base64').toString().replace(/:$/, '') : given
  return /^(?:sk|rk)_\w+$/.test(key) ? key : undefined
}

const perform = (account: Account, { method: asked, url }: StandInRequest, form: Form): Answer => {
  try {
    for (const { method, path, act } of operations) {
      const found = path.exec(url.pathname)
      if (!found || method !== asked) continue
      const object = act(account, form, found[1] ?? '')
      return { status: 200, body: expanded(account, object, listOf(form, 'expand')) }
    }
  } catch (error) {
    return refusal(error)
  }
  const message = `Unrecognized request URL (${asked}: ${url.pathname}).`
  return refusal(new Refused(404, { type: 'invalid_request_error', message }))
}

const refusal = (error: unknown): Answer => {
  if (!(error instanceof Refused)) throw error
  return { status: error.status, body: { error: error.error } }
}

const otherParameters = (key: string): Refused =>
  new Refused(400, {
    type: 'idempotency_error',
    message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
  })

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
