const withinMs = 1_000

/** Counts what happened to each key within a second: in the present one, or in the one before it. */
export const recently = (monotonicMs: () => number) => {
  let begunAt = monotonicMs()
  let present = new Map<string, number>()
  let before = new Map<string, number>()

  const turn = (): void => {
    const passedMs = monotonicMs() - begunAt
    if (passedMs < withinMs) return
    before = passedMs < 2 * withinMs ? present : new Map<string, number>()
    present = new Map()
    begunAt = monotonicMs()
  }

  return {
    add: (key: string): void => {
      turn()
      present.set(key, (present.get(key) ?? 0) + 1)
    },
    of: (key: string): number => {
      turn()
      return Math.max(before.get(key) ?? 0, present.get(key) ?? 0)
    },
  }
}
