import type { RecordedEvent } from '#domain/event.ts'

/** A moment of the log: which of its events are known at it. */
export type Moment = {
  /** Those up to this position. */
  readonly position?: string | undefined
  /** Those that were recorded by then. */
  readonly known_at?: string | undefined
  /** Of these, only those that had happened by then, in business time. */
  readonly happened_at?: string | undefined
}

/** True of an event that is known at the moment. */
export const isKnownAt =
  ({ position, known_at, happened_at }: Moment) =>
  (event: Pick<RecordedEvent, 'position' | 'recorded_at' | 'metadata'>): boolean =>
    (position === undefined || event.position <= position) &&
    (known_at === undefined || event.recorded_at.getTime() <= Date.parse(known_at)) &&
    (happened_at === undefined || Date.parse(event.metadata.occurred_at) <= Date.parse(happened_at))
