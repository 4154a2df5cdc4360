import { z } from 'zod'
import { Claim, ClaimStatus } from '#domain/claims/record.ts'
import { OrganisationId, PolicyId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { listParameters, newestFirst } from '../newest-first.ts'

const ListedClaim = Claim.extend({ policy_id: PolicyId }).meta({ id: 'ListedClaim' })
type ListedClaim = z.infer<typeof ListedClaim>

/** Claims and what became of each, for the operator. */
export const claimListRoutes = ({ pool }: { readonly pool: Database }): Route[] => [
  route(
    {
      method: 'get',
      address: '/admin/v1/claims',
      tag: 'Operator',
      summary: 'List an organisation’s claims, the one that was opened last first',
      access: { kind: 'operator' },
      query: z.object({
        organisation_id: OrganisationId,
        policy_id: PolicyId.optional(),
        status: ClaimStatus.optional(),
        ...listParameters,
      }),
      answers: { 200: z.object({ data: z.array(ListedClaim), next_cursor: z.string().nullable() }) },
    },
    async ({ query: { policy_id, status, ...asked } }) => {
      const { page, next_cursor } = await newestFirst<Claim, Pick<ListedClaim, 'policy_id'>>(pool, {
        ...asked,
        table: 'claims',
        time: 'opened_at',
        besides: ['policy_id'],
        filters: { policy_id, status },
      })
      const data = page.map((row) => ({ ...row.document, policy_id: row.policy_id }))
      return { status: 200, body: { data, next_cursor } }
    },
  ),
]
