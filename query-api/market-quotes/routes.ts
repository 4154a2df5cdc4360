import { MarketSearchRecord } from '#domain/market-quotes/record.ts'
import { teamRoute, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { newestFirstRoute } from '../newest-first.ts'

/** The searches of the market that an organisation's applications have asked for. */
export const marketSearchRoute = ({ pool }: { readonly pool: Database }): Route =>
  newestFirstRoute(pool, {
    team: teamRoute('leads', 'underwriting'),
    address: '/admin/v1/market_searches',
    summary: 'List the searches of the market of an organisation with their results, newest first',
    table: 'market_searches',
    time: 'requested_at',
    item: MarketSearchRecord,
  })
