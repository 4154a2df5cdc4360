import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { openLookups } from '#infra/postgres/lookups.ts'
import { createPool, sql } from '#infra/postgres/postgres.ts'
import { testDatabase, type TestDatabase } from '../database.ts'
import { newEvents, newStream } from '../event-log/events.ts'
import { openLog } from '../event-log/postgres-log.ts'

/** What the guide for operators says a process takes for one purpose. */
const documented = async (purpose: string): Promise<number> => {
  const guide = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'operate.md'), 'utf8')
  const [, numbers = ''] = new RegExp(`^\\| ${purpose} +\\|(.*)\\|$`, 'm').exec(guide) ?? []
  return Math.max(...numbers.split('|').map(Number))
}

const connections = async ({ pool }: TestDatabase, name: string) => {
  const { rows } = await pool.query<{ count: number }>(sql`
    select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and application_name like ${name}`)
  return rows[0]?.count
}

test('the log takes as many connections as the guide for operators says, however much is asked of it', async () => {
  await using database = await testDatabase()
  await using log = openLog(database.url, { attemptMs: 60_000, appendLimits: { withinMs: 60_000 }, readMs: 60_000 })
  const rival = await database.pool.connect()
  await rival.query('begin; lock table event_log.event in access exclusive mode')
  const leaving = new AbortController()
  const subscribed = log.subscribe({ signal: leaving.signal })[Symbol.asyncIterator]().next()
  const appending: Promise<unknown>[] = []
  const reading: Promise<unknown>[] = []

  await vi.waitFor(
    async () => {
      appending.push(log.append(newStream(), 'no_stream', newEvents(1)))
      reading.push(log.read(newStream()))
      expect(reading.length).toBeGreaterThan(20)
      expect(await connections(database, 'coverstream %')).toBe(await documented('event log: append, read, hints'))
    },
    { timeout: 60_000, interval: 10 },
  )

  await rival.query('rollback')
  rival.release()
  leaving.abort()
  await Promise.all([...appending, ...reading, subscribed])
  expect(await connections(database, 'coverstream %')).toBe(await documented('event log: append, read, hints'))
})

test('lookups take as many connections as the guide says', async () => {
  await using database = await testDatabase()
  const pool = createPool(database.url, { name: 'looking up' })
  const lookups = openLookups(pool)

  await Promise.all(Array.from({ length: 50 }, () => lookups.query(sql`select pg_sleep(0.001)`)))

  expect(await connections(database, 'looking up')).toBe(await documented('lookups'))
  await lookups.close()
  await pool.end()
})
