import { createSecretKey, type KeyObject } from 'node:crypto'
import { OwnError } from '#domain/own-error.ts'
import { newId } from '../ids.ts'
import { integers, texts, uuids } from '../postgres/arrays.ts'
import type { Database } from '../postgres/lookups.ts'
import { committedWithLog, sql } from '../postgres/postgres.ts'
import { CannotUnseal, decrypt, encrypt, newKey } from './aead.ts'
import type { OrganisationKeys } from './organisation-keys.ts'
import { bindingBytes } from './seal.ts'
import { subjectAbove } from './subjects.ts'

export type DataKey = { readonly id: string; readonly key: KeyObject }

/**
 * The owner of the personal data under a key: `person:<id>`, a record of that person's (`person:<id>/<stream>`), or the stream of
 * what is not yet known to be a person's.
 */
export type Subject = { readonly organisation_id: string; readonly subject: string }

/** A data key as it is stored. */
export type DataKeyRow = Subject & {
  readonly id: string
  readonly version: number | null
  readonly sealed: Buffer | null
}

/** One that this process has just made need not be opened. */
export type StoredKey = DataKeyRow & { readonly made?: KeyObject }

export const nameOf = ({ organisation_id, subject }: Subject): string => `${organisation_id} ${subject}`

const bindingOf = ({ organisation_id, subject }: Subject, id: string): Buffer =>
  bindingBytes(['data key', organisation_id, subject, id])

/** A rotation has sealed the data key again since its row was read. */
export class VersionGone extends CannotUnseal {}

/** SQL: one that is about to be destroyed is as good as destroyed. */
const usableVersion = 'case when erasing_since is null then organisation_key_version end'

export const readAll = async (pool: Database, ids: readonly string[]): Promise<readonly DataKeyRow[]> => {
  const { rows } = await pool.query<DataKeyRow>({
    name: 'data-keys-by-id',
    text: `
      select id, organisation_id, subject, ${usableVersion} as version, sealed from data_key
      where id = any ($1)`,
    values: [uuids(ids)],
  })
  return rows
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
  return createSecretKey(decrypt(key, row.sealed, bindingOf(row, row.id)))
}

/** The keys below one that are not destroyed, the first of them. */
export const readBelow = async (
  pool: Database,
  { organisation_id, subject }: Subject,
): Promise<readonly (Subject & { readonly id: string })[]> => {
  const between = (mark: string, next: string) => [`${subject}${mark}`, `${subject}${next}`]
  const { rows } = await pool.query<Subject & { readonly id: string }>({
    name: 'data-keys-below',
    text: `
      select id, organisation_id, subject from data_key
      where organisation_id = $1 and erased_at is null and erasing_since is null
        and ((subject > $2 and subject < $3) or (subject > $4 and subject < $5))
      order by subject limit 500`,
    // A key begun again, and a part: in each case the next character follows the mark.
    values: [organisation_id, ...between('#', '$'), ...between('/', '0')],
  })
  return rows
}

export const sealDataKey = (organisationKey: KeyObject, subject: Subject, { id, key }: DataKey): Buffer =>
  encrypt(organisationKey, key.export(), bindingOf(subject, id))

/**
 * The rows of subjects, new ones for those that have none: one statement, and another only for those that another
 * process made at the same moment. With a limit, keys are looked up one by one; joined, the planner reads all of them
 * while they are few, and keeps to that plan. A key below another is made only while that one is not destroyed, which waits for it
 * meanwhile: whoever destroys a key afterwards finds all below it.
 */
export const storeAll = async (
  pool: Database,
  organisationKeys: OrganisationKeys,
  subjects: readonly Subject[],
  logIsHere: boolean,
): Promise<readonly StoredKey[]> => {
  const found: StoredKey[] = []
  let missing: readonly Subject[] = [...new Map(subjects.map((subject) => [nameOf(subject), subject])).values()]
  for (let attempt = 1; missing.length > 0 && attempt <= 3; attempt++) {
    const rows = await store(pool, organisationKeys, missing, { logIsHere, isFirstAttempt: attempt === 1 })
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
  { logIsHere, isFirstAttempt }: { readonly logIsHere: boolean; readonly isFirstAttempt: boolean },
): Promise<readonly StoredKey[]> => {
  const organisations = new Set(subjects.map(({ organisation_id }) => organisation_id))
  const newest = new Map(
    await Promise.all([...organisations].map(async (id) => [id, await organisationKeys.newest(id)] as const)),
  )
  // Always in the same order, so that two processes never wait for each other in a circle.
  const sorted = subjects.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  const candidates = sorted.map((subject) => {
    const organisationKey = newest.get(subject.organisation_id)
    if (!organisationKey) throw new OwnError(`Organisation ${subject.organisation_id} has no key.`)
    const made = { id: newId(), key: newKey() }
    return {
      ...subject,
      id: made.id,
      made: made.key,
      version: organisationKey.version,
      sealed: sealDataKey(organisationKey.key, subject, made),
    }
  })
  try {
    const { rows } = await pool.query<DataKeyRow>({
      name: 'data-keys-find-or-make',
      text: `
        with given as (
          select * from unnest($1::uuid[], $2::text[], $3::text[], $4::integer[], $5::bytea[], $7::text[])
            as given (id, organisation_id, subject, version, sealed, above)
        ), known as (
          select found.* from given cross join lateral (
            select id, organisation_id, subject, ${usableVersion} as version, sealed from data_key
            where data_key.organisation_id = given.organisation_id and data_key.subject = given.subject
            limit 1) as found
        ), missing as (
          select * from given where not exists (
            select from known where (known.organisation_id, known.subject) = (given.organisation_id, given.subject))
        ), above as (
          select found.* from missing cross join lateral (
            select organisation_id, subject from data_key
            where data_key.organisation_id = missing.organisation_id and data_key.subject = missing.above
              and erased_at is null and erasing_since is null
            limit 1 for share) as found
        ), made as (
          insert into data_key (id, organisation_id, subject, organisation_key_version, sealed)
          select id, organisation_id, subject, version, sealed from missing
          where missing.above is null or exists (
            select from above where (above.organisation_id, above.subject) = (missing.organisation_id, missing.above))
          on conflict (organisation_id, subject) do nothing
          returning id, organisation_id, subject, organisation_key_version as version, sealed
        )
        select *, ${committedWithLog('$6')} from (select * from known union all select * from made) as stored`,
      values: [
        uuids(candidates.map(({ id }) => id)),
        texts(candidates.map(({ organisation_id }) => organisation_id)),
        texts(candidates.map(({ subject }) => subject)),
        integers(candidates.map(({ version }) => version)),
        candidates.map(({ sealed }) => sealed),
        logIsHere,
        candidates.map(({ subject }) => subjectAbove(subject)),
      ],
    })
    const made = new Map(candidates.map((candidate) => [candidate.id, candidate.made]))
    return rows.map((row) => {
      const own = made.get(row.id)
      return own ? { ...row, made: own } : row
    })
  } catch (error) {
    // A rotation has removed the version that was remembered as the newest.
    const isOldVersion = error instanceof Error && 'code' in error && error.code === '23503'
    if (!isOldVersion || !isFirstAttempt) throw error
    for (const id of organisations) organisationKeys.forgetNewest(id)
    return []
  }
}

export const erasedChannel = 'data_key_erased'

/** A notification holds 8,000 bytes. */
const announcedAtOnce = 200

/** Tells every process to forget keys, by the end of the transaction. */
export const announce = (db: Database, ids: readonly string[]) =>
  db.query(sql`
    select pg_notify(${erasedChannel}, string_agg(id, ','))
    from unnest(${ids}::text[]) with ordinality as given (id, place) group by place / ${announcedAtOnce}`)
