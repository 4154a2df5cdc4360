/**
 * Lets work that concerns the same keys wait for each other, in this process. All keys are asked for at once, so that two
 * never wait for each other.
 */
export const makeLocks = () => {
  const last = new Map<string, Promise<unknown>>()

  return async <Result>(keys: readonly string[], work: () => Promise<Result>): Promise<Result> => {
    const before = keys.flatMap((key) => last.get(key) ?? [])
    const turn = Promise.allSettled(before).then(work)
    for (const key of keys) last.set(key, turn)
    try {
      return await turn
    } finally {
      for (const key of keys) if (last.get(key) === turn) last.delete(key)
    }
  }
}
