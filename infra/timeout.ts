import { OwnError } from '#domain/own-error.ts'

/** A promise has not settled in time. */
export class TimedOut extends OwnError {
  override readonly name = 'TimedOut'
}

/** Rejects when the work has not settled in time, by default with `TimedOut`. The work itself goes on. */
export const withTimeout = <Result>(
  work: Promise<Result>,
  milliseconds: number,
  makeError = (): Error => new TimedOut(`no answer within ${milliseconds} ms`),
): Promise<Result> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(makeError()), milliseconds)
    void work.then(resolve, reject).finally(() => clearTimeout(timer))
  })

/** True where a promise settles in time, one way or the other. */
export const settlesWithin = async (promise: Promise<unknown>, milliseconds: number): Promise<boolean> => {
  const settled = promise.then(
    () => true,
    () => true,
  )
  return withTimeout(settled, milliseconds).catch(() => false)
}
