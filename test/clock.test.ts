import { expect, test, vi } from 'vitest'
import { startClock } from '#infra/clock.ts'
import { BadConfiguration, readConfig } from '#infra/config.ts'
import { makeLog } from '#infra/log.ts'
import { testDatabase } from './database.ts'

const log = makeLog('silent', 'test')
const hourMs = 3_600_000

test('business time is the time of the database, ahead by the offset', async () => {
  await using database = await testDatabase()
  const stopping = new AbortController()
  const parts = { pool: database.pool, log, signal: stopping.signal }
  const clock = await startClock({ ...parts, offsetMs: 0 })
  const ahead = await startClock({ ...parts, offsetMs: hourMs })

  const between = async () => {
    const { rows } = await database.pool.query<{ now: Date }>('select clock_timestamp() as now')
    return Number(rows[0]?.now)
  }
  const [before, now, later, after] = [await between(), clock.now(), ahead.now(), await between()]
  stopping.abort()

  const tolerance = 1_000 // half of the time that the measurement took
  expect(Number(now)).toBeGreaterThanOrEqual(before - tolerance)
  expect(Number(now)).toBeLessThanOrEqual(after + tolerance)
  expect(Number(later) - Number(now)).toBeGreaterThan(hourMs - tolerance)
})

test('while the database is away it goes on counting', async () => {
  const database = await testDatabase()
  const stopping = new AbortController()
  const warned = vi.fn<(fields: object, message: string) => void>()
  const clock = await startClock({
    pool: database.pool,
    log: Object.assign(makeLog('silent', 'test'), { warn: warned }),
    signal: stopping.signal,
    offsetMs: 0,
    measureEveryMs: 5,
  })
  const before = clock.now()

  await database[Symbol.asyncDispose]()
  await vi.waitUntil(() => warned.mock.calls.length > 0)

  expect(clock.now() >= before).toBe(true)
  stopping.abort()
})

test('only outside production may business time differ from real time', () => {
  const offset = { BUSINESS_TIME_OFFSET_SECONDS: '86400' }

  expect(() => readConfig(offset)).toThrow(BadConfiguration)
  expect(() => readConfig({ ...offset, ENVIRONMENT: 'production' })).toThrow(/BUSINESS_TIME_OFFSET_SECONDS/)
  expect(readConfig({ ...offset, ENVIRONMENT: 'test' }).BUSINESS_TIME_OFFSET_SECONDS).toBe(86_400)
})
