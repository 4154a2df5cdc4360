import type { IncomingHttpHeaders } from 'node:http'
import { Agent, buildConnector, Pool, type Dispatcher } from 'undici'
import {
  AddressRefused,
  makeAddressGuard,
  plainPermission,
  portOf,
  type Allowance,
  type Lookup,
} from './guarded-addresses.ts'
import { LeaseLost, requirerOfLease, whenLeaseLost } from './consumers/required-lease.ts'

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
  /** The part of an answer that is read, 64 kB by default. */
  readonly bodyLimitBytes?: number
  readonly lookup?: Lookup
  /** Certificates that are trusted in place of the usual ones. */
  readonly ca?: string
}

const usualBodyLimitBytes = 64 * 1024
/** As much as the large proxies of the internet let through. Node's own limit is an eighth of it. */
const headLimitBytes = 128 * 1024
/** The times are within our own deadline. */
const limits = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: headLimitBytes }

/**
 * Requests to servers that organisations name. Whichever they name, nothing is reached but the public internet and what the
 * operator allows: every literal and every resolved address is checked, and the connection goes to the very address that
 * was checked. It follows no redirect, decompresses nothing and reads at most 128 kB of the head of an answer, and 64 kB of
 * its body unless told otherwise.
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
    factory: (origin) => new Pool(origin, { ...limits, connect: connectorTo(new URL(origin)) }),
  })

  /** The reason why a request to this address would not be tried, as far as the address itself tells. */
  const whyRefused = (address: string): string | undefined => {
    const url = URL.parse(address)
    if (!url) return 'not an address'
    if (url.protocol !== 'https:' && !allowsHttp(address)) return 'only https:// is used'
    if (url.username !== '' || url.password !== '') return 'the address holds a user name or a password'
    return undefined
  }

  /** undici's own `request` makes a stream of each answer and a signal for each deadline, which costs as much as the rest. */
  const exchangeOnce = (
    asked: Pick<Dispatcher.DispatchOptions, 'origin' | 'path' | 'method' | 'headers' | 'body'>,
    withinMs: number,
  ): Promise<Exchange> =>
    new Promise((resolve, reject) => {
      const requireLease = requirerOfLease()
      requireLease()
      let controller: Dispatcher.DispatchController | undefined
      let answer: { readonly status: number; readonly headers: IncomingHttpHeaders } | undefined
      let isOver = false
      let missing = bodyLimitBytes
      const chunks: Buffer[] = []

      /** Once the status is known, what is missing of the body changes nothing. */
      const end = (otherwise: () => Exchange): void => {
        if (isOver) return
        isOver = true
        clearTimeout(timer)
        resolve(answer ? answered(answer, Buffer.concat(chunks)) : otherwise())
      }
      const timer = setTimeout(() => {
        end(() => unanswered(`no answer within ${Math.round(withinMs / 100) / 10} s`))
        controller?.abort(new Error('too late'))
      }, withinMs)

      whenLeaseLost(() => {
        if (isOver) return
        if (!answer) reject(new LeaseLost('Another process may have taken this over.'))
        end(() => unanswered('given up'))
        controller?.abort(new Error('given up'))
      })

      agent.dispatch(asked, {
        onRequestStart: (started) => {
          controller = started
          // It was too late before there was a connection.
          if (isOver) started.abort(new Error('too late'))
          else requireLease()
        },
        onResponseStart: (_controller, status, headers) => {
          // Of several heads only the last one is the answer.
          if (status >= 200) answer = { status, headers }
        },
        onResponseData: (reading, chunk) => {
          chunks.push(chunk.subarray(0, missing))
          missing -= chunk.length
          if (missing > 0) return
          end(nothing)
          reading.abort(new Error('enough'))
        },
        onResponseEnd: () => end(nothing),
        onResponseError: (_controller, error) => {
          if (error instanceof LeaseLost) reject(error)
          end(() => failed(error))
        },
      })
    })

  const request = async ({ url, method, headers, body, ...own }: OutboundRequest): Promise<Exchange> => {
    const refusal = whyRefused(url)
    if (refusal !== undefined) return { outcome: 'refused', reason: refusal }
    const { origin, pathname, search } = new URL(url)
    return exchangeOnce(
      {
        origin,
        path: pathname + search,
        method,
        headers: { 'user-agent': 'Coverstream', 'accept-encoding': 'identity', ...headers },
        body: body ?? null,
      },
      Math.min(timeoutMs, own.timeoutMs ?? timeoutMs),
    )
  }

  return { request, timeoutMs, close: () => agent.destroy() }
}
export type GuardedHttp = ReturnType<typeof makeGuardedHttp>

const answered = (
  { status, headers }: { readonly status: number; readonly headers: IncomingHttpHeaders },
  body: Buffer,
): Exchange => ({
  outcome: 'answered',
  status,
  header: (name) => [headers[name]].flat()[0],
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')])),
  body,
})

const unanswered = (reason: string): Exchange => ({ outcome: 'unanswered', reason })

const nothing = (): Exchange => unanswered('an answer without a status')

const failed = (error: unknown): Exchange =>
  error instanceof AddressRefused
    ? { outcome: 'refused', reason: error.message }
    : { ...unanswered(reasonOf(error)), ...(isOfConnecting(error) && { wasNotSent: true }) }

const codesOfNames = ['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'ETIMEOUT', 'EREFUSED', 'EAI_AGAIN']
const codesOfConnecting = [...codesOfNames, 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']

const isOfConnecting = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && codesOfConnecting.includes(String(error.code))

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  // Of a malformed head the code is there and undefined.
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return [code, error.message].filter((part) => part !== '').join(': ')
}
