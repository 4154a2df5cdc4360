import { fromStored, type EventOf, type EventShapes, type Json, type RecordedEvent } from '#domain/event.ts'
import type { LifecycleEventType } from '#domain/workflows/events.ts'

/** What must be remembered of earlier events to tell of a later one. Nothing that identifies a person. */
export type Facts = { readonly application_id: string; readonly product_id: string } & Json

type Told = { readonly type: LifecycleEventType; readonly payload: Json }

/** How the stored events of one kind of aggregate are told to receivers, with its type parameters taken away. */
export type Lifecycle = {
  readonly aggregate: string
  readonly types: readonly string[]
  readonly idOf: (recorded: RecordedEvent) => string
  /** The facts after an event. */
  readonly remember: (facts: Facts | undefined, recorded: RecordedEvent) => Facts
  /** What receivers are told of an event, given the facts after it. */
  readonly tell: (facts: Facts, recorded: RecordedEvent) => Told
}

type Spec<Shapes extends EventShapes, Own extends Facts> = {
  readonly aggregate: string
  /** The stored events that are told, and no others. */
  readonly events: Shapes
  readonly idOf: (event: EventOf<Shapes>, recorded: RecordedEvent) => string
  readonly remember: (facts: Own | undefined, event: EventOf<Shapes>, recorded: RecordedEvent) => Own | undefined
  readonly tell: (event: EventOf<Shapes>, facts: Own) => Told
}

/** The published names and payloads of a capability's events: a stored event may change, these may not. */
export const lifecycle = <Shapes extends EventShapes, Own extends Facts>(spec: Spec<Shapes, Own>): Lifecycle => {
  const { aggregate, events, idOf, remember, tell } = spec
  return {
    aggregate,
    types: Object.keys(events),
    idOf: (recorded) => idOf(fromStored(events, recorded), recorded),
    remember: (earlier, recorded) => {
      // What this very capability has remembered.
      const facts = remember(earlier as Own | undefined, fromStored(events, recorded), recorded)
      if (!facts) throw new Error(`${recorded.type} ${recorded.id}: its ${aggregate} never began.`)
      return facts
    },
    tell: (facts, recorded) => tell(fromStored(events, recorded), facts as Own), // as above
  }
}
