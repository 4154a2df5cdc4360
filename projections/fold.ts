import type { ClientBase } from 'pg'
import { fromStored, type RecordedEvent } from '#domain/event.ts'
import type { Sender } from '#infra/consumers/follow.ts'
import type { Row, SomeProjection } from './projection.ts'
import type { Table } from './table.ts'

type Keys = (event: unknown, recorded: RecordedEvent) => readonly Row[]
type Project = (row: Row | undefined, event: unknown, recorded: RecordedEvent, key: Row) => Row | undefined

type Touched = { readonly key: Row; readonly before: Row | undefined; now: Row | undefined }

type Touch = { readonly identity: string; readonly key: Row; readonly event: unknown; readonly recorded: RecordedEvent }

/**
 * Applies events to a table, in their order: loads the rows that they touch in one statement, folds in memory, and writes
 * what has changed in one statement, or two if rows disappear, which may be given to somebody else to send. To be called in a
 * transaction, by one writer at a time.
 */
export const applyEvents = async (
  db: ClientBase,
  projection: SomeProjection,
  table: Table,
  events: readonly RecordedEvent[],
  writer: Sender = db,
): Promise<void> => {
  // That events, rows and keys fit together was checked where the projection was declared.
  const keys = projection.keys as Keys
  const project = projection.project as Project
  const touches: Touch[] = []
  const touchedKeys = new Map<string, Row>()
  for (const recorded of events) {
    const event = fromStored(projection.events, recorded)
    const own = new Set<string>()
    for (const key of keys(event, recorded)) {
      const identity = table.identityOf(key)
      // An event that names a row twice still counts once for it.
      if (own.has(identity)) continue
      own.add(identity)
      touches.push({ identity, key, event, recorded })
      touchedKeys.set(identity, key)
    }
  }

  const names = projection.table.key
  const hasKey = (row: Row, key: Row) => names.every((name) => row[name] === key[name])
  const rows = new Map<string, Touched>()
  for (const row of await table.load(db, [...touchedKeys.values()]))
    rows.set(table.identityOf(row), { key: row, before: row, now: row })

  for (const { identity, key, event, recorded } of touches) {
    const row = rows.get(identity)
    const now = project(row?.now, event, recorded, key)
    if (now && !hasKey(now, key) && table.identityOf(now) !== identity)
      throw new Error(`${projection.name} made of a row another one, with another key, at ${recorded.type}.`)
    if (row) row.now = now
    else rows.set(identity, { key, before: undefined, now })
  }

  const touched = [...rows.values()]
  await table.save(
    writer,
    touched.flatMap(({ before, now }) => (now && now !== before ? [now] : [])),
  )
  await table.remove(
    writer,
    touched.flatMap(({ key, before, now }) => (before && !now ? [key] : [])),
  )
}
