import { z } from 'zod'
import { NewsKind } from '#domain/payment-news/events.ts'
import { ApplicationId, OrganisationId, Pence, PolicyId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { listParameters, newestFirst } from '../newest-first.ts'

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
type PaymentNews = z.infer<typeof PaymentNews>

type Row = { readonly id: string; readonly at: Date; readonly document: object }

/** What is shown is named by the schema. */
const shown = ({ id, at, document }: Row): PaymentNews =>
  PaymentNews.parse({ ...document, id, received_at: at.toISOString() })

/** What the payment provider has told by itself, for the operator. */
export const paymentNewsRoutes = ({ pool }: { readonly pool: Database }): Route[] => [
  route(
    {
      method: 'get',
      address: '/admin/v1/organisations/:organisation_id/payment_news',
      tag: 'Operator',
      summary: 'List what the payment provider has told of by itself, newest first',
      access: { kind: 'operator' },
      path: z.object({ organisation_id: OrganisationId }),
      query: z.object({
        ...listParameters,
        application_id: ApplicationId.optional(),
        policy_id: PolicyId.optional(),
      }),
      answers: { 200: z.object({ data: z.array(PaymentNews), next_cursor: z.string().nullable() }) },
    },
    async ({ path: { organisation_id }, query: { application_id, policy_id, ...asked } }) => {
      const { page, next_cursor } = await newestFirst<object>(pool, {
        ...asked,
        organisation_id,
        table: 'payment_news',
        time: 'received_at',
        filters: { application_id, policy_id },
      })
      return { status: 200, body: { data: page.map(shown), next_cursor } }
    },
  ),
]
