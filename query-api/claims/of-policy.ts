import { z } from 'zod'
import { Claim } from '#domain/claims/record.ts'
import { PolicyId } from '#domain/values.ts'
import { readOrWrite, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { newestFirst } from '../newest-first.ts'
import { pageParameters } from '../page.ts'
import { requirePolicy } from '../policy-of.ts'

/**
 * A claim's status, and the money. Its type, the cover it is on and the team's note tell of somebody's health: they are left
 * out of every claim, since a type that only some of them showed would tell what the others are about.
 */
const PolicyClaim = Claim.pick({
  claim_id: true,
  status: true,
  amount_pence: true,
  paid_pence: true,
  happened_on: true,
  paid_on: true,
  opened_at: true,
  updated_at: true,
}).meta({ id: 'PolicyClaim' })

const list = { table: 'claims', time: 'opened_at' } as const

/** The claims on one policy, for the firm's own server. */
export const policyClaimsRoute = ({ pool, db }: { readonly pool: Database; readonly db: Database }): Route =>
  route(
    {
      method: 'get',
      address: '/api/v1/policies/:id/claims',
      tag: 'Policies',
      summary: 'List the claims on a policy without what tells of health; the one that was opened last first',
      access: { kind: 'application', scopes: readOrWrite, serverOnly: true },
      path: z.object({ id: PolicyId }),
      query: z.object(pageParameters),
      answers: { 200: z.object({ data: z.array(PolicyClaim), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: { id: policy_id }, query, caller: { organisation_id } }) => {
      await requirePolicy(db, organisation_id, policy_id)
      const asked = { ...query, organisation_id }
      const { page, next_cursor } = await newestFirst<Claim>(pool, list, asked, { policy_id })
      return { status: 200, body: { data: page.map(({ document }) => PolicyClaim.parse(document)), next_cursor } }
    },
  )
