import { idOf, organisationOf, type EventShapes, type Json } from '#domain/event.ts'
import type { Projection } from './projection.ts'

type Row = {
  readonly organisation_id: string
  readonly record_id: string
  readonly revision: number
  readonly event_id: string
  readonly type: string
  readonly actor_type: string
  readonly actor_id: string | null
  readonly occurred_at: string
  /** What happened, without what is personal. */
  readonly document: Json
}

type Timeline<Shapes extends EventShapes> = Projection<Shapes, Row, 'organisation_id' | 'record_id' | 'revision'>

type Options<Shapes> = {
  readonly name: string
  readonly version: number
  readonly category: string
  readonly events: Shapes
}

/** Everything that ever happened to the records of a category, in its order. */
export const timelineOf = <Shapes extends EventShapes>({
  name,
  version,
  category,
  events,
}: Options<Shapes>): Timeline<Shapes> => ({
  name,
  version,
  categories: [category],
  events,
  awaited: 'never',
  table: {
    columns: {
      organisation_id: 'uuid',
      record_id: 'uuid',
      revision: 'integer',
      event_id: 'uuid',
      type: 'text',
      actor_type: 'text',
      actor_id: 'text',
      occurred_at: 'timestamptz',
      document: 'json',
    },
    key: ['organisation_id', 'record_id', 'revision'],
  },

  keys: (_event, recorded) => [
    { organisation_id: organisationOf(recorded), record_id: idOf(recorded.stream), revision: recorded.revision },
  ],

  project: (_row, { type, ...data }, { id, metadata: { actor, occurred_at } }, key) => ({
    ...key,
    event_id: id,
    type,
    actor_type: actor.type,
    actor_id: actor.id,
    occurred_at,
    document: withoutPersonal(events, type, data),
  }),
})

const withoutPersonal = (events: EventShapes, type: string, data: Json): Json =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !events[type]?.personal.includes(name)))
