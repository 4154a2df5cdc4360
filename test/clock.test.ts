import { setTimeout as pause } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { inBusinessTime, moveClock, startClock } from '#infra/clock.ts'
import { BadConfiguration, readConfig } from '#infra/config.ts'
import { makeLog } from '#infra/log.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { migrate } from '#infra/postgres/migrations.ts'
import { clockRoutes } from '../command-api/clock/routes.ts'
import { testDatabase } from './database.ts'
import { serve } from './serve.ts'

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

test('a measurement whose answer comes late leaves it as better ones have set it', async () => {
  await using database = await testDatabase()
  const stopping = new AbortController()
  let lateMs = 0
  const pool: Database = {
    query: async (statement) => {
      const answer = await database.pool.query(statement)
      await pause(lateMs)
      return answer
    },
  }
  const clock = await startClock({ pool, log, signal: stopping.signal, offsetMs: 0 })
  for (let times = 0; times < 5; times++) await clock.measureNow?.()
  const ahead = () => Number(clock.now()) - performance.now()

  const before = ahead()
  lateMs = 1_000
  await clock.measureNow?.()
  stopping.abort()

  expect(Math.abs(ahead() - before)).toBeLessThan(400)
})

test('a first measurement whose answers come late is made again, so that processes agree on the time', async () => {
  await using database = await testDatabase()
  const stopping = new AbortController()
  let late = 1
  const pool: Database = {
    query: async (statement) => {
      const answer = await database.pool.query(statement)
      if (late-- > 0) await pause(1_000)
      return answer
    },
  }
  const clock = await startClock({ pool, log, signal: stopping.signal, offsetMs: 0 })
  stopping.abort()

  const { rows } = await database.pool.query<{ now: Date }>('select clock_timestamp() as now')
  expect(Number(clock.now()) - Number(rows[0]?.now)).toBeGreaterThan(-300)
})

test('what another party dates by real time was as long ago in business time', () => {
  const real = Date.parse('2026-11-23T03:00:00.000Z')
  const paid = '2026-11-23T02:59:00.000Z'

  expect(inBusinessTime(paid, '2027-05-18T03:00:00.000Z', real)).toBe('2027-05-18T02:59:00.000Z')
  expect(inBusinessTime(paid, '2026-11-23T03:00:00.000Z', real)).toBe(paid)
  // The other party's clock is ahead of ours.
  expect(inBusinessTime('2026-11-23T03:00:05.000Z', '2026-11-23T03:00:00.000Z', real)).toBe('2026-11-23T03:00:00.000Z')
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

test('outside production the operator moves business time forward for all processes', async () => {
  await using database = await testDatabase()
  const { pool } = database
  await migrate(pool)
  const stopping = new AbortController()
  const parts = { pool, log, signal: stopping.signal, offsetMs: 0, isMovable: true, measureEveryMs: 5 }
  const [own, another] = [await startClock(parts), await startClock(parts)]
  const real = await startClock({ ...parts, isMovable: false })
  await using api = await serve(clockRoutes({ pool, clock: own, isClockMovable: true }))
  const dayMs = 86_400_000

  for (const days of [1, 364]) await api.post('/admin/v1/clock', { forward_seconds: days * 86_400 })
  await vi.waitUntil(() => Number(another.now()) - Number(real.now()) > 365 * dayMs - 1_000)
  const { body } = await api.get('/admin/v1/clock')

  const { now } = (body as { data: { now: string } }).data
  expect(Date.parse(now) - Number(real.now())).toBeGreaterThan(365 * dayMs - 1_000)
  expect((await api.post('/admin/v1/clock', { forward_seconds: -1 })).status).toBe(422)
  stopping.abort()
})

test('business time is not moved beyond the instants that can be written', async () => {
  await using database = await testDatabase()
  const { pool } = database
  await migrate(pool)
  await moveClock(pool, Date.parse('8995-01-01T00:00:00Z') - Date.now())
  const stopping = new AbortController()
  const clock = await startClock({ pool, log, signal: stopping.signal, offsetMs: 0, isMovable: true })
  await using api = await serve(clockRoutes({ pool, clock, isClockMovable: true }))
  const move = async (years: number) =>
    (await api.post('/admin/v1/clock', { forward_seconds: years * 365 * 86_400 })).status

  expect([await move(4), await move(10)]).toEqual([200, 409])

  expect(clock.now().getUTCFullYear()).toBe(8998)
  stopping.abort()
})

test('in production it cannot be moved, and what was moved before does not count', async () => {
  await using database = await testDatabase()
  const { pool } = database
  await migrate(pool)
  await moveClock(pool, hourMs)
  const stopping = new AbortController()
  const clock = await startClock({ pool, log, signal: stopping.signal, offsetMs: 0 })
  await using api = await serve(clockRoutes({ pool, clock, isClockMovable: false }))

  const { status, body } = await api.post('/admin/v1/clock', { forward_seconds: 60 })

  expect(status).toBe(409)
  expect(body).toMatchObject({ error: { code: 'conflict' } })
  expect(Number(clock.now()) - Date.now()).toBeLessThan(hourMs / 2)
  stopping.abort()
})
