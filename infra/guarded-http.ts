import { lookup as resolve } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Readable } from 'node:stream'
import { callbackify } from 'node:util'
import { Agent, buildConnector, Pool } from 'undici'
import { OwnError } from '#domain/own-error.ts'
import { isPublicAddress, makeAllowList } from './public-address.ts'

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
  /** Its name, its server, its certificate or its answer failed us. */
  | { readonly outcome: 'unanswered'; readonly reason: string }
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

type Resolved = { readonly address: string; readonly family: number }

/** What the operator's configuration lets be reached beyond the public internet. */
export type Allowance = {
  /** Hosts, host:port or CIDR blocks that may be reached although they are not public. */
  readonly allowedHosts: readonly string[]
  /** Whether plain http may be spoken with those hosts. */
  readonly allowHttp: boolean
}

export type GuardedHttpOptions = Allowance & {
  /** One deadline over name, connection, TLS, headers and body; 15 s by default. */
  readonly timeoutMs?: number
  /** How much of an answer is read, 64 kB by default. */
  readonly bodyLimitBytes?: number
  readonly lookup?: (host: string) => Promise<readonly Resolved[]>
  /** Certificates that are trusted in place of the usual ones. */
  readonly ca?: string
}

class AddressRefused extends OwnError {
  override readonly name = 'AddressRefused'
}

const usualBodyLimitBytes = 64 * 1024
const withinOurDeadline = { headersTimeout: 0, bodyTimeout: 0 }

/**
 * Requests to servers that organisations name. Whichever they name, nothing is reached but the public internet and what the
 * operator allows: every literal and every resolved address is checked, and the connection goes to the very address that
 * was checked. It follows no redirect, decompresses nothing and reads at most 64 kB of an answer unless told otherwise.
 */
export const makeGuardedHttp = (options: GuardedHttpOptions) => {
  const { lookup = (host) => resolve(host, { all: true }), timeoutMs = 15_000, ca } = options
  const { bodyLimitBytes = usualBodyLimitBytes } = options
  const allowList = makeAllowList(options.allowedHosts)
  const allowsHttp = httpPermission(options)

  const check = (host: string, port: number, address: string): void => {
    if (!isPublicAddress(address) && !allowList.reaches(host, port, address))
      throw new AddressRefused(`${host} is ${address === host ? '' : `${address}, `}not a public address`)
  }

  /** Connects to one origin. Those who wait for its name at the same time share one look-up. */
  const connectorTo = (origin: URL): buildConnector.connector => {
    const host = origin.hostname.replace(/^\[(.*)\]$/, '$1')
    const port = portOf(origin)
    let underway: Promise<readonly Resolved[]> | undefined

    const checkedAddresses = async (): Promise<Resolved[]> => {
      underway ??= lookup(host).finally(() => (underway = undefined))
      const addresses = await underway
      if (addresses.length === 0) throw new Error(`${host} has no address`)
      for (const { address } of addresses) check(host, port, address)
      return [...addresses]
    }
    const guardedLookup = callbackify(checkedAddresses)
    const connect = buildConnector({
      // With this the socket asks for all addresses at once, and tries one after the other.
      autoSelectFamily: true,
      lookup: (_host, _options, callback: (error: Error | null, addresses: Resolved[]) => void) =>
        guardedLookup(callback),
      timeout: timeoutMs,
      ...(ca !== undefined && { ca }),
    })

    return (target, callback) => {
      try {
        // A literal is never looked up.
        if (isIP(host) !== 0) check(host, port, host)
      } catch (error) {
        callback(error as Error, null) // check throws nothing else
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
      return { outcome: 'unanswered', reason }
    } finally {
      clearTimeout(timer)
    }
  }

  return { request, timeoutMs, close: () => agent.destroy() }
}
export type GuardedHttp = ReturnType<typeof makeGuardedHttp>

/** Returns whether an address may be reached by plain http: that it is one, and the operator allows its host. */
export const httpPermission = ({ allowedHosts, allowHttp }: Allowance): ((address: string) => boolean) => {
  const allowList = makeAllowList(allowedHosts)
  return (address) => {
    const url = URL.parse(address)
    return url?.protocol === 'http:' && allowHttp && allowList.names(url.hostname, portOf(url))
  }
}

const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === 'https:' ? 443 : 80)

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
