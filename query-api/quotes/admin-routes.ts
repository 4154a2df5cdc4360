import { z } from 'zod'
import { ShownStep, shownSteps } from '#domain/checkout/record.ts'
import { Quote, QuoteStatus } from '#domain/quotes/record.ts'
import { ApplicationId, OrganisationId, ProductId, QuoteId } from '#domain/values.ts'
import { notFound } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { listParameters, newestFirst } from '../newest-first.ts'
import { findSale, sha256 } from './sale.ts'

const operator = { tag: 'Operator', access: { kind: 'operator' } } as const

type Deps = { readonly pool: Database; readonly db: Database }

/** Quotes as the operator sees them: whole, with what priced them. */
export const quoteAdminRoutes = ({ pool, db }: Deps): Route[] => [
  route(
    {
      ...operator,
      method: 'get',
      address: '/admin/v1/quotes',
      summary: 'List the quotes of an organisation, newest first; since and until are about when they were issued',
      query: z.object({
        organisation_id: OrganisationId,
        status: QuoteStatus.optional(),
        product_id: ProductId.optional(),
        application_id: ApplicationId.optional(),
        ...listParameters,
      }),
      answers: { 200: z.object({ data: z.array(Quote), next_cursor: z.string().nullable() }) },
    },
    async ({ query: { status, product_id, application_id, ...asked } }) => {
      const { page, next_cursor } = await newestFirst<Quote>(pool, {
        ...asked,
        table: 'quotes',
        time: 'created_at',
        filters: { status, product_id, application_id },
      })
      return { status: 200, body: { data: page.map(({ document }) => document), next_cursor } }
    },
  ),
  route(
    {
      ...operator,
      method: 'get',
      address: '/admin/v1/quotes/:id/record',
      summary: 'Show a quote with its components, loadings and the rate tables that priced it',
      path: z.object({ id: QuoteId }),
      query: z.object({ organisation_id: OrganisationId }),
      answers: { 200: z.object({ data: Quote }) },
    },
    async ({ path: { id }, query: { organisation_id } }) => {
      const { rows } = await db.query<{ readonly document: Quote }>(sql`
        select document from quotes where organisation_id = ${organisation_id} and id = ${id}`)
      if (!rows[0]) throw notFound('quote')
      return { status: 200, body: { data: rows[0].document } }
    },
  ),
  route(
    {
      ...operator,
      method: 'get',
      address: '/admin/v1/quotes/:id/evidence',
      summary: 'Show what the customer is shown before buying, in its own words, and what of it was confirmed',
      path: z.object({ id: QuoteId }),
      query: z.object({ organisation_id: OrganisationId }),
      answers: { 200: z.object({ data: z.array(ShownStep) }) },
    },
    async ({ path, query }) => ({
      status: 200,
      body: { data: shownSteps(await findSale(db, query.organisation_id, path.id), sha256) },
    }),
  ),
]
