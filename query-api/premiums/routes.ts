import { Premium, PremiumStatus } from '#domain/premiums/record.ts'
import { PolicyId } from '#domain/values.ts'
import { teamRoute, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { newestFirstRoute, type ListedRow } from '../newest-first.ts'

/** Premiums and what became of each, for the operator. */
export const premiumListRoute = ({ pool }: { readonly pool: Database }): Route =>
  newestFirstRoute(pool, {
    team: teamRoute('policies', 'claims', 'finance'),
    address: '/admin/v1/premiums',
    summary: 'List an organisation’s premiums, the one that was due last first',
    table: 'premiums',
    time: 'created_at',
    besides: ['policy_id'],
    filters: { policy_id: PolicyId, status: PremiumStatus },
    item: Premium.extend({ policy_id: PolicyId }).meta({ id: 'ListedPremium' }),
    show: ({ document, policy_id }: ListedRow<Premium, { readonly policy_id: PolicyId }>) => ({
      ...document,
      policy_id,
    }),
  })
