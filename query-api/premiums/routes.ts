import { z } from 'zod'
import { Premium, PremiumStatus } from '#domain/premiums/record.ts'
import { OrganisationId, PolicyId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { listParameters, newestFirst } from '../newest-first.ts'

const ListedPremium = Premium.extend({ policy_id: PolicyId }).meta({ id: 'ListedPremium' })
type ListedPremium = z.infer<typeof ListedPremium>

/** Premiums and what became of each, for the operator. */
export const premiumListRoutes = ({ pool }: { readonly pool: Database }): Route[] => [
  route(
    {
      method: 'get',
      address: '/admin/v1/premiums',
      tag: 'Operator',
      summary: 'List an organisation’s premiums, the one that was due last first',
      access: { kind: 'operator' },
      query: z.object({
        organisation_id: OrganisationId,
        policy_id: PolicyId.optional(),
        status: PremiumStatus.optional(),
        ...listParameters,
      }),
      answers: { 200: z.object({ data: z.array(ListedPremium), next_cursor: z.string().nullable() }) },
    },
    async ({ query: { policy_id, status, ...asked } }) => {
      const { page, next_cursor } = await newestFirst<Premium, Pick<ListedPremium, 'policy_id'>>(pool, {
        ...asked,
        table: 'premiums',
        time: 'created_at',
        besides: ['policy_id'],
        filters: { policy_id, status },
      })
      const data = page.map((row) => ({ ...row.document, policy_id: row.policy_id }))
      return { status: 200, body: { data, next_cursor } }
    },
  ),
]
