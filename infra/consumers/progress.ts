import type { Position } from '#domain/event.ts'

type Consumer = { readonly categories: readonly string[]; position: Position | undefined }

type Waiter = {
  readonly category: string
  readonly position: Position
  readonly isOver: () => boolean
  readonly resolve: (seen: boolean) => void
}

/**
 * How far the projections have come, as this process knows it, and a wait for it. A position is announced after its
 * transaction has committed, so what was waited for can be read.
 */
export const makeProgress = () => {
  const consumers = new Map<string, Consumer>()
  const waiting = new Set<Waiter>()

  const hasPassed = (category: string, position: Position): boolean =>
    [...consumers.values()].every(
      (consumer) =>
        !consumer.categories.includes(category) || (consumer.position !== undefined && consumer.position >= position),
    )

  const tellAll = (isConcerned: (waiter: Waiter) => boolean = () => true) => {
    for (const waiter of waiting) if (isConcerned(waiter) && waiter.isOver()) waiter.resolve(true)
  }

  return {
    /** A consumer of these categories has handled everything up to a position. */
    passed: (name: string, categories: readonly string[], position: Position | undefined): void => {
      consumers.set(name, { categories, position })
      if (position !== undefined)
        tellAll((waiter) => waiter.position <= position && categories.includes(waiter.category))
    },
    /** Removes a consumer that no longer exists: commands stop waiting for it. */
    forget: (name: string): void => {
      consumers.delete(name)
      tellAll()
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
        const waiter = { category, position, isOver: () => hasPassed(category, position), resolve: finish }
        const timer = setTimeout(() => finish(false), timeoutMs)
        waiting.add(waiter)
      })
    },
  }
}
export type Progress = ReturnType<typeof makeProgress>
