import { LRUCache } from 'lru-cache'

/** The time without a change after which later timers no longer wait for it. */
const waitedForMs = 30_000
const mostKnown = 100_000

type Due = {
  readonly organisation_id: string
  readonly kind: string
  readonly id: string
  readonly stream: string
  readonly due_at: string
}

type Waited = { readonly due_at: string; readonly since: number }

/**
 * The timers of one stream fire in the order of their time, also when much is due at once: after an outage, or when the
 * operator has moved business time. Of each stream the earliest alone is fired in a round, and later ones wait for the next
 * round. Nothing waits for a timer that fails, or that changes nothing.
 */
export const makeOrder = <Row extends Due>(
  isResting: (due: Row) => boolean,
  realNow: () => number = () => performance.now(),
) => {
  const waited = new LRUCache<string, Waited>({ max: mostKnown })

  const isStuck = (due: Row): boolean => {
    const key = `${due.organisation_id} ${due.kind} ${due.id}`
    const before = waited.get(key)
    if (before?.due_at === due.due_at) return isResting(due) || realNow() - before.since > waitedForMs
    waited.set(key, { due_at: due.due_at, since: realNow() })
    return false
  }

  /** One round. What is due is given to it in the order of its time. */
  return () => {
    const busy = new Set<string>()
    let isHeld = false
    return {
      isNext: (due: Row): boolean => {
        if (busy.has(due.stream)) {
          isHeld = true
          return false
        }
        // Beyond that, what comes later may happen in the same round.
        if (busy.size < mostKnown && !isStuck(due)) busy.add(due.stream)
        return true
      },
      /** True where something waits for the next round. */
      isHeld: () => isHeld,
    }
  }
}
