import { Agent, request } from 'undici'
import { z } from 'zod'

/** An answer of the API that is no success, as a page shows it. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Reads an address of `/admin/v1` or `/audit/v1` as whoever is signed in. Throws `Refused`. */
export type Read = <Schema extends z.ZodType>(address: string, schema: Schema) => Promise<z.output<Schema>>

export type Reader = {
  /** Reads with the cookie of a request. */
  readonly as: (cookie: string) => Read
  readonly close: () => Promise<void>
}

const withinMs = 15_000
const mostBytes = 8 * 2 ** 20

const Problem = z.object({ error: z.object({ message: z.string() }) })

const messageIn = (body: unknown): string =>
  Problem.safeParse(body).data?.error.message ?? 'The service does not answer as it should. Try again in a moment.'

/**
 * The APIs over HTTP, at an address by which this process reaches both: pages show what any program could read with the key of the
 * same user, and each reading is admitted and recorded as such.
 */
export const makeReader = (origin: () => string): Reader => {
  const agent = new Agent({
    connections: 64,
    connectTimeout: 3_000,
    headersTimeout: withinMs,
    bodyTimeout: withinMs,
    maxResponseSize: mostBytes,
  })

  const ask = async (cookie: string, address: string) => {
    // What a page asks for is never a page.
    const { pathname, hash } = new URL(address, 'http://api')
    if (!/^\/(admin|audit)\/v1\//.test(pathname) || hash !== '')
      throw new Refused(404, 'There is nothing at this address.')
    try {
      const { statusCode, body } = await request(`${origin()}${address}`, {
        dispatcher: agent,
        headers: { cookie, accept: 'application/json' },
        signal: AbortSignal.timeout(withinMs),
      })
      return { statusCode, json: await body.json() }
    } catch {
      throw new Refused(503, 'The service did not answer in time. Nothing was changed; try again in a moment.')
    }
  }

  return {
    as: (cookie) => async (address, schema) => {
      const { statusCode, json } = await ask(cookie, address)
      if (statusCode !== 200) throw new Refused(statusCode, messageIn(json))
      return schema.parse(json)
    },
    // Whoever waits for a page is told by its end: a process has little time to stop.
    close: async () => agent.destroy(),
  }
}
