import { idOf, organisationOf, type Json } from '#domain/event.ts'
import { policyEvents } from '#domain/policies/events.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly policy_id: string
  readonly revision: number
  readonly event_id: string
  readonly type: string
  readonly actor_type: string
  readonly actor_id: string | null
  readonly occurred_at: string
  /** What happened, without what is personal. */
  readonly document: Json
}

/** Everything that ever happened to a policy, in its order. */
export const policyTimeline: Projection<typeof policyEvents, Row, 'organisation_id' | 'policy_id' | 'revision'> = {
  name: 'policy_timeline',
  version: 2,
  categories: ['policy'],
  events: policyEvents,
  awaited: false,
  table: {
    columns: {
      organisation_id: 'uuid',
      policy_id: 'uuid',
      revision: 'integer',
      event_id: 'uuid',
      type: 'text',
      actor_type: 'text',
      actor_id: 'text',
      occurred_at: 'timestamptz',
      document: 'json',
    },
    key: ['organisation_id', 'policy_id', 'revision'],
  },

  keys: (_event, recorded) => [
    { organisation_id: organisationOf(recorded), policy_id: idOf(recorded.stream), revision: recorded.revision },
  ],

  project: (_row, { type, ...data }, { id, metadata: { actor, occurred_at } }, key) => ({
    ...key,
    event_id: id,
    type,
    actor_type: actor.type,
    actor_id: actor.id,
    occurred_at,
    document: withoutPersonal(type, data),
  }),
}

const withoutPersonal = (type: keyof typeof policyEvents, data: Json): Json =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !policyEvents[type].personal.includes(name)))
