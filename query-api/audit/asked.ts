import type { Kind } from '#domain/event-kinds.ts'
import type { Position } from '#domain/event.ts'

/** A row of the read model of all events. */
export type EventRow = {
  readonly stream: string
  readonly revision: number
  readonly position: Position
  readonly recorded_at: Date
  readonly occurred_at: Date
  readonly event_id: string
  readonly kind: Kind
  readonly actor_type: string
  readonly actor_id: string | null
  readonly correlation_id: string
  readonly causation_id: string | null
  readonly person_id: string | null
  readonly second_person_id: string | null
}

/** The filters of a search; one that is undefined was not asked for. */
export type Asked = {
  readonly organisation_id: string
  readonly stream?: string | undefined
  readonly person_id?: string | undefined
  readonly actor_type?: string | undefined
  readonly actor_id?: string | undefined
  readonly kinds?: readonly Kind[] | undefined
  readonly correlation_id?: string | undefined
  readonly recorded_since?: string | undefined
  readonly recorded_until?: string | undefined
  readonly occurred_since?: string | undefined
  readonly occurred_until?: string | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}
