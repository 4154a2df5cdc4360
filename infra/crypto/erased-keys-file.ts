import { open, type FileHandle } from 'node:fs/promises'
import { createReadStream } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { counted } from '#domain/plural.ts'
import { BadConfiguration } from '../config.ts'
import type { Check } from '../http/health.ts'
import type { Log } from '../log.ts'
import { sql, transaction } from '../postgres/postgres.ts'
import { reasonOf } from '../reason.ts'
import { withTimeout } from '../timeout.ts'
import { announce } from './data-key-rows.ts'

/**
 * A key that is destroyed, and the person whose erasure it belongs to; null: somebody of a team, or not known. `record` is the stream
 * of the record whose erasure it belongs to, where its person stays.
 */
const ErasedKey = z.object({
  key: z.uuid(),
  organisation_id: z.string(),
  subject: z.string(),
  contact_id: z.uuid().nullable(),
  record: z.string().optional(),
})
export type ErasedKey = z.infer<typeof ErasedKey>

type Lacking = Omit<ErasedKey, 'record'> & { readonly record: string | null }

const lock = 'erased keys file'
// Nobody waits for ever for a disk that does not answer.
const writtenWithinMs = 10_000
/** More than the longest line. */
const mostOfALine = 2_000

/** On a network's disk, appends of two machines would write over each other: nobody else begins before a slow disk has answered. */
const inTurn = async (db: PoolClient): Promise<void> => {
  await db.query(sql`
    select set_config(name, '0', true) from pg_settings
    where name in ('idle_in_transaction_session_timeout', 'transaction_timeout')`)
  await db.query(sql`select pg_advisory_xact_lock(hashtext(${lock}))`)
}

const parsed = (line: string): ErasedKey | undefined => {
  try {
    return ErasedKey.parse(JSON.parse(line))
  } catch {
    return undefined
  }
}

/** Ends the file where its last whole line ends: the key of a line that was not written whole was not destroyed. */
const endWhole = async (handle: FileHandle): Promise<void> => {
  const { size } = await handle.stat()
  const from = Math.max(0, size - mostOfALine)
  const { buffer } = await handle.read(Buffer.alloc(size - from), 0, size - from, from)
  const end = buffer.lastIndexOf('\n') + 1
  if (parsed(buffer.subarray(end).toString())) await handle.appendFile('\n')
  else if (end > 0 || from === 0) await handle.truncate(from + end)
}

/** The line of a new file is on the disk only with its name. */
const flushName = async (file: string): Promise<void> => {
  const directory = await open(dirname(file), 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

const append = async (file: string, keys: readonly ErasedKey[]): Promise<void> => {
  const handle = await open(file, 'a+', 0o600)
  try {
    await endWhole(handle)
    await handle.appendFile(keys.map((key) => `${JSON.stringify(key)}\n`).join(''))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await flushName(file)
}

const pageSize = 500

/** The keys of the file, by page. A last line that was not written whole is none. */
const pagesOf = async function* (file: string): AsyncGenerator<readonly ErasedKey[]> {
  let page: ErasedKey[] = []
  let broken: number | undefined
  let number = 0
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number++
    if (broken !== undefined)
      throw new BadConfiguration(
        `ERASED_KEYS_FILE: line ${broken} of ${file} names no destroyed key; restore the file from its copy`,
      )
    const key = parsed(line)
    if (key) page.push(key)
    else broken = number
    if (page.length < pageSize) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

const columnsOf = (keys: readonly ErasedKey[]) => [
  keys.map(({ key }) => key),
  keys.map(({ organisation_id }) => organisation_id),
  keys.map(({ subject }) => subject),
  keys.map(({ contact_id }) => contact_id),
  keys.map(({ record }) => record ?? null),
]

/** Destroys keys that the database still has. A key that it never knew is made known as destroyed: nothing can be stored under it. */
const destroyPage = async (db: PoolClient, keys: readonly ErasedKey[]): Promise<number> => {
  const { rows } = await db.query<{ readonly id: string }>({
    text: `
      with given as (
        select distinct on (organisation_id, subject) *
        from unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::text[])
          as given (id, organisation_id, subject, contact_id, record)
      ), noted as (
        insert into erased_key_noted select organisation_id, subject from given on conflict do nothing
      ), made as (
        insert into data_key (id, organisation_id, subject, erased_at)
        select id, organisation_id, subject, now() from given
        where not exists (
          select from data_key as known
          where (known.organisation_id, known.subject) = (given.organisation_id, given.subject))
        on conflict do nothing
      ), again as (
        update data_key set sealed = null, organisation_key_version = null, erased_at = now()
        from given
        where (data_key.organisation_id, data_key.subject) = (given.organisation_id, given.subject)
          and data_key.erased_at is null
        returning data_key.id, given.organisation_id, given.subject, given.contact_id, given.record
      ), followed as (
        insert into key_erased_again (organisation_id, subject, contact_id)
        select organisation_id, subject, contact_id from again where contact_id is not null
        on conflict do nothing
      ), followed_record as (
        insert into record_erased_again (organisation_id, stream)
        select distinct organisation_id, record from again where record is not null
        on conflict do nothing
      )
      select id from again`,
    values: columnsOf(keys),
  })
  await announce(
    db,
    rows.map(({ id }) => id),
  )
  return rows.length
}

/**
 * SQL: the record that a key belongs to, where it was destroyed for that record alone. It ends where the name does: a claim's key
 * stands below that of its policy, which stays.
 */
const recordOfSubject = `
  '^person:[0-9a-f-]{36}/(?:policy-[0-9a-f-]{36}/)?((?:application|claim|ingest|lead|outcome_report|policy)-[0-9a-f-]{36})(?:#[0-9]+)?$'`

/** Those that the file lacks, such as all that were destroyed before there was one. */
const complete = async (db: PoolClient, file: string): Promise<number> => {
  let added = 0
  for (;;) {
    const { rows } = await db.query<Lacking>({
      text: `
        with lacking as (
          select id, organisation_id, subject from data_key
          where erased_at is not null and not exists (
            select from erased_key_noted as noted
            where (noted.organisation_id, noted.subject) = (data_key.organisation_id, data_key.subject))
          limit $1
        ), noted as (
          insert into erased_key_noted select organisation_id, subject from lacking
        )
        select id as key, organisation_id, subject,
          case when is_of_person then substring(subject from '^person:([0-9a-f-]{36})')::uuid end as contact_id,
          case when not is_of_person then substring(subject from ${recordOfSubject}) end as record
        from lacking cross join lateral (
          select subject ~ '^person:[0-9a-f-]{36}$' or exists (
            select from data_key as above
            where above.organisation_id = lacking.organisation_id and above.subject = split_part(lacking.subject, '/', 1)
              and above.subject ~ '^person:' and above.erased_at is not null) as is_of_person) as erasure`,
      values: [pageSize],
    })
    if (rows.length === 0) return added
    const keys = rows.map(({ record, ...key }) => (record === null ? key : { ...key, record }))
    await append(file, keys)
    added += rows.length
  }
}

/**
 * Brings a database and the file together: keys that the file names and the database has again, because it was restored, are
 * destroyed again; those that only the database knows to be destroyed are written into the file.
 */
const destroyAgain = async (pool: Pool, file: string): Promise<{ readonly again: number; readonly added: number }> => {
  return transaction(pool, async (db) => {
    await inTurn(db)
    await append(file, []).catch((error: unknown) => {
      throw new BadConfiguration(`ERASED_KEYS_FILE: ${file} cannot be used (${reasonOf(error)})`)
    })
    await db.query(`
      create temporary table erased_key_noted (
        organisation_id text collate "C", subject text collate "C", primary key (organisation_id, subject)
      ) on commit drop`)
    let again = 0
    for await (const page of pagesOf(file)) again += await destroyPage(db, page)
    return { again, added: await complete(db, file) }
  })
}

type Options = {
  readonly pool: Pool
  readonly file: string
  readonly log: Log
  readonly write?: typeof append
  readonly withinMs?: number
}

/** The file as it belongs to a database: it is brought together with it before anything is read. */
export const openErasedKeysFile = async ({ pool, file, log, write = append, withinMs = writtenWithinMs }: Options) => {
  const { again, added } = await destroyAgain(pool, file)
  if (again + added > 0) log.warn({ file, destroyed_again: again, added }, 'the database and ERASED_KEYS_FILE differed')
  return {
    /** Writes keys into the file, on the disk, before they are destroyed. */
    note: (keys: readonly ErasedKey[]): Promise<void> => {
      const written = transaction(pool, async (db) => {
        await inTurn(db)
        await write(file, keys)
      })
      // Whoever does not wait any longer leaves the turn to the write.
      return withTimeout(written, withinMs)
    },
  }
}

const askMs = 1_500

/** Checks that people and records that were erased before a backup was restored are out of the read models again. */
export const erasedAgainCheck = async (pool: Pool): Promise<Check> => {
  const asked = pool.query<{ readonly people: number; readonly records: number }>(sql`
    select (select count(distinct (organisation_id, contact_id))::integer from key_erased_again) as people,
      (select count(*)::integer from record_erased_again) as records`)
  const left = await withTimeout(asked, askMs).then(
    ({ rows }) => rows[0] ?? { people: 0, records: 0 },
    () => undefined,
  )
  const name = 'erased_keys'
  if (!left)
    return {
      name,
      ok: false,
      detail: 'the database does not say if the read models still show people of ERASED_KEYS_FILE',
    }
  const { people, records } = left
  if (people + records === 0) return { name, ok: true }
  const shown = [
    ...(people > 0 ? [counted(people, 'person', 'people')] : []),
    ...(records > 0 ? [counted(records, 'record', 'records')] : []),
  ].join(' and ')
  return { name, ok: false, detail: `the read models still show ${shown} of ERASED_KEYS_FILE` }
}
