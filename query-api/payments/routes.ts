import { z } from 'zod'
import { ApplicationId, CurrencyCode, OrganisationId, Pence, QuoteId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { teamRoute, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { listParameters, newestFirst, type ListedRow } from '../newest-first.ts'

const common = {
  id: z.uuid(),
  application_id: ApplicationId,
  quote_id: QuoteId,
  provider_reference: z.string().nullable(),
  created_at: z.iso.datetime(),
}

const cardStatuses = ['open', 'authorised', 'succeeded', 'returning', 'returned'] as const
const mandateStatuses = ['pending', 'active', 'failed', 'cancelled'] as const
const statuses: Readonly<Record<string, readonly string[]>> = { card_payment: cardStatuses, mandate: mandateStatuses }

const CardPayment = z.object({
  kind: z.literal('card_payment'),
  ...common,
  status: z.enum(cardStatuses),
  amount_pence: Pence,
  currency_code: CurrencyCode,
  card_brand: z.string().nullable(),
  card_last4: z.string().nullable(),
  paid_at: z.iso.datetime().nullable(),
  policy_id: z.uuid().nullable(),
  return_reason: z.string().nullable(),
  returned_at: z.iso.datetime().nullable(),
  returned_pence: Pence,
  closed_as: z
    .enum(['paid_otherwise', 'not_owed', 'taken_back'])
    .nullable()
    .describe('How what was owed came to its end without the provider.'),
  failure_code: z.string().nullable().describe('Why the last attempt to pay, or to settle what is owed, has failed.'),
  failed_attempts: z.int(),
  is_left: z.boolean().describe('What is owed has failed so often that it is left to the team.'),
  note: z.string().nullable().describe('The reason that the team gave last, in words.'),
})

const Mandate = z.object({
  kind: z.literal('mandate'),
  ...common,
  status: z.enum(mandateStatuses),
  account_number_last4: z.string().nullable(),
})

const Payment = z.discriminatedUnion('kind', [CardPayment, Mandate]).meta({ id: 'Payment' })
type Payment = z.infer<typeof Payment>

const besides = ['kind', 'application_id', 'quote_id', 'reference'] as const
type Besides = Readonly<Record<(typeof besides)[number], string | null>>
type Row = ListedRow<object, Besides>

const list = { table: 'payments', time: 'created_at', besides } as const

/** The schema names the fields shown: whatever else the row has stays there. */
const shown = ({ reference, at, document, ...row }: Row): Payment =>
  Payment.parse({ ...document, ...row, provider_reference: reference, created_at: at.toISOString() })

const address = '/admin/v1/organisations/:organisation_id/payments'

type Deps = { readonly pool: Database; readonly db: Database }

const nothing: { status: 200; body: { data: Payment[]; next_cursor: null } } = {
  status: 200,
  body: { data: [], next_cursor: null },
}

/** Card payments and mandates, for the operator. */
export const paymentRoutes = ({ pool, db }: Deps): Route[] => [
  route(
    {
      ...teamRoute('policies', 'finance'),
      method: 'get',
      address,
      summary: 'List the card payments and Direct Debit mandates of an organisation, newest first',
      path: z.object({ organisation_id: OrganisationId }),
      query: z.object({
        ...listParameters,
        kind: z.enum(['card_payment', 'mandate']).optional(),
        status: z.enum([...cardStatuses, ...mandateStatuses]).optional(),
        application_id: ApplicationId.optional(),
      }),
      answers: { 200: z.object({ data: z.array(Payment), next_cursor: z.string().nullable() }) },
    },
    async ({ path, query: { kind, status, application_id, ...asked } }) => {
      // Each status is of one kind. Nothing has a status of the other kind, and looking for it would read them all.
      if (kind && status && statuses[kind]?.includes(status) !== true) return nothing
      const filters = { ...(status === undefined ? { kind } : { status }), application_id }
      const { page, next_cursor } = await newestFirst<object, Besides>(pool, list, { ...path, ...asked }, filters)
      return { status: 200, body: { data: page.map(shown), next_cursor } }
    },
  ),
  route(
    {
      ...teamRoute('policies', 'finance'),
      method: 'get',
      address: `${address}/:id`,
      summary: 'Show a card payment or a mandate',
      path: z.object({ organisation_id: OrganisationId, id: z.uuid() }),
      answers: { 200: z.object({ data: Payment }) },
    },
    async ({ path: { organisation_id, id } }) => {
      const { rows } = await db.query<Row>({
        name: 'payment-by-id',
        ...sql`select id, kind, application_id, quote_id, reference, created_at as at, document from payments
          where organisation_id = ${organisation_id} and id = ${id}`,
      })
      const [row] = rows
      if (!row) throw notFound('payment')
      return { status: 200, body: { data: shown(row) } }
    },
  ),
]
