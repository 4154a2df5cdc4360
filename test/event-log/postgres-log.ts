import { Client, type ClientBase } from 'pg'
import type { NewEvent } from '#domain/event.ts'
import { postgresLog, prepareLog, type PostgresLogOptions } from '#infra/event-log/postgres/postgres-log.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { testDatabase, type TestDatabase } from '../database.ts'
import { eventually } from './events.ts'

export const preparedDatabase = async () => {
  const database = await testDatabase()
  await prepareLog(database.pool)
  return database
}

/** A log as another process would have it, on the same database. */
export const openLog = (url: string, options: Partial<PostgresLogOptions> = {}) => {
  const log = postgresLog({ url, ...options })
  return { ...log, [Symbol.asyncDispose]: log.close }
}

/** A connection of somebody else's. */
export const connect = async (url: string) => {
  const client = new Client({ connectionString: url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

export const dropConnections = async (url: string): Promise<void> => {
  await using client = await connect(url)
  await client.query(`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`)
}

/** Appends to a new stream within whatever transaction the connection has. */
export const appendOn = (client: ClientBase, stream: string, { id, type, schema_version, data, metadata }: NewEvent) =>
  client.query(sql`
    select * from event_log.append(array[${stream}], array[-1]::bigint[], array[1], array[${id}::uuid], array[1], array[0],
      array[${id}::uuid], array[${type}], array[${schema_version}::integer], array[${data}::json], array[${metadata}::json])`)

export const appendingConnections = (database: TestDatabase, where: string) =>
  database.pool.query<{ pid: number }>(`
    select pid from pg_stat_activity
    where datname = current_database() and application_name like 'coverstream append%' and ${where}`)

export const appendsWaiting = (database: TestDatabase, count: number) =>
  eventually(
    async () => (await appendingConnections(database, `wait_event_type = 'Lock'`)).rows.length === count,
    `${count} appends to wait for a rival`,
  )
