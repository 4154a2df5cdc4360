import type { Request } from 'express'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { Pool } from 'pg'
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import type { Log } from '../log.ts'
import { withTimeout } from '../timeout.ts'
import { Problem } from './problem.ts'

/** The limit of requests in a window, how many are left, and in how many seconds the window ends. */
export type RateUse = { readonly limit: number; readonly remaining: number; readonly resetSeconds: number }

/**
 * The decision to serve a request or not. `resumesAt` is when the window ends, in seconds since 1970. Without a limit, no use.
 */
export type RateDecision =
  | { readonly served: true; readonly use?: RateUse }
  | { readonly served: false; readonly resumesAt: number; readonly use: RateUse }

/** Counts a request of an address. Exactly the limit is served in a window; refused ones do not make it longer. */
export type RateLimit = (who: string) => Promise<RateDecision>

export type RateLimitOptions = {
  /** 0 switches the limit off. */
  readonly requests: number
  readonly windowSeconds: number
  /** Keeps counts apart from those of other limits. */
  readonly name?: string
  /** The database in which several processes count together. Without it each counts for itself. */
  readonly pool?: Pool
  readonly log: Log
}

const tableName = 'rate_limit'
const answersWithinMs = 1000
const restsForMs = 1000

export const makeRateLimit = (options: RateLimitOptions): RateLimit => {
  const { requests, windowSeconds, name = 'api', pool } = options
  if (requests === 0) return async () => ({ served: true })

  const limits = { points: requests, duration: windowSeconds, keyPrefix: name }
  const own = ownCounter(limits)
  const consume = pool ? sharedOrOwn(pool, limits, own, options.log) : own

  return async (who) => {
    const { served, result } = await consume(who)
    const { msBeforeNext, remainingPoints } = result
    const remaining = served ? Math.max(0, remainingPoints) : 0
    const use = { limit: requests, remaining, resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)) }
    return served ? { served, use } : { served, use, resumesAt: Math.ceil((Date.now() + msBeforeNext) / 1000) }
  }
}

type Counted = {
  readonly served: boolean
  readonly result: Pick<RateLimiterRes, 'msBeforeNext' | 'remainingPoints'>
}
type Counter = (who: string) => Promise<Counted>

/** The most addresses counted here at once: of more, those that have asked for nothing the longest start again. */
const mostCountedHere = 20_000

/** Counts in this process. */
const ownCounter = ({ points, duration }: Limits): Counter => {
  const windows = new LRUCache<string, { count: number; readonly endsAt: number }>({ max: mostCountedHere })
  return async (who) => {
    const now = Date.now()
    const former = windows.get(who)
    const window = former && former.endsAt > now ? former : { count: 0, endsAt: now + duration * 1_000 }
    window.count++
    if (window !== former) windows.set(who, window)
    const result = { msBeforeNext: window.endsAt - now, remainingPoints: Math.max(0, points - window.count) }
    return { served: window.count <= points, result }
  }
}

/** The library throws its refusals. */
const count = async (limiter: RateLimiterPostgres, who: string): Promise<Counted> => {
  try {
    return { served: true, result: await limiter.consume(who) }
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return { served: false, result: refused }
    throw refused
  }
}

type Limits = { readonly points: number; readonly duration: number; readonly keyPrefix: string }

/** Counts in PostgreSQL, and in this process while PostgreSQL does not answer, so that requests are still served. */
const sharedOrOwn = (pool: Pool, limits: Limits, own: Counter, log: Log): Counter => {
  const shared = new RateLimiterPostgres({
    ...limits,
    storeClient: pool,
    storeType: 'pool',
    tableName,
    tableCreated: true,
    // Who is over the limit is refused without asking again.
    inMemoryBlockOnConsumed: limits.points,
  })
  let restsUntil = 0

  const rest = (error: unknown) => {
    restsUntil = Date.now() + restsForMs
    log.error({ error }, 'rate limit not shared, counting in this process')
  }

  return async (who: string): Promise<Counted> => {
    if (Date.now() < restsUntil) return own(who)
    try {
      return await withTimeout(count(shared, who), answersWithinMs)
    } catch (error) {
      rest(error)
      return own(who)
    }
  }
}

const ipv6GroupsCounted = 4

const known = new LRUCache<string, string>({ max: 10_000 })

const normalised = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined
  const found = known.get(text)
  if (found !== undefined) return found
  if (text.length > longestAddress) return undefined
  const address = normalise(withoutPort(text))
  if (address !== undefined) known.set(text, address)
  return address
}

/** No address is longer, with its port, its brackets and its zone: what is longer is not kept. */
const longestAddress = 100

/** Some proxies name the port too (`192.0.2.1:5678`, `[2001:db8::1]:5678`), and write IPv6 in brackets also without one. */
const withoutPort = (text: string): string =>
  /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^([^:]+):\d{1,5}$/.exec(text)?.[1] ?? text

/** One address counts as one, and so does one /64 of IPv6, of which a single customer has all the addresses. */
const normalise = (text: string): string | undefined => {
  if (!ipaddr.isValid(text)) return undefined
  const address = ipaddr.process(text)
  if (address instanceof ipaddr.IPv4) return address.toString()
  return `${address.parts
    .slice(0, ipv6GroupsCounted)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

/**
 * The address that a request counts for. Express gives the one that the trusted proxies name; what they name that is no
 * address counts for the proxy.
 */
export const addressOf = (request: Pick<Request, 'ip' | 'socket'>): string =>
  normalised(request.ip) ?? normalised(request.socket.remoteAddress) ?? 'unknown'

/** The headers of an answer that say how far the limit is used; a refused request also learns when to send again. */
export const rateLimitHeaders = (decision: RateDecision): Readonly<Record<string, string>> => {
  if (!decision.use) return {}
  const { limit, remaining, resetSeconds } = decision.use
  return {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(resetSeconds),
    ...(!decision.served && {
      'X-RateLimit-Reset': String(decision.resumesAt),
      'Retry-After': String(resetSeconds),
    }),
  }
}

/** `Continue at 14:00:10 UTC on 22 November 2026.` */
export const tooManyMessage = (resumesAt: number): string => {
  const at = new Date(resumesAt * 1000)
  const day = at.toLocaleDateString('en-GB', { timeZone: 'UTC', dateStyle: 'long' })
  return `Too many requests from this address. Continue at ${at.toISOString().slice(11, 19)} UTC on ${day}.`
}

/** Refuses what is beyond a limit. */
export const requireServed = (decision: RateDecision): void => {
  if (!decision.served)
    throw new Problem('rate_limited', tooManyMessage(decision.resumesAt), {
      headers: rateLimitHeaders(decision),
    })
}
