import { z } from 'zod'
import { NewsKind } from '#domain/payment-news/events.ts'
import { ApplicationId, OrganisationId, Pence, PolicyId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { highestId, pageOf, pageParameters, placeOf } from '../page.ts'

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

type Row = { readonly id: string; readonly received_at: Date; readonly document: object }

/** What is shown is named by the schema. */
const shown = ({ id, received_at, document }: Row): PaymentNews =>
  PaymentNews.parse({ ...document, id, received_at: received_at.toISOString() })

/** What the payment provider has told by itself, for the operator. */
export const paymentNewsRoutes = ({ db }: { readonly db: Database }): Route[] => [
  route(
    {
      method: 'get',
      address: '/admin/v1/organisations/:organisation_id/payment_news',
      tag: 'Operator',
      summary: 'List what the payment provider has told of by itself, newest first',
      access: { kind: 'operator' },
      path: z.object({ organisation_id: OrganisationId }),
      query: z.object({
        ...pageParameters,
        application_id: ApplicationId.optional(),
        policy_id: PolicyId.optional(),
      }),
      answers: { 200: z.object({ data: z.array(PaymentNews), next_cursor: z.string().nullable() }) },
    },
    async ({ path: { organisation_id }, query: { limit, cursor, application_id, policy_id } }) => {
      const { at, id } = cursor === undefined ? { at: 'infinity', id: highestId } : placeOf(cursor)
      // A condition that is not asked for is left out, so that the right index is used.
      const asked = Object.entries({ application_id, policy_id })
        .filter(([, value]) => value !== undefined)
        .map(([column, value], index) => ({ text: `and ${column} = $${index + 5}`, value }))
      const { rows } = await db.query<Row>({
        text: `select id, received_at, document from payment_news
          where organisation_id = $1 and (received_at, id) < ($2, $3) ${asked.map(({ text }) => text).join(' ')}
          order by received_at desc, id desc limit $4`,
        values: [organisation_id, at, id, limit + 1, ...asked.map(({ value }) => value)],
      })
      const { page, next_cursor } = pageOf(rows, limit, (row) => ({ at: row.received_at, id: row.id }))
      return { status: 200, body: { data: page.map(shown), next_cursor } }
    },
  ),
]
