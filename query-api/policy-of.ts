import { z } from 'zod'
import { CustomerDetails } from '#domain/customers/events.ts'
import { PolicyId, type OrganisationId } from '#domain/values.ts'
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

/** Of a policy's record in a list of many policies: which policy, and whose. */
export const ofPolicy = {
  policy_id: PolicyId,
  policy_number: z.string().nullable().describe('null: not read yet.'),
  person: CustomerDetails.pick({ title: true, first_name: true, last_name: true })
    .nullable()
    .describe('The policyholder.'),
}

/** A row as those columns have it. */
export type OfPolicy = {
  readonly policy_id: PolicyId
  readonly policy: { readonly number: string; readonly person: z.output<typeof ofPolicy.person> } | null
}

/** The columns of it, read for the rows of a page alone. */
export const columnsOfPolicy = (table: 'claims' | 'premiums'): readonly string[] => [
  'policy_id',
  `(select json_build_object('number', policies.policy_number, 'person', policies.document -> 'customer') from policies
    where policies.organisation_id = ${table}.organisation_id and policies.id = ${table}.policy_id) as policy`,
]

export const shownWithPolicy = <Document>({
  document,
  policy_id,
  policy,
}: OfPolicy & { readonly document: Document }) => ({
  ...document,
  policy_id,
  policy_number: policy?.number ?? null,
  person: policy?.person ?? null,
})
