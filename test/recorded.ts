import { randomUUID } from 'node:crypto'
import {
  toStored,
  type EventOf,
  type EventShapes,
  type Metadata,
  type Position,
  type RecordedEvent,
} from '#domain/event.ts'

let written = 0

/** Events of one stream as the log would give them, each later than all that were made before. */
export const recorded = <Shapes extends EventShapes>(
  shapes: Shapes,
  stream: string,
  events: readonly EventOf<Shapes>[],
  { from = 0, ...metadata }: Partial<Metadata> & { readonly from?: number } = {},
): readonly RecordedEvent[] =>
  events.map((event, index) => {
    const occurred_at = metadata.occurred_at ?? '2026-01-15T12:00:00.000Z'
    return {
      id: randomUUID(),
      ...toStored(shapes, event),
      stream,
      revision: from + index,
      position: String(++written).padStart(20, '0') as Position,
      recorded_at: new Date(occurred_at),
      metadata: {
        organisation_id: null,
        actor: { type: 'system', id: null },
        correlation_id: 'test',
        causation_id: null,
        ...metadata,
        occurred_at,
      },
    }
  })

/** The same events with the revisions that their streams give them in this order. */
export const inStreamOrder = (events: readonly RecordedEvent[]): readonly RecordedEvent[] => {
  const lengths = new Map<string, number>()
  return events.map((event) => {
    const revision = lengths.get(event.stream) ?? 0
    lengths.set(event.stream, revision + 1)
    return { ...event, revision }
  })
}
