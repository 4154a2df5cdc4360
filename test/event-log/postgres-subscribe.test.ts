import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Pool, QueryConfig } from 'pg'
import { expect, test, vi } from 'vitest'
import type { Position, RecordedEvent } from '#domain/event.ts'
import { asWritten, logReader, measure, start, toPosition } from '#infra/event-log/postgres/read.ts'
import { arrivals, subscriber } from '#infra/event-log/postgres/subscribe.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import type { Batch } from '#infra/event-log/event-log.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { emptyDatabase } from '../database.ts'
import {
  appended,
  batchesOf,
  eventsIn,
  eventually,
  idsOf,
  isVisible,
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
  const subscribe = subscriber({ ...reader, between }, arrivals(), 200)
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
    const counting = { ...reader, head: counted(reader.head), between: counted(reader.between) }
    const subscribe = subscriber(counting, arrivals(), 200)

    let seen = 0
    for await (const { events } of subscribe({ batchSize: 10, signal: leaving.signal })) seen += events.length

    expect(reads).toBeGreaterThanOrEqual(abortAt)
    expect(seen).toBeLessThanOrEqual(20)
  }
  await pool.end()
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

test('reads of some categories, live ones too, use the index by category, and those of many the order; they never read the whole table', async () => {
  await using database = await preparedDatabase()
  await database.pool.query(`
    insert into event_log.event (transaction_id, revision, id, schema_version, stream, category, type, data, metadata)
    select n, 0, gen_random_uuid(), 1, category || '-' || n, category, 'Happened', '{}', '{}'
    from generate_series(1, 20000) as n, lateral (select case when n % 1000 = 0 then 'rare' else 'usual' end as category)`)
  await database.pool.query('analyze event_log.event')
  const pool = createPool(database.url, { types: asWritten })
  const explained: string[] = []
  const explaining = {
    query: async ({ text, values }: QueryConfig) => {
      const plan = await database.pool.query<{ 'QUERY PLAN': string }>({
        text: `explain ${text}`,
        values: values ?? [],
      })
      explained.push(plan.rows.map((row) => row['QUERY PLAN']).join('\n'))
      return pool.query({ text, values: values ?? [], rowMode: 'array' })
    },
  } as unknown as Pool // The reader asks for nothing else.
  const reader = logReader(explaining)
  const upTo = toPosition('99999', '99999')

  const rare = await reader.between(start, upTo, { categories: ['rare'] }, 1_000)
  const both = await reader.between(start, upTo, { categories: ['rare', 'usual'], types: ['Happened'] }, 1_000)
  await reader.newer(start, { categories: ['rare', 'usual'] }, 1_000)
  const others = Array.from({ length: 8 }, (_, number) => `never${number}`)
  const latest = await reader.newer(toPosition('7', '7'), { categories: ['usual', ...others] }, 3)
  await database.pool.query(`delete from event_log.event where category = 'rare'`)
  await database.pool.query('analyze event_log.event')
  await reader.between(start, upTo, { categories: ['rare', 'never'] }, 1_000)

  expect(rare.events).toHaveLength(20)
  expect(both.events.map(({ position }) => measure(position))).toEqual(Array.from({ length: 1_000 }, (_, n) => n + 1))
  expect(latest.events.map(({ position }) => measure(position))).toEqual([8, 9, 10])
  expect(explained).toHaveLength(5)
  // Near the end, a reader of many categories passes over the few events of others.
  const [ofMany = ''] = explained.splice(3, 1)
  expect(ofMany).toMatch(/Index Scan using event_order/)
  for (const plan of explained) {
    expect(plan).toContain('event_category')
    expect(plan).not.toContain('event_order')
    expect(plan).not.toContain('Seq Scan on event ')
  }
  await pool.end()
})

test('what is announced again while it is being read is not read again', async () => {
  const announced = arrivals()
  const [first, second] = [toPosition('1', '1'), toPosition('2', '2')]
  const stored: RecordedEvent[] = []
  let reads = 0
  const whileReading: (() => void)[] = []
  const reader = {
    head: () => Promise.resolve(undefined),
    between: () => Promise.reject(new Error('There is nothing old to read.')),
    settled: () => Promise.resolve(start),
    newer: async (after: Position) => {
      reads++
      const events = stored.filter(({ position }) => position > after)
      whileReading.shift()?.()
      await Promise.resolve()
      return { events, isWhole: true }
    },
  }
  const leaving = new AbortController()
  const batches = subscriber(reader, announced, 3_600_000)({ signal: leaving.signal })
  await batches.next() // Nothing is in the log.
  const append = (position: Position) => {
    stored.push({ position } as RecordedEvent)
    announced.notify(new Map([['lead', position]]))
  }
  // The next read finds nothing; that of the first event is under way when the server announces it too.
  whileReading.push(
    () => undefined,
    () => announced.notify(new Map([['lead', first]])),
  )

  const newer = batches.next()
  await setImmediate()
  append(first)
  expect((await newer).value).toMatchObject({ position: first })
  const later = batches.next()
  await setImmediate()
  append(second)
  expect((await later).value).toMatchObject({ position: second })

  expect(reads).toBe(3)
  leaving.abort()
  await batches.return(undefined)
})

test('what is appended to categories that a subscription does not want makes it read nothing', async () => {
  const announced = arrivals()
  const [first, second, third] = [toPosition('1', '1'), toPosition('2', '2'), toPosition('3', '3')]
  let reads = 0
  const reader = {
    head: () => Promise.resolve(undefined),
    between: () => Promise.reject(new Error('There is nothing old to read.')),
    settled: () => Promise.resolve(start),
    newer: async (after: Position) => {
      reads++
      return { events: after < second && reads > 1 ? [{ position: second } as RecordedEvent] : [], isWhole: true }
    },
  }
  const leaving = new AbortController()
  const batches = subscriber(reader, announced, 3_600_000)({ categories: ['lead'], signal: leaving.signal })
  await batches.next() // Nothing is in the log.
  const newer = batches.next()
  await setImmediate()
  expect(reads).toBe(1)

  announced.notify(new Map([['application', first]]))
  await setImmediate()
  expect(reads).toBe(1)
  // Of a hint about several categories only its own count.
  announced.notify(
    new Map([
      ['lead', second],
      ['application', third],
    ]),
  )
  expect((await newer).value).toMatchObject({ position: second })
  expect(reads).toBe(2)

  leaving.abort()
  await batches.return(undefined)
})

test('another process is told which categories were appended to; a hint that does not say it wakes all', async () => {
  await using database = await preparedDatabase()
  await using writer = openLog(database.url)
  await using reader = openLog(database.url, { pollMs: 3_600_000 })
  const leaving = new AbortController()
  const heard: string[] = []
  const follow = async (category: string) => {
    for await (const { events } of reader.subscribe({ categories: [category], signal: leaving.signal }))
      heard.push(...events.map(({ stream }) => stream))
  }
  const following = Promise.all([follow('told'), follow('untold')])
  const told = `told-${randomUUID()}`
  await appended(writer, told, newEvents(1))
  await vi.waitFor(() => expect(heard).toEqual([told]), { timeout: 60_000 })
  // Appended by something that announces nothing.
  await using client = await connect(database.url)
  const untold = `untold-${randomUUID()}`
  await appendOn(client, untold, newEvent())
  await client.query(`notify event_log, '{"what":"ever"}'`)
  await vi.waitFor(() => expect(heard).toEqual([told, untold]), { timeout: 60_000 })

  leaving.abort()
  await following
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

  await expect(untilCaughtUp(log, {})).rejects.toThrow('"event_log" does not exist')
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
