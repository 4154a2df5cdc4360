import type { KeyObject } from 'node:crypto'
import type { Pool } from 'pg'
import { OwnError } from '#domain/own-error.ts'
import { integers, uuids } from '../postgres/arrays.ts'
import { sql } from '../postgres/postgres.ts'
import { CannotUnseal, newKey } from './aead.ts'
import { openDataKey, sealDataKey, type DataKeyRow } from './data-key-rows.ts'
import type { Keys } from './keys.ts'
import { openOrganisationKey, sealOrganisationKey } from './organisation-keys.ts'
import { sealedUnder } from './seal.ts'

export type RotationProgress = { readonly done: number; readonly total: number }

type Options = {
  readonly pool: Pool
  readonly keys: Pick<Keys, 'sealing'>
  readonly signal?: AbortSignal
  readonly report?: (progress: RotationProgress) => void
  /** Data keys that are sealed again with one statement. */
  readonly atOnce?: number
  /** Called for a data key that cannot be opened: it stays as it is, and so do the former keys of its organisation. */
  readonly unopened?: (unopened: Unopened) => void
}

export type Unopened = { readonly id: string; readonly organisation_id: string; readonly reason: string }

const refuse: NonNullable<Options['unopened']> = ({ id, reason }) => {
  throw new OwnError(`The data key ${id} cannot be opened: ${reason}`)
}

type Version = { readonly version: number; readonly sealed: string }

/**
 * Gives each organisation whose key is sealed under an earlier master key a new one, and seals its data keys again under
 * that. The service may run meanwhile. A rotation that was stopped goes on where it was when it is called again; one that
 * has nothing to do changes nothing. A data key that cannot be opened holds up no other. Resolves to the number of data keys that were sealed again.
 */
export const rotate = async (options: Options): Promise<number> => {
  const { pool, signal, report } = options
  const organisations = await pool.query<{ id: string }>(
    'select distinct organisation_id as id from organisation_key order by id',
  )
  for (const { id } of organisations.rows) await renew(id, options)

  const total = await outdatedDataKeys(pool)
  let done = 0
  const pass = (sealed: number) => {
    done += sealed
    report?.({ done, total: Math.max(done, total) })
  }
  pass(0)
  for (const { id } of organisations.rows) {
    signal?.throwIfAborted()
    await resealAll(id, options, pass)
  }
  return done
}

/** The number of data keys sealed under a former key of their organisation. */
export const outdatedDataKeys = async (pool: Pool): Promise<number> => {
  const { rows } = await pool.query<{ keys: string }>(`
    select count(*) as keys from data_key
    join (select organisation_id, max(version) as version from organisation_key group by organisation_id) as newest
      using (organisation_id)
    where organisation_key_version < newest.version`)
  return Number(rows[0]?.keys ?? 0)
}

const versionsOf = async (pool: Pool, organisationId: string): Promise<readonly Version[]> => {
  const { rows } = await pool.query<Version>(sql`
    select version, sealed from organisation_key where organisation_id = ${organisationId} order by version desc`)
  return rows
}

/** Makes a new key for an organisation whose newest is sealed under an earlier master key. */
const renew = async (organisationId: string, { pool, keys }: Options): Promise<void> => {
  const [newest] = await versionsOf(pool, organisationId)
  if (!newest || sealedUnder(newest.sealed) === keys.sealing.id) return
  const version = newest.version + 1
  // Another rotation at the same time may have been faster.
  await pool.query(sql`
    insert into organisation_key (organisation_id, version, sealed)
    values (${organisationId}, ${version}, ${sealOrganisationKey(keys, organisationId, version, newKey())})
    on conflict do nothing`)
}

const resealAll = async (organisationId: string, options: Options, pass: (sealed: number) => void): Promise<void> => {
  const { pool, keys } = options
  // Processes that have cached the former version make a few more data keys with it, for a minute at most.
  for (;;) {
    const versions = await versionsOf(pool, organisationId)
    const newest = versions[0]?.version
    if (newest === undefined) return
    const opened = new Map(
      versions.map((row) => [row.version, openOrganisationKey(keys, organisationId, row)] as const),
    )
    const isWhole = await reseal(organisationId, newest, opened, options, pass)
    // What could not be opened still names a former version.
    if (!isWhole || (await removeUnused(pool, organisationId, newest))) return
  }
}

/** False when a data key cannot be opened. */
const reseal = async (
  organisationId: string,
  newest: number,
  versions: ReadonlyMap<number, KeyObject>,
  { pool, signal, atOnce = 1_000, unopened = refuse }: Options,
  pass: (sealed: number) => void,
): Promise<boolean> => {
  const newestKey = versions.get(newest)
  if (!newestKey) throw new Error(`Organisation ${organisationId} has no key ${newest}.`)
  let after = ''
  let isWhole = true
  for (;;) {
    signal?.throwIfAborted()
    const { rows } = await pool.query<DataKeyRow>(sql`
      select id, organisation_id, subject, organisation_key_version as version, sealed from data_key
      where organisation_id = ${organisationId} and subject > ${after} and organisation_key_version < ${newest}
      order by subject limit ${atOnce}`)
    const last = rows.at(-1)
    if (!last) return isWhole
    const resealed: { readonly row: DataKeyRow; readonly sealed: Buffer }[] = []
    for (const row of rows)
      try {
        const key = openDataKey(versions, row)
        if (key === 'erased') throw new Error(`The data key ${row.id} was erased while it was read.`)
        resealed.push({ row, sealed: sealDataKey(newestKey, row, { id: row.id, key }) })
      } catch (error) {
        if (!(error instanceof CannotUnseal)) throw error
        isWhole = false
        unopened({ id: row.id, organisation_id: row.organisation_id, reason: error.message })
      }
    // One that was erased meanwhile has no version, and stays erased.
    await pool.query(sql`
      update data_key set sealed = given.sealed, organisation_key_version = ${newest}
      from unnest(${uuids(resealed.map(({ row }) => row.id))}::uuid[],
        ${integers(resealed.map(({ row }) => row.version ?? 0))}::integer[], ${resealed.map(({ sealed }) => sealed)}::bytea[])
        as given (id, version, sealed)
      where data_key.id = given.id and data_key.organisation_key_version = given.version`)
    pass(resealed.length)
    after = last.subject
  }
}

/** False when a data key has come meanwhile that needs an earlier version. */
const removeUnused = async (pool: Pool, organisationId: string, newest: number): Promise<boolean> => {
  try {
    await pool.query(sql`
      delete from organisation_key where organisation_id = ${organisationId} and version < ${newest}`)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '23503') return false
    throw error
  }
}
