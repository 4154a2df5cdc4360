import { describe, expect, test, vi } from 'vitest'
import { LogUnavailable } from '#infra/event-log/event-log.ts'
import { postgresLog, type PostgresLogOptions } from '#infra/event-log/postgres/postgres-log.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { announceProgress } from '#infra/consumers/shared-progress.ts'
import { route } from '#infra/http/route.ts'
import { makeLog } from '#infra/log.ts'
import { openLookups } from '#infra/postgres/lookups.ts'
import { createPool, isUnavailable, sql, transaction } from '#infra/postgres/postgres.ts'
import { z } from 'zod'
import { testDatabase } from '../database.ts'
import { appended, idsOf, newEvent, newEvents, newStream } from '../event-log/events.ts'
import { serve } from '../serve.ts'
import { wayTo } from './way.ts'

/** A database, and a way to it that can lose packets. */
const lossy = async () => {
  const database = await testDatabase()
  const way = await wayTo(database.url)
  return {
    database,
    way,
    [Symbol.asyncDispose]: async () => {
      await way[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

/** Gives up soon: for calls that should fail. */
const impatient = { attemptMs: 300, appendLimits: { withinMs: 1_500 }, readMs: 1_000 }

/** With the usual deadlines, which leave time to open other connections on a busy machine, for calls that should succeed. */
const openLog = (url: string, options: Partial<PostgresLogOptions> = {}) => {
  const log = postgresLog({ url, ...options })
  return { ...log, [Symbol.asyncDispose]: log.close }
}

// They wait for deadlines, each with a database of its own: at once.
describe.concurrent('when the network loses what is sent', { timeout: 60_000 }, () => {
  test('an append and a read over connections that fell silent come through over new ones, once', async () => {
    await using the = await lossy()
    await using log = openLog(the.way.url)
    const stream = newStream()
    const events = newEvents(3)
    await appended(log, stream, events.slice(0, 1))
    await log.read(stream)

    the.way.silence()
    await appended(log, stream, events.slice(1, 2), 0)
    the.way.silence()
    await appended(log, stream, events.slice(2), 1)

    expect(idsOf(await log.read(stream))).toEqual(idsOf(events))
  })

  test('while nothing goes through, appends and reads fail as unavailable at their deadlines, and then go on', async () => {
    await using the = await lossy()
    await using log = openLog(the.way.url, impatient)
    const streams = Array.from({ length: 600 }, () => newStream())

    the.way.silenceAll()
    const outcomes = await Promise.allSettled([
      ...streams.map((stream) => log.append(stream, 'no_stream', newEvents(1))),
      log.read(newStream()),
      log.head(),
    ])
    the.way.restore()
    const [first = ''] = streams
    const events = newEvents(1)
    await vi.waitFor(() => appended(log, first, events, 'any'), { timeout: 60_000 })

    const reasons = outcomes.map((outcome) => (outcome.status === 'rejected' ? (outcome.reason as unknown) : outcome))
    expect(reasons.filter((reason) => !(reason instanceof LogUnavailable))).toEqual([])
  })

  test('appends that are asked for while the server is down are stored once when it is back', async () => {
    await using the = await lossy()
    await using log = openLog(the.way.url)
    await using hasty = openLog(the.way.url, impatient)
    const asked = Array.from({ length: 40 }, () => ({ stream: newStream(), event: newEvent() }))
    await appended(log, newStream(), newEvents(1))

    the.way.refuse()
    const appending = asked.map(({ stream, event }) => log.append(stream, 'no_stream', [event]))
    await expect(hasty.head()).rejects.toThrow(LogUnavailable)
    the.way.restore()

    expect((await Promise.all(appending)).map(({ outcome }) => outcome)).toEqual(asked.map(() => 'appended'))
    for (const { stream, event } of asked) expect(idsOf(await log.read(stream))).toEqual([event.id])
  })

  test('beyond a number or size of waiting appends, an append fails at once, and those that wait do not', async () => {
    await using database = await testDatabase()
    await using few = openLog(database.url, { appendLimits: { waiting: 2 } })
    await using small = openLog(database.url, { appendLimits: { waitingBytes: 1_000 } })
    const large = () => newEvent('SomethingLargeHappened', { text: 'x'.repeat(600) })

    const byNumber = await Promise.allSettled([1, 2, 3].map(() => few.append(newStream(), 'no_stream', [newEvent()])))
    const bySize = await Promise.allSettled([1, 2].map(() => small.append(newStream(), 'no_stream', [large()])))

    expect(byNumber.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(byNumber[2]).toMatchObject({ reason: expect.any(LogUnavailable) as unknown })
    expect(bySize.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(bySize[1]).toMatchObject({ reason: expect.any(LogUnavailable) as unknown })
    await appended(few, newStream(), newEvents(1))
  })

  test('an append larger than what may wait is taken when none waits', async () => {
    await using database = await testDatabase()
    await using log = openLog(database.url, { appendLimits: { waitingBytes: 100 } })

    const large = newEvent('SomethingLargeHappened', { text: 'x'.repeat(600) })

    expect(await log.append(newStream(), 'no_stream', [large])).toMatchObject({ outcome: 'appended' })
  })

  test('a lookup over a connection that fell silent is answered over another; with none left, it fails in time', async () => {
    await using the = await lossy()
    const pool = createPool(the.way.url)
    const lookups = openLookups(pool, { connections: 1, withinMs: 4_000 })
    const ask = async () => (await lookups.query<{ jit: string }>(sql`select current_setting('jit') as jit`)).rows
    await vi.waitFor(async () => expect(await ask()).toEqual([{ jit: 'off' }]), { timeout: 60_000 })

    the.way.silence()
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 2, 3].map(() => [{ jit: 'off' }]))

    the.way.silenceAll()
    const failures = await Promise.allSettled([ask(), ask()])
    expect(failures.map((each) => each.status === 'rejected' && isUnavailable(each.reason))).toEqual([true, true])

    the.way.restore()
    await vi.waitFor(async () => expect(await ask()).toHaveLength(1), { timeout: 60_000 })
    await lookups.close()
    await pool.end()
  })

  test('a statement of the pool that is never answered fails, and its connection is not used again', async () => {
    await using the = await lossy()
    const pool = createPool(the.way.url, { max: 1, statementMs: 300 })
    await pool.query('select 1')

    the.way.silence()
    await expect(pool.query('select 2')).rejects.toSatisfy(isUnavailable)
    const inTransaction = transaction(pool, async (db) => {
      await db.query('select 3')
      the.way.silence()
      return db.query('select 4')
    })
    await expect(inTransaction).rejects.toSatisfy(isUnavailable)

    expect((await pool.query('select 5 as five')).rows).toEqual([{ five: 5 }])
    await pool.end()
  })

  test('a statement that the server works on for too long is ended there', async () => {
    await using database = await testDatabase()
    const pool = createPool(database.url, { max: 1, statementMs: 300, name: 'slow' })

    await expect(pool.query('select pg_sleep(100)')).rejects.toMatchObject({ code: '57014' })

    await pool.end()
  })

  test('connections for leases, hints and progress that fall silent are noticed and replaced', async () => {
    await using the = await lossy()
    const pool = createPool(the.way.url)
    const ending = new AbortController()
    const lease = await makeLeases(pool).take('a', ending.signal)
    const log = postgresLog({ url: the.way.url })
    const subscribed = log.subscribe({ signal: ending.signal })[Symbol.asyncIterator]()
    await subscribed.next()
    const announcing = announceProgress({ pool, log: makeLog('silent', 'test'), signal: ending.signal })
    const connected = async (name: string) => {
      const { rows } = await the.database.pool.query<{ pid: number }>(
        sql`select pid from pg_stat_activity where datname = current_database() and application_name like ${`${name}%`}`,
      )
      return rows.map(({ pid }) => pid)
    }
    const names = ['coverstream hints', 'coverstream progress']
    const before = await Promise.all(
      names.map((name) => vi.waitUntil(async () => (await connected(name))[0], { timeout: 60_000 })),
    )

    the.way.silence()

    await vi.waitFor(() => expect(lease?.signal.aborted).toBe(true), { timeout: 60_000 })
    const replaced = async (name: string, pid: number | undefined) =>
      expect((await connected(name)).filter((other) => other !== pid)).toHaveLength(1)
    for (const [index, name] of names.entries())
      await vi.waitFor(() => replaced(name, before[index]), { timeout: 60_000 })
    ending.abort()
    await Promise.all([announcing.finished, log.close()])
    await pool.end()
  })

  test('503 while the database cannot be reached, with the time to try again', async () => {
    await using the = await lossy()
    const pool = createPool(the.way.url)
    const lookups = openLookups(pool, { withinMs: 1_000 })
    const log = postgresLog({ url: the.way.url, ...impatient })
    const answers = { 200: z.object({}) }
    const access = { kind: 'public' } as const
    await using api = await serve([
      route({ method: 'get', address: '/reads', summary: '', tag: 'x', access, answers }, async () => {
        await lookups.query(sql`select 1`)
        return { status: 200, body: {} }
      }),
      route({ method: 'post', address: '/writes', summary: '', tag: 'x', access, answers }, async () => {
        await log.append(newStream(), 'no_stream', newEvents(1))
        return { status: 200, body: {} }
      }),
    ])
    const both = () => Promise.all([api.get('/reads'), api.post('/writes')])
    const areAnswered = async () => expect((await both()).map(({ status }) => status)).toEqual([200, 200])
    await vi.waitFor(areAnswered, { timeout: 60_000 })

    for (const trouble of [the.way.silenceAll, the.way.refuse]) {
      trouble()
      for (const { status, headers, body } of await both()) {
        expect(status).toBe(503)
        expect(headers.get('retry-after')).toBe('1')
        expect(body).toMatchObject({ error: { code: 'unavailable' } })
      }
      the.way.restore()
    }
    await vi.waitFor(areAnswered, { timeout: 60_000 })
    await lookups.close()
    await log.close()
    await pool.end()
  })
})
