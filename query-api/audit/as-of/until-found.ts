import { setTimeout as pause } from 'node:timers/promises'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { Problem } from '#infra/http/problem.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { foundUpTo } from '../search.ts'
import type { Moment } from './moment.ts'

const withinMs = 2_000
const everyMs = 50

type ReadModel = Parameters<typeof foundUpTo>[1]

const positionFound = async (db: Database, readModel: ReadModel): Promise<string | undefined> => {
  const values: unknown[] = []
  const text = foundUpTo((type, value) => `$${values.push(value)}::${type}`, readModel)
  const { rows } = await db.query<{ position: string }>({ text, values })
  return rows[0]?.position
}

const shapeOf = (position: string): string => position.replaceAll(/\d/g, '0')

const unknownPosition = () =>
  new Problem('invalid_parameter', 'Correct the position and send the request again.', {
    fields: { position: 'is not a position of this log' },
  })

/**
 * Waits until all records of a moment are found; 503 when they are not in time. A position of another log is refused. For a time,
 * however long ago, the read model must have come to the end of the log: nothing else says that it has passed that time.
 */
export const untilFound = async (
  { db, eventLog }: { readonly db: Database; readonly eventLog: Pick<EventLog, 'head'> },
  { position }: Moment,
  readModel?: ReadModel,
): Promise<void> => {
  const head = await eventLog.head()
  if (head === undefined) return
  if (position !== undefined && shapeOf(position) !== shapeOf(head)) throw unknownPosition()
  const wanted = position !== undefined && position < head ? position : head
  const deadline = performance.now() + withinMs
  while (((await positionFound(db, readModel)) ?? '') < wanted) {
    if (performance.now() > deadline)
      throw new Problem('unavailable', 'What was stored last cannot be found yet. Send the request again.', {
        headers: { 'Retry-After': '1' },
      })
    await pause(everyMs)
  }
}
