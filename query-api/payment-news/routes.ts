import { z } from 'zod'
import { NewsKind } from '#domain/payment-news/events.ts'
import { ApplicationId, Pence, PolicyId } from '#domain/values.ts'
import { teamRoute, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { newestFirstRoute, type ListedRow } from '../newest-first.ts'

const PaymentNews = z
  .object({
    id: z.uuid(),
    kind: NewsKind,
    provider_event_id: z.string(),
    application_id: ApplicationId.nullable(),
    policy_id: z.uuid().nullable(),
    premium_id: z.uuid().nullable(),
    mandate_id: z.uuid().nullable(),
    payment_intent_id: z.string().nullable(),
    amount_pence: Pence.nullable(),
    failure_code: z.string().nullable(),
    received_at: z.iso.datetime(),
  })
  .meta({ id: 'PaymentNews' })
/** Notices that the payment provider sends by itself, for the operator. */
export const paymentNewsRoute = ({ pool }: { readonly pool: Database }): Route =>
  newestFirstRoute(pool, {
    team: teamRoute('finance'),
    address: '/admin/v1/organisations/:organisation_id/payment_news',
    summary: 'List what the payment provider has told of by itself, newest first',
    table: 'payment_news',
    time: 'received_at',
    filters: { application_id: ApplicationId, policy_id: PolicyId },
    item: PaymentNews,
    // What is shown is named by the schema.
    show: ({ id, at, document }: ListedRow<object>) =>
      PaymentNews.parse({ ...document, id, received_at: at.toISOString() }),
  })
