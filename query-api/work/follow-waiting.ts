import type { OrganisationId } from '#domain/values.ts'
import type { Progress } from '#infra/consumers/progress.ts'
import type { Log } from '#infra/log.ts'
import { notifier } from '#infra/notifier.ts'
import { categories } from './kinds.ts'
import type { Reading } from './waiting.ts'

/** Calls a function with what waits in an organisation, at once and whenever it is read again, until that is ended. */
export type FollowWaiting = (organisation_id: OrganisationId, told: (reading: Reading) => void) => () => void

type Options = {
  readonly read: (organisations: readonly OrganisationId[]) => Promise<ReadonlyMap<OrganisationId, Reading>>
  readonly progress: Pick<Progress, 'watch'>
  readonly log: Pick<Log, 'warn'>
  readonly everyMs?: number
}

type Followed = {
  readonly told: Set<(reading: Reading) => void>
  latest: Reading | undefined
  /** True where something may have changed since. */
  isBehind: boolean
  /** The time from which on it may be read again. */
  mayAt: number
}

/** An organisation is read so often at most, however many follow it. */
const usualEveryMs = 1_000
/** Reading takes no more than one part in so many of the time, but a single reading that was slow does not hold up the next for longer. */
const restShare = 10
const longestRestMs = 5_000
/** A notice that was lost is made up for after that time. */
const longestMs = 15_000
/** One statement reads so many: each is done well within its time, whatever the other organisations have. */
const mostAtOnce = 20

/** Whom nobody follows is forgotten a moment later: whoever opens the next page follows again. */
const dueAt = ({ told, isBehind, mayAt }: Followed): number => (isBehind || told.size === 0 ? mayAt : mayAt + longestMs)

/**
 * Reads what waits for all who follow it in this process. It is read when a read model has come further, for all organisations that
 * are due in one statement, and not at all while nobody follows.
 */
export const makeFollowWaiting = ({ read, progress, log, everyMs = usualEveryMs }: Options): FollowWaiting => {
  const followed = new Map<OrganisationId, Followed>()
  const changes = notifier()
  let areAllBehind = false
  let isRunning = false

  progress.watch(categories, () => {
    if (areAllBehind || !isRunning) return
    areAllBehind = true
    for (const each of followed.values()) each.isBehind = true
    changes.notify()
  })

  const readAgain = async (due: readonly (readonly [OrganisationId, Followed])[]): Promise<void> => {
    const startedAt = performance.now()
    areAllBehind = false
    for (const [, each] of due) each.isBehind = false
    try {
      const readings = await read(due.map(([id]) => id))
      for (const [id, each] of due) {
        each.latest = readings.get(id) ?? each.latest
        if (each.latest) for (const told of each.told) told(each.latest)
      }
    } catch (error) {
      log.warn({ error }, 'what waits cannot be read, and is read again')
      for (const [, each] of due) each.isBehind = true
    }
    const took = performance.now() - startedAt
    for (const [, each] of due)
      each.mayAt = startedAt + Math.max(everyMs, took + Math.min(took * restShare, longestRestMs))
  }

  const run = async (): Promise<void> => {
    isRunning = true
    while (followed.size > 0) {
      const now = performance.now()
      const due = [...followed].filter(([, each]) => dueAt(each) <= now)
      for (const [id, { told }] of due) if (told.size === 0) followed.delete(id)
      const wanted = due
        .filter(([, { told }]) => told.size > 0)
        .toSorted(([, one], [, another]) => one.mayAt - another.mayAt)
        .slice(0, mostAtOnce)
      if (wanted.length > 0) await readAgain(wanted)
      else if (due.length === 0) await changes.wait(Math.max(1, Math.min(...[...followed.values()].map(dueAt)) - now))
    }
    isRunning = false
  }

  return (organisation_id, told) => {
    const each = followed.get(organisation_id) ?? { told: new Set(), latest: undefined, isBehind: true, mayAt: 0 }
    followed.set(organisation_id, each)
    if (each.told.size === 0) each.isBehind = true
    each.told.add(told)
    if (each.latest) told(each.latest)
    if (isRunning) changes.notify()
    else void run()
    return () => {
      each.told.delete(told)
    }
  }
}
