import type { Request } from 'express'
import ipaddr from 'ipaddr.js'
import type { Pool } from 'pg'
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import type { Log } from '../log.ts'
import { withTimeout } from '../timeout.ts'

/** Whether a request is served. `resumesAt` is when the window ends, in seconds since 1970. */
export type RateDecision = { readonly served: true } | { readonly served: false; readonly resumesAt: number }

/** Counts a request of an address. Exactly the limit is served in a window; refused ones do not make it longer. */
export type RateLimit = (who: string) => Promise<RateDecision>

export type RateLimitOptions = {
  /** 0 switches the limit off. */
  readonly requests: number
  readonly windowSeconds: number
  /** Keeps counts apart from those of other limits. */
  readonly name?: string
  /** Where several processes count together. Without it each counts for itself. */
  readonly pool?: Pool
  readonly log: Log
}

type Limiter = RateLimiterMemory | RateLimiterPostgres

const tableName = 'rate_limit'
const answersWithinMs = 1000
const restsForMs = 1000

export const makeRateLimit = (options: RateLimitOptions): RateLimit => {
  const { requests, windowSeconds, name = 'api', pool } = options
  if (requests === 0) return async () => ({ served: true })

  const limits = { points: requests, duration: windowSeconds, keyPrefix: name }
  const own = new RateLimiterMemory(limits)
  const consume = pool ? sharedOrOwn(pool, limits, own, options.log) : async (who: string) => count(own, who)

  return async (who) => {
    const refused = await consume(who)
    return refused
      ? { served: false, resumesAt: Math.ceil((Date.now() + refused.msBeforeNext) / 1000) }
      : { served: true }
  }
}

/** Undefined when the request is within the limit: the library throws its refusals. */
const count = async (limiter: Limiter, who: string): Promise<RateLimiterRes | undefined> => {
  try {
    await limiter.consume(who)
    return undefined
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return refused
    throw refused
  }
}

type Limits = { readonly points: number; readonly duration: number; readonly keyPrefix: string }

/** Counts in PostgreSQL, and in this process while PostgreSQL does not answer, so that requests are still served. */
const sharedOrOwn = (pool: Pool, limits: Limits, own: RateLimiterMemory, log: Log) => {
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

  return async (who: string): Promise<RateLimiterRes | undefined> => {
    if (Date.now() < restsUntil) return count(own, who)
    try {
      return await withTimeout(count(shared, who), answersWithinMs)
    } catch (error) {
      rest(error)
      return count(own, who)
    }
  }
}

const ipv6GroupsCounted = 4

/** One address counts as one, and so does one /64 of IPv6, of which a single customer has all the addresses. */
const normalised = (text: string | undefined): string | undefined => {
  if (text === undefined || !ipaddr.isValid(text)) return undefined
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
