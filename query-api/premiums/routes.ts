import { Premium, PremiumStatus } from '#domain/premiums/record.ts'
import { PolicyId } from '#domain/values.ts'
import { teamRoute, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { newestFirstRoute, type ListedRow } from '../newest-first.ts'
import { columnsOfPolicy, ofPolicy, shownWithPolicy, type OfPolicy } from '../policy-of.ts'

/** Premiums and what became of each, for the operator. */
export const premiumListRoute = ({ pool }: { readonly pool: Database }): Route =>
  newestFirstRoute(pool, {
    team: teamRoute('policies', 'claims', 'finance'),
    address: '/admin/v1/premiums',
    summary: 'List an organisation’s premiums, the one that was due last first',
    table: 'premiums',
    time: 'created_at',
    besides: columnsOfPolicy('premiums'),
    filters: { policy_id: PolicyId, status: PremiumStatus },
    item: Premium.extend(ofPolicy).meta({ id: 'ListedPremium' }),
    show: (row: ListedRow<Premium, OfPolicy>) => shownWithPolicy(row),
  })
