import { expect, test, vi } from 'vitest'
import { othersInUse, ReadModelsReplaced, untilOwnVersions, watchVersions } from '#infra/consumers/own-versions.ts'
import { resetCheckpoint } from '#infra/consumers/checkpoint.ts'
import { makeLog } from '#infra/log.ts'
import { followProgress } from '#infra/consumers/shared-progress.ts'
import { makeProgress } from '#infra/consumers/progress.ts'
import type { Position } from '#domain/event.ts'
import { readModelsSchema, readModelVersions, versionBeside } from '#infra/read-models.ts'
import { testDatabase, type TestDatabase } from '../database.ts'
import { settling } from './rebuilding.ts'

const name = 'outcomes'
const own = readModelVersions.get(name) ?? 0

const inUse = ({ pool }: TestDatabase, version: number) =>
  resetCheckpoint(pool, { name, version, categories: ['outcomes'], awaited: true }, '0001' as Position)

/** What the projections of this version do once they have filled theirs beside the one in use. */
const showOwn = async ({ pool }: TestDatabase, position: string) => {
  const { consumer, suffix } = versionBeside(name, own)
  await pool.query(`create table public.${name}${suffix} (id text); create schema ${readModelsSchema};
    create view ${readModelsSchema}.${name} as select * from public.${name}${suffix}`)
  const described = { name: consumer, version: own, categories: ['outcomes'], awaited: false }
  await resetCheckpoint(pool, described, position as Position)
}

test('a process that reads read models begins once those of its version are there, and says what it waits for', async () => {
  await using database = await testDatabase()
  await inUse(database, own - 1)
  const ending = new AbortController()
  const starting = vi.fn<(check: object) => void>()
  const parts = { pool: database.pool, log: makeLog('silent', 'test'), signal: ending.signal, starting }
  const waiting = settling(untilOwnVersions(parts))
  await vi.waitFor(() =>
    expect(starting).toHaveBeenCalledWith({
      name: 'read models',
      ok: false,
      detail: `waits for projections of this version: outcomes is of version ${own - 1}, not ${own}`,
    }),
  )
  expect(waiting.isSettled()).toBe(false)

  await showOwn(database, '0001')

  await waiting.promise
  ending.abort()
})

test('a process that reads read models ends when another version of them is put in use', async () => {
  await using database = await testDatabase()
  await inUse(database, own)
  expect(await othersInUse(database.pool)).toEqual([])

  await inUse(database, own + 1)

  expect(await othersInUse(database.pool)).toEqual([`outcomes is of version ${own + 1}, not ${own}`])
  await expect(watchVersions(database.pool, AbortSignal.timeout(60_000))).rejects.toThrow(ReadModelsReplaced)
})

test('commands wait for the version that is read, beside the one in use or in its place', async () => {
  await using database = await testDatabase()
  await inUse(database, own - 1)
  await showOwn(database, '0005')
  const ending = new AbortController()
  const parts = { pool: database.pool, log: makeLog('silent', 'test'), signal: ending.signal }

  const progress = await followProgress(makeProgress(), parts)

  expect(await progress.wait('outcomes', '0005' as Position, 0)).toBe(true)
  expect(await progress.wait('outcomes', '0006' as Position, 0)).toBe(false)
  ending.abort()
  await progress.finished
})
