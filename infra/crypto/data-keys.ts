import { createHmac, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { OwnError } from '#domain/own-error.ts'
import type { Database } from '../postgres/lookups.ts'
import { sql, withDeadline } from '../postgres/postgres.ts'
import { withTimeout } from '../timeout.ts'
import { CannotUnseal } from './aead.ts'
import { batched } from '../batched.ts'
import {
  nameOf,
  openDataKey,
  readAll,
  storeAll,
  VersionGone,
  type DataKey,
  type StoredKey,
  type Subject,
} from './data-key-rows.ts'
import { SubjectErased } from './erased.ts'
import type { ErasedKey } from './erased-keys-file.ts'
import type { Keys } from './keys.ts'
import { makeKeyErasure, type KeyErasure } from './key-erasure.ts'
import { keyName, makeOrganisationKeys, type OrganisationKeys } from './organisation-keys.ts'
import { subjectAbove, subjectAfter } from './subjects.ts'

/** A key, or why there is none: one that cannot be opened affects only its subject. */
export type FoundKey = KeyObject | 'erased' | CannotUnseal

export type DataKeys = KeyErasure & {
  /** The key that a subject's personal data is sealed under; when it is new, it is on the disk. Throws `SubjectErased`. */
  readonly of: (subject: Subject) => DataKey | Promise<DataKey>
  /** The same, if it is remembered. */
  readonly known: (subject: Subject) => DataKey | undefined
  /** Keys by id, all that are not remembered with one statement. There is none for an id that is not in the database. */
  readonly byId: (ids: ReadonlySet<string>) => Promise<ReadonlyMap<string, FoundKey>>
  /**
   * A keyed hash of a text, under a secret of the organisation that survives every rotation: the same text gives the same
   * 32 bytes always, and without the keys the text cannot be found by guessing. `purpose` separates uses.
   */
  readonly digest: (organisationId: string, purpose: string, text: string) => Promise<Buffer>
  /** True where the key is destroyed, or that is decided. */
  readonly isErased: (subject: Subject) => Promise<boolean>
  /** Removes the key of a subject of which nothing was or will be stored, which was made too soon. */
  readonly discard: (subject: Subject) => Promise<void>
  /** Removes keys from the cache, since they were erased here or elsewhere; without ids, all keys. */
  readonly forget: (ids?: readonly string[]) => void
  /** Calls a function whenever a key is no longer remembered, so that what was made of its subject's data is forgotten too. */
  readonly onForget: (listener: () => void) => void
}

/** The subject under whose key nothing is sealed, and from which an organisation's keyed hashes are made. */
const hashing = 'keyed hashes'

// A key and its names take some 400 bytes.
const keysRemembered = 20_000
// An erasure is announced to every process; a process that missed the announcement may use the key for this long.
const rememberedMs = 60_000

type Options = {
  readonly pool: Database
  readonly keys: Pick<Keys, 'sealing'>
  /** Deadline of a statement, the wait for a connection included; 2.5 seconds by default. */
  readonly statementMs?: number
  /** True where events are stored in the same database; else what a new key seals may outlive a key that was not on the disk. */
  readonly logIsHere?: boolean
  /** Writes keys down outside the database, before they are destroyed. */
  readonly note?: ((keys: readonly ErasedKey[]) => Promise<void>) | undefined
}

const erasedOf = ({ subject }: Subject) => new SubjectErased(`${subject} was erased: nothing more is stored of it.`)

const late = () => Object.assign(new Error('The data keys were not found in time.'), { code: 'ETIMEDOUT' })

/** For queries while somebody waits for an append or a read, which has a deadline itself. */
const inTime = (pool: Database, milliseconds: number): Database => ({
  query: (statement) => withTimeout(pool.query(withDeadline(statement, milliseconds)), milliseconds, late),
})

/** The data keys of a database. */
export const makeDataKeys = ({
  pool: patient,
  keys,
  statementMs = 2_500,
  logIsHere = false,
  note,
}: Options): DataKeys => {
  const pool = inTime(patient, statementMs)
  const organisationKeys = makeOrganisationKeys({ pool, keys })
  const bySubject = new LRUCache<string, DataKey>({ max: keysRemembered, ttl: rememberedMs })
  const byId = new LRUCache<string, KeyObject | 'erased'>({ max: keysRemembered, ttl: rememberedMs })
  // What was read before an erasure was announced is not cached after it.
  let erasures = 0
  const listeners: (() => void)[] = []

  const known = (subject: Subject) => bySubject.get(nameOf(subject))

  const open = async (rows: readonly StoredKey[]): Promise<ReadonlyMap<string, FoundKey>> => {
    const failures = await learnOrganisationKeys(organisationKeys, rows)
    const openOne = (row: StoredKey): FoundKey => {
      const { organisation_id, version, made } = row
      if (made) return made
      const reason = version === null ? undefined : failures.get(keyName({ organisation_id, version }))
      return reason ?? orWhyNot(() => openDataKey(organisationKeys.versionsOf(organisation_id), row))
    }
    return new Map(rows.map((row) => [row.id, openOne(row)]))
  }

  /** Why nothing is stored of subjects: the key above is destroyed, or cannot be opened. */
  const refusedAbove = async (subjects: readonly Subject[]): Promise<ReadonlyMap<string, Error>> => {
    const above = subjects.flatMap(({ organisation_id, subject }) => {
      const found = subjectAbove(subject)
      return found === null ? [] : [{ organisation_id, subject: found, below: subject }]
    })
    const unknown = above.filter((each) => !known(each))
    if (unknown.length === 0) return new Map()
    const keys = await findOrMake(unknown)
    return new Map(
      keys.flatMap((key, index) => {
        const of = unknown[index]
        return key instanceof Error && of ? [[nameOf({ ...of, subject: of.below }), key] as const] : []
      }),
    )
  }

  const findOrMake = async (subjects: readonly Subject[]): Promise<readonly (DataKey | Error)[]> => {
    const erasuresBefore = erasures
    const unusable = await organisationKeys.unusable(subjects)
    const ofUsable = subjects.filter(({ organisation_id }) => !unusable.has(organisation_id))
    const refused = await refusedAbove(ofUsable)
    const usable = ofUsable.filter((subject) => !refused.has(nameOf(subject)))
    const { rows, opened } = await asStored(async () => {
      const stored = await storeAll(pool, organisationKeys, usable, logIsHere)
      return { rows: stored, opened: await open(stored) }
    })
    const found = new Map(rows.map((row) => [nameOf(row), row.id]))
    const outcomes = subjects.map((subject) => {
      const reason = unusable.get(subject.organisation_id) ?? refused.get(nameOf(subject))
      if (reason) return reason
      const id = found.get(nameOf(subject)) ?? ''
      const key = opened.get(id)
      // The key above was destroyed at this moment.
      if (key === undefined && subjectAbove(subject.subject) !== null) return erasedOf(subject)
      if (key === undefined)
        return new OwnError(`The data key of ${subject.subject} is neither there nor can it be made.`)
      if (key === 'erased') return erasedOf(subject)
      if (key instanceof CannotUnseal) return key
      if (erasures === erasuresBefore) {
        bySubject.set(nameOf(subject), { id, key })
        byId.set(id, key)
      }
      return { id, key }
    })
    return beginAgain(subjects, outcomes, refused)
  }

  /** A record that begins again after it was erased has another key. */
  const beginAgain = async (
    subjects: readonly Subject[],
    outcomes: readonly (DataKey | Error)[],
    refused: ReadonlyMap<string, Error>,
  ): Promise<readonly (DataKey | Error)[]> => {
    const later = subjects.flatMap((subject, index) => {
      const after = outcomes[index] instanceof SubjectErased ? subjectAfter(subject.subject) : undefined
      return after === undefined || refused.has(nameOf(subject)) ? [] : [{ ...subject, subject: after, index }]
    })
    if (later.length === 0) return outcomes
    const erasuresBefore = erasures
    const keys = await findOrMake(later)
    const begun = new Map(later.map(({ index }, at) => [index, keys[at]] as const))
    return outcomes.map((outcome, index) => {
      const key = begun.get(index) ?? outcome
      const subject = subjects[index]
      if (!(key instanceof Error) && subject && erasures === erasuresBefore) bySubject.set(nameOf(subject), key)
      return key
    })
  }
  const request = batched(findOrMake, { mostAtOnce: 500, mostWaiting: 10_000, mostInFlight: 2 })

  const readMissing = async (
    wanted: readonly (readonly string[])[],
  ): Promise<readonly ReadonlyMap<string, FoundKey>[]> => {
    const erasuresBefore = erasures
    const ids = [...new Set(wanted.flat())]
    const { opened } = await asStored(async () => ({ opened: await open(await readAll(pool, ids)) }))
    if (erasures === erasuresBefore)
      for (const [id, key] of opened) if (!(key instanceof CannotUnseal)) byId.set(id, key)
    return wanted.map(() => opened)
  }
  const requestById = batched(readMissing, { mostAtOnce: 50, mostWaiting: 10_000, mostInFlight: 2 })

  const find = async (subject: Subject): Promise<DataKey> => {
    const found = await request(subject)
    if (found instanceof Error) throw found
    return found
  }
  const of = (subject: Subject) => known(subject) ?? find(subject)

  const forget = (ids?: readonly string[]) => {
    erasures++
    // By subject there is no way to find an id; keys are read again quickly, and erasures are rare.
    bySubject.clear()
    if (ids === undefined) byId.clear()
    else for (const id of ids) byId.delete(id)
    for (const listener of listeners) listener()
  }

  return {
    of,
    known,
    byId: async (ids) => {
      const result = new Map<string, FoundKey>()
      const missing: string[] = []
      for (const id of ids) {
        const key = byId.get(id)
        if (key) result.set(id, key)
        else missing.push(id)
      }
      if (missing.length === 0) return result

      const read = await requestById(missing)
      for (const id of missing) {
        const key = read.get(id)
        if (key) result.set(id, key)
      }
      return result
    },
    digest: async (organisation_id, purpose, text) => {
      const { key } = await of({ organisation_id, subject: hashing })
      return createHmac('sha256', key)
        .update(JSON.stringify([purpose, text]))
        .digest()
    },
    ...makeKeyErasure({ pool, patient, note, forget }),
    isErased: async ({ organisation_id, subject }) => {
      const { rows } = await pool.query(sql`
        select from data_key where organisation_id = ${organisation_id} and subject = ${subject}
          and coalesce(erasing_since, erased_at) is not null`)
      return rows.length > 0
    },
    discard: async (subject) => {
      bySubject.delete(nameOf(subject))
      await pool.query(sql`
        delete from data_key
        where organisation_id = ${subject.organisation_id} and subject = ${subject.subject}
          and erased_at is null and erasing_since is null`)
    },
    forget,
    onForget: (listener) => listeners.push(listener),
  }
}

/** Reads again what a rotation has changed between two statements. */
const asStored = async <Result extends { readonly opened: ReadonlyMap<string, FoundKey> }>(
  read: () => Promise<Result>,
): Promise<Result> => {
  const result = await read()
  return [...result.opened.values()].some((key) => key instanceof VersionGone) ? read() : result
}

const orWhyNot = <Result>(work: () => Result): Result | CannotUnseal => {
  try {
    return work()
  } catch (error) {
    if (error instanceof CannotUnseal) return error
    throw error
  }
}

const learnOrganisationKeys = async (
  organisationKeys: OrganisationKeys,
  rows: readonly StoredKey[],
): Promise<ReadonlyMap<string, CannotUnseal>> => {
  const unknown = new Map<string, { readonly organisation_id: string; readonly version: number }>()
  for (const { organisation_id, version, made } of rows)
    if (!made && version !== null && !organisationKeys.versionsOf(organisation_id).get(version))
      unknown.set(keyName({ organisation_id, version }), { organisation_id, version })
  return unknown.size > 0 ? organisationKeys.learn([...unknown.values()]) : new Map()
}
