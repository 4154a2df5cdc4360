import type { Position } from '#domain/event.ts'

type Consumer = { readonly categories: readonly string[]; position: Position | undefined }

/**
 * How far the projections have come, as this process knows it, and a wait for it. A position is announced after its
 * transaction has committed, so what was waited for can be read.
 */
export const makeProgress = () => {
  const consumers = new Map<string, Consumer>()
  const waiting = new Set<{ readonly isOver: () => boolean; readonly resolve: (seen: boolean) => void }>()

  const hasPassed = (category: string, position: Position): boolean =>
    [...consumers.values()].every(
      (consumer) =>
        !consumer.categories.includes(category) || (consumer.position !== undefined && consumer.position >= position),
    )

  return {
    /** A consumer of these categories has handled everything up to a position. */
    passed: (name: string, categories: readonly string[], position: Position | undefined): void => {
      consumers.set(name, { categories, position })
      for (const waiter of waiting) if (waiter.isOver()) waiter.resolve(true)
    },
    /** Removes a consumer that no longer exists: commands stop waiting for it. */
    forget: (name: string): void => {
      consumers.delete(name)
      for (const waiter of waiting) if (waiter.isOver()) waiter.resolve(true)
    },
    /** Whether all consumers of a category passed the position within the time. */
    wait: async (category: string, position: Position, timeoutMs: number): Promise<boolean> => {
      if (hasPassed(category, position)) return true
      return new Promise((resolve) => {
        const finish = (seen: boolean) => {
          clearTimeout(timer)
          waiting.delete(waiter)
          resolve(seen)
        }
        const waiter = { isOver: () => hasPassed(category, position), resolve: finish }
        const timer = setTimeout(() => finish(false), timeoutMs)
        waiting.add(waiter)
      })
    },
  }
}
export type Progress = ReturnType<typeof makeProgress>
