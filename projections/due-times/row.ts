export type Row = {
  readonly organisation_id: string
  /** The name of a timer of command-api. */
  readonly kind: string
  readonly id: string
  /** The stream that the timer's command changes. */
  readonly stream: string
  readonly due_at: string
  /** Days by which each event puts it off; null: none. */
  readonly after_days: number | null
}
