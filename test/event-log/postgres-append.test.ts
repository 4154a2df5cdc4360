import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type NewEvent } from '#domain/event.ts'
import type { AppendResult } from '#infra/event-log/event-log.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { appended, eventually, idsOf, newEvent, newEvents, newStream } from './events.ts'
import { appendOn, appendingConnections, appendsWaiting, connect, openLog, preparedDatabase } from './postgres-log.ts'

test('an append that is not the first write of its transaction is refused', async () => {
  await using database = await preparedDatabase()
  await using client = await connect(database.url)
  await client.query('begin; select pg_current_xact_id()')

  await expect(appendOn(client, newStream(), newEvent())).rejects.toThrow('must be the first write of its transaction')
})

test('an event id of another append is never stored a second time', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const [stream, other] = [newStream(), newStream()]
  const events = newEvents(2)
  await appended(log, stream, events, 'no_stream')
  const [first, second] = [events.slice(0, 1), events.slice(1)]
  const appends: [string, 'no_stream' | 'any' | number, readonly NewEvent[]][] = [
    [other, 'no_stream', events],
    [other, 'any', events],
    [other, 'any', [newEvent(), ...first]],
    [stream, 1, first],
    [stream, 1, [newEvent(), ...second]],
    [stream, 'any', [newEvent(), ...events]],
    [stream, 'any', [...events, newEvent()]],
    [stream, 'any', events.toReversed()],
  ]
  const twice = newEvent()

  for (const append of appends)
    await expect(log.append(...append)).rejects.toThrow('the id of an event of another append')
  await expect(log.append(other, 'any', [twice, twice])).rejects.toThrow('the id of an event')
  expect(await log.append(stream, 'no_stream', [...first, newEvent()])).toEqual({ outcome: 'conflict', revision: 1 })

  const { rows } = await database.pool.query('select id from event_log.event order by revision')
  expect(rows).toEqual(events.map(({ id }) => ({ id })))
})

test('repeating an append gives the same position, also without an expectation', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const stream = newStream()
  await appended(log, stream, newEvents(2))
  const [exact, any] = [newEvents(2), newEvents(2)]
  const results = [await log.append(stream, 1, exact), await log.append(stream, 'any', any)]
  await appended(log, stream, newEvents(1))

  const again = [await log.append(stream, 1, exact), await log.append(stream, 'any', any)]

  expect(again).toEqual(results)
  expect(await log.read(stream)).toHaveLength(7)
})

test('one poisoned append harms none of those that share its batch', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const taken = newEvents(1)
  const full = newStream()
  await appended(log, full, taken)
  const good = Array.from({ length: 20 }, () => ({ stream: newStream(), events: newEvents(2) }))

  const [results, poison] = await Promise.all([
    Promise.all(good.map(({ stream, events }) => log.append(stream, 'no_stream', events))),
    Promise.allSettled([
      log.append(newStream(), 'no_stream', taken),
      log.append(newStream(), 'no_stream', [newEvent('not\u0000text')]),
      log.append(newStream(), 'no_stream', [{ ...newEvent(), schema_version: 2 ** 40 }]),
      log.append(full, 'no_stream', newEvents(1)),
    ]),
  ])

  expect(results).toEqual(good.map(() => expect.objectContaining({ outcome: 'appended', revision: 1 }) as AppendResult))
  expect(poison.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'fulfilled'])
  expect(poison[3]).toMatchObject({ value: { outcome: 'conflict', revision: 0 } })
  for (const { stream, events } of good) expect(idsOf(await log.read(stream))).toEqual(idsOf(events))
})

test('one append that must wait does not use up the time of those that share its batch', async () => {
  await using database = await preparedDatabase()
  await using rival = await connect(database.url)
  await using log = openLog(database.url, { attemptMs: 300, appendLimits: { withinMs: 60_000 } })
  const held = newStream()
  const good = Array.from({ length: 40 }, () => newStream())
  const [first, second] = [good.slice(0, 20), good.slice(20)]

  await rival.query('begin')
  await appendOn(rival, held, newEvent())
  const [before, waiting, after] = [
    first.map((stream) => log.append(stream, 'no_stream', newEvents(1))),
    log.append(held, 'no_stream', newEvents(1)),
    second.map((stream) => log.append(stream, 'no_stream', newEvents(1))),
  ]
  const results = await Promise.all([...before, ...after])
  await rival.query('rollback')

  expect(results.map(({ outcome }) => outcome)).toEqual(good.map(() => 'appended'))
  expect(await waiting).toMatchObject({ outcome: 'appended', revision: 0 })
})

test('processes that append to the same streams do not wait for each other in a circle', async () => {
  await using database = await preparedDatabase()
  await using rival = await connect(database.url)
  await using one = openLog(database.url)
  await using other = openLog(database.url)
  const streams = Array.from({ length: 15 }, () => newStream()).toSorted()

  // Each of the two writes until it comes to the rival's stream. Were their orders opposed, each would then need what the other holds.
  await rival.query('begin')
  await appendOn(rival, streams[7] ?? '', newEvent())
  const appending = [
    ...streams.map((stream) => one.append(stream, 'any', newEvents(2))),
    ...streams.toReversed().map((stream) => other.append(stream, 'any', newEvents(2))),
  ]
  await appendsWaiting(database, 2)
  await rival.query('rollback')
  const results = await Promise.all(appending)
  const read = await Promise.all(streams.map((stream) => one.read(stream)))
  // A connection reports what it knows at the latest when it ends.
  await Promise.all([one.close(), other.close()])
  await eventually(async () => (await appendingConnections(database, 'true')).rows.length === 0, 'connections to end')

  expect(results.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 30 }, () => 'appended'))
  for (const events of read) expect(events).toHaveLength(4)
  const { rows } = await database.pool.query(
    sql`select deadlocks from pg_stat_database where datname = current_database()`,
  )
  expect(rows).toEqual([{ deadlocks: '0' }])
})

test('an append whose connection is lost while it waits is repeated, and stored once', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  await using rival = await connect(database.url)
  const stream = newStream()
  const events = newEvents(2)

  await rival.query('begin')
  await appendOn(rival, stream, newEvent())
  const appending = log.append(stream, 'no_stream', events)
  for (let losses = 0; losses < 3; losses++) {
    await appendsWaiting(database, 1)
    const { rows } = await appendingConnections(database, 'true')
    for (const { pid } of rows) await database.pool.query(sql`select pg_terminate_backend(${pid}, 5000)`)
  }
  await appendsWaiting(database, 1)
  await rival.query('rollback')

  expect(await appending).toMatchObject({ outcome: 'appended', revision: 1 })
  expect(idsOf(await log.read(stream))).toEqual(idsOf(events))
})

test('appends at random by two processes at once store exactly what they said they stored', async () => {
  await using database = await preparedDatabase()
  await using one = openLog(database.url)
  await using other = openLog(database.url)
  const step = fc.record({
    log: fc.constantFrom(one, other),
    stream: fc.nat(2),
    expected: fc.oneof(fc.constant('any' as const), fc.constant('no_stream' as const), fc.nat(8)),
    count: fc.integer({ min: 1, max: 3 }),
  })

  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 4 }), async (rounds) => {
      const streams = [newStream(), newStream(), newStream()]
      const stored = streams.map((): string[] => [])
      for (const round of rounds)
        await Promise.all(
          round.map(async ({ log, stream, expected, count }) => {
            const events = newEvents(count)
            const result = await log.append(streams[stream] ?? '', expected, events)
            if (result.outcome === 'conflict') return
            if (typeof expected === 'number') expect(result.revision).toBe(expected + count)
            if (expected === 'no_stream') expect(result.revision).toBe(count - 1)
            for (const [index, { id }] of events.entries()) {
              const revision = result.revision - count + 1 + index
              expect(stored[stream]?.[revision]).toBeUndefined()
              Object.assign(stored[stream] ?? [], { [revision]: id })
            }
          }),
        )
      for (const [index, stream] of streams.entries()) expect(idsOf(await one.read(stream))).toEqual(stored[index])
    }),
    { numRuns: 40 },
  )
})

test('the parsers of pg are as they were', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  await appended(log, newStream(), newEvents(1))

  const { rows } = await database.pool.query<object>(`select '{"a":1}'::json as json, 1::bigint as big, now() as time`)

  expect(rows).toEqual([{ json: { a: 1 }, big: '1', time: expect.any(Date) as Date }])
})
