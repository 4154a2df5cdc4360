import { z } from 'zod'
import { Claim, ClaimStatus } from '#domain/claims/record.ts'
import { OrganisationId, PolicyId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { highestId, pageOf, pageParameters, placeOf } from '../page.ts'

const ListedClaim = Claim.extend({ policy_id: PolicyId }).meta({ id: 'ListedClaim' })

type Row = { readonly id: string; readonly policy_id: PolicyId; readonly opened_at: Date; readonly document: Claim }

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
        ...pageParameters,
      }),
      answers: { 200: z.object({ data: z.array(ListedClaim), next_cursor: z.string().nullable() }) },
    },
    async ({ query: { organisation_id, policy_id, status, limit, cursor } }) => {
      const { at, id } = cursor === undefined ? { at: 'infinity', id: highestId } : placeOf(cursor)
      // A condition that is not asked for is left out, so that the right index is used.
      const asked = Object.entries({ policy_id, status })
        .filter(([, value]) => value !== undefined)
        .map(([column, value], index) => ({ text: `and ${column} = $${index + 5}`, value }))
      const { rows } = await pool.query<Row>({
        text: `select id, policy_id, opened_at, document from claims
          where organisation_id = $1 and (opened_at, id) < ($2, $3) ${asked.map(({ text }) => text).join(' ')}
          order by opened_at desc, id desc limit $4`,
        values: [organisation_id, at, id, limit + 1, ...asked.map(({ value }) => value)],
      })
      const { page, next_cursor } = pageOf(rows, limit, (row) => ({ at: row.opened_at, id: row.id }))
      const data = page.map((row) => ({ ...row.document, policy_id: row.policy_id }))
      return { status: 200, body: { data, next_cursor } }
    },
  ),
]
