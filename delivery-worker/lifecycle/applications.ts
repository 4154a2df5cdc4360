import type { Pool } from 'pg'
import { renderApplication, type Application, type ApplicationRecord } from '#domain/applications/record.ts'
import { idOf, type EventOf, type Json } from '#domain/event.ts'
import { lifecycle } from '#domain/workflows/events.ts'
import { subjectKind } from '../capability.ts'
import { peopleShown, pick, readDocuments } from '../sending/snapshot.ts'

const { events: sent, names } = lifecycle.application

type Facts = { readonly product_id: string }

const payloadOf = (event: EventOf<typeof sent>): Json => {
  if (event.type === 'ApplicationAbandoned') return { reason: event.reason }
  if (event.type === 'MarketSearchCompleted') return { request_id: event.request_id }
  if (event.type === 'MarketSearchFailed') return { request_id: event.request_id, failure_code: event.failure_code }
  if (event.type === 'ApplicationReopened') return { from: event.from }
  return event.type === 'ApplicationAccepted' || event.type === 'ApplicationGivenBack' ? { from: 'referred' } : {}
}

/** The reason of a decline, referral or postponement is not sent: it gives an underwriting answer away. */
export const applications = subjectKind<typeof sent, Facts>({
  type: 'application',
  categories: ['application'],
  events: sent,
  readModels: ['applications'],
  idOf: (_event, { stream }) => idOf(stream),
  remember: (facts, event) => (event.type === 'ApplicationStarted' ? { product_id: event.product_id } : facts),
  people: peopleShown,
  happening: (event) => ({
    type: names[event.type],
    payload: payloadOf(event),
  }),
  readSnapshots: async (pool, subjects) => {
    const applicationOf = await readApplications(pool, subjects)
    return (id) => {
      const application = applicationOf(id)
      return application && applicationSnapshot(application)
    }
  },
})

/** Reads the documents that the projection of applications has written. */
export const readApplications = (
  pool: Pool,
  subjects: readonly { readonly organisation_id: string; readonly id: string }[],
): Promise<(id: string) => ApplicationRecord | undefined> => readDocuments(pool, 'applications', subjects)

export const applicationSnapshot = (record: ApplicationRecord): Json => ({
  application: pick(renderApplication(record, null), fields),
  customer: record.customer,
})

/**
 * Sent data is named field by field. Answers, and anything that reveals one, must not be sent by a field that is added one
 * day. Nor must the share token.
 */
const fields: readonly (keyof Omit<Application, 'share_token'>)[] = [
  'id',
  'display_id',
  'status',
  'idempotency_key',
  'product_id',
  'journey_id',
  'customer',
  'joint_customer',
  'cover_amount_pence',
  'term_years',
  'policy_id',
  'abandoned_reason',
  'inline_bacs_mandate',
  'direct_debit_first',
  'stripe_test_mode',
  'marketing_answered',
  'created_at',
  'updated_at',
]
