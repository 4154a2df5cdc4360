import type { TimerKind } from '#domain/timer-kinds.ts'

export type Row = {
  readonly organisation_id: string
  readonly kind: TimerKind
  readonly id: string
  /** The stream that the timer's command changes. */
  readonly stream: string
  /** The event that set it. */
  readonly event_id: string
  readonly due_at: string
  /** Days by which each event puts it off; null: none. */
  readonly after_days: number | null
}
