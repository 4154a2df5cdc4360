import { z } from 'zod'
import { retry } from '#infra/retry.ts'

/** Ends the program with exit code 1; the message is as it is written to the terminal. */
export class Failed extends Error {
  override readonly name: string = 'Failed'
}

export const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

/** The operator's address of an organisation, and the key. */
export type Service = { readonly address: string; readonly operatorKey: string }

const Refusal = z.object({ error: z.object({ message: z.string() }) })

/** The service asks for the request to be sent again, or did not answer one more. What was sent twice counts once. */
class Unavailable extends Failed {}

const answersWithinMs = 120_000
/** Several answers long: one that never comes must not end a long import. */
const triedForMs = 600_000

/** Services that have answered once: they are only away for a while. */
const known = new WeakSet<Service>()

export const send = async (service: Service, path: string, body?: object): Promise<unknown> =>
  retry(async () => sendOnce(service, path, body), {
    isTransient: (error) => error instanceof Unavailable,
    delayMaximumMs: 5_000,
    withinMs: triedForMs,
  })

const sendOnce = async (service: Service, path: string, body: object | undefined): Promise<unknown> => {
  const { address, operatorKey } = service
  try {
    const response = await fetch(`${address}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(answersWithinMs),
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    known.add(service)
    if (response.ok) return JSON.parse(text)
    const refusal = Refusal.safeParse(parsed(text)).data?.error.message ?? `The service answers ${response.status}.`
    throw [502, 503, 504].includes(response.status) ? new Unavailable(refusal) : new Failed(refusal)
  } catch (error) {
    if (error instanceof Failed) throw error
    if (known.has(service)) throw new Unavailable('The service does not answer any more.')
    throw new Failed('The service does not answer. Start it with npm start, or name it with --base-url.')
  }
}

/** A proxy in front of the service may answer in its stead, and in its own way. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
