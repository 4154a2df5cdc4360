/** What comes of some work, or a failure when that takes longer. The work itself is not ended. */
export const within = async <Result>(
  work: Promise<Result>,
  milliseconds: number,
  makeError = (): Error => new Error(`no answer within ${milliseconds} ms`),
): Promise<Result> => {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(makeError()), milliseconds)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
