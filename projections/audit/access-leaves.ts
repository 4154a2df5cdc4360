import type { Pool } from 'pg'
import { accessLeaf, digestOfAccesses } from '#infra/audit-tree/access-digest.ts'
import { untilWritten, writtenAfterSeconds } from '#infra/access-records/until-written.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { Added } from './take-in.ts'

export type DueAccesses = {
  /** The new leaves of each organisation. */
  readonly added: ReadonlyMap<string, Added>
  /** All accesses before this time have their entries then. */
  readonly until: Date
  /** There are others that have been written since. */
  readonly isPart: boolean
}

/** Of an installation whose accesses have no entries yet, so much is taken in at a time. */
const mostHours = 24

/** The entries of the accesses that have none yet, one for each organisation; undefined where there are none. */
export const findDueAccesses = async (pool: Pool, generation: number): Promise<DueAccesses | undefined> => {
  const period = await findPeriod(pool, generation)
  if (!period) return undefined
  if (!(await untilWritten(pool))) return undefined
  const [since, until] = [period.since.toISOString(), period.until.toISOString()]
  const { rows } = await pool.query<{ organisation_id: string; accesses: number; sha256: string }>({
    text: `
      select organisation_id, count(*)::integer as accesses, ${digestOfAccesses} as sha256 from access_record
      where at >= $1 and at < $2 group by organisation_id`,
    values: [since, until],
  })
  const added = rows.map(({ organisation_id, ...digest }): [string, Added] => [
    organisation_id,
    { records: [accessLeaf({ kind: 'accesses', since, until, ...digest })], events: [] },
  ])
  return { added: new Map(added), until: period.until, isPart: period.is_part }
}

/** From the first access that has no entry on. */
const findPeriod = async (pool: Pool, generation: number) => {
  const { rows } = await pool.query<{ since: Date; until: Date; is_part: boolean }>(sql`
    with written as (
      select date_trunc('milliseconds', now()) - make_interval(secs => ${writtenAfterSeconds}) as until
    ), due as (
      select min(at) as since, min(at) + make_interval(hours => ${mostHours}) as part from access_record, written
      where at >= coalesce((select accesses_until from audit_generation where generation = ${generation}), '-infinity')
        and at < until
    )
    select since, least(until, part) as until, part < until as is_part
    from due, written where since is not null`)
  return rows[0]
}
