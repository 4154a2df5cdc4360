import { setTimeout as pause } from 'node:timers/promises'
import { isCommandError, NotLeaderError } from '@eventstore/db-client'

/** gRPC's cancelled, unknown, deadline exceeded, aborted, internal and unavailable: a moment later all may be well. */
const passingCodes: readonly unknown[] = [1, 2, 4, 10, 13, 14]

/** Whether a failure lies with the connection or with a server that is starting, busy or no longer the leader. */
export const isTransient = (error: unknown): boolean => {
  if (error instanceof NotLeaderError) return true
  if (!(error instanceof Error)) return false
  if ('code' in error && typeof error.code === 'number') return passingCodes.includes(error.code)
  // The client's failures to find a server at all are plain errors; a TypeError is a fault of ours.
  return error.name === 'Error' && !isCommandError(error)
}

/** A growing delay with some chance in it, so that many who failed together do not come back together. */
export const delayAfter = (failures: number) => Math.min(50 * 2 ** failures, 5_000) * (0.5 + Math.random() / 2)

const attempts = 6

/** Does what may be done again, until it succeeds or has failed for some three seconds. */
export const retryTransient = async <Result>(act: () => Promise<Result>): Promise<Result> => {
  for (let failures = 1; ; failures += 1) {
    try {
      return await act()
    } catch (error) {
      if (!isTransient(error) || failures === attempts) throw error
    }
    await pause(delayAfter(failures))
  }
}
