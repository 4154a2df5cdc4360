import { randomUUID } from 'node:crypto'
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { BadConfiguration } from '#infra/config.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { erasedAgainCheck, openErasedKeysFile } from '#infra/crypto/erased-keys-file.ts'
import { makeLog } from '#infra/log.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { copyOf, testDatabase, type TestDatabase } from '../database.ts'
import { leadService } from '../ingests/fixture.ts'
import { readableIn } from './readable.ts'

const log = makeLog('silent', 'test')
const keys = deriveKeys(Buffer.alloc(32, 5).toString('base64'))
const ready = { name: 'erased_keys', ok: true }
const patience = { timeout: 60_000, interval: 50 }

const directory = async () => {
  const path = await mkdtemp(join(tmpdir(), 'coverstream-erased-'))
  return {
    file: join(path, 'erased-keys'),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

const keysIn = async (file: string) =>
  (await readFile(file, 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { key: string; subject: string; contact_id: string | null; record?: string })

test('backup, erase, restore: nothing of the person can be read, and the service is not ready before that', async () => {
  await using home = await directory()
  await using database = await testDatabase()
  const environment = { ERASED_KEYS_FILE: home.file }
  const before = await leadService(environment, database)
  const identity = { email: 'zelda@example.com', first_name: 'Zelda', last_name: 'Zeldason', phone: '07700 900321' }
  const { contact_id = '' } = await before.process({ identity, declared: { pet: 'Zelda the cat' } })
  // Nobody was found for this one: only their details lead to it.
  const held = await before.process({
    campaign: 'spring',
    identity: { email: 'zelda@example.com', first_name: 'Zelda' },
  })
  await before.process({ identity: { email: 'yorick@example.com', first_name: 'Yorick' } })
  expect(held.status).toBe('held')
  const quentin = { email: 'quentin@example.com', first_name: 'Quentin' }
  const lead = (await before.process({ identity: quentin, declared: { pet: 'an axolotl' } })).contact_id ?? ''
  const acts = [{ act: 'change_status', status: 'lost', reason: 'Nobody wants an axolotl.' }]
  await before.send('POST', `${before.admin}/leads/${lead}/acts`, { body: { acts } })
  await before.send('POST', '/admin/v1/clock', { body: { forward_seconds: 40 * 86_400 } })
  // This keeps their person.
  await before.process({ campaign: 'spring', identity: quentin })
  await before[Symbol.asyncDispose]()
  await using backup = await copyOf(database)

  const later = await leadService(environment, database)
  await later.send('POST', `${later.admin}/people/${contact_id}/erasure`, { body: {} })
  const erasure = `${later.admin}/erasures/${contact_id}`
  const finished = async ({ send }: Pick<typeof later, 'send'>) =>
    expect((await send<{ finished: boolean }>('GET', erasure)).body.data).toMatchObject({ finished: true })
  await vi.waitFor(() => finished(later), patience)
  await later.setUp('organisations:\n  - { slug: firm, name: A firm, retention: [{ leads: 30 days }] }\n')
  await later.send('POST', '/admin/v1/clock', { body: { forward_seconds: 86_400 } })
  const receipts = ({ send, admin }: Pick<typeof later, 'send' | 'admin'>) =>
    send<readonly { record: { type: string } }[]>('GET', `${admin}/record_erasures?state=erased`)
  // The lead, what was sent of it, and what was held.
  await vi.waitFor(async () => expect((await receipts(later)).body.data).toHaveLength(3), patience)
  await later[Symbol.asyncDispose]()
  expect(await readableIn(backup.pool, /zelda/i)).not.toEqual([])

  // As a start does before anything else.
  await openErasedKeysFile({ pool: backup.pool, file: home.file, log })
  expect(await erasedAgainCheck(backup.pool)).toEqual({
    name: 'erased_keys',
    ok: false,
    detail: 'the read models still show 1 person and 2 records of ERASED_KEYS_FILE',
  })
  await using restored = await leadService(environment, backup)
  await vi.waitFor(async () => expect(await erasedAgainCheck(backup.pool)).toEqual(ready), patience)

  expect(await readableIn(backup.pool, /zelda|7700900321|axolotl/i)).toEqual([])
  expect((await receipts(restored)).body.data.map(({ record }) => record.type).toSorted()).toEqual(['ingest', 'lead'])
  expect(await readableIn(backup.pool, /quentin/i)).not.toEqual([])
  expect(await readableIn(backup.pool, /yorick/i)).not.toEqual([])
  await finished(restored)
  expect((await restored.send('GET', `${restored.admin}/ingest_contents/${held.id}`)).status).toBe(200)
  const again = await restored.process({ identity })
  expect(again.contact_id).not.toBe(contact_id)
}, 240_000)

/** The keys of a process, and their file. */
const processOn = async ({ pool }: TestDatabase, file: string) => {
  const { note } = await openErasedKeysFile({ pool, file, log })
  return makeDataKeys({ pool, keys, note })
}

const isErased = async ({ pool }: TestDatabase, subject: string) =>
  (await pool.query<{ erased: boolean }>(sql`select sealed is null as erased from data_key where subject = ${subject}`))
    .rows[0]?.erased

test('a key is in the file before it is destroyed, once, whichever of two processes destroys it', async () => {
  await using home = await directory()
  await using database = await testDatabase()
  const [one, other] = [await processOn(database, home.file), await processOn(database, home.file)]
  const organisation_id = randomUUID()
  const contact_id = randomUUID()
  const subjects = Array.from({ length: 20 }, (_, index) => ({ organisation_id, subject: `ingest-${index}` }))
  const ids = await Promise.all(subjects.map(async (subject) => (await one.of(subject)).id))

  await Promise.all(subjects.map(async (subject, index) => (index % 2 === 0 ? one : other).erase(subject, contact_id)))
  await one.erase({ organisation_id, subject: 'ingest-0' }, contact_id)

  const written = await keysIn(home.file)
  expect(written.map(({ key }) => key).toSorted()).toEqual(ids.toSorted())
  expect(written.every((line) => line.contact_id === contact_id)).toBe(true)
})

test('a write that takes too long keeps its turn until it has ended', async () => {
  await using home = await directory()
  await using database = await testDatabase()
  const { pool } = database
  const ended = Promise.withResolvers<void>()
  const written: string[] = []
  const write = async (_file: string, [line]: readonly { readonly subject: string }[]) => {
    if (line?.subject === 'slow') await ended.promise
    written.push(line?.subject ?? '')
  }
  const { note } = await openErasedKeysFile({ pool, file: home.file, log, write, withinMs: 200 })
  const line = (subject: string) => [{ key: randomUUID(), organisation_id: randomUUID(), subject, contact_id: null }]

  await expect(note(line('slow'))).rejects.toThrow('no answer')
  await expect(note(line('next'))).rejects.toThrow('no answer')
  expect(written).toEqual([])
  ended.resolve()

  await vi.waitFor(() => expect(written).toEqual(['slow', 'next']), patience)
})

test('a database that does not answer is not ready: nobody knows of whom it still tells', async () => {
  await using database = await testDatabase()
  await database.pool.query('alter table key_erased_again rename to elsewhere')

  expect(await erasedAgainCheck(database.pool)).toMatchObject({ name: 'erased_keys', ok: false })
})

test('a key whose line cannot be written is not destroyed', async () => {
  await using home = await directory()
  await using database = await testDatabase()
  const subject = { organisation_id: randomUUID(), subject: 'ingest-1' }
  const { of, erase } = makeDataKeys({
    pool: database.pool,
    keys,
    note: () => Promise.reject(new Error(`no space left for ${home.file}`)),
  })
  await of(subject)

  await expect(erase(subject)).rejects.toThrow('no space left')

  expect(await isErased(database, 'ingest-1')).toBe(false)
})

test('keys that the database alone knows to be destroyed are added, and those that it never had are never made', async () => {
  await using home = await directory()
  await using database = await testDatabase()
  const organisation_id = randomUUID()
  const person = randomUUID()
  const former = makeDataKeys({ pool: database.pool, keys })
  await former.erase({ organisation_id, subject: `person:${person}` })
  const line = { key: randomUUID(), organisation_id, subject: 'policy-1', contact_id: null }
  // Whole, though its end was cut; then one that was not written whole, as after a power cut.
  await writeFile(home.file, JSON.stringify(line))

  const { of } = await processOn(database, home.file)
  await appendFile(home.file, '{"key":"0190')
  await processOn(database, home.file)

  expect(await keysIn(home.file)).toEqual([
    line,
    { key: expect.any(String) as string, organisation_id, subject: `person:${person}`, contact_id: person },
  ])
  await expect(of({ organisation_id, subject: 'policy-1' })).rejects.toThrow('was erased')
  expect(await erasedAgainCheck(database.pool)).toEqual(ready)
})

test('a key that the database alone knows to be destroyed is written down with the erasure that it belongs to, and nothing beside that', async () => {
  await using home = await directory()
  await using database = await testDatabase()
  const dataKeys = makeDataKeys({ pool: database.pool, keys })
  const organisation_id = randomUUID()
  const [first, second, policy, claim, application] = Array.from({ length: 5 }, () => randomUUID())
  const of = (subject: string) => ({ organisation_id, subject })
  const below = (person: string | undefined, name: string) => of(`person:${person}/${name}`)
  for (const subject of [
    below(first, `policy-${policy}`),
    below(first, `policy-${policy}/claim-${claim}`),
    below(first, `application-${application}`),
    below(second, `policy-${policy}`),
    below(second, `outreach_person-${second}`),
  ])
    await dataKeys.of(subject)
  await dataKeys.erase(below(first, `policy-${policy}/claim-${claim}`), undefined, `claim-${claim}`)
  await dataKeys.erase(below(first, `application-${application}`), undefined, `application-${application}`)
  await dataKeys.erase(of(`person:${second}`), second)

  await openErasedKeysFile({ pool: database.pool, file: home.file, log })

  const written = await keysIn(home.file)
  const named = written.map(({ subject, contact_id, record }) => [subject, contact_id, record])
  expect(named).toHaveLength(5)
  expect(named).toEqual(
    expect.arrayContaining([
      [`person:${first}/policy-${policy}/claim-${claim}`, null, `claim-${claim}`],
      [`person:${first}/application-${application}`, null, `application-${application}`],
      [`person:${second}`, second, undefined],
      [`person:${second}/policy-${policy}`, second, undefined],
      [`person:${second}/outreach_person-${second}`, second, undefined],
    ]),
  )
})

test('a file that is damaged, or cannot be used, ends the start with a line that names it', async () => {
  await using home = await directory()
  await using database = await testDatabase()
  const open = (file: string) => openErasedKeysFile({ pool: database.pool, file, log })
  await writeFile(home.file, `damaged\n${JSON.stringify({ key: randomUUID() })}\n`)

  await expect(open(home.file)).rejects.toThrow(
    new BadConfiguration(
      `ERASED_KEYS_FILE: line 1 of ${home.file} names no destroyed key; restore the file from its copy`,
    ),
  )
  await expect(open('/no/such/directory/file')).rejects.toThrow(
    /^ERASED_KEYS_FILE: \/no\/such\/directory\/file cannot be used \(ENOENT/,
  )
})
