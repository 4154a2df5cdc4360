import { expect, test } from 'vitest'
import { categoryOf, type Position } from '#domain/event.ts'
import { asWritten, logReader } from '#infra/event-log/postgres/read.ts'
import { subscriber } from '#infra/event-log/postgres/subscribe.ts'
import { sharedTail } from '#infra/event-log/postgres/live-tail.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import type { Batch } from '#infra/event-log/event-log.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { emptyDatabase } from '../database.ts'
import {
  appended,
  batchesOf,
  eventsIn,
  eventually,
  firstEvents,
  idsOf,
  isVisible,
  newCategory,
  newEvent,
  newEvents,
  newStream,
  untilCaughtUp,
} from './events.ts'
import { appendOn, connect, openLog, preparedDatabase } from './postgres-log.ts'

test('a reader of old events is read ahead for by one batch and no more', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const last = await appended(log, newStream(), newEvents(100))
  await isVisible(log, last.position)
  const pool = createPool(database.url, { types: asWritten })
  const reader = logReader(pool)
  let asked = 0
  let answered = 0
  const between: typeof reader.between = async (...page) => {
    asked++
    const events = await reader.between(...page)
    answered++
    return events
  }
  const leaving = new AbortController()
  const subscribe = subscriber({ ...reader, between }, sharedTail(reader, 200))
  const batches = subscribe({ batchSize: 10, signal: leaving.signal })

  for (let taken = 1; taken <= 9; taken++) {
    const { value } = (await batches.next()) as IteratorResult<Batch, undefined>
    expect(value?.events).toHaveLength(10)
    // What is read ahead has arrived, and even so nobody asks for more.
    await eventually(() => Promise.resolve(answered === taken + 1), 'the page read ahead')
    await isVisible(log, last.position)
    expect(asked).toBe(taken + 1)
  }
  leaving.abort()
  await batches.return(undefined)
  await pool.end()
})

test('large events come in batches of few', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const events = Array.from({ length: 20 }, () => newEvent('Large', { text: 'ab'.repeat(500_000) }))
  const { position } = await appended(log, newStream(), events)
  await isVisible(log, position)

  const batches = await batchesOf(log, {}, (taken) => eventsIn(taken).length === events.length)

  expect(idsOf(eventsIn(batches))).toEqual(idsOf(events))
  expect(Math.max(...batches.map((batch) => batch.events.length))).toBeLessThan(6)
})

test('a signal that comes while the log is being read ends the subscription too', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const { position } = await appended(log, newStream(), newEvents(20))
  await isVisible(log, position)
  const pool = createPool(database.url, { types: asWritten })
  const reader = logReader(pool)

  // The head, two pages, and the head again.
  for (const abortAt of [1, 2, 3, 4]) {
    const leaving = new AbortController()
    let reads = 0
    const counted =
      <Page extends unknown[], Result>(read: (...page: Page) => Promise<Result>) =>
      async (...page: Page): Promise<Result> => {
        const result = await read(...page)
        if (++reads === abortAt) leaving.abort()
        return result
      }
    const counting = { head: counted(reader.head), between: counted(reader.between) }
    const subscribe = subscriber(counting, sharedTail(reader, 200))

    let seen = 0
    for await (const { events } of subscribe({ batchSize: 10, signal: leaving.signal })) seen += events.length

    expect(reads).toBeGreaterThanOrEqual(abortAt)
    expect(seen).toBeLessThanOrEqual(20)
  }
  await pool.end()
})

test('a slow reader of new events is let go, catches up by itself, and misses nothing', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const leaving = new AbortController()
  const slow = log.subscribe({ batchSize: 5, signal: leaving.signal })[Symbol.asyncIterator]()
  const take = async () => ((await slow.next()) as IteratorResult<Batch, undefined>).value
  const first = await take()
  const events = newEvents(200)

  const fast = firstEvents(log, {}, events.length)
  for (const event of events) await appended(log, newStream(), [event])
  await fast
  const seen: string[] = []
  while (seen.length < events.length) {
    const batch = await take()
    expect(batch?.events.length).toBeLessThanOrEqual(5)
    seen.push(...idsOf(batch?.events ?? []))
  }
  leaving.abort()

  expect(first).toMatchObject({ events: [], caughtUp: true })
  expect(seen).toEqual(idsOf(events))
})

test('another process is told of new events, and need not look for them', async () => {
  await using database = await preparedDatabase()
  await using writer = openLog(database.url)
  await using reader = openLog(database.url, { pollMs: 3_600_000 })
  const events = newEvents(5)
  let written = 0

  const batches = await batchesOf(reader, {}, async (taken) => {
    const next = events[written]
    if (taken.at(-1)?.caughtUp && eventsIn(taken).length === written && next) {
      written++
      await appended(writer, newStream(), [next])
    }
    return eventsIn(taken).length === events.length
  })

  expect(idsOf(eventsIn(batches))).toEqual(idsOf(events))
})

test('new events are found by looking when nobody tells of them', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  await using client = await connect(database.url)
  const event = newEvent()

  const batches = await batchesOf(log, {}, async (taken) => {
    if (taken.length === 1) await appendOn(client, newStream(), event)
    return eventsIn(taken).length === 1
  })

  expect(idsOf(eventsIn(batches))).toEqual([event.id])
})

test('subscriptions that wait for new events read none for themselves', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const pool = createPool(database.url, { types: asWritten })
  const reader = logReader(pool)
  const tail = sharedTail(reader, 5)
  let ownReads = 0
  const counted = {
    head: () => {
      ownReads++
      return reader.head()
    },
    between: (...page: Parameters<typeof reader.between>) => {
      ownReads++
      return reader.between(...page)
    },
  }
  const subscribe = subscriber(counted, tail)
  const categories = Array.from({ length: 12 }, () => newCategory())
  let caughtUp = 0
  const readings = categories.map((category) =>
    batchesOf({ ...log, subscribe }, { categories: [category] }, (taken) => {
      if (taken.length === 1) caughtUp++
      return eventsIn(taken).length === 3
    }),
  )
  await eventually(() => Promise.resolve(caughtUp === categories.length), 'all subscriptions to catch up')
  const readsBefore = ownReads

  for (let round = 0; round < 3; round++)
    for (const category of categories) await appended(log, newStream(category), newEvents(1))

  const shares = await Promise.all(readings)
  expect(shares.map((batches) => eventsIn(batches).map(({ stream }) => categoryOf(stream)))).toEqual(
    categories.map((category) => [category, category, category]),
  )
  expect(ownReads).toBe(readsBefore)
  await pool.end()
})

test('a position of another kind of log is refused', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const foreign = '7/7' as Position

  await expect(untilCaughtUp(log, { after: foreign })).rejects.toThrow('Not a position of this log')
  await expect(log.readAll({ beyond: foreign })).rejects.toThrow('Not a position of this log')
  expect(() => log.measure(foreign)).toThrow('Not a position of this log')
})

test('a subscription that cannot read the log fails, and says why', async () => {
  await using database = await emptyDatabase()
  await using log = openLog(database.url)

  await expect(untilCaughtUp(log, {})).rejects.toThrow('event_log.event')
})

test('closing the log ends its subscriptions and waits for its appends', async () => {
  await using database = await preparedDatabase()
  const log = postgresLog({ url: database.url })
  const isWaiting = Promise.withResolvers<void>()
  const reading = (async () => {
    for await (const { caughtUp } of log.subscribe({ signal: new AbortController().signal }))
      if (caughtUp) isWaiting.resolve()
  })()
  await isWaiting.promise

  const appending = log.append(newStream(), 'no_stream', newEvents(1))
  await log.close()

  await reading
  expect(await appending).toMatchObject({ outcome: 'appended' })
  await expect(log.append(newStream(), 'any', newEvents(1))).rejects.toThrow('closed')
})
