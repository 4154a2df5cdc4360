import { setTimeout as pause } from 'node:timers/promises'

type RetryOptions = {
  readonly isTransient: (error: unknown) => boolean
  readonly delayMaximumMs: number
  /** No attempt begins later than this after the first. */
  readonly withinMs?: number
  readonly signal?: AbortSignal
}

/**
 * Does work until it succeeds, with delays that double. Throws its error when that is not transient, when time is up, or
 * when the signal is aborted.
 */
export const retry = async <Result>(work: () => Promise<Result>, options: RetryOptions): Promise<Result> => {
  const { isTransient, delayMaximumMs, withinMs = Infinity, signal } = options
  const isAborted = () => signal?.aborted ?? false
  const deadline = performance.now() + withinMs
  for (let attempt = 1; ; attempt++)
    try {
      return await work()
    } catch (error) {
      const delayMs = Math.min(25 * 2 ** attempt, delayMaximumMs)
      if (!isTransient(error) || isAborted() || performance.now() + delayMs >= deadline) throw error
      await pause(delayMs, undefined, signal && { signal }).catch(() => undefined)
      if (isAborted()) throw error
    }
}
