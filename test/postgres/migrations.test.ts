import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { findCheckpoint } from '#infra/consumers/checkpoint.ts'
import { migrate } from '#infra/postgres/migrations.ts'
import { emptyDatabase } from '../database.ts'

/** A folder of migrations, by name and text. */
const migrationsOf = async (files: Readonly<Record<string, string>>) => {
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-migrations-'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) }
}

const first = { '0001-first.sql': 'create table first (id integer)' }
const second = { '0002-second.sql': 'create table second (id integer); insert into first values (2)' }

const recordedIn = async (pool: Pool): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ name: string }>('select name from migration order by number')
  return rows.map(({ name }) => name)
}

/** All that is defined in a database, in a comparable form. Partitions depend on the rows. */
const definitionsOf = async (pool: Pool) => {
  const { rows } = await pool.query<{ kind: string; definition: string }>(`
    with relation as (
      select class.oid, class.oid::regclass::text as name, class.relkind, class.relpersistence from pg_class class
      where relnamespace::regnamespace::text in ('public', 'event_log') and relkind in ('r', 'p', 'S') and not relispartition)
    select 'relation' as kind, concat_ws(' ', name, relkind, relpersistence) as definition from relation
    union all
    select 'column', concat_ws(' ', name, attname, format_type(atttypid, atttypmod), attnotnull, attstorage,
      attidentity, attcollation::regcollation, pg_get_expr(adbin, adrelid))
    from pg_attribute join relation on attrelid = oid left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attnum > 0 and not attisdropped and relkind <> 'S'
    union all select 'index', pg_get_indexdef(indexrelid) from pg_index join relation on indrelid = oid
    union all
    select 'constraint', concat_ws(' ', name, conname, pg_get_constraintdef(pg_constraint.oid))
    from pg_constraint join relation on conrelid = relation.oid
    union all select 'function', pg_get_functiondef(oid) from pg_proc where pronamespace = 'event_log'::regnamespace
    order by kind, definition`)
  return rows
}

test('a database of the version before migrations is upgraded, keeps what it has, and equals a new one', async () => {
  await using upgraded = await emptyDatabase()
  await using made = await emptyDatabase()
  await upgraded.pool.query(await readFile(join(import.meta.dirname, 'before-migrations.sql'), 'utf8'))

  await migrate(upgraded.pool)
  await migrate(made.pool)

  expect(await definitionsOf(upgraded.pool)).toEqual(await definitionsOf(made.pool))
  expect(await recordedIn(upgraded.pool)).toEqual(await recordedIn(made.pool))
  const log = postgresLog({ url: upgraded.url })
  expect(await log.readAll()).toMatchObject([
    { stream: 'application-1', revision: 0, data: { number: 1 } },
    { stream: 'application-1', revision: 1, data: { number: 2 } },
    { stream: 'customer-1', revision: 0, data: { number: 3 } },
  ])
  await log.close()
  expect(await findCheckpoint(upgraded.pool, 'applications')).toMatchObject({ version: 3, generation: 2 })
  for (const table of ['delivery_known', 'delivery', 'delivery_attempt', 'rate_limit'])
    expect(await upgraded.pool.query(`select from ${table}`)).toMatchObject({ rowCount: 1 })
})

test('processes that start at once apply each migration once', async () => {
  await using database = await emptyDatabase()
  await using given = await migrationsOf({ ...first, ...second })

  await Promise.all(Array.from({ length: 8 }, () => migrate(database.pool, given)))
  await migrate(database.pool, given)

  expect(await recordedIn(database.pool)).toEqual(['0001-first.sql', '0002-second.sql'])
  expect((await database.pool.query('select id from first')).rows).toEqual([{ id: 2 }])
})

test('a process that waits for another one to upgrade the database says so', async () => {
  await using database = await emptyDatabase()
  await using given = await migrationsOf({ '0001-waits.sql': 'select pg_advisory_xact_lock(42)' })
  const rival = await database.pool.connect()
  await rival.query('select pg_advisory_lock(42)')
  const waiting = Promise.withResolvers<void>()

  const both = [1, 2].map(() => migrate(database.pool, { ...given, reportMs: 0, onWait: waiting.resolve }))
  await waiting.promise
  await rival.query('select pg_advisory_unlock(42)')
  rival.release()
  await Promise.all(both)

  expect(await recordedIn(database.pool)).toEqual(['0001-waits.sql'])
})

test('one that arrives with a lower number than the highest applied is still applied', async () => {
  await using database = await emptyDatabase()
  await using earlier = await migrationsOf({ ...first, '0030-later.sql': 'create table later (id integer)' })
  await using given = await migrationsOf({ ...first, ...second, '0030-later.sql': 'create table later (id integer)' })
  await migrate(database.pool, earlier)

  await migrate(database.pool, given)

  expect(await recordedIn(database.pool)).toEqual(['0001-first.sql', '0002-second.sql', '0030-later.sql'])
})

test('a migration that fails leaves the database as it was', async () => {
  await using database = await emptyDatabase()
  await using given = await migrationsOf({ ...first, '0002-second.sql': 'select 1 / 0' })

  await expect(migrate(database.pool, given)).rejects.toThrow('The migration 0002-second.sql failed.')

  expect((await database.pool.query(`select to_regclass('first') as first`)).rows).toEqual([{ first: null }])
})

test('a database that a newer version has upgraded is refused, and so is a changed migration', async () => {
  await using database = await emptyDatabase()
  await using given = await migrationsOf({ ...first, ...second })
  await using older = await migrationsOf(first)
  await using changed = await migrationsOf({ ...second, '0001-first.sql': 'create table first (id bigint)' })
  await migrate(database.pool, given)

  await expect(migrate(database.pool, older)).rejects.toThrow(
    'DATABASE_URL: a newer version has upgraded this database (0002-second.sql); start that version or a later one',
  )
  await expect(migrate(database.pool, changed)).rejects.toThrow(
    'DATABASE_URL: the migration 0001-first.sql differs from the one that this database has',
  )
})

test.each([
  [{ ...first, '0001-other.sql': 'select 1' }, 'Two migrations have the number of 0001-other.sql.'],
  [{ 'first.sql': 'select 1' }, 'A migration is called NNNN-name.sql, not first.sql.'],
])('%o are no migrations', async (files, message) => {
  await using database = await emptyDatabase()
  await using given = await migrationsOf(files)

  await expect(migrate(database.pool, given)).rejects.toThrow(message)
})
