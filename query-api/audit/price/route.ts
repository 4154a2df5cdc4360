import { z } from 'zod'
import { notFound } from '#domain/rejection.ts'
import { OrganisationId, QuoteId } from '#domain/values.ts'
import { auditRoute, route, type Route } from '#infra/http/route.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { personalParameter } from '../event.ts'
import { findRecord } from '../find-record.ts'
import { MarketPrice, marketPriceOf } from './market.ts'
import { OwnPrice, ownPriceOf, type Deps } from './own-rates.ts'
import { readApplication } from './quote-events.ts'

type Path = { readonly organisation_id: OrganisationId; readonly quote_id: QuoteId }

/** The application of a quote, or of a search of the market. */
const applicationOf = async ({ db }: Deps, { organisation_id, quote_id }: Path): Promise<string | undefined> => {
  const quote = await findRecord(db, { organisation_id, type: 'quote', id: quote_id })
  if (quote) return quote.id
  const { rows } = await db.query<{ application_id: string }>(sql`
    select application_id from market_searches where organisation_id = ${organisation_id} and id = ${quote_id}`)
  return rows[0]?.application_id
}

/** Shows the way in which the price of a quote was made. */
export const auditPriceRoute = (deps: Deps): Route =>
  route(
    {
      ...auditRoute,
      method: 'get',
      address: '/audit/v1/organisations/:organisation_id/quotes/:quote_id/price',
      summary:
        'Show how the price of a quote was made: worked out again step by step, and compared with what was stored',
      path: z.object({
        organisation_id: OrganisationId,
        quote_id: QuoteId.describe('A quote, or the request_id of a search of the market.'),
      }),
      query: z.object({ personal: personalParameter }),
      answers: { 200: z.object({ data: z.discriminatedUnion('origin', [OwnPrice, MarketPrice]) }) },
    },
    async ({ path, query: { personal } }) => {
      const application_id = await applicationOf(deps, path)
      if (application_id === undefined) throw notFound('quote')
      const events = await readApplication(deps.eventLog, application_id, path.organisation_id)
      const data =
        (await ownPriceOf(deps, events, { ...path, personal })) ?? marketPriceOf(events, path.quote_id, personal)
      if (!data) throw notFound('quote')
      return { status: 200, body: { data } }
    },
  )
