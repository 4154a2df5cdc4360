import type { Pool } from 'pg'
import { counted } from '#domain/plural.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { readModelsMark } from '#infra/read-models.ts'

type Connected = { readonly address: string | null; readonly connections: number }

/**
 * The processes of the service that are connected to the database and do not read what this version makes, in words. Versions
 * from before have no mark in the names of their connections. The keeper of an embedded PostgreSQL reads nothing.
 */
export const othersConnected = async (pool: Pool): Promise<readonly string[]> => {
  const { rows } = await pool.query<Connected>(sql`
    select host(client_addr) as address, count(*)::integer as connections from pg_stat_activity
    where datname = current_database() and application_name ~ '^coverstream( |$)'
      and application_name <> 'coverstream owner' and position(${readModelsMark} in application_name) = 0
    group by client_addr order by client_addr`)
  return rows.map(
    ({ address, connections }) => `${counted(connections, 'connection')} from ${address ?? 'this machine'}`,
  )
}
