import { z } from 'zod'
import { Premium, PremiumStatus } from '#domain/premiums/record.ts'
import { OrganisationId, PolicyId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { highestId, pageOf, pageParameters, placeOf } from '../page.ts'

const ListedPremium = Premium.extend({ policy_id: PolicyId }).meta({ id: 'ListedPremium' })

type Row = { readonly id: string; readonly policy_id: PolicyId; readonly created_at: Date; readonly document: Premium }

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
        ...pageParameters,
      }),
      answers: { 200: z.object({ data: z.array(ListedPremium), next_cursor: z.string().nullable() }) },
    },
    async ({ query: { organisation_id, policy_id, status, limit, cursor } }) => {
      const { at, id } = cursor === undefined ? { at: 'infinity', id: highestId } : placeOf(cursor)
      // A condition that is not asked for is left out, so that the right index is used.
      const asked = Object.entries({ policy_id, status })
        .filter(([, value]) => value !== undefined)
        .map(([column, value], index) => ({ text: `and ${column} = $${index + 5}`, value }))
      const { rows } = await pool.query<Row>({
        text: `select id, policy_id, created_at, document from premiums
          where organisation_id = $1 and (created_at, id) < ($2, $3) ${asked.map(({ text }) => text).join(' ')}
          order by created_at desc, id desc limit $4`,
        values: [organisation_id, at, id, limit + 1, ...asked.map(({ value }) => value)],
      })
      const { page, next_cursor } = pageOf(rows, limit, (row) => ({ at: row.created_at, id: row.id }))
      return {
        status: 200,
        body: { data: page.map((row) => ({ ...row.document, policy_id: row.policy_id })), next_cursor },
      }
    },
  ),
]
