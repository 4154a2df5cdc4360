import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ClientBase, Pool } from 'pg'
import { BadConfiguration } from '../config.ts'
import { isUnavailable, sql, transaction, withDeadline } from './postgres.ts'

type Migration = {
  readonly number: number
  /** The name of its file. */
  readonly name: string
  readonly text: string
  readonly checksum: string
}

type Applied = Pick<Migration, 'number' | 'name' | 'checksum'>

export type MigrateOptions = {
  readonly directory?: string
  /** Called every few seconds while another process upgrades the database. */
  readonly onWait?: () => void
  readonly reportMs?: number
}

const ownDirectory = join(import.meta.dirname, 'migrations')
const lock = 7_236_018_448
const askAgainMs = 200
// An index on a large table takes long.
const migrationMs = 6 * 3_600_000

/**
 * Applies the migrations that the database does not have, in the order of their numbers, all in one transaction, and
 * records each with its checksum. Several processes may do so at once: one works, the others wait. Migrations go forward
 * only. A database that has a migration which this version does not know, or another text of one, is refused.
 */
export const migrate = async (pool: Pool, options: MigrateOptions = {}): Promise<void> => {
  const { directory = ownDirectory, onWait, reportMs = 5_000 } = options
  const migrations = await readMigrations(directory)
  if ((await missing(pool, migrations)).length === 0) return

  const apply = async (db: ClientBase): Promise<boolean> => {
    const { rows } = await db.query<{ locked: boolean }>(sql`select pg_try_advisory_xact_lock(${lock}) as locked`)
    if (!rows[0]?.locked) return false
    // A migration of many rows takes longer than any transaction of the service may.
    // What is made belongs where every version finds it.
    await db.query('set local search_path = public')
    await db.query(`
      select set_config(name, '0', true) from pg_settings where name in ('transaction_timeout', 'statement_timeout')`)
    await db.query(`
      create table if not exists migration (
        number integer primary key,
        name text not null,
        checksum text not null,
        applied_at timestamptz not null default now()
      )`)
    for (const { number, name, text, checksum } of await missing(db, migrations)) {
      await db.query(withDeadline({ text }, migrationMs)).catch((cause: unknown) => {
        if (isUnavailable(cause)) throw cause
        throw new Error(`The migration ${name} failed. The database is as it was before.`, { cause })
      })
      await db.query(sql`insert into migration (number, name, checksum) values (${number}, ${name}, ${checksum})`)
    }
    return true
  }

  let reportedAt = performance.now()
  while (!(await transaction(pool, apply))) {
    if (performance.now() - reportedAt >= reportMs) {
      onWait?.()
      reportedAt = performance.now()
    }
    await pause(askAgainMs)
  }
}

/** The migrations that the database does not have. Throws when the database is not one that this version may use. */
const missing = async (db: Pool | ClientBase, migrations: readonly Migration[]): Promise<readonly Migration[]> => {
  const applied = await readApplied(db)
  for (const { number, name, checksum } of applied) {
    const own = migrations.find((migration) => migration.number === number)
    if (!own)
      throw new BadConfiguration(
        `DATABASE_URL: a newer version has upgraded this database (${name}); start that version or a later one`,
      )
    if (own.checksum !== checksum)
      throw new BadConfiguration(
        `DATABASE_URL: the migration ${own.name} differs from the one that this database has; restore the file and put the change into a new migration`,
      )
  }
  const numbers = new Set(applied.map(({ number }) => number))
  return migrations.filter(({ number }) => !numbers.has(number))
}

const readApplied = async (db: Pool | ClientBase): Promise<readonly Applied[]> => {
  const { rows: found } = await db.query<{ exists: boolean }>(
    sql`select to_regclass('migration') is not null as exists`,
  )
  if (!found[0]?.exists) {
    await refuseOtherSchema(db)
    return []
  }
  const { rows } = await db.query<Applied>(sql`select number, name, checksum from migration order by number`)
  return rows
}

/** Refuses tables in a schema that a role or the database once put first: another set of them would be made beside. */
const refuseOtherSchema = async (db: Pool | ClientBase): Promise<void> => {
  const { rows } = await db.query<{ schema: string }>(sql`
    select table_schema as schema from information_schema.columns
    where table_name = 'migration' and column_name = 'checksum' and to_regclass('event_log.event') is not null`)
  if (rows[0])
    throw new BadConfiguration(
      `DATABASE_URL: the tables of the service are in the schema ${rows[0].schema} of this database, and must be in public: move them there (alter table … set schema public) and start again`,
    )
}

const readMigrations = async (directory: string): Promise<readonly Migration[]> => {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()
  const migrations = await Promise.all(names.map(async (name) => readMigration(directory, name)))
  for (const [index, { number, name }] of migrations.entries())
    if (migrations[index - 1]?.number === number) throw new Error(`Two migrations have the number of ${name}.`)
  return migrations
}

const readMigration = async (directory: string, name: string): Promise<Migration> => {
  const [, digits] = /^(\d{4})-[a-z\d-]+\.sql$/.exec(name) ?? []
  if (digits === undefined) throw new Error(`A migration is called NNNN-name.sql, not ${name}.`)
  const text = (await readFile(join(directory, name), 'utf8')).replaceAll('\r\n', '\n')
  return { number: Number(digits), name, text, checksum: createHash('sha256').update(text).digest('hex') }
}
