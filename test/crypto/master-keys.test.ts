import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { BadConfiguration } from '#infra/config.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { checkMasterKeys } from '#infra/crypto/master-keys.ts'
import { testDatabase } from '../database.ts'
import { startRole } from '../journeys/role-process.ts'

const Readiness = z.object({
  status: z.string(),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string().optional() })),
})

const [first, second, other] = [0, 1, 2].map(() => randomBytes(32).toString('base64')) as [string, string, string]

const checkedDatabase = async () => {
  const database = await testDatabase()
  const recorded = async () => (await database.pool.query('select id from master_key')).rows.length
  const check = async (masterKey: string, earlier: readonly string[] = []) =>
    checkMasterKeys(database.pool, deriveKeys(masterKey, earlier))
  return { ...database, check, recorded }
}

test('the master key of the first start is the one to start with from then on', async () => {
  await using database = await checkedDatabase()

  await Promise.all([database.check(first), database.check(first)])
  await database.check(first)

  expect(await database.recorded()).toBe(1)
})

test('another master key is refused in one line that names the variable', async () => {
  await using database = await checkedDatabase()
  await database.check(first)

  const started = database.check(other)

  await expect(started).rejects.toThrow(BadConfiguration)
  await expect(started).rejects.toThrow(/^MASTER_KEY: [^\n]+$/)
  await expect(started).rejects.toThrow(deriveKeys(first).sealing.id)
  await database.check(first)
})

test('another master key is accepted together with the former', async () => {
  await using database = await checkedDatabase()
  await database.check(first)

  await database.check(second, [first])
  await database.check(first, [second])

  expect(await database.recorded()).toBe(2)
})

test('an earlier master key that was in use here and is missing is refused in one line', async () => {
  await using database = await checkedDatabase()
  await database.check(first)
  await database.check(second, [first])

  await expect(database.check(second)).rejects.toThrow(/^MASTER_KEYS_EARLIER: [^\n]+$/)
  await expect(database.check(other)).rejects.toThrow(/^MASTER_KEY: [^\n]+$/)
})

test('a master key that is only announced may be taken away again', async () => {
  await using database = await checkedDatabase()

  await database.check(first, [second])
  await database.check(first)

  expect(await database.recorded()).toBe(1)
})

test('a key that only has the id of the right one is refused', async () => {
  await using database = await checkedDatabase()
  await database.check(first)
  const { sealing } = deriveKeys(other)
  const id = deriveKeys(first).sealing.id

  const started = checkMasterKeys(database.pool, {
    sealing: { id, key: sealing.key, all: new Map([[id, sealing.key]]) },
  })

  await expect(started).rejects.toThrow(/^MASTER_KEY: /)
})

test('a role that lacks a master key with which another process has begun is not ready, and says which', async () => {
  await using database = await checkedDatabase()
  await using role = await startRole({ DATABASE_URL: database.url, MASTER_KEY: first }, 'projections/main.ts')
  await role.ready
  const readiness = async () => Readiness.parse((await role.details()).body)
  expect((await readiness()).checks.find(({ name }) => name === 'master_keys')).toEqual({
    name: 'master_keys',
    ok: true,
  })

  await database.check(second, [first])

  const { status, checks } = await readiness()
  expect(status).toBe('not_ready')
  expect(checks.filter(({ ok }) => !ok)).toEqual([
    {
      name: 'master_keys',
      ok: false,
      detail: `${deriveKeys(second).sealing.id} is missing: give it and restart; see docs/keys.md`,
    },
  ])
}, 60_000)
