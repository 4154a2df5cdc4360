import { KeyObject, randomBytes } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { SubjectErased } from '#infra/crypto/erased.ts'
import { followErasures } from '#infra/crypto/follow-erasures.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { CannotUnseal } from '#infra/crypto/aead.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { createPool, isUnavailable, sql, transaction } from '#infra/postgres/postgres.ts'
import { makeLog } from '#infra/log.ts'
import { testDatabase } from '../database.ts'
import { eventually } from '../event-log/events.ts'
import { bytesOf } from './sealed-log-fixture.ts'

const masterKey = randomBytes(32).toString('base64')
const keys = deriveKeys(masterKey)
const ann = { organisation_id: 'org_1', subject: 'person:ann' }
const bob = { organisation_id: 'org_1', subject: 'person:bob' }

/** Data keys as several processes on one database have them. */
const keyDatabase = async () => {
  const database = await testDatabase()
  return { ...database, process: () => makeDataKeys({ pool: database.pool, keys }) }
}

test('a subject keeps one key, in every process and under no other subject', async () => {
  await using database = await keyDatabase()

  const made = await database.process().of(ann)
  const again = await database.process().of(ann)

  expect(again.id).toBe(made.id)
  expect(again.key.equals(made.key)).toBe(true)
  expect(made.key.symmetricKeySize).toBe(32)
  expect((await database.process().of(bob)).key.equals(made.key)).toBe(false)
  expect((await database.process().of({ ...ann, organisation_id: 'org_2' })).key.equals(made.key)).toBe(false)
})

test('processes that ask for the keys of the same subjects at once get the same keys', async () => {
  await using database = await keyDatabase()
  const subjects = Array.from({ length: 200 }, (_, index) => ({ ...ann, subject: `person:${index}` }))

  const [one, ...others] = await Promise.all(
    [database.process(), database.process(), database.process()].map(async ({ of }, index) => {
      const order = index === 1 ? subjects.toReversed() : subjects
      const found = await Promise.all(order.map(async (subject) => [subject.subject, await of(subject)] as const))
      return new Map(found)
    }),
  )

  const keysOf = (found: (typeof others)[number] | undefined) =>
    bytesOf([...(found ?? [])].map(([, { id, key }]) => [id, key]))
  expect(one?.size).toBe(200)
  for (const other of others) expect(keysOf(other)).toEqual(keysOf(one))
  for (const other of others) for (const [subject, { id }] of other) expect(id).toBe(one?.get(subject)?.id)
})

test('the first events of many subjects share a round trip', async () => {
  await using database = await keyDatabase()
  let statements = 0
  const counted: Database = {
    query: (statement) => {
      statements++
      return database.pool.query(statement)
    },
  }
  const { of } = makeDataKeys({ pool: counted, keys })
  await of(ann)
  statements = 0

  await Promise.all(Array.from({ length: 100 }, async (_, index) => of({ ...ann, subject: `person:${index}` })))
  expect(statements).toBe(1)
  await Promise.all(Array.from({ length: 100 }, async (_, index) => of({ ...ann, subject: `person:${index}` })))
  expect(statements).toBe(1)
})

test('keys that are looked up at once share a statement', async () => {
  await using database = await keyDatabase()
  const { of } = database.process()
  const made = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => of({ ...ann, subject: `person:${index}` })),
  )
  const statements: string[] = []
  const counted: Database = {
    query: (statement) => {
      if (/from data_key/.test(statement.text)) statements.push(statement.text)
      return database.pool.query(statement)
    },
  }
  const { byId } = makeDataKeys({ pool: counted, keys })

  const found = await Promise.all(made.map(async ({ id }) => byId(new Set([id]))))

  expect(found.map((each) => bytesOf(each))).toEqual(made.map(({ id, key }) => bytesOf([[id, key]])))
  expect(statements).toHaveLength(1)
})

test('a key that was made too soon can be discarded, one of a person who was erased cannot be made again so', async () => {
  await using database = await keyDatabase()
  const { of, discard, erase } = database.process()
  const [first] = [await of(ann), await of(bob)]
  await discard(ann)
  expect((await of(ann)).id).not.toBe(first.id)

  await erase(bob)
  await discard(bob)
  await expect(of(bob)).rejects.toThrow(SubjectErased)
})

test('a key that was read while its subject was erased is not remembered', async () => {
  await using database = await keyDatabase()
  const { of, erase } = database.process()
  const { id } = await of(ann)
  const [wasRead, wasErased] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const slow: Database = {
    query: async (statement) => {
      const answer = await database.pool.query(statement)
      if (/from data_key/.test(statement.text)) {
        wasRead.resolve()
        await wasErased.promise
      }
      return answer
    },
  }
  const { byId, forget } = makeDataKeys({ pool: slow, keys })
  const reading = byId(new Set([id]))
  await wasRead.promise
  await erase(ann)
  forget([id])
  wasErased.resolve()
  await reading

  expect((await byId(new Set([id]))).get(id)).toBe('erased')
})

const lead = { ...ann, subject: 'person:ann/lead-ann' }
const [application, policy] = ['application-1', 'policy-1'].map((stream) => ({
  ...ann,
  subject: `person:ann/${stream}`,
}))
const claim = { ...ann, subject: 'person:ann/policy-1/claim-1' }

test('a record is erased with all its parts, and nothing else of its person', async () => {
  await using database = await keyDatabase()
  const { of, erase, byId } = database.process()
  const kept = [
    ann,
    application,
    { ...bob, subject: 'person:bob/policy-1' },
    { ...ann, subject: 'person:ann/policy-10' },
  ]
  const keptIds = await Promise.all(kept.map(async (each) => (await of(each ?? ann)).id))
  const goneIds = [(await of(claim)).id, (await of(policy ?? ann)).id]

  await erase(policy ?? ann, undefined, 'policy-1')

  const found = await byId(new Set([...keptIds, ...goneIds]))
  expect(goneIds.map((id) => found.get(id))).toEqual(['erased', 'erased'])
  for (const id of keptIds) expect(found.get(id)).toHaveProperty('symmetricKeySize', 32)
  for (const each of [policy ?? ann, claim]) await expect(database.process().of(each)).rejects.toThrow(SubjectErased)
})

test('with a person all below them is erased, and never made again, whichever process was at it', async () => {
  await using database = await keyDatabase()
  const [one, other] = [database.process(), database.process()]
  await Promise.all([lead, claim].map(async (each) => one.of(each)))
  const makes = Array.from({ length: 40 }, (_, index) => ({ ...ann, subject: `person:ann/application-${index}` }))

  const making = makes.map(async (each) => Promise.resolve(other.of(each)).catch((error: unknown) => error))
  await one.erase(ann)
  await Promise.all(making)

  const { rows } = await database.pool.query(
    `select subject from data_key where subject like 'person:ann%' and erased_at is null`,
  )
  expect(rows).toEqual([])
  for (const each of [lead, claim, ...makes.slice(0, 2)])
    await expect(database.process().of(each)).rejects.toThrow(SubjectErased)
})

test('whom a process of an earlier version has erased is erased to the end', async () => {
  await using database = await keyDatabase()
  const { of, erase, halfErased } = database.process()
  for (const each of [lead, claim, { ...bob, subject: 'person:bob/lead-bob' }]) await of(each)
  await database.pool.query(`
    update data_key set sealed = null, organisation_key_version = null, erased_at = now() where subject = 'person:ann'`)

  expect(await halfErased()).toEqual([ann])
  await erase(ann)

  expect(await halfErased()).toEqual([])
  const { rows } = await database.pool.query(`select subject from data_key where erased_at is null order by subject`)
  expect(rows.map((row) => (row as { subject: string }).subject)).toEqual(
    expect.not.arrayContaining([lead.subject, claim.subject]),
  )
  expect(rows).toContainEqual({ subject: 'person:bob/lead-bob' })
})

test('what a person has one of for ever begins again with another key', async () => {
  await using database = await keyDatabase()
  const { of, erase, byId } = database.process()
  const first = await of(lead)
  await erase(lead)
  const second = await of(lead)
  expect(await database.process().of(lead)).toMatchObject({ id: second.id })

  await erase(lead)
  const third = await of(lead)

  const found = await byId(new Set([first.id, second.id, third.id]))
  expect([first, second].map(({ id }) => found.get(id))).toEqual(['erased', 'erased'])
  expect(found.get(third.id)).toHaveProperty('symmetricKeySize', 32)
  await erase(ann)
  await expect(of(lead)).rejects.toThrow(SubjectErased)
})

test('what has begun again since then keeps its key, whose destruction is decided with a transaction or not at all', async () => {
  await using database = await keyDatabase()
  const { of, erase, decide, destroyDecided } = database.process()
  const first = await of(lead)
  await erase(lead)
  const { rows } = await database.pool.query<{ since: Date }>('select clock_timestamp() as since')
  const second = await of(lead)
  const both = new Set([first.id, second.id])
  const own = { organisation_id: lead.organisation_id, subjects: [lead.subject] }
  const erased = async () => {
    const found = await database.process().byId(both)
    return [first, second].map(({ id }) => found.get(id) === 'erased')
  }

  await decide(database.pool, own, { contact_id: null }, rows[0]?.since)
  await transaction(database.pool, async (db) => {
    await decide(db, own, { contact_id: null })
    throw new Error('The turn is lost.')
  }).catch(() => undefined)
  await destroyDecided(own.organisation_id)

  expect(await erased()).toEqual([true, false])
  await decide(database.pool, own, { contact_id: null })
  expect(await erased()).toEqual([true, true])
})

test('keys are found through their index, however few there were when the statement was planned', async () => {
  await using database = await keyDatabase()
  const pool = createPool(database.url, { max: 1 })
  const dataKeys = makeDataKeys({ pool, keys })
  await database.pool.query('analyze data_key')
  for (let time = 0; time < 8; time++) await dataKeys.of({ ...ann, subject: `person:${time}` })

  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
    `explain execute "data-keys-find-or-make" ('{}', '{}', '{}', '{}', '{}', true, '{}')`,
  )
  await pool.end()

  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toMatch(/Index Cond: .*organisation_id = given\w*\.organisation_id.*subject = given\w*\.subject/)
  expect(plan).not.toMatch(/Seq Scan on data_key/)
})

test('keys are found by their ids, those that are not remembered with one statement', async () => {
  await using database = await keyDatabase()
  const { of } = database.process()
  const made = [await of(ann), await of(bob), await of({ ...bob, organisation_id: 'org_2' })]
  const unknown = '019b0000-0000-7000-8000-000000000000'

  const found = await database.process().byId(new Set([...made.map(({ id }) => id), unknown]))

  expect(bytesOf(found)).toEqual(bytesOf(made.map(({ id, key }) => [id, key])))
})

test('an erased key is gone from the database, and nothing more is stored of its subject', async () => {
  await using database = await keyDatabase()
  const process = database.process()
  const { id } = await process.of(ann)
  const bobs = await process.of(bob)

  await process.erase(ann)

  expect(bytesOf(await process.byId(new Set([id, bobs.id])))).toEqual(
    bytesOf([
      [id, 'erased'],
      [bobs.id, bobs.key],
    ]),
  )
  await expect(async () => process.of(ann)).rejects.toThrow(SubjectErased)
  const { rows } = await database.pool.query(`select sealed, organisation_key_version from data_key where id = '${id}'`)
  expect(rows).toEqual([{ sealed: null, organisation_key_version: null }])
})

test('a key that is erased in one process is forgotten in every other', async () => {
  await using database = await keyDatabase()
  const [one, other] = [database.process(), database.process()]
  const ending = new AbortController()
  const following = followErasures({
    pool: database.pool,
    dataKeys: other,
    log: makeLog('silent', 'test'),
    signal: ending.signal,
  })
  const { id } = await other.of(ann)
  const bobs = await other.of(bob)
  const known = async () => other.byId(new Set([id, bobs.id]))
  expect((await known()).get(id)).toBeInstanceOf(KeyObject)

  await one.erase(ann)

  await eventually(async () => (await known()).get(id) === 'erased', 'the other process to forget the key')
  expect(bytesOf(await known()).get(bobs.id)).toEqual(bobs.key.export())
  await expect(async () => other.of(ann)).rejects.toThrow(SubjectErased)
  ending.abort()
  await following
})

test('however often following erasures fails, it leaves no connection open', async () => {
  await using database = await keyDatabase()
  const ending = new AbortController()
  let failures = 0
  const forget = () => {
    failures++
    throw new Error('not now')
  }
  const following = followErasures({
    pool: database.pool,
    dataKeys: { forget },
    log: makeLog('silent', 'test'),
    signal: ending.signal,
  })

  await eventually(async () => failures >= 3, 'it to be tried again')
  ending.abort()
  await following

  const open = async () => {
    const { rows } = await database.pool.query<{ open: number }>(sql`
      select count(*)::integer as open from pg_stat_activity
      where datname = current_database() and application_name like 'coverstream erasures%'`)
    return rows[0]?.open
  }
  await vi.waitFor(async () => expect(await open()).toBe(0), { timeout: 60_000 })
})

test('a subject that never had a key can be erased, twice too', async () => {
  await using database = await keyDatabase()
  const process = database.process()

  await process.erase(ann)
  await process.erase(ann)

  await expect(async () => process.of(ann)).rejects.toThrow(SubjectErased)
})

test('a key that cannot be opened is no other key’s matter', async () => {
  await using database = await keyDatabase()
  const [broken, whole] = [await database.process().of(ann), await database.process().of(bob)]
  await database.pool.query(sql`update data_key set sealed = '\\x00'::bytea where id = ${broken.id}`)
  const process = database.process()

  const found = await process.byId(new Set([broken.id, whole.id]))
  const [refused, taken] = await Promise.allSettled([ann, bob].map(async (subject) => process.of(subject)))

  expect(found.get(broken.id)).toBeInstanceOf(CannotUnseal)
  expect(bytesOf(found).get(whole.id)).toEqual(whole.key.export())
  expect(refused).toMatchObject({ reason: expect.any(CannotUnseal) as unknown })
  expect(taken).toMatchObject({ value: { id: whole.id } })
})

test('a statement about keys that is not answered is given up at a deadline of its own', async () => {
  const silent: Database = { query: () => new Promise(() => undefined) }
  const { of, byId, digest, erase } = makeDataKeys({ pool: silent, keys, statementMs: 20 })

  const outcomes = await Promise.allSettled([
    of(ann),
    byId(new Set(['019b0000-0000-7000-8000-000000000000'])),
    digest('org_1', 'email', 'ann@example.com'),
    erase(ann),
  ])

  expect(outcomes.map((outcome) => outcome.status === 'rejected' && isUnavailable(outcome.reason))).toEqual([
    true,
    true,
    true,
    true,
  ])
})

test('no key stands in the database as it is', async () => {
  await using database = await keyDatabase()
  const { key } = await database.process().of(ann)

  const { rows } = await database.pool.query<{ text: string }>(`
    select data_key::text from data_key union all select organisation_key::text from organisation_key`)

  const texts = rows.map((row) => JSON.stringify(row)).join('\n')
  const bytes = key.export()
  for (const written of [bytes.toString('hex'), bytes.toString('base64'), masterKey])
    expect(texts).not.toContain(written)
})

test('a keyed hash is the same in every process, and another for another organisation or purpose', async () => {
  await using database = await keyDatabase()
  const one = database.process()
  const digest = await one.digest('org_1', 'email', 'ann@example.com')

  expect(digest).toHaveLength(32)
  expect(await database.process().digest('org_1', 'email', 'ann@example.com')).toEqual(digest)
  expect(await one.digest('org_2', 'email', 'ann@example.com')).not.toEqual(digest)
  expect(await one.digest('org_1', 'phone', 'ann@example.com')).not.toEqual(digest)
})

test('the keys of a database cannot be used with another master key', async () => {
  await using database = await keyDatabase()
  const { id } = await database.process().of(ann)
  const others = makeDataKeys({ pool: database.pool, keys: deriveKeys(randomBytes(32).toString('base64')) })

  expect((await others.byId(new Set([id]))).get(id)).toMatchObject({
    name: 'CannotUnseal',
    message: expect.stringContaining('MASTER_KEYS_EARLIER') as unknown,
  })
  await expect(async () => others.of(bob)).rejects.toThrow('MASTER_KEYS_EARLIER')
})
