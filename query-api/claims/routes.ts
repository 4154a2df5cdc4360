import { Claim, ClaimStatus } from '#domain/claims/record.ts'
import { PolicyId } from '#domain/values.ts'
import { teamRoute, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { newestFirstRoute, type ListedRow } from '../newest-first.ts'
import { columnsOfPolicy, ofPolicy, shownWithPolicy, type OfPolicy } from '../policy-of.ts'

/** Claims and what became of each, for the operator. */
export const claimListRoute = ({ pool }: { readonly pool: Database }): Route =>
  newestFirstRoute(pool, {
    team: teamRoute('policies', 'claims', 'finance'),
    address: '/admin/v1/claims',
    summary: 'List an organisation’s claims, the one that was opened last first',
    table: 'claims',
    time: 'opened_at',
    besides: columnsOfPolicy('claims'),
    filters: { policy_id: PolicyId, status: ClaimStatus },
    item: Claim.extend(ofPolicy).meta({ id: 'ListedClaim' }),
    show: (row: ListedRow<Claim, OfPolicy>) => shownWithPolicy(row),
  })
