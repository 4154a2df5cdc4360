import type { Pool } from 'pg'
import { categoryOf, fromStored, type EventOf, type EventShapes, type Json, type RecordedEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import type { Exchange, OutboundRequest } from '#infra/guarded-http.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import type { Fill } from './custom-integrations/filling.ts'
import type { Tokens } from './sending/tokens.ts'

/** A record that something is sent about. */
export type Subject = { readonly type: string; readonly id: string }

/** The subject of messages about sending itself. */
export const webhookSubject = 'webhook'

/** An event as it may be sent to receivers. */
export type Happening = {
  readonly event_id: string
  readonly organisation_id: string
  readonly occurred_at: string
  readonly subject: Subject
  /** The part of the subject that it happened to, such as a premium of a policy; left out, the subject itself. */
  readonly aggregate?: Subject
  /** The published name, which receivers rely on: `quote.issued`. */
  readonly type: string
  readonly payload: Json
  /** Facts remembered of the subject. */
  readonly facts: Json
}

/** The published form of an event. */
type Published = Pick<Happening, 'type' | 'payload' | 'aggregate'> & {
  /** Read models that it waits for beside those of its kind. They follow other streams, which costs a third of a second. */
  readonly alsoWaitsFor?: readonly string[]
}

/** The subject that a snapshot is wanted of, and the event that is sent about it. */
export type Wanted = { readonly organisation_id: string; readonly id: string; readonly event_id: string }

/** Gives the snapshot of a subject as it is now; undefined when the read models do not have it. */
export type Snapshots = (id: string, now: Date, event_id: string) => Json | undefined

/** A kind of record that something is sent about, with its type parameters taken away. */
export type SubjectKind = {
  readonly type: string
  readonly categories: readonly string[]
  readonly events: readonly string[]
  /** The read models of the snapshot: nothing is sent before they have passed the event, or while the record is set aside. */
  readonly readModels: readonly string[]
  readonly idOf: (recorded: RecordedEvent) => string
  /** The facts after an event; undefined when the subject began with an earlier event and nothing is known of it. */
  readonly remember: (facts: Json | undefined, recorded: RecordedEvent) => Json | undefined
  /** Undefined for an event that only the organisation's own team is concerned with. */
  readonly happening: (facts: Json, recorded: RecordedEvent) => Published | undefined
  /** Snapshots that bodies need beside the message, with one statement for many. They may replace parts of the message. */
  readonly readSnapshots: (pool: Pool, subjects: readonly Wanted[]) => Promise<Snapshots>
  /** The people whose data is sent with a snapshot: once one of them is erased, nothing is sent any more. */
  readonly people: (id: string, snapshot: Json | undefined) => readonly string[]
}

type SubjectDescription<Shapes extends EventShapes, Facts extends Json> = Pick<
  SubjectKind,
  'type' | 'categories' | 'readModels' | 'readSnapshots' | 'people'
> & {
  /** The stored events that are sent, and no others. */
  readonly events: Shapes
  readonly idOf: (event: EventOf<Shapes>, recorded: RecordedEvent) => string
  /** The facts of earlier events that are needed to plan a later one. Nothing that identifies a person. */
  readonly remember: (facts: Facts | undefined, event: EventOf<Shapes>) => Facts | undefined
  readonly happening: (event: EventOf<Shapes>, facts: Facts) => Published | undefined
}

/** Describes what is sent about a kind of record. Its published names and payloads stay when a stored event changes. */
export const subjectKind = <Shapes extends EventShapes, Facts extends Json>({
  events,
  idOf,
  remember,
  happening,
  ...rest
}: SubjectDescription<Shapes, Facts>): SubjectKind => ({
  ...rest,
  events: Object.keys(events),
  idOf: (recorded) => idOf(fromStored(events, recorded), recorded),
  // The facts are what this kind itself has remembered.
  remember: (facts, recorded) => remember(facts as Facts | undefined, fromStored(events, recorded)),
  happening: (facts, recorded) => happening(fromStored(events, recorded), facts as Facts),
})

export type ActionFacts = { readonly active: boolean; readonly removed: boolean } & Json

/** The key in an action's `settled` for the endpoint of an integration that is called. */
export const endpointKey = '$endpoint'

/** One of the things that follow an event: its own delivery over its own connection. */
export type ActionPart = {
  readonly action_id: string
  readonly connection_id: string
  /** Settings for its connection beside the body; receivers do not see them. */
  readonly settled?: Json
}

/** A kind of action that an organisation sets up: what is sent over which connection, with its type parameters taken away. */
export type ActionKind = {
  readonly type: string
  readonly categories: readonly string[]
  readonly events: readonly string[]
  readonly learn: (facts: Json | undefined, recorded: RecordedEvent) => ActionFacts
  readonly parts: (facts: Json, id: string) => readonly ActionPart[]
  /** The ids of parts that it had once. */
  readonly removedParts: (facts: Json) => readonly string[]
  readonly asksFor: (facts: Json, happening: Happening) => boolean
  /** The body without the snapshot, as it is settled when the event is planned. */
  readonly message: (facts: Json, happening: Happening) => Json
}

type ActionDescription<Shapes extends EventShapes, Facts extends ActionFacts> = Pick<
  ActionKind,
  'type' | 'categories'
> & {
  readonly events: Shapes
  /** Undefined when there is no such action. */
  readonly learn: (facts: Facts | undefined, event: EventOf<Shapes>) => Facts | undefined
  /** `id` is that of the stream. */
  readonly parts: (facts: Facts, id: string) => readonly ActionPart[]
  /** None for a kind whose parts do not change. */
  readonly removedParts?: (facts: Facts) => readonly string[]
  readonly asksFor: (facts: Facts, happening: Happening) => boolean
  readonly message: (facts: Facts, happening: Happening) => Json
}

export const actionKind = <Shapes extends EventShapes, Facts extends ActionFacts>({
  events,
  learn,
  parts,
  removedParts = () => [],
  asksFor,
  message,
  ...rest
}: ActionDescription<Shapes, Facts>): ActionKind => ({
  ...rest,
  events: Object.keys(events),
  // The facts are what this kind itself has learned.
  learn: (facts, recorded) => created(learn(facts as Facts | undefined, fromStored(events, recorded)), recorded),
  parts: (facts, id) => parts(facts as Facts, id),
  removedParts: (facts) => removedParts(facts as Facts),
  asksFor: (facts, happening) => asksFor(facts as Facts, happening),
  message: (facts, happening) => message(facts as Facts, happening),
})

export type ConnectionFacts = { readonly removed: boolean } & Json

/** One attempt to send, over a connection. */
export type Sending = {
  readonly id: string
  readonly organisation_id: string
  readonly connection_id: string
  readonly body: string
  readonly keys: Keys
  readonly now: Date
}

/** The means that an attempt may need before it can be sent. */
export type Outside = { readonly db: Pick<Pool, 'query'>; readonly tokens: Tokens; readonly fill: Fill }

export type MadeRequest = OutboundRequest & {
  /** The address as it is kept with the attempt, where the real one may hold something of a person. */
  readonly kept_url?: string
}

type Answered = Extract<Exchange, { outcome: 'answered' }>

/** A kind of connection that deliveries are sent over, with its type parameters taken away. */
export type ConnectionKind = {
  readonly type: string
  readonly categories: readonly string[]
  readonly events: readonly string[]
  readonly learn: (facts: Json | undefined, recorded: RecordedEvent) => ConnectionFacts
  /** The material of the request: the facts, and what must be read or asked for at this moment. */
  readonly prepare: (facts: Json, sending: Sending, outside: Outside) => Promise<Json>
  readonly request: (prepared: Json, sending: Sending) => MadeRequest
  /** True where the request's proof of itself is of no use any more, so that it is made once more. */
  readonly isStale: (prepared: Json, sending: Sending, outside: Outside, answer: Answered) => boolean
  /** The integration whose log has the attempts; undefined where they are not logged. */
  readonly integrationOf: (facts: Json) => string | undefined
}

type ConnectionDescription<Shapes extends EventShapes, Facts extends ConnectionFacts, Prepared extends Facts> = Pick<
  ConnectionKind,
  'type' | 'categories'
> & {
  readonly events: Shapes
  /** Undefined when there is no such connection. */
  readonly learn: (facts: Facts | undefined, event: EventOf<Shapes>) => Facts | undefined
  readonly prepare?: (facts: Facts, sending: Sending, outside: Outside) => Promise<Prepared>
  readonly request: (prepared: Prepared, sending: Sending) => MadeRequest
  readonly isStale?: (prepared: Prepared, sending: Sending, outside: Outside, answer: Answered) => boolean
  readonly integrationOf?: (facts: Facts) => string
}

export const connectionKind = <
  Shapes extends EventShapes,
  Facts extends ConnectionFacts,
  Prepared extends Facts = Facts,
>({
  events,
  learn,
  prepare,
  request,
  isStale,
  integrationOf,
  ...rest
}: ConnectionDescription<Shapes, Facts, Prepared>): ConnectionKind => ({
  ...rest,
  events: Object.keys(events),
  // The facts are what this kind itself has learned.
  learn: (facts, recorded) => created(learn(facts as Facts | undefined, fromStored(events, recorded)), recorded),
  // What is prepared is made by this kind itself; without a way to prepare it, it is the facts.
  prepare: async (facts, ...attempt) => (prepare ? prepare(facts as Facts, ...attempt) : facts),
  request: (prepared, sending) => request(prepared as Prepared, sending),
  isStale: (prepared, ...attempt) => isStale?.(prepared as Prepared, ...attempt) ?? false,
  integrationOf: (facts) => integrationOf?.(facts as Facts),
})

const created = <Facts>(facts: Facts | undefined, { type, stream }: RecordedEvent): Facts => {
  if (!facts) throw new OwnError(`${type} in ${stream}, which was never created.`)
  return facts
}

/** All that can be sent: about what, because of which actions, over which connections. */
export type Capabilities = {
  readonly subjects: readonly SubjectKind[]
  readonly actions: readonly ActionKind[]
  readonly connections: readonly ConnectionKind[]
}

/** The kind of subject, action or connection that an event belongs to. */
export const kindOf = <Kind extends { readonly categories: readonly string[]; readonly events: readonly string[] }>(
  kinds: readonly Kind[],
  { type, stream }: RecordedEvent,
): Kind | undefined =>
  kinds.find(({ categories, events }) => events.includes(type) && categories.includes(categoryOf(stream)))

export const kindNamed = <Kind extends { readonly type: string }>(kinds: readonly Kind[], type: string): Kind => {
  const kind = kinds.find((each) => each.type === type)
  if (!kind) throw new OwnError(`This version of the delivery worker does not know ${JSON.stringify(type)}.`)
  return kind
}
