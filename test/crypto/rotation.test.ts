import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { keysCommand } from '#infra/crypto/keys-command.ts'
import { checkMasterKeys } from '#infra/crypto/master-keys.ts'
import { outdatedDataKeys, rotate } from '#infra/crypto/rotate.ts'
import { holdsSecret, seal } from '#infra/crypto/seal.ts'
import { sealedLog } from '#infra/crypto/sealed-log.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { testDatabase, type TestDatabase } from '../database.ts'
import { appended, asAppended, newEvent, newStream } from '../event-log/events.ts'
import { bytesOf, shapes } from './sealed-log-fixture.ts'

const former = randomBytes(32).toString('base64')
const present = randomBytes(32).toString('base64')
const before = deriveKeys(former)
const both = deriveKeys(present, [former])
const after = deriveKeys(present)
const signal = new AbortController().signal

const subjects = Array.from({ length: 25 }, (_, index) => ({
  organisation_id: `org_${index % 2}`,
  subject: `person:${index}`,
}))

/** A database that was used with the former master key, and the data keys that were made. */
const usedDatabase = async () => {
  const database = await testDatabase()
  await checkMasterKeys(database.pool, before)
  const dataKeys = makeDataKeys({ pool: database.pool, keys: before })
  const made = await Promise.all(subjects.map(async (subject) => dataKeys.of(subject)))
  return { ...database, dataKeys, made }
}

type InUse = Awaited<ReturnType<Parameters<typeof keysCommand>[1]['secretsInUse']>>

const run = async (
  command: readonly string[],
  { pool }: Pick<TestDatabase, 'pool'>,
  keys = both,
  inUse: InUse = [],
) => {
  const output = new PassThrough()
  const code = await keysCommand(command, { pool, keys, signal, secretsInUse: async () => inUse }, output)
  output.end()
  return { code, output: await text(output) }
}

test('after a rotation the present master key is enough, and every data key is as it was', async () => {
  await using database = await usedDatabase()
  const digest = await database.dataKeys.digest('org_0', 'email', 'ann@example.com')

  const { code, output } = await run(['rotate'], database)

  expect(code).toBe(0)
  expect(output).toContain('data keys 100 %')
  expect(output).toContain('26 data keys were sealed again')
  const dataKeys = makeDataKeys({ pool: database.pool, keys: after })
  expect(bytesOf(await dataKeys.byId(new Set(database.made.map(({ id }) => id))))).toEqual(
    bytesOf(database.made.map(({ id, key }) => [id, key])),
  )
  expect(await dataKeys.digest('org_0', 'email', 'ann@example.com')).toEqual(digest)
  expect((await database.pool.query('select from organisation_key')).rowCount).toBe(2)
})

test('a second rotation changes nothing', async () => {
  await using database = await usedDatabase()
  await rotate({ pool: database.pool, keys: both })

  expect(await rotate({ pool: database.pool, keys: both })).toBe(0)
  expect((await database.pool.query('select from organisation_key where version = 2')).rowCount).toBe(2)
})

test('a rotation goes past a data key that cannot be opened, and names it', async () => {
  await using database = await usedDatabase()
  const [broken, ...others] = database.made
  if (!broken) throw new Error('There should be a data key.')
  await database.pool.query({
    text: `update data_key set sealed = sha256(sealed) where id = $1`,
    values: [broken.id],
  })

  const { code, output } = await run(['rotate'], database)

  expect(code).toBe(1)
  expect(output).toContain('24 data keys were sealed again')
  expect(output).toContain(`${broken.id} of org_0: `)
  expect(output).not.toContain('Everything is sealed')
  expect(await outdatedDataKeys(database.pool)).toBe(1)
  const dataKeys = makeDataKeys({ pool: database.pool, keys: both })
  expect(bytesOf(await dataKeys.byId(new Set(others.map(({ id }) => id))))).toEqual(
    bytesOf(others.map(({ id, key }) => [id, key])),
  )
})

test('a rotation that was stopped goes on where it was', async () => {
  await using database = await usedDatabase()
  const stopping = new AbortController()
  const report = ({ done }: { readonly done: number }) => {
    if (done >= 8) stopping.abort()
  }
  const { pool } = database
  await expect(rotate({ pool, keys: both, atOnce: 4, signal: stopping.signal, report })).rejects.toThrow('aborted')
  expect(await outdatedDataKeys(pool)).toBe(subjects.length - 8)
  const id = new Set(database.made.map((made) => made.id))
  expect((await makeDataKeys({ pool, keys: both }).byId(id)).size).toBe(subjects.length)

  expect(await rotate({ pool, keys: both, atOnce: 4 })).toBe(subjects.length - 8)
  expect((await makeDataKeys({ pool, keys: after }).byId(id)).size).toBe(subjects.length)
})

test('the service goes on while its keys are rotated', async () => {
  await using database = await usedDatabase()
  const { pool, url } = database
  const log = postgresLog({ url })
  const open = () => sealedLog(log, makeDataKeys({ pool, keys: both }), shapes)
  const [one, other] = [open(), open()]
  // Both remember the former key of the organisation.
  for (const each of [one, other]) await appended(each, newStream(), [newEvent('SomethingHappened', { number: 0 })])
  let isRotating = true
  const written: (readonly [stream: string, event: ReturnType<typeof newEvent>])[] = []
  const write = async (to: typeof one) => {
    while (isRotating || written.length < 40) {
      const [stream, event] = [newStream(), newEvent('SomethingHappened', { number: written.length })]
      await appended(to, stream, [event])
      written.push([stream, event])
    }
  }

  const writing = [write(one), write(other)]
  await Promise.all([rotate({ pool, keys: both, atOnce: 2 }), rotate({ pool, keys: both, atOnce: 3 })])
  isRotating = false
  await Promise.all(writing)
  await rotate({ pool, keys: both })

  const reader = sealedLog(log, makeDataKeys({ pool, keys: after }), shapes)
  for (const [stream, event] of written) expect((await reader.read(stream)).map(asAppended)).toEqual([event])
  await log.close()
})

test('a person who is erased while the keys are rotated stays erased', async () => {
  await using database = await usedDatabase()
  const [subject] = subjects
  const [key] = database.made
  if (!subject || !key) throw new Error('There is a subject.')

  await Promise.all([rotate({ pool: database.pool, keys: both, atOnce: 2 }), database.dataKeys.erase(subject)])

  expect(await makeDataKeys({ pool: database.pool, keys: after }).byId(new Set([key.id]))).toEqual(
    new Map([[key.id, 'erased']]),
  )
})

test('an earlier master key is retired when nothing in the database needs it, and then need not be given', async () => {
  await using database = await usedDatabase()
  await checkMasterKeys(database.pool, both)
  const id = before.sealing.id

  expect(await run(['retire', id], database)).toMatchObject({ code: 1 })
  expect(await run(['retire', both.sealing.id], database)).toMatchObject({ code: 1 })
  await expect(checkMasterKeys(database.pool, after)).rejects.toThrow('MASTER_KEYS_EARLIER')
  await run(['rotate'], database)
  expect(await run(['retire', id], database)).toMatchObject({ code: 0 })

  await checkMasterKeys(database.pool, after)
})

test('an earlier master key is not retired while a secret in use is sealed under it, and whose it is, is said', async () => {
  await using database = await usedDatabase()
  await checkMasterKeys(database.pool, both)
  const id = before.sealing.id
  const secret = (keys: typeof both) => [
    { sealed: seal(keys, 'sk_test_1', ['place']), organisation_id: 'org_0', of: 'payment account test' },
    { sealed: seal(keys, 'whsec_1', ['place']), organisation_id: 'org_0', of: 'payment account test' },
  ]

  const rotated = await run(['rotate'], database, both, secret(before))
  const status = await run(['status'], database, both, secret(before))
  const refused = await run(['retire', id], database, both, secret(before))
  const retired = await run(['retire', id], database, both, secret(both))

  expect(refused.code).toBe(1)
  for (const { output } of [rotated, status, refused]) {
    expect(output).toContain('2 secrets in use are sealed under')
    expect(output.split('payment account test of org_0')).toHaveLength(2)
    expect(output).not.toContain('Everything is sealed')
  }
  expect(retired.code).toBe(0)
})

test('a secret that is given again after a rotation is sealed under the present master key', () => {
  const sealed = seal(before, 'sk_test_1', ['place'])

  expect(holdsSecret(before, sealed, ['place'], 'sk_test_1')).toBe(true)
  expect(holdsSecret(before, sealed, ['place'], 'sk_test_2')).toBe(false)
  expect(holdsSecret(before, sealed, ['another place'], 'sk_test_1')).toBe(false)
  expect(holdsSecret(both, sealed, ['place'], 'sk_test_1')).toBe(false)
  expect(holdsSecret(after, sealed, ['place'], 'sk_test_1')).toBe(false)
})

test('the state of the keys is shown', async () => {
  await using database = await usedDatabase()
  await checkMasterKeys(database.pool, both)
  await database.dataKeys.erase({ organisation_id: 'org_0', subject: 'person:0' })

  const { output } = await run(['status'], database)
  await run(['rotate'], database)
  const rotated = await run(['status'], database)

  expect(output).toMatch(new RegExp(`^${before.sealing.id}  MASTER_KEYS_EARLIER, .* seals 2 organisation keys$`, 'm'))
  expect(output).toMatch(new RegExp(`^${both.sealing.id}  MASTER_KEY, .* seals 0 organisation keys$`, 'm'))
  expect(output).toContain('24 data keys, 0 of them under a former key of their organisation; 1 erased')
  expect(output).toContain('npm run keys -- rotate')
  expect(rotated.output).toContain('Everything is sealed under MASTER_KEY.')
})

test.each([
  ['rotates with the right keys', { MASTER_KEY: present, MASTER_KEYS_EARLIER: former }, 0, 'Everything is sealed'],
  ['says which variable is wrong', { MASTER_KEY: present }, 1, 'MASTER_KEY: is '],
])('the command of the operator %s', async (_, environment, expected, line) => {
  await using database = await usedDatabase()
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../cli/keys.ts'), 'rotate'], {
    env: { DATABASE_URL: database.url, ...environment },
  })
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])

  expect(child.exitCode).toBe(expected)
  expect(output + errors).toContain(line)
})
