import { newId } from '../ids.ts'
import type { Database } from '../postgres/lookups.ts'
import { sql } from '../postgres/postgres.ts'
import { announce, readBelow, type Subject } from './data-key-rows.ts'
import type { ErasedKey } from './erased-keys-file.ts'

/** The erasure that the destruction of a key belongs to: of a person, or of the record of this stream, and the event that asked for it. */
type Erasing = {
  readonly contact_id: string | null
  readonly record?: string | undefined
  readonly request?: string
}

export type KeyErasure = {
  /**
   * Decides that the keys of subjects of an organisation are destroyed, and all below them; those made since `madeBefore` stay. It is
   * decided with the transaction of `db`: from then on nothing is sealed or read with them.
   */
  readonly decide: (
    db: Database,
    subjects: { readonly organisation_id: string; readonly subjects: readonly string[] },
    erasing: Erasing,
    madeBefore?: Date,
  ) => Promise<void>
  /** Destroys all keys of an organisation of which that is decided, or that of a subject and those below it. Repeated, it goes on. */
  readonly destroyDecided: (organisation_id: string, of?: string) => Promise<void>
  /** Decides and destroys. What was sealed under the key of a subject, or under one below it, can never be read again. */
  readonly erase: (subject: Subject, contactId?: string, record?: string) => Promise<void>
  /** People whose key is destroyed while one below it is not: a process of an earlier version has erased them. */
  readonly halfErased: () => Promise<readonly Subject[]>
}

type Options = {
  /** With a deadline for each statement. */
  readonly pool: Database
  readonly patient: Database
  /** Writes keys down outside the database, before they are destroyed. */
  readonly note: ((keys: readonly ErasedKey[]) => Promise<void>) | undefined
  readonly forget: (ids: readonly string[]) => void
}

type Line = Subject & { readonly key: string; readonly erasing: Erasing }

const findDecided = async (pool: Database, organisation_id: string, of: string | null): Promise<readonly Line[]> => {
  const { rows } = await pool.query<Line>(sql`
    select id as key, organisation_id, subject, erasing from data_key
    where organisation_id = ${organisation_id} and erasing_since is not null and erased_at is null
      and (${of}::text is null or subject = ${of} or starts_with(subject, ${of} || '/') or starts_with(subject, ${of} || '#'))
    order by erasing_since, id limit 500`)
  return rows
}

/**
 * A key is destroyed in three steps: that is decided in the database, written into the file, and done. The file never names a key of
 * which it was not decided, and whoever finds the process dead after one step takes the next.
 */
export const makeKeyErasure = ({ pool, patient, note, forget }: Options): KeyErasure => {
  const decide: KeyErasure['decide'] = async (db, { organisation_id, subjects }, erasing, madeBefore) => {
    const sorted = subjects.toSorted()
    const ids = sorted.map(() => newId())
    const before = madeBefore ?? null
    // Whoever makes a key below one of these at this moment is waited for, and finds the key above decided on, or is found.
    const own = await db.query<{ readonly id: string }>(sql`
      insert into data_key (id, organisation_id, subject, erasing_since, erasing)
      select id, ${organisation_id}, subject, now(), ${JSON.stringify(erasing)}::jsonb
      from unnest(${ids}::uuid[], ${sorted}::text[]) as given (id, subject)
      on conflict (organisation_id, subject) do update set erasing_since = excluded.erasing_since, erasing = excluded.erasing
        where data_key.erased_at is null and data_key.erasing_since is null
          and (${before}::timestamptz is null or data_key.created_at < ${before})
      returning id`)
    const below = await db.query<{ readonly id: string }>(sql`
      update data_key set erasing_since = now(), erasing = ${JSON.stringify(erasing)}::jsonb
      from unnest(${sorted}::text[]) as own (subject)
      where data_key.organisation_id = ${organisation_id}
        and (data_key.subject > own.subject || '#' and data_key.subject < own.subject || '$'
          or data_key.subject > own.subject || '/' and data_key.subject < own.subject || '0')
        and erased_at is null and erasing_since is null
        and (${before}::timestamptz is null or created_at < ${before})
      returning id`)
    await announce(
      db,
      [...own.rows, ...below.rows].map(({ id }) => id),
    )
  }

  const destroyDecided: KeyErasure['destroyDecided'] = async (organisation_id, of) => {
    for (;;) {
      const lines = await findDecided(pool, organisation_id, of ?? null)
      if (lines.length === 0) return
      await note?.(
        lines.map(({ erasing: { contact_id, record }, ...line }) => ({
          ...line,
          contact_id,
          ...(record !== undefined && { record }),
        })),
      )
      const ids = lines.map(({ key }) => key)
      await pool.query(sql`
        update data_key set sealed = null, organisation_key_version = null, erased_at = now()
        where id = any (${ids}::uuid[]) and erased_at is null and erasing_since is not null`)
      forget(ids)
    }
  }

  return {
    decide,
    destroyDecided,
    erase: async ({ organisation_id, subject }, contactId, record) => {
      do {
        const erasing = { contact_id: contactId ?? null, ...(record !== undefined && { record }) }
        await decide(pool, { organisation_id, subjects: [subject] }, erasing)
        await destroyDecided(organisation_id, subject)
        // None is made below from now on, unless by an earlier version at that moment.
      } while ((await readBelow(patient, { organisation_id, subject })).length > 0)
    },
    halfErased: async () => {
      const { rows } = await patient.query<Subject>(sql`
        select organisation_id, subject from data_key as above
        where erased_at is not null and erasing_since is null and subject ~ '^person:[^/]+$' and exists (
          select from data_key as below where below.organisation_id = above.organisation_id
            and below.subject > above.subject || '/' and below.subject < above.subject || '0'
            and below.erased_at is null)
        limit 500`)
      return rows
    },
  }
}
