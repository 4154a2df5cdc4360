import { idOf, organisationOf } from '#domain/event.ts'
import { premiumEvents } from '#domain/premiums/events.ts'
import { evolvePremium, type Premium } from '#domain/premiums/record.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly id: string
  readonly policy_id: string
  readonly status: string
  readonly created_at: string
  readonly document: Premium
}

/** Every premium that was ever due, folded from its events. */
export const premiums: Projection<typeof premiumEvents, Row, 'organisation_id' | 'id'> = {
  name: 'premiums',
  version: 10,
  categories: ['policy'],
  events: premiumEvents,
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      policy_id: 'uuid',
      status: 'text',
      created_at: 'timestamptz',
      document: 'json',
    },
    key: ['organisation_id', 'id'],
    indexes: [
      'organisation_id, created_at, id',
      'organisation_id, status, created_at, id',
      'organisation_id, policy_id, created_at, id',
    ],
  },

  keys: ({ premium_id: id }, recorded) => [{ organisation_id: organisationOf(recorded), id }],

  project: (row, event, { stream, metadata }, key) => {
    const document = evolvePremium(row?.document, event, metadata)
    if (!document) throw new Error(`${event.type} of premium ${key.id}, which was never due.`)
    const { status, created_at } = document
    return { ...key, policy_id: idOf(stream), status, created_at, document }
  },
}
