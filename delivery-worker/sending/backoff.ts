import type { Exchange } from '#infra/guarded-http.ts'

/** The waits after failed attempts; after the last one the delivery has failed. About six minutes in all. */
const delaysSeconds = [10, 40, 100, 200] as const
const shortestSeconds = 10
const jitter = 0.1

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
const totalSeconds = sum(delaysSeconds)

/** Attempts that are really sent. */
export const attemptsMax = delaysSeconds.length + 1

/**
 * Attempts that were lost with a worker that was killed, or that failed before anything was sent. They do not use up one
 * of the five, but a delivery that kills workers must end some time.
 */
export const unsentMax = 20

/** Above 599 no status is defined, so that trying again promises nothing. */
export const isServerError = (status: number): boolean => status >= 500 && status <= 599

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
      return status === 429 || isServerError(status) ? 'retry' : 'failed'
    }
  }
}

export type Delay = {
  readonly seconds: number
  /** The sum of this delay and all before it, without jitter. */
  readonly waitedSeconds: number
}

type Failed = {
  /** Attempts that were sent, with the one that has just failed. */
  readonly sent: number
  /** The `waitedSeconds` of the delay before; 0 at first. */
  readonly waitedSeconds: number
  /** From 0 to 1: spreads the retries of many deliveries. */
  readonly chance: number
  /** The wait that the receiver's `Retry-After` asks for. */
  readonly askedSeconds: number | undefined
}

/**
 * The wait until the next attempt; undefined after the last attempt. A receiver that asks for more time gets it out of the
 * later delays, so that the five attempts together stay within about six minutes.
 */
export const nextDelay = ({ sent, waitedSeconds, chance, askedSeconds = 0 }: Failed): Delay | undefined => {
  if (sent >= attemptsMax) return undefined
  const later = delaysSeconds.slice(sent)
  const left = totalSeconds - waitedSeconds
  const usual = Math.max(shortestSeconds, left - sum(later))
  const longest = Math.max(shortestSeconds, left - shortestSeconds * later.length)
  const asked = Math.min(askedSeconds, longest)
  const spread = usual * (1 - jitter + 2 * jitter * chance)
  return { seconds: Math.max(spread, asked), waitedSeconds: waitedSeconds + Math.max(usual, asked) }
}

/** The wait when nothing could be sent, for a reason on our side: at most an hour. */
export const unsentDelaySeconds = (unsent: number): number => Math.min(10 * 2 ** (unsent - 1), 3_600)

/** The wait that a `Retry-After` header asks for: seconds, or a date. */
export const retryAfterSeconds = (header: string | undefined, now: Date): number | undefined => {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const date = /^[a-z]/i.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now.getTime()) / 1000)
}
