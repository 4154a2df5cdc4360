import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { newId } from '../ids.ts'
import { integers, texts, uuids } from '../postgres/arrays.ts'
import type { Database } from '../postgres/lookups.ts'
import { sql } from '../postgres/postgres.ts'
import { decrypt, encrypt } from './aead.ts'
import { batched } from './batched.ts'
import type { Keys } from './keys.ts'
import { makeOrganisationKeys, type OrganisationKeys } from './organisation-keys.ts'
import { placeBytes } from './seal.ts'

export type DataKey = { readonly id: string; readonly key: KeyObject }

/** Whose personal data a key seals: `person:<id>`, or the stream of what is not yet known to be a person's. */
type Subject = { readonly organisation_id: string; readonly subject: string }

/** The subject was erased: nothing more is stored of it. */
export class SubjectErased extends Error {
  override readonly name = 'SubjectErased'
}

/** A rotation has sealed the data key anew since its row was read. */
class VersionGone extends Error {
  override readonly name = 'VersionGone'
}

export type DataKeys = {
  /** The key that a subject's personal data is sealed under; when it is new, it is on the disk. Throws `SubjectErased`. */
  readonly of: (subject: Subject) => DataKey | Promise<DataKey>
  /** Keys by id, all that are not remembered with one statement. There is none for an id that is not in the database. */
  readonly byId: (ids: ReadonlySet<string>) => Promise<ReadonlyMap<string, KeyObject | 'erased'>>
  /**
   * A keyed hash of a text, under a secret of the organisation that survives every rotation: the same text gives the same
   * 32 bytes for ever, and nobody without the keys can find the text by trying. `purpose` keeps uses apart.
   */
  readonly digest: (organisationId: string, purpose: string, text: string) => Promise<Buffer>
  /** Destroys the key of a subject. Whatever was sealed under it can be read by nobody again. */
  readonly erase: (subject: Subject) => Promise<void>
  /** No longer remembers a key, since it was erased here or elsewhere; without an id, no key at all. */
  readonly forget: (id?: string) => void
}

export const erasedChannel = 'data_key_erased'

/** A data key as it is stored. */
export type DataKeyRow = Subject & {
  readonly id: string
  readonly version: number | null
  readonly sealed: Buffer | null
}

/** The subject under whose key nothing is sealed, and from which an organisation's keyed hashes are made. */
const hashing = 'keyed hashes'

// A key and its names take some 400 bytes.
const keysRemembered = 20_000
// An erasure is announced to every process; this is how long one that did not hear of it may still use the key.
const rememberedMs = 60_000

const nameOf = ({ organisation_id, subject }: Subject): string => `${organisation_id} ${subject}`

const placeOf = ({ organisation_id, subject }: Subject, id: string): Buffer =>
  placeBytes(['data key', organisation_id, subject, id])

type Options = { readonly pool: Database; readonly keys: Pick<Keys, 'sealing'> }

/** The data keys of a database. */
export const makeDataKeys = ({ pool, keys }: Options): DataKeys => {
  const organisationKeys = makeOrganisationKeys({ pool, keys })
  const bySubject = new LRUCache<string, DataKey>({ max: keysRemembered, ttl: rememberedMs })
  const byId = new LRUCache<string, KeyObject | 'erased'>({ max: keysRemembered, ttl: rememberedMs })
  // What was read before an erasure was heard of is not remembered after it.
  let erasures = 0

  const open = async (rows: readonly DataKeyRow[]): Promise<ReadonlyMap<string, KeyObject | 'erased'>> => {
    await learnOrganisationKeys(organisationKeys, rows)
    return new Map(rows.map((row) => [row.id, openDataKey(organisationKeys.versionsOf(row.organisation_id), row)]))
  }

  const findOrMake = async (subjects: readonly Subject[]): Promise<readonly (DataKey | SubjectErased)[]> => {
    const erasuresBefore = erasures
    const { rows, opened } = await asStored(async () => {
      const stored = await storeAll(pool, organisationKeys, subjects)
      return { rows: stored, opened: await open(stored) }
    })
    const found = new Map(rows.map((row) => [nameOf(row), row.id]))
    return subjects.map((subject) => {
      const id = found.get(nameOf(subject)) ?? ''
      const key = opened.get(id)
      if (key === undefined) throw new Error(`The data key of ${subject.subject} is neither there nor can it be made.`)
      if (key === 'erased') return new SubjectErased(`${subject.subject} was erased: nothing more is stored of it.`)
      if (erasures === erasuresBefore) bySubject.set(nameOf(subject), { id, key })
      return { id, key }
    })
  }
  const request = batched(findOrMake, { mostAtOnce: 500, mostWaiting: 10_000, mostInFlight: 2 })

  const find = async (subject: Subject): Promise<DataKey> => {
    const found = await request(subject)
    if (found instanceof SubjectErased) throw found
    return found
  }
  const of = (subject: Subject) => bySubject.get(nameOf(subject)) ?? find(subject)

  const forget = (id?: string) => {
    erasures++
    // By subject there is no way to find an id; keys are read again quickly, and erasures are rare.
    bySubject.clear()
    if (id === undefined) byId.clear()
    else byId.delete(id)
  }

  return {
    of,
    byId: async (ids) => {
      const result = new Map<string, KeyObject | 'erased'>()
      const missing: string[] = []
      for (const id of ids) {
        const key = byId.get(id)
        if (key) result.set(id, key)
        else missing.push(id)
      }
      if (missing.length === 0) return result

      const erasuresBefore = erasures
      for (const [id, key] of await asStored(async () => open(await readAll(pool, missing)))) {
        result.set(id, key)
        if (erasures === erasuresBefore) byId.set(id, key)
      }
      return result
    },
    digest: async (organisation_id, purpose, text) => {
      const { key } = await of({ organisation_id, subject: hashing })
      return createHmac('sha256', key)
        .update(JSON.stringify([purpose, text]))
        .digest()
    },
    erase: async ({ organisation_id, subject }) => {
      const { rows } = await pool.query<{ readonly id: string }>(sql`
        with erased as (
          insert into data_key (id, organisation_id, subject, erased_at)
          values (${newId()}, ${organisation_id}, ${subject}, now())
          on conflict (organisation_id, subject) do update
            set sealed = null, organisation_key_version = null, erased_at = coalesce(data_key.erased_at, now())
          returning id)
        select id, pg_notify(${erasedChannel}, id::text) from erased`)
      for (const { id } of rows) forget(id)
    },
    forget,
  }
}

const readAll = async (pool: Database, ids: readonly string[]): Promise<readonly DataKeyRow[]> => {
  const { rows } = await pool.query<DataKeyRow>({
    name: 'data-keys-by-id',
    text: `
      select id, organisation_id, subject, organisation_key_version as version, sealed from data_key
      where id = any ($1)`,
    values: [uuids(ids)],
  })
  return rows
}

/** Reads again what a rotation has changed between two statements. */
const asStored = async <Result>(read: () => Promise<Result>): Promise<Result> => {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof VersionGone)) throw error
    return read()
  }
}

const learnOrganisationKeys = async (
  organisationKeys: OrganisationKeys,
  rows: readonly DataKeyRow[],
): Promise<void> => {
  const unknown = new Map<string, { readonly organisation_id: string; readonly version: number }>()
  for (const { organisation_id, version } of rows)
    if (version !== null && !organisationKeys.versionsOf(organisation_id).get(version))
      unknown.set(`${version} ${organisation_id}`, { organisation_id, version })
  if (unknown.size > 0) await organisationKeys.learn([...unknown.values()])
}

/** A data key, given the keys of its organisation by version. */
export const openDataKey = (
  versions: Pick<ReadonlyMap<number, KeyObject>, 'get'>,
  row: DataKeyRow,
): KeyObject | 'erased' => {
  if (row.version === null || row.sealed === null) return 'erased'
  const key = versions.get(row.version)
  if (!key)
    throw new VersionGone(`Version ${row.version} of the key of organisation ${row.organisation_id} is missing.`)
  return createSecretKey(decrypt(key, row.sealed, placeOf(row, row.id)))
}

export const sealDataKey = (organisationKey: KeyObject, subject: Subject, { id, key }: DataKey): Buffer =>
  encrypt(organisationKey, key.export(), placeOf(subject, id))

/**
 * The rows of subjects, new ones for those that have none: one statement, and another only for those that another
 * process made at the same moment.
 */
const storeAll = async (
  pool: Database,
  organisationKeys: OrganisationKeys,
  subjects: readonly Subject[],
): Promise<readonly DataKeyRow[]> => {
  const found: DataKeyRow[] = []
  let missing: readonly Subject[] = [...new Map(subjects.map((subject) => [nameOf(subject), subject])).values()]
  for (let attempt = 1; missing.length > 0 && attempt <= 3; attempt++) {
    const rows = await store(pool, organisationKeys, missing, attempt === 1)
    found.push(...rows)
    const names = new Set(rows.map(nameOf))
    missing = missing.filter((subject) => !names.has(nameOf(subject)))
  }
  return found
}

const store = async (
  pool: Database,
  organisationKeys: OrganisationKeys,
  subjects: readonly Subject[],
  isFirstAttempt: boolean,
): Promise<readonly DataKeyRow[]> => {
  const organisations = new Set(subjects.map(({ organisation_id }) => organisation_id))
  const newest = new Map(
    await Promise.all([...organisations].map(async (id) => [id, await organisationKeys.newest(id)] as const)),
  )
  // Always in the same order, so that two processes never wait for each other in a circle.
  const sorted = subjects.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  const candidates = sorted.map((subject) => {
    const organisationKey = newest.get(subject.organisation_id)
    if (!organisationKey) throw new Error(`Organisation ${subject.organisation_id} has no key.`)
    const made = { id: newId(), key: createSecretKey(randomBytes(32)) }
    return {
      ...subject,
      id: made.id,
      version: organisationKey.version,
      sealed: sealDataKey(organisationKey.key, subject, made),
    }
  })
  try {
    const { rows } = await pool.query<DataKeyRow>({
      name: 'data-keys-find-or-make',
      text: `
        with given as (
          select * from unnest($1::uuid[], $2::text[], $3::text[], $4::integer[], $5::bytea[])
            as given (id, organisation_id, subject, version, sealed)
        ), known as (
          select data_key.id, organisation_id, subject, data_key.organisation_key_version as version, data_key.sealed
          from given join data_key using (organisation_id, subject)
        ), made as (
          insert into data_key (id, organisation_id, subject, organisation_key_version, sealed)
          select * from given
          where not exists (
            select from known where (known.organisation_id, known.subject) = (given.organisation_id, given.subject))
          on conflict (organisation_id, subject) do nothing
          returning id, organisation_id, subject, organisation_key_version as version, sealed
        )
        select * from known union all select * from made`,
      values: [
        uuids(candidates.map(({ id }) => id)),
        texts(candidates.map(({ organisation_id }) => organisation_id)),
        texts(candidates.map(({ subject }) => subject)),
        integers(candidates.map(({ version }) => version)),
        candidates.map(({ sealed }) => sealed),
      ],
    })
    return rows
  } catch (error) {
    // A rotation has removed the version that was remembered as the newest.
    const isOldVersion = error instanceof Error && 'code' in error && error.code === '23503'
    if (!isOldVersion || !isFirstAttempt) throw error
    for (const id of organisations) organisationKeys.forgetNewest(id)
    return []
  }
}
