import { z } from 'zod'
import { Premium, PremiumRefund } from '#domain/premiums/record.ts'
import { PolicyId } from '#domain/values.ts'
import { readOrWrite, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { newestFirst } from '../newest-first.ts'
import { pageParameters } from '../page.ts'
import { requirePolicy } from '../policy-of.ts'

/** The team's own fields are left out: its notes, and the payment provider's ids. */
const PolicyPremium = Premium.pick({
  premium_id: true,
  number: true,
  amount_pence: true,
  due_on: true,
  covers_from: true,
  method: true,
  status: true,
  attempts: true,
  collected_at: true,
  failure_code: true,
  disputed_on: true,
  retry_at: true,
  refunded_pence: true,
  created_at: true,
  updated_at: true,
})
  .extend({
    refunds: z.array(
      PremiumRefund.pick({
        refund_id: true,
        refund_pence: true,
        reason: true,
        status: true,
        paid_on: true,
        failure_code: true,
      }),
    ),
  })
  .meta({ id: 'PolicyPremium' })

const list = { table: 'premiums', time: 'created_at' } as const

/** The premiums of one policy, for the firm's own server. */
export const policyPremiumsRoute = ({ pool, db }: { readonly pool: Database; readonly db: Database }): Route =>
  route(
    {
      method: 'get',
      address: '/api/v1/policies/:id/premiums',
      tag: 'Policies',
      summary: 'List the premiums of a policy, and what is given back of each; the one that was due last first',
      access: { kind: 'application', scopes: readOrWrite, serverOnly: true },
      path: z.object({ id: PolicyId }),
      query: z.object(pageParameters),
      answers: { 200: z.object({ data: z.array(PolicyPremium), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: { id: policy_id }, query, caller: { organisation_id } }) => {
      await requirePolicy(db, organisation_id, policy_id)
      const asked = { ...query, organisation_id }
      const { page, next_cursor } = await newestFirst<Premium>(pool, list, asked, { policy_id })
      return { status: 200, body: { data: page.map(({ document }) => PolicyPremium.parse(document)), next_cursor } }
    },
  )
