export type Row = {
  readonly organisation_id: string
  /** What is due: the name of a timer of command-api. */
  readonly kind: string
  readonly id: string
  /** The stream that the timer's command changes. */
  readonly stream: string
  readonly due_at: string
  /** Where each event puts it off: by how many days. */
  readonly after_days: number | null
}
