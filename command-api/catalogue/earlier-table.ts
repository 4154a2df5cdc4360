import type { Pool } from 'pg'
import { rateTable } from '#domain/catalogue/rate-table.ts'
import type { RateTable } from '#domain/rating/events.ts'
import type { OrganisationId } from '#domain/values.ts'
import { isTableNotMade, sql } from '#infra/postgres/postgres.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { rateTableIdOf } from './ids.ts'

type Named = Pick<RateTable, 'key' | 'version'>

/** Finds the version of a rate table beside which another is shown; undefined: it is the only one. */
export type EarlierTable = (
  organisation_id: OrganisationId,
  named: Named,
  /** Those that are about to be published too. */
  declared?: readonly RateTable[],
) => Promise<RateTable | undefined>

/** The next lower version. Of one that is published below all others, it is the newest: products may go from that to this. */
export const versionBeside = (version: number, others: readonly number[]): number | undefined => {
  const lower = others.filter((other) => other < version)
  const candidates = lower.length > 0 ? lower : others.filter((other) => other !== version)
  return candidates.length === 0 ? undefined : Math.max(...candidates)
}

export const makeEarlierTable = ({ writer, pool }: { readonly writer: Writer; readonly pool: Pool }): EarlierTable => {
  const { load } = commandHandler(writer, rateTable)

  return async (organisation_id, { key, version }, declared = []) => {
    const loaded = async (of: number) => load(rateTableIdOf(organisation_id, key, of))
    // The read model may be behind, and most versions follow each other.
    const former = version > 1 ? await loaded(version - 1) : undefined
    if (former) return former
    const others = [...declared.map((each) => each.version), ...(await publishedVersions(pool, organisation_id, key))]
    const found = versionBeside(version, others)
    return found === undefined ? undefined : (declared.find((each) => each.version === found) ?? loaded(found))
  }
}

const publishedVersions = async (pool: Pool, organisation_id: OrganisationId, key: string) => {
  try {
    const { rows } = await pool.query<{ version: number }>(
      sql`select version from rate_tables where organisation_id = ${organisation_id} and key = ${key}`,
    )
    return rows.map(({ version }) => version)
  } catch (error) {
    if (isTableNotMade(error)) return []
    throw error
  }
}
