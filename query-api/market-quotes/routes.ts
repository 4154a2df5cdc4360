import { z } from 'zod'
import { MarketSearchRecord } from '#domain/market-quotes/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { listParameters, newestFirst } from '../newest-first.ts'

/** The searches of the market that an organisation's applications have asked for. */
export const marketSearchRoutes = ({ pool }: { readonly pool: Database }): Route[] => [
  route(
    {
      tag: 'Operator',
      access: { kind: 'operator' },
      method: 'get',
      address: '/admin/v1/market_searches',
      summary: 'List the searches of the market of an organisation with their results, newest first',
      query: z.object({ organisation_id: OrganisationId, ...listParameters }),
      answers: { 200: z.object({ data: z.array(MarketSearchRecord), next_cursor: z.string().nullable() }) },
    },
    async ({ query }) => {
      const { page, next_cursor } = await newestFirst<MarketSearchRecord>(pool, {
        ...query,
        table: 'market_searches',
        time: 'requested_at',
        filters: {},
      })
      return { status: 200, body: { data: page.map(({ document }) => document), next_cursor } }
    },
  ),
]
