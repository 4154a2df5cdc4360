import { z } from 'zod'
import { ShownStep, shownSteps } from '#domain/checkout/record.ts'
import { Quote, QuoteStatus } from '#domain/quotes/record.ts'
import { ApplicationId, OrganisationId, ProductId, QuoteId } from '#domain/values.ts'
import { teamRoute, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { requireDocument } from '../find-document.ts'
import { newestFirstRoute } from '../newest-first.ts'
import { findSale, sha256 } from './sale.ts'

type Deps = { readonly pool: Database; readonly db: Database }

/** Quotes as the operator sees them: whole, with what priced them. */
export const quoteAdminRoutes = ({ pool, db }: Deps): Route[] => [
  newestFirstRoute(pool, {
    team: teamRoute('leads', 'underwriting', 'policies'),
    address: '/admin/v1/quotes',
    summary: 'List the quotes of an organisation, newest first; since and until are about when they were issued',
    table: 'quotes',
    time: 'created_at',
    filters: {
      status: QuoteStatus,
      product_id: ProductId,
      application_id: ApplicationId,
    },
    item: Quote,
  }),
  route(
    {
      ...teamRoute('leads', 'underwriting', 'policies'),
      method: 'get',
      address: '/admin/v1/quotes/:id/record',
      summary: 'Show a quote with its components, loadings and the rate tables that priced it',
      path: z.object({ id: QuoteId }),
      query: z.object({ organisation_id: OrganisationId }),
      answers: { 200: z.object({ data: Quote }) },
    },
    async ({ path: { id }, query: { organisation_id } }) => ({
      status: 200,
      body: { data: await requireDocument<Quote>(db, 'quotes', organisation_id, id) },
    }),
  ),
  route(
    {
      ...teamRoute('leads', 'underwriting', 'policies'),
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
