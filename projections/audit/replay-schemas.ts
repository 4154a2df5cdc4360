import type { ClientBase, Pool } from 'pg'
import { OwnError } from '#domain/own-error.ts'
import { newId } from '#infra/ids.ts'
import { sql, transaction } from '#infra/postgres/postgres.ts'

export const usableSchema = /^(?!pg_|read_models_)[a-z][a-z0-9_]{0,49}$/

/** A replay that is being made. */
export type Run = { readonly name: string; readonly run: string }

type Asked = {
  readonly name: string
  /** Null: all of them. */
  readonly organisation_id: string | null
  readonly personal: 'masked' | 'opened'
  /** The role of the database that may read it. */
  readonly reader: string | null
  readonly keepMs: number
}

/** Why a replay cannot be begun, or goes no further. */
export class ReplayRefused extends OwnError {
  override readonly name = 'ReplayRefused'
}

const interrupted = ({ name }: Run) =>
  new ReplayRefused(
    `${name} was dropped meanwhile, because somebody was erased or it was to be, or another run has begun again. Run it again.`,
  )

const alreadyThere = (name: string) =>
  new ReplayRefused(`There is a replay ${name}. Choose another name, or drop it first: --drop ${name}.`)

const schemaExists = async (db: ClientBase, name: string): Promise<boolean> =>
  (await db.query(sql`select from pg_namespace where nspname = ${name}`)).rowCount !== 0

/**
 * Begins a replay in an empty schema. It is known before the first event is read: an erasure from then on drops it, and the key
 * of whoever was erased before is gone. What another run has left unfinished is removed, and that run goes no further.
 */
export const beginReplay = ({ name, organisation_id, personal, reader, keepMs }: Asked, pool: Pool): Promise<Run> =>
  transaction(pool, async (db) => {
    const run = newId()
    const { rows } = await db.query<{ finished_at: Date | null }>(sql`
      select finished_at from replay where name = ${name} for update`)
    const [before] = rows
    if (before?.finished_at) throw alreadyThere(name)
    if (!before && (await schemaExists(db, name)))
      throw new ReplayRefused(`There is a schema ${name} that no replay has made. Choose another name.`)
    const { rowCount } = await db.query(sql`
      insert into replay (name, organisation_id, personal, reader, run, drop_at)
      values (${name}, ${organisation_id}, ${personal}, ${reader}, ${run}, now() + ${keepMs} * interval '1 millisecond')
      on conflict (name) do update set (organisation_id, personal, reader, run, drop_at)
        = row(excluded.organisation_id, excluded.personal, excluded.reader, excluded.run, excluded.drop_at)
        where replay.finished_at is null
      returning name`)
    if (rowCount === 0) throw alreadyThere(name)
    await db.query(`drop schema if exists "${name}" cascade; create schema "${name}"`)
    return { name, run }
  })

/** Holds a replay as it is until the transaction ends; throws where it is not this run's any more. */
export const holdReplay = async (db: ClientBase, { name, run }: Run): Promise<void> => {
  const { rowCount } = await db.query(sql`
    select from replay where name = ${name} and run = ${run} and drop_at > now() for share`)
  if (rowCount === 0) throw interrupted({ name, run })
}

/** From now on its reader may look into it. */
export const finishReplay = (own: Run, pool: Pool): Promise<void> =>
  transaction(pool, async (db) => {
    const { rows } = await db.query<{ reader: string | null }>(sql`
      update replay set finished_at = now() where name = ${own.name} and run = ${own.run} and drop_at > now() returning reader`)
    const [found] = rows
    if (!found) throw interrupted(own)
    if (found.reader === null) return
    const reader = quoted(found.reader)
    await db.query(`grant usage on schema "${own.name}" to ${reader};
      grant select on all tables in schema "${own.name}" to ${reader}`)
  })

const quoted = (role: string): string => `"${role.replaceAll('"', '""')}"`

// Whoever reads it for long is waited for no longer, and asked again: their next statement is refused already.
const lockMs = 2_000

/** Drops a replay; false where there is none of that name. */
export const dropReplay = async (name: string, pool: Pool): Promise<boolean> => {
  const { rows } = await pool.query<{ reader: string | null }>(sql`
    update replay set drop_at = least(drop_at, now()) where name = ${name} returning reader`)
  const [found] = rows
  if (!found) return false
  const { rowCount: granted } = await pool.query(sql`
    select from pg_namespace, pg_roles where nspname = ${name} and rolname = ${found.reader}`)
  if (found.reader !== null && granted !== 0)
    await pool.query(`revoke all on schema "${name}" from ${quoted(found.reader)}`)
  await transaction(pool, async (db) => {
    await db.query(sql`select from replay where name = ${name} for update`)
    await db.query(`set local lock_timeout = ${lockMs}; drop schema if exists "${name}" cascade`)
    await db.query(sql`delete from replay where name = ${name}`)
  })
  return true
}

/** Has those replays dropped that may hold values of somebody of this organisation who was erased. */
export const dropReplaysOf = async (organisation_id: string | null, pool: Pool): Promise<void> => {
  await pool.query(sql`
    update replay set drop_at = least(drop_at, now())
    where personal = 'opened' and (organisation_id is null or organisation_id = ${organisation_id})`)
}

/** Drops the replays whose time has come. One that is being read waits, and holds up no other. */
export const dropDueReplays = async (pool: Pool): Promise<void> => {
  const { rows } = await pool.query<{ name: string }>(sql`select name from replay where drop_at <= now() order by name`)
  const failures: unknown[] = []
  for (const { name } of rows) await dropReplay(name, pool).catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

const reasonFor = ({
  is_superuser,
  is_member,
  other,
}: {
  is_superuser: boolean
  is_member: boolean
  other: string | null
}) => {
  if (is_superuser) return 'it is a superuser'
  return is_member ? 'it is a member of another role' : `it may read ${other}`
}

/** Refuses a role that sees anything else of this database, but other replays of the same organisation that were made for it. */
export const checkReader = async (
  { role, organisation_id }: { readonly role: string; readonly organisation_id: string | null },
  pool: Pool,
): Promise<void> => {
  const { rows } = await pool.query<{ is_superuser: boolean; is_member: boolean; other: string | null }>(sql`
    select rolsuper as is_superuser, exists (select from pg_auth_members where member = pg_roles.oid) as is_member, (
      select format('%I.%I', nspname, relname) from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where relkind in ('r', 'p', 'v', 'm', 'f') and nspname not in ('pg_catalog', 'information_schema')
        and nspname not like 'pg\\_toast%' and nspname not like 'pg\\_temp%' and nspname not in (select name from replay where reader = ${role} and organisation_id is not distinct from ${organisation_id})
        and (has_table_privilege(rolname, pg_class.oid, 'select') or has_any_column_privilege(rolname, pg_class.oid, 'select'))
        and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
      order by nspname, relname limit 1) as other
    from pg_roles where rolname = ${role}`)
  const [found] = rows
  if (!found)
    throw new ReplayRefused(`There is no role ${role} in the database. Make it first: docs/audit.md says how.`)
  if (found.is_superuser || found.is_member || found.other !== null)
    throw new ReplayRefused(
      `The role ${role} sees more than a replay: ${reasonFor(found)}. Make one that sees nothing else.`,
    )
}
