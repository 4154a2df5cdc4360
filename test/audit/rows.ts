import { fromStored, type RecordedEvent } from '#domain/event.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { recordedEvents } from '../../projections/audit/projection.ts'

type Row = NonNullable<ReturnType<typeof recordedEvents.project>>

/** What the read model of all events makes of these, in their order. */
export const rowsOf = (events: readonly RecordedEvent[]): readonly Row[] => {
  const rows = new Map<string, Row>()
  const nameOf = ({ organisation_id, stream, revision }: Pick<Row, 'organisation_id' | 'stream' | 'revision'>) =>
    `${organisation_id} ${stream} ${revision}`
  for (const recorded of events) {
    const event = fromStored(storedEvents, recorded)
    for (const key of recordedEvents.keys(event, recorded)) {
      const before = (other: typeof key) => rows.get(nameOf(other))
      const row = recordedEvents.project(before(key), event, recorded, key, before)
      if (row) rows.set(nameOf(key), row)
    }
  }
  return [...rows.values()].toSorted((one, other) => one.revision - other.revision)
}
