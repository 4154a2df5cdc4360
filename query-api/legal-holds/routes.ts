import { LegalHold, LegalHoldState } from '#domain/legal-holds/record.ts'
import { CustomerId } from '#domain/values.ts'
import { teamRoute, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { newestFirstRoute } from '../newest-first.ts'

/** The legal holds of an organisation. */
export const legalHoldRoute = ({ pool }: { readonly pool: Database }): Route =>
  newestFirstRoute(pool, {
    team: teamRoute('owner'),
    address: '/admin/v1/organisations/:organisation_id/legal_holds',
    summary: 'List an organisation’s legal holds, the one that was placed last first',
    table: 'legal_holds',
    time: 'placed_at',
    filters: { state: LegalHoldState, contact_id: CustomerId },
    item: LegalHold,
  })
