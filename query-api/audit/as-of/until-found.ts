import { setTimeout as pause } from 'node:timers/promises'
import { realNow } from '#infra/clock.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { Problem } from '#infra/http/problem.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { foundUpTo } from '../search.ts'
import type { Moment } from './moment.ts'

const withinMs = 2_000
const everyMs = 50
/** So long ago: what was known then is found by now, unless the read model is made again. */
const longAgoMs = 60_000

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

/** Waits until all records of a moment are found; 503 when they are not in time. A position of another log is refused. */
export const untilFound = async (
  { db, eventLog }: { readonly db: Database; readonly eventLog: Pick<EventLog, 'head'> },
  { position, known_at }: Moment,
  readModel?: ReadModel,
): Promise<void> => {
  const head = await eventLog.head()
  if (head === undefined) return
  if (position !== undefined && shapeOf(position) !== shapeOf(head)) throw unknownPosition()
  if (known_at !== undefined && Date.parse(known_at) < realNow() - longAgoMs) return
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
