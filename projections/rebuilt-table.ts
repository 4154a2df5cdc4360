import type { ClientBase } from 'pg'
import type { RecordedEvent } from '#domain/event.ts'
import { setAside, withoutWaiting, type Unhandled } from '#infra/consumers/set-aside.ts'
import { reasonOf } from '#infra/reason.ts'
import { applyEvents } from './fold.ts'
import type { SomeProjection } from './projection.ts'
import type { Table } from './table.ts'

/**
 * Fills a table that is being rebuilt, next to the one in use. A record with an event that cannot be folded is set aside under
 * the name of the consumer that fills it, as it is in the table in use.
 */
export const rebuiltTable = (projection: SomeProjection, table: Table, consumer: string) => {
  const unhandled = (event: RecordedEvent, error: unknown): Unhandled => ({
    event,
    record: event.stream,
    reason: reasonOf(error),
  })

  return {
    apply: async (db: ClientBase, events: readonly RecordedEvent[]): Promise<void> => {
      const failed: Unhandled[] = []
      const open = await withoutWaiting(db, consumer, events)
      await applyEvents(db, projection, table, open, {
        setEventAside: (event, error) => failed.push(unhandled(event, error)),
      })
      await setAside(db, consumer, failed)
    },
    setAside: (db: ClientBase, event: RecordedEvent, error: unknown): Promise<void> =>
      setAside(db, consumer, [unhandled(event, error)]),
  }
}
