import type { Exchange } from '#infra/guarded-http.ts'

/** How long to wait after each failed attempt; after the last attempt there is no more waiting. About six minutes in all. */
const delaysSeconds = [10, 40, 100, 200] as const
const longestSeconds = 200
const jitter = 0.1

export const attemptsMax = delaysSeconds.length + 1

export type Verdict = 'delivered' | 'retry' | 'failed'

/** 2xx is a success. 429, 5xx and no answer may be better later; any other status, and a refusal of ours, will not. */
export const verdictOn = (exchange: Exchange): Verdict => {
  switch (exchange.outcome) {
    case 'refused':
      return 'failed'
    case 'unanswered':
      return 'retry'
    case 'answered': {
      const { status } = exchange
      if (status >= 200 && status < 300) return 'delivered'
      return status === 429 || status >= 500 ? 'retry' : 'failed'
    }
  }
}

/**
 * When to try again after so many attempts; undefined when there is nothing more to try. `chance`, from 0 to 1, spreads
 * the retries of many deliveries. A receiver that asks for more time gets it, up to the longest of our own delays.
 */
export const nextAttempt = (
  attempts: number,
  now: Date,
  chance: number,
  askedSeconds: number | undefined,
): Date | undefined => {
  const delay = delaysSeconds[attempts - 1]
  if (delay === undefined) return undefined
  const spread = delay * (1 - jitter + 2 * jitter * chance)
  const seconds = Math.max(spread, Math.min(askedSeconds ?? 0, longestSeconds))
  return new Date(now.getTime() + Math.round(seconds * 1000))
}

/** What a `Retry-After` header asks for: seconds, or a date. */
export const retryAfterSeconds = (header: string | undefined, now: Date): number | undefined => {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const date = /^[a-z]/i.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now.getTime()) / 1000)
}
