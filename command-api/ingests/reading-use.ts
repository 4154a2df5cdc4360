import type { Pipeline } from '#domain/pipeline/events.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'

/** Organisations' use of language models for reading, by day where the organisation is. */
export type ReadingUse = {
  /** Counts a call, unless the day's budget is used up: then false. */
  readonly reserve: (organisation_id: OrganisationId, day: string, budget: Pipeline['reading']) => Promise<boolean>
  readonly spend: (organisation_id: OrganisationId, day: string, tokens: number) => Promise<void>
}

/** Kept in the database, where the processes count together. */
export const makeReadingUse = (pool: Database): ReadingUse => ({
  reserve: async (organisation_id, day, { calls_a_day, tokens_a_day }) => {
    if (calls_a_day === 0 || tokens_a_day === 0) return false
    const { rowCount } = await pool.query(sql`
      insert into reading_use (organisation_id, day, calls, tokens) values (${organisation_id}, ${day}, 1, 0)
      on conflict (organisation_id, day) do update set calls = reading_use.calls + 1
      where (${calls_a_day}::integer is null or reading_use.calls < ${calls_a_day}::integer)
        and (${tokens_a_day}::bigint is null or reading_use.tokens < ${tokens_a_day}::bigint)`)
    return rowCount === 1
  },
  spend: async (organisation_id, day, tokens) => {
    await pool.query(sql`
      update reading_use set tokens = tokens + ${tokens} where organisation_id = ${organisation_id} and day = ${day}`)
  },
})
