import type { Pool } from 'pg'
import type { Log } from '#infra/log.ts'
import { sql, transaction } from '#infra/postgres/postgres.ts'

type Parts = { readonly pool: Pool; readonly log: Log; readonly accessDays: number }

/** Makes the months ahead in which accesses are recorded, and drops those that ended longer ago than they are kept. */
export const keepAccesses = async ({ pool, log, accessDays }: Parts): Promise<void> => {
  await pool.query(sql`
    select access_partition((date_trunc('month', now() at time zone 'UTC') + months * interval '1 month') at time zone 'UTC')
    from generate_series(0, 2) as months`)
  const { rows } = await pool.query<{ month: string }>(sql`
    select right(relname, 7) as month from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = 'access_subject'::regclass
      and (to_date(right(relname, 7), 'YYYY_MM') + interval '1 month') at time zone 'UTC'
        <= now() - make_interval(days => ${accessDays})
    order by month`)
  for (const { month } of rows) {
    await transaction(pool, async (db) => {
      await db.query(`set local lock_timeout = '200ms'`)
      await db.query('lock table access_record, access_subject in access exclusive mode')
      await db.query(`drop table if exists "access_record_${month}", "access_subject_${month}"`)
      await db.query(sql`insert into access_month_dropped (month) values (${month}) on conflict do nothing`)
    })
    log.info({ month }, 'old accesses dropped')
  }
}
