import { idOf, organisationOf } from '#domain/event.ts'
import { claimEvents } from '#domain/claims/events.ts'
import { evolveClaim, type Claim } from '#domain/claims/record.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly id: string
  readonly policy_id: string
  readonly status: string
  readonly opened_at: string
  readonly document: Claim
}

/** Every claim, folded from its events. */
export const claims: Projection<typeof claimEvents, Row, 'organisation_id' | 'id'> = {
  name: 'claims',
  version: 2,
  categories: ['policy'],
  events: claimEvents,
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      policy_id: 'uuid',
      status: 'text',
      opened_at: 'timestamptz',
      document: 'json',
    },
    key: ['organisation_id', 'id'],
    indexes: [
      'organisation_id, opened_at, id',
      'organisation_id, status, opened_at, id',
      'organisation_id, policy_id, opened_at, id',
    ],
  },

  keys: ({ claim_id: id }, recorded) => [{ organisation_id: organisationOf(recorded), id }],

  project: (row, event, { stream, metadata }, key) => {
    const document = evolveClaim(row?.document, event, metadata)
    if (!document) throw new Error(`${event.type} of claim ${key.id}, which was never opened.`)
    const { status, opened_at } = document
    return { ...key, policy_id: idOf(stream), status, opened_at, document }
  },
}
