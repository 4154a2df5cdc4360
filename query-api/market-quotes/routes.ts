import { z } from 'zod'
import { MarketSearchRecord } from '#domain/market-quotes/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { pageOf, pageParameters, placeOf } from '../page.ts'

type Row = { readonly id: string; readonly requested_at: Date; readonly document: MarketSearchRecord }

const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The searches of the market that an organisation's applications have asked for. */
export const marketSearchRoutes = ({ pool }: { readonly pool: Database }): Route[] => [
  route(
    {
      tag: 'Operator',
      access: { kind: 'operator' },
      method: 'get',
      address: '/admin/v1/market_searches',
      summary: 'List the searches of the market of an organisation with their results, newest first',
      query: z.object({ organisation_id: OrganisationId, ...pageParameters }),
      answers: { 200: z.object({ data: z.array(MarketSearchRecord), next_cursor: z.string().nullable() }) },
    },
    async ({ query: { organisation_id, limit, cursor } }) => {
      const { at, id } = cursor === undefined ? { at: 'infinity', id: highestId } : placeOf(cursor)
      const { rows } = await pool.query<Row>(sql`
        select id, requested_at, document from market_searches
        where organisation_id = ${organisation_id} and (requested_at, id) < (${at}, ${id})
        order by requested_at desc, id desc limit ${limit + 1}`)
      const { page, next_cursor } = pageOf(rows, limit, (row) => ({ at: row.requested_at, id: row.id }))
      return { status: 200, body: { data: page.map(({ document }) => document), next_cursor } }
    },
  ),
]
