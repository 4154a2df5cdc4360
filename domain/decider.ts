import type { Actor, EventOf, EventShapes } from './event.ts'

/** The time of an event, and its cause. */
export type Recorded = { readonly occurred_at: string; readonly actor?: Actor }

/** A pure model of one kind of stream: what a command leads to, and what events add up to. */
export type Decider<Command, Shapes extends EventShapes, State> = {
  /** The first part of the stream's name: `category-id`. */
  readonly category: string
  readonly events: Shapes
  readonly initialState: State
  readonly decide: (command: Command, state: State) => readonly EventOf<Shapes>[]
  readonly evolve: (state: State, event: EventOf<Shapes>, recorded: Recorded) => State
}
