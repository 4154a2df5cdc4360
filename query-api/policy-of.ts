import type { OrganisationId, PolicyId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'

/** Throws `not_found` for a policy that there is not, or that is another organisation's. */
export const requirePolicy = async (db: Database, organisation_id: OrganisationId, id: PolicyId): Promise<void> => {
  const { rows } = await db.query({
    name: 'there-is-policy',
    ...sql`select 1 from policies where organisation_id = ${organisation_id} and id = ${id}`,
  })
  if (rows.length === 0) throw notFound('policy')
}
