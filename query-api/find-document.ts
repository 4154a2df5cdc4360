import type { OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'

/** The word for one of them in an answer. */
const types = {
  applications: 'application',
  complaints: 'complaint',
  ingests: 'ingest',
  memberships: 'membership',
  policies: 'policy',
  quotes: 'quote',
  releases: 'release',
} as const

type Table = keyof typeof types

/** The document of one record of an organisation. */
export const findDocument = async <Document>(
  db: Database,
  table: Table,
  organisation_id: OrganisationId,
  id: string,
): Promise<Document | undefined> => {
  const { text, values } = sql`where organisation_id = ${organisation_id} and id = ${id}`
  const { rows } = await db.query<{ document: Document }>({
    name: `${table}-by-id`,
    text: `select document from ${table} ${text}`,
    values,
  })
  return rows[0]?.document
}

/** Throws `not_found` for a record that there is not, or that is another organisation's. */
export const requireDocument = async <Document>(
  db: Database,
  table: Table,
  organisation_id: OrganisationId,
  id: string,
): Promise<Document> => {
  const document = await findDocument<Document>(db, table, organisation_id, id)
  if (document === undefined) throw notFound(types[table])
  return document
}
