import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'

/** A request of the explorer that succeeds: what it fills in for an operation. */
export type Example = {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object | string
}

/** Examples by operation id. */
export type Examples = Readonly<Record<string, Example>>

export type Send = (method: string, path: string, body?: object | string) => Promise<unknown>

const mostTries = 5

/** Sends again what could not be answered at the moment: on a busy machine the payment provider may be too slow. */
const sent = async (send: () => Promise<Response>, triesLeft = mostTries - 1): Promise<Response> => {
  const response = await send()
  if (response.status !== 503 || triesLeft === 0) return response
  await response.body?.cancel()
  await pause(1_000 * Number(response.headers.get('retry-after') ?? 1))
  return sent(send, triesLeft - 1)
}

export const callerOf =
  (origin: string, bearer: string): Send =>
  async (method, path, body) => {
    const type = typeof body === 'string' ? 'application/yaml' : 'application/json'
    const response = await sent(() =>
      fetch(`${origin}${path}`, {
        method,
        headers: { authorization: `Bearer ${bearer}`, 'content-type': type },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    )
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${await response.text()}`)
    return response.json()
  }

/** The callers that prepare the examples: the demo's API application and the operator. */
export type Callers = { readonly api: Send; readonly operator: Send }

export const demoOrganisation = 'd3e00000-0000-4000-8000-000000000000'
export const inDemo: Example = { query: { organisation_id: demoOrganisation } }
/** Below the demo organisation. */
export const inOrganisation = (path: Readonly<Record<string, string>> = {}, body?: object): Example => ({
  path: { organisation_id: demoOrganisation, ...path },
  ...(body && { body }),
})
export const operatorAddress = `/admin/v1/organisations/${demoOrganisation}`

const Answer = z.object({ data: z.looseObject({}) })
const List = z.object({ data: z.array(z.looseObject({})) })

export const dataOf = (answer: unknown): Readonly<Record<string, unknown>> => Answer.parse(answer).data
export const listOf = (answer: unknown): readonly Readonly<Record<string, unknown>>[] => List.parse(answer).data
export const textOf = (record: Readonly<Record<string, unknown>> | undefined, key: string): string =>
  z.string().parse(record?.[key])
export const idOf = (answer: unknown): string => textOf(dataOf(answer), 'id')

/** Reads again and again until what was made in the background is there. */
export const until = async <Found>(find: () => Promise<Found | undefined>): Promise<Found> => {
  const deadline = Date.now() + 60_000
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    if (Date.now() > deadline) throw new Error('What an example of the explorer needs was not made within a minute.')
    await pause(25)
  }
}

const finished: readonly string[] = ['applied', 'needs_review', 'held', 'failed']

/** Sends a lead in, and waits until it is known what became of it. */
export const sendLead = async (
  { api, operator }: Callers,
  lead: object,
): Promise<Readonly<Record<string, unknown>>> => {
  const id = idOf(await api('POST', '/api/v1/crm/ingests', { source: 'explorer', ...lead }))
  return until(async () => {
    const ingest = dataOf(await operator('GET', `${operatorAddress}/ingests/${id}`).catch(() => ({ data: {} })))
    return finished.includes(String(ingest['status'])) ? ingest : undefined
  })
}
