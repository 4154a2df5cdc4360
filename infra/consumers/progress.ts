import type { Position } from '#domain/event.ts'

type Consumer = { readonly categories: readonly string[]; position: Position | undefined }

type Waiter = { readonly position: Position; readonly resolve: (seen: boolean) => void }

/** Greater than any position. */
const furthest = '\uffff' as Position

/**
 * The progress of the projections, as this process knows it, and a wait for it. A position is announced after its transaction
 * has committed, so the events waited for can be read. When the process stops, as the signal says, the projections do too:
 * nobody waits for them any more.
 */
export const makeProgress = (stopping?: AbortSignal) => {
  const consumers = new Map<string, Consumer>()
  const waiting = new Map<string, Set<Waiter>>()
  const watching: (readonly [categories: ReadonlySet<string>, onPassed: () => void])[] = []

  /** Up to where all consumers of a category have come; undefined when one has not begun. */
  const passedBy = (category: string): Position | undefined => {
    let least = furthest
    for (const { categories, position } of consumers.values())
      if (categories.includes(category)) {
        if (position === undefined) return undefined
        if (position < least) least = position
      }
    return least
  }

  const hasPassed = (category: string, position: Position): boolean => (passedBy(category) ?? '') >= position

  const tell = (category: string) => {
    const waiters = waiting.get(category)
    const upTo = waiters && passedBy(category)
    if (upTo !== undefined) for (const { position, resolve } of waiters ?? []) if (position <= upTo) resolve(true)
  }

  const letGo = () => {
    for (const waiters of waiting.values()) for (const { resolve } of waiters) resolve(false)
  }
  stopping?.addEventListener('abort', letGo, { once: true })

  return {
    /** A consumer of these categories has handled everything up to a position. */
    passed: (name: string, categories: readonly string[], position: Position | undefined): void => {
      consumers.set(name, { categories, position })
      if (position !== undefined) for (const category of categories) tell(category)
      for (const [watched, onPassed] of watching) if (categories.some((each) => watched.has(each))) onPassed()
    },
    /** Calls a function whenever a consumer of one of these categories has come further, which may be often. */
    watch: (categories: ReadonlySet<string>, onPassed: () => void): void => {
      watching.push([categories, onPassed])
    },
    /** Removes a consumer that no longer exists: commands stop waiting for it. */
    forget: (name: string): void => {
      consumers.delete(name)
      for (const category of waiting.keys()) tell(category)
    },
    /** True where all consumers of a category passed the position within the time. */
    wait: async (category: string, position: Position, timeoutMs: number): Promise<boolean> => {
      if (hasPassed(category, position)) return true
      if (stopping?.aborted) return false
      return new Promise((resolve) => {
        const waiters = waiting.get(category) ?? new Set()
        const finish = (seen: boolean) => {
          clearTimeout(timer)
          waiters.delete(waiter)
          if (waiters.size === 0 && waiting.get(category) === waiters) waiting.delete(category)
          resolve(seen)
        }
        const waiter: Waiter = { position, resolve: finish }
        const timer = setTimeout(() => finish(false), timeoutMs)
        waiting.set(category, waiters.add(waiter))
      })
    },
  }
}
export type Progress = ReturnType<typeof makeProgress>
