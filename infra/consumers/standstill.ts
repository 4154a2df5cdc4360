import type { Pool } from 'pg'
import type { Position } from '#domain/event.ts'
import type { EventLog } from '../event-log/event-log.ts'
import { sql } from '../postgres/postgres.ts'
import { withTimeout } from '../timeout.ts'
import type { ConsumerStatus } from './consumer.ts'

/** The time, by consumer, since when something waits for it that the working process does not come to. */
export type Standstills = ReadonlyMap<string, Date>

type Parts = { readonly pool: Pool; readonly storedLog: Pick<EventLog, 'readAll' | 'measure' | 'head'> }

const standsStillAfterMs = 30_000
/** Health answers within two seconds, whatever is away. */
const lookMs = 1_000

/** The consumers on standby here whose process elsewhere has not moved for half a minute although it could. */
export const standstills = async (parts: Parts, statuses: readonly ConsumerStatus[]): Promise<Standstills> => {
  const names = statuses.filter(({ state }) => state === 'standing by').map(({ name }) => name)
  if (names.length === 0) return new Map()
  return withTimeout(look(parts, names), lookMs).catch(() => new Map<string, Date>())
}

const look = async ({ pool, storedLog }: Parts, names: readonly string[]): Promise<Standstills> => {
  const { rows } = await pool.query<{ name: string; position: Position | null; before: Date }>(sql`
    select name, position, now() - make_interval(secs => ${standsStillAfterMs / 1_000}) as before
    from consumer_checkpoint
    where name = any (${names}) and updated_at < now() - make_interval(secs => ${standsStillAfterMs / 1_000})`)
  const head = await storedLog.head()
  const behind = rows.filter(({ position }) => head !== undefined && (position === null || position < head))
  const waitsSince = waitingSince(storedLog)
  const found = await Promise.all(
    behind.map(async ({ name, position, before }) => {
      const since = await waitsSince(position)
      return since && since < before ? ([[name, since]] as const) : []
    }),
  )
  return new Map(found.flat())
}

/** Says since when something waits behind a position. Those that stand still mostly stand at the same place. */
export const waitingSince = (
  log: Pick<EventLog, 'readAll'>,
): ((position: Position | null) => Promise<Date | undefined>) => {
  const firstAfter = new Map<Position | null, Promise<Date | undefined>>()
  return (position) => {
    const known = firstAfter.get(position)
    const since = known ?? timeOfNext(log, position)
    firstAfter.set(position, since)
    return since
  }
}

const timeOfNext = async (log: Pick<EventLog, 'readAll'>, position: Position | null): Promise<Date | undefined> => {
  const [next] = await log.readAll({ ...(position !== null && { beyond: position }), limit: 1 })
  return next?.recorded_at
}

/** The state of a consumer that is on standby, as shown. */
export const waitingBehind = (since: Date | undefined): string =>
  since === undefined
    ? 'standing by'
    : `standing by, but the process that does this work makes no progress: an event waits since ${since.toISOString()}`
