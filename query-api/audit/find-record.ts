import type { OrganisationId } from '#domain/values.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'

/** A record, by the stream on which its events stand. `part`: it is one of several that stand there, and events name it. */
export type FoundRecord = {
  readonly category: string
  readonly id: string
  readonly part?: { readonly name: string; readonly id: string }
}

type Asked = { readonly organisation_id: OrganisationId; readonly type: string; readonly id: string }

/** The records that stand on the stream of another, which a read model names. */
export const findRecord = async (db: Database, asked: Asked): Promise<FoundRecord | undefined> => {
  const { organisation_id, type, id } = asked
  switch (type) {
    case 'quote': {
      const { rows } = await db.query<{ stream_id: string }>(sql`
        select application_id as stream_id from quotes where organisation_id = ${organisation_id} and id = ${id}`)
      return partOf('application', rows[0]?.stream_id, { name: 'quote_id', id })
    }
    case 'premium': {
      const { rows } = await db.query<{ stream_id: string }>(sql`
        select policy_id as stream_id from premiums where organisation_id = ${organisation_id} and id = ${id}`)
      return partOf('policy', rows[0]?.stream_id, { name: 'premium_id', id })
    }
    case 'claim': {
      const { rows } = await db.query<{ stream_id: string }>(sql`
        select policy_id as stream_id from claims where organisation_id = ${organisation_id} and id = ${id}`)
      return partOf('policy', rows[0]?.stream_id, { name: 'claim_id', id })
    }
    default:
      return { category: type, id }
  }
}

const partOf = (category: string, id: string | undefined, part: { readonly name: string; readonly id: string }) =>
  id === undefined ? undefined : { category, id, part }
