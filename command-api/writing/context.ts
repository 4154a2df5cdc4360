import type { Makers } from '#domain/makers.ts'
import type { Metadata, Position } from '#domain/event.ts'

/** The event that a reaction reacts to. Everything that the reaction appends because of it is derived from this. */
export type Cause = {
  readonly event_id: string
  /** The stream of the event. */
  readonly stream: string
  readonly position: Position
  /** True where the event was set aside, so that later causes may have come first. */
  readonly resumed: boolean
  readonly reaction: string
  /**
   * The only stream that the reaction may write to because of this event; null: it writes to any, and what it asks for is
   * known to have been done by its content.
   */
  readonly target: string | null
  /** Aborted when the process may no longer react, because another may. */
  readonly signal: AbortSignal
}

/** The actor, the cause and the time of a command. */
export type Context = Pick<Metadata, 'organisation_id' | 'actor' | 'correlation_id'> & {
  readonly cause?: Cause
  /** The event that the command follows from where no reaction sends it: that by which a timer was set. */
  readonly follows?: string
  /** The answer need not wait until read models show what was written: nobody waits for it, or whoever reads it waits. */
  readonly isShownLater?: true
  /** It was approved, for a stream whose last event this was; null: it had none. */
  readonly approved?: { readonly revision: number | null }
  /** Who made the key, or the link, by which the actor is known. */
  readonly key_made_by?: Makers
  /** ISO 8601. */
  readonly now: string
}
