import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { nothingToDeclare } from '../../demo/answers.ts'

/** What the service has answered to the writes of one application: what it must never forget. */
export type Journey = {
  readonly key: string
  application: Shown | undefined
  quote: Shown | undefined
  answered: number
}

const Shown = z.looseObject({ id: z.uuid() })
type Shown = z.infer<typeof Shown>

type Client = { readonly client_id: string; readonly client_secret: string }

const patienceMs = 120_000

/** Sends requests again until they are answered, whatever happens to the service meanwhile. */
export const makePatient = (origin: string) => {
  let unanswered = 0

  const answerTo = async (path: string, request: RequestInit): Promise<Response> => {
    const deadline = Date.now() + patienceMs
    for (;;)
      try {
        const response = await fetch(origin + path, { ...request, signal: AbortSignal.timeout(20_000) })
        // The whole answer, or none.
        const text = await response.text()
        // The service, or the proxy in front of it, asks for the request to be sent again.
        if (response.status !== 503 && response.status !== 502) return new Response(text, { status: response.status })
        throw new Error(text)
      } catch (error) {
        unanswered++
        if (Date.now() > deadline) throw new Error(`${path} is not answered.`, { cause: error })
        await pause(20 + Math.random() * 80)
      }
  }
  return { answerTo, unanswered: () => unanswered }
}
export type Patient = ReturnType<typeof makePatient>

/** What the service does not do, with the code that it gives. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest'
  readonly code: string

  constructor(request: string, status: number, text: string) {
    super(`${request} was answered ${status}: ${text}`)
    this.code = Refusal.safeParse(JSON.parse(text)).data?.error.code ?? String(status)
  }
}
const Refusal = z.object({ error: z.object({ code: z.string() }) })

type Headers = Readonly<Record<string, string>>

/** Requests of an API application that are sent again until they are answered. */
export const makeCaller = (
  origin: string,
  { client_id, client_secret }: Client,
  scope = 'read write',
  { answerTo, unanswered }: Patient = makePatient(origin),
) => {
  let token: string | undefined

  const getToken = async (): Promise<string> => {
    const form = { grant_type: 'client_credentials', client_id, client_secret, scope }
    const body = new URLSearchParams({ ...form, resource: `${origin}/api/v1` })
    const response = await answerTo('/oauth/token', { method: 'POST', body })
    return z.object({ access_token: z.string() }).parse(await response.json()).access_token
  }

  /** Answers what stands below `data`. */
  const ask = async (method: string, path: string, body?: object, headers: Headers = {}): Promise<unknown> => {
    token ??= await getToken()
    const response = await answerTo(`/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new RefusedRequest(`${method} ${path}`, response.status, text)
    return z.object({ data: z.unknown() }).parse(JSON.parse(text)).data
  }
  const send = async (method: string, path: string, body?: object, headers: Headers = {}): Promise<Shown> =>
    Shown.parse(await ask(method, path, body, headers))

  return { ask, send, unanswered }
}
export type Caller = ReturnType<typeof makeCaller>

/** Starts an application under a key, fills it in, prices it and accepts the price, each until it is answered. */
const travel = async ({ send }: Caller, journey: Journey, number: number): Promise<void> => {
  const keep = (application: Shown) => {
    if (journey.application && journey.application.id !== application.id)
      throw new Error(`Key ${journey.key} has started ${journey.application.id} and ${application.id}.`)
    journey.application = application
    journey.answered++
    return application
  }
  const started = { product_slug: 'term-life', journey_slug: 'standard' }
  const start = () => send('POST', '/applications', started, { 'idempotency-key': journey.key })
  // Every fourth is started by two at once, who are given the same.
  if (number % 4 === 0) for (const each of await Promise.all([start(), start()])) keep(each)
  const { id } = keep(await start())

  keep(
    await send('PATCH', `/applications/${id}`, {
      answers: nothingToDeclare,
      cover_amount_pence: 25_000_000,
      term_years: 25,
    }),
  )
  // Every third is one of a few people who come back again and again.
  const person = number % 3 === 0 ? `regular-${number % 5}` : journey.key
  const customer = {
    first_name: 'Grace',
    last_name: person,
    email: `${person}@example.com`,
    dob: '1992-03-10',
    // Another one each time, so that it shows which save was the last.
    phone_number: `+44791110${String(number % 10_000).padStart(4, '0')}`,
  }
  keep(await send('PATCH', `/applications/${id}/customer`, { customer }))

  journey.quote = await send('POST', `/applications/${id}/quotes`)
  journey.answered++
  keep(await send('POST', `/applications/${id}/accept_quote`, { quote_id: journey.quote.id }))
}

/** So many clients, each with one application after the other, until they are told to stop. */
export const startLoad = (caller: Caller, clients: number, prefix: string) => {
  const journeys: Journey[] = []
  const faults: string[] = []
  let isStopping = false
  const isGoingOn = () => !isStopping

  const work = async () => {
    while (isGoingOn()) {
      const number = journeys.length
      const journey: Journey = { key: `${prefix}-${number}`, application: undefined, quote: undefined, answered: 0 }
      journeys.push(journey)
      await travel(caller, journey, number).catch((error: unknown) => {
        faults.push(`${journey.key}: ${error instanceof Error ? error.message : String(error)}`)
        // What fails for good would otherwise fail as often as the machine can.
        return pause(200)
      })
    }
  }
  const working = Promise.all(Array.from({ length: clients }, work))

  return {
    journeys: journeys as readonly Journey[],
    faults: faults as readonly string[],
    /** Begins no more applications, and resolves when those under way are accepted. */
    stop: async (): Promise<void> => {
      isStopping = true
      await working
    },
  }
}
