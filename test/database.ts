import { randomUUID } from 'node:crypto'
import { Client, type Pool } from 'pg'
import { inject } from 'vitest'
import { createPool } from '#infra/postgres/postgres.ts'

export type TestDatabase = {
  readonly url: string
  readonly pool: Pool
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** The server of this worker. */
const serverUrl = (): string => {
  const urls = inject('serverUrls')
  const url = urls[(Number(process.env['VITEST_POOL_ID']) - 1) % urls.length]
  if (url === undefined) throw new Error('There is no server for this worker.')
  return url
}

/** A database with the tables that migrations make, for as long as the test uses it. */
export const testDatabase = (): Promise<TestDatabase> => databaseFrom(inject('templateDatabase'))

/** A database without any tables. */
export const emptyDatabase = (): Promise<TestDatabase> => databaseFrom('template0')

/** All that is in a database, in another one. Connections to it are ended. */
export const copyOf = async ({ url }: TestDatabase): Promise<TestDatabase> => {
  const name = new URL(url).pathname.slice(1)
  await onServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
  return databaseFrom(name)
}

const databaseFrom = async (template: string): Promise<TestDatabase> => {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  // Copying files takes a third of the time of writing each page to the write-ahead log as well.
  await onServer(`create database ${name} template ${template} strategy file_copy`)
  const url = Object.assign(new URL(serverUrl()), { pathname: name }).href
  const pool = createPool(url, { name: 'test' })

  return {
    url,
    pool,
    [Symbol.asyncDispose]: async () => {
      await pool.end()
      await onServer(`drop database ${name} with (force)`)
    },
  }
}

const onServer = async (statement: string): Promise<void> => {
  const client = new Client({ connectionString: serverUrl() })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
