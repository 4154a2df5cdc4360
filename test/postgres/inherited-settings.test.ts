import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { openConnection } from '#infra/postgres/connection.ts'
import { migrate } from '#infra/postgres/migrations.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { rowTypes } from '#infra/postgres/row-types.ts'
import { readModelsMark, readModelsSchema } from '#infra/read-models.ts'
import { emptyDatabase, testDatabase, type TestDatabase } from '../database.ts'
import { newEvents, newStream } from '../event-log/events.ts'
import { openLog } from '../event-log/postgres-log.ts'

/** What a server, a database or a role may have been given, each otherwise than the service needs it. */
const unusual: readonly (readonly [name: string, value: string])[] = [
  ['DateStyle', 'German, DMY'],
  ['TimeZone', 'Asia/Kathmandu'],
  ['IntervalStyle', 'iso_8601'],
  ['search_path', 'elsewhere'],
  ['bytea_output', 'escape'],
  ['standard_conforming_strings', 'off'],
  ['backslash_quote', 'on'],
  ['array_nulls', 'off'],
  ['extra_float_digits', '-15'],
  ['client_encoding', 'LATIN1'],
  ['default_transaction_isolation', 'serializable'],
  ['default_transaction_read_only', 'on'],
  ['default_transaction_deferrable', 'on'],
  ['statement_timeout', '1s'],
  ['lock_timeout', '1ms'],
  ['idle_in_transaction_session_timeout', '1s'],
  ['idle_session_timeout', '1s'],
  ['synchronous_commit', 'off'],
]

const everySetting = unusual.map(([name]) => `current_setting('${name}') as "${name}"`).join(', ')

const setAll = async ({ pool, url }: TestDatabase, of: string) => {
  const database = new URL(url).pathname.slice(1)
  for (const [name, value] of unusual)
    await pool.query(`alter ${of} ${of.startsWith('database') ? database : ''} set ${name} = '${value}'`)
}

/** A role of its own that owns the database, so that what it is given concerns no other test. */
const roleOf = async ({ pool, url }: TestDatabase) => {
  const name = `r${randomUUID().replaceAll('-', '')}`
  await pool.query(`create role ${name} login superuser password 'right'`)
  return {
    name,
    url: Object.assign(new URL(url), { username: name, password: 'right' }).href,
    drop: () => pool.query(`drop role ${name}`),
  }
}

const pinned = {
  DateStyle: 'ISO, MDY',
  TimeZone: 'UTC',
  IntervalStyle: 'postgres',
  search_path: `"${readModelsSchema}", public`,
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  backslash_quote: 'safe_encoding',
  array_nulls: 'on',
  extra_float_digits: '1',
  client_encoding: 'UTF8',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  lock_timeout: '0',
  idle_session_timeout: '0',
  synchronous_commit: 'on',
}

test('no connection inherits what a database was given', async () => {
  await using database = await testDatabase()
  await setAll(database, 'database')
  const pool = createPool(database.url)
  const single = await openConnection(pool, { name: 'single', statementMs: 4_000 })

  const { rows: ofPool } = await pool.query(`select ${everySetting}`)
  const { rows: ofSingle } = await single.client.query(`select ${everySetting}`)
  await single.close()
  await pool.end()

  expect(ofPool).toEqual([{ ...pinned, statement_timeout: '30s', idle_in_transaction_session_timeout: '15s' }])
  expect(ofSingle).toEqual([{ ...pinned, statement_timeout: '4s', idle_in_transaction_session_timeout: '15s' }])
})

test('no connection inherits what its role was given', async () => {
  await using database = await testDatabase()
  const role = await roleOf(database)
  await setAll(database, `role ${role.name}`)
  const pool = createPool(role.url)

  const { rows } = await pool.query(`select ${everySetting}`)
  await pool.end()
  await role.drop()

  expect(rows).toEqual([{ ...pinned, statement_timeout: '30s', idle_in_transaction_session_timeout: '15s' }])
})

test('a name of connections that DATABASE_URL gives does not hide which read models they read', async () => {
  await using database = await testDatabase()
  const url = new URL(database.url)
  url.searchParams.set('application_name', 'firm')
  const pool = createPool(url.href)
  const single = await openConnection(pool, { name: 'coverstream leases' })

  const { rows: ofPool } = await pool.query(`select current_setting('application_name') as name`)
  const { rows: ofSingle } = await single.client.query(`select current_setting('application_name') as name`)
  await single.close()
  await pool.end()

  expect(ofPool).toEqual([{ name: `coverstream ${readModelsMark}` }])
  expect(ofSingle).toEqual([{ name: `coverstream leases ${readModelsMark}` }])
})

test('a database whose settings are all unusual is upgraded, and its log read as it was written', async () => {
  await using database = await emptyDatabase()
  await setAll(database, 'database')
  const pool = createPool(database.url)
  await migrate(pool)
  await using log = openLog(database.url)
  const stream = newStream()
  const written = newEvents(1)

  await log.append(stream, 'no_stream', written)
  const [read] = await log.read(stream)
  const { rows } = await pool.query({
    text: `select '2026-03-04'::date as day, '2026-03-04T05:06:07.123Z'::timestamptz as instant, 'infinity'::float8 as far`,
    types: rowTypes,
  })
  await pool.end()

  expect(read).toMatchObject({ id: written[0]?.id, data: written[0]?.data })
  expect(Math.abs(Number(read?.recorded_at) - Date.now())).toBeLessThan(60_000)
  expect(rows).toEqual([{ day: '2026-03-04', instant: '2026-03-04T05:06:07.123Z', far: 'Infinity' }])
})

test('an installation whose tables lie in another schema than public is told so, and gets no second set', async () => {
  await using database = await testDatabase()
  await database.pool.query('create schema elsewhere; alter table migration set schema elsewhere')

  await expect(migrate(database.pool)).rejects.toThrow(
    'DATABASE_URL: the tables of the service are in the schema elsewhere of this database, and must be in public',
  )
})
