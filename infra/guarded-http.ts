import type { Readable } from 'node:stream'
import { Agent, buildConnector, Pool } from 'undici'
import {
  AddressRefused,
  makeAddressGuard,
  plainPermission,
  portOf,
  type Allowance,
  type Lookup,
} from './guarded-addresses.ts'

/** The outcome of a request to another party's server. That it is down, slow or hostile is not an exception. */
export type Exchange =
  | {
      readonly outcome: 'answered'
      readonly status: number
      readonly header: (name: string) => string | undefined
      readonly headers?: Readonly<Record<string, string>>
      /** As much as came within the deadline, at most 64 kB unless it was said otherwise. */
      readonly body: Buffer
    }
  /** Its name, its server, its certificate or its answer failed us. `wasNotSent`: the request has certainly not reached it. */
  | { readonly outcome: 'unanswered'; readonly reason: string; readonly wasNotSent?: true }
  /** We did not try: the address may not be reached. */
  | { readonly outcome: 'refused'; readonly reason: string }

export type OutboundRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** A shorter deadline than the usual one. */
  readonly timeoutMs?: number
}

export type GuardedHttpOptions = Allowance & {
  /** One deadline over name, connection, TLS, headers and body; 15 s by default. */
  readonly timeoutMs?: number
  /** How much of an answer is read, 64 kB by default. */
  readonly bodyLimitBytes?: number
  readonly lookup?: Lookup
  /** Certificates that are trusted in place of the usual ones. */
  readonly ca?: string
}

const usualBodyLimitBytes = 64 * 1024
const withinOurDeadline = { headersTimeout: 0, bodyTimeout: 0 }

/**
 * Requests to servers that organisations name. Whichever they name, nothing is reached but the public internet and what the
 * operator allows: every literal and every resolved address is checked, and the connection goes to the very address that
 * was checked. It follows no redirect, decompresses nothing and reads at most 64 kB of an answer unless told otherwise.
 */
export const makeGuardedHttp = (options: GuardedHttpOptions) => {
  const { timeoutMs = 15_000, ca, bodyLimitBytes = usualBodyLimitBytes } = options
  const guard = makeAddressGuard(options)
  const allowsHttp = plainPermission(options, 'http:')

  /** Connects to one origin. */
  const connectorTo = (origin: URL): buildConnector.connector => {
    const { checkLiteral, lookup } = guard(origin.hostname.replace(/^\[(.*)\]$/, '$1'), portOf(origin))
    const connect = buildConnector({
      // With this the socket asks for all addresses at once, and tries one after the other.
      autoSelectFamily: true,
      lookup,
      timeout: timeoutMs,
      ...(ca !== undefined && { ca }),
    })

    return (target, callback) => {
      try {
        checkLiteral()
      } catch (error) {
        callback(error as Error, null) // it throws nothing else
        return
      }
      connect(target, callback)
    }
  }

  const agent = new Agent({
    factory: (origin) => new Pool(origin, { ...withinOurDeadline, connect: connectorTo(new URL(origin)) }),
  })

  /** Why a request to this address would not be tried, as far as the address itself tells. */
  const whyRefused = (address: string): string | undefined => {
    const url = URL.parse(address)
    if (!url) return 'not an address'
    if (url.protocol !== 'https:' && !allowsHttp(address)) return 'only https:// is used'
    if (url.username !== '' || url.password !== '') return 'the address holds a user name or a password'
    return undefined
  }

  const request = async ({ url, method, headers, body, ...own }: OutboundRequest): Promise<Exchange> => {
    const withinMs = Math.min(timeoutMs, own.timeoutMs ?? timeoutMs)
    const refusal = whyRefused(url)
    if (refusal !== undefined) return { outcome: 'refused', reason: refusal }

    const { origin, pathname, search } = new URL(url)
    const deadline = new AbortController()
    // While it connects, undici takes no notice of the signal.
    const { promise: tooLate, reject: giveUp } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      deadline.abort()
      giveUp(new Error('too late'))
    }, withinMs)
    try {
      const answering = agent.request({
        origin,
        path: pathname + search,
        method,
        headers: { 'user-agent': 'Coverstream', 'accept-encoding': 'identity', ...headers },
        body: body ?? null,
        signal: deadline.signal,
      })
      const answer = await Promise.race([answering, tooLate])
      return {
        outcome: 'answered',
        status: answer.statusCode,
        header: (name) => [answer.headers[name]].flat()[0],
        headers: Object.fromEntries(
          Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
        ),
        body: await readSome(answer.body, bodyLimitBytes),
      }
    } catch (error) {
      if (error instanceof AddressRefused) return { outcome: 'refused', reason: error.message }
      const reason = deadline.signal.aborted ? `no answer within ${Math.round(withinMs / 100) / 10} s` : reasonOf(error)
      return { outcome: 'unanswered', reason, ...(isOfConnecting(error) && { wasNotSent: true }) }
    } finally {
      clearTimeout(timer)
    }
  }

  return { request, timeoutMs, close: () => agent.destroy() }
}
export type GuardedHttp = ReturnType<typeof makeGuardedHttp>

const codesOfConnecting = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']

const isOfConnecting = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && codesOfConnecting.includes(String(error.code))

/** The status is known by now; what is missing of the body changes nothing. */
const readSome = async (body: Readable, mostBytes: number): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let missing = mostBytes
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, missing))
      missing -= chunk.length
      if (missing <= 0) break
    }
  } catch {
    // Cut off, or the deadline came.
  }
  return Buffer.concat(chunks)
}

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : ''
  return [code, error.message].filter((part) => part !== '').join(': ')
}
