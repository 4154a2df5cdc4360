import fc from 'fast-check'
import { Client, type ClientBase } from 'pg'
import { expect, test } from 'vitest'
import { categoryOf, type NewEvent, type RecordedEvent } from '#domain/event.ts'
import { asWritten, logReader } from '#infra/event-log-postgres-read.ts'
import { subscriber } from '#infra/event-log-postgres-subscribe.ts'
import { sharedTail } from '#infra/event-log-postgres-tail.ts'
import { postgresLog, prepareLog, type PostgresLogOptions } from '#infra/event-log-postgres.ts'
import type { AppendResult, Batch, EventLog } from '#infra/event-log.ts'
import { createPool, sql } from '#infra/postgres.ts'
import { testDatabase } from '../database.ts'
import { eventLogContract, type LogUnderTest } from './contract.ts'
import {
  allAfter,
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

const preparedDatabase = async () => {
  const database = await testDatabase()
  await prepareLog(database.pool)
  return database
}

/** A log as another process would have it, on the same database. */
const openLog = (url: string, options: Partial<PostgresLogOptions> = {}) => {
  const log = postgresLog({ url, ...options })
  return { ...log, [Symbol.asyncDispose]: log.close }
}

/** A connection of somebody else's. */
const connect = async (url: string) => {
  const client = new Client({ connectionString: url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

const dropConnections = async (url: string): Promise<void> => {
  await using client = await connect(url)
  await client.query(`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`)
}

const makeLog = async (): Promise<LogUnderTest> => {
  const database = await preparedDatabase()
  const log = postgresLog({ url: database.url })
  return {
    log,
    dropConnections: () => dropConnections(database.url),
    [Symbol.asyncDispose]: async () => {
      await log.close()
      await database[Symbol.asyncDispose]()
    },
  }
}

eventLogContract('the event log in PostgreSQL', makeLog)

/** Appends to a new stream within whatever transaction the connection has. */
const appendOn = (client: ClientBase, stream: string, { id, type, schema_version, data, metadata }: NewEvent) =>
  client.query(sql`
    select * from event_log.append(array[${stream}], array[-1]::bigint[], array[1], array[${id}::uuid], array[1], array[0],
      array[${id}::uuid], array[${type}], array[${schema_version}::integer], array[${data}::json], array[${metadata}::json])`)

const orderOf = (events: readonly RecordedEvent[]) => events.map(({ position }) => position)

test('a transaction held open during appends loses nothing', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  await using slow = await connect(database.url)
  const early = newEvent()
  const late = newEvents(20)
  const seen: RecordedEvent[] = []
  const leaving = new AbortController()
  const reading = (async () => {
    for await (const { events } of log.subscribe({ signal: leaving.signal })) seen.push(...events)
  })()

  await slow.query('begin')
  await appendOn(slow, newStream(), early)
  for (const event of late) await appended(log, newStream(), [event])
  const whileOpen = await log.readAll()
  await slow.query('commit')
  await eventually(() => Promise.resolve(seen.length === 21), 'all events')
  leaving.abort()
  await reading

  expect(whileOpen).toEqual([])
  expect(idsOf(seen)).toEqual([early.id, ...idsOf(late)])
  expect(orderOf(seen)).toEqual(orderOf(seen).toSorted())
  expect(idsOf(await log.readAll())).toEqual(idsOf(seen))
})

test('a transaction that is rolled back leaves no gap that anybody waits for', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  await using client = await connect(database.url)
  await client.query('begin')
  await appendOn(client, newStream(), newEvent())
  const events = newEvents(3)

  await appended(log, newStream(), events)
  await client.query('rollback')

  expect(idsOf(await firstEvents(log, {}, 3))).toEqual(idsOf(events))
})

test('a stream shows what was appended to it although an older transaction is open', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  await using client = await connect(database.url)
  await client.query('begin; select pg_current_xact_id()')
  const stream = newStream()

  const { position } = await appended(log, stream, newEvents(2))

  expect((await log.read(stream)).at(-1)?.position).toBe(position)
  expect(await log.head()).toBeUndefined()
})

test('an append that is not the first write of its transaction is refused', async () => {
  await using database = await preparedDatabase()
  await using client = await connect(database.url)
  await client.query('begin; select pg_current_xact_id()')

  await expect(appendOn(client, newStream(), newEvent())).rejects.toThrow('must be the first write of its transaction')
})

test('while 32 writers append, readers miss nothing and repeat nothing', { timeout: 120_000 }, async () => {
  await using database = await preparedDatabase()
  // Four processes' worth of transactions that overlap.
  const logs = Array.from({ length: 4 }, () => openLog(database.url))
  await using reader = openLog(database.url)
  const count = 32 * 60
  const byCursor: RecordedEvent[] = []
  let isWriting = true

  const write = async (log: EventLog) => {
    const stream = newStream()
    for (let revision = -1; revision < 59; revision++)
      await appended(log, stream, newEvents(1), revision < 0 ? 'no_stream' : revision)
  }
  const writing = Promise.all(logs.flatMap((log) => Array.from({ length: 8 }, () => write(log)))).then(() => {
    isWriting = false
  })
  const followCursor = async () => {
    while (isWriting || byCursor.length < count)
      byCursor.push(...(await allAfter(reader, byCursor.at(-1)?.position, 100)))
  }
  const [live, , own] = await Promise.all([
    firstEvents(reader, { batchSize: 50 }, count),
    followCursor(),
    firstEvents(logs[0] ?? reader, {}, count),
    writing,
  ])
  await Promise.all(logs.map((log) => log.close()))

  expect(new Set(idsOf(live)).size).toBe(count)
  for (const seen of [live, own, byCursor]) {
    expect(seen).toHaveLength(count)
    expect(orderOf(seen)).toEqual(orderOf(seen).toSorted())
    expect(idsOf(seen)).toEqual(idsOf(live))
  }
  const revisions = new Map<string, number>()
  for (const { stream, revision } of live) {
    expect(revision).toBe((revisions.get(stream) ?? -1) + 1)
    revisions.set(stream, revision)
  }
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

test('processes that append to the same streams do not wait for each other in a circle', async () => {
  await using database = await preparedDatabase()
  await using one = openLog(database.url)
  await using other = openLog(database.url)
  const streams = Array.from({ length: 12 }, () => newStream())
  const writers = [one, other].flatMap((log) => [streams, streams.toReversed()].map((order) => ({ log, order })))

  const results = await Promise.all(
    writers.map(async ({ log, order }) => {
      for (let round = 0; round < 15; round++)
        await Promise.all(order.map((stream) => appended(log, stream, newEvents(2))))
    }),
  )

  expect(results).toHaveLength(4)
  for (const stream of streams) expect(await one.read(stream)).toHaveLength(2 * 4 * 15)
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

test(
  'terminated connections lose no acknowledged append, and no reader misses or repeats one',
  { timeout: 120_000 },
  async () => {
    await using database = await preparedDatabase()
    await using log = openLog(database.url)
    await using other = openLog(database.url)
    const acknowledged: string[] = []
    let isWriting = true
    const write = async (writer: EventLog) => {
      const stream = newStream()
      for (let revision = -1; revision < 99; revision++) {
        const events = newEvents(1)
        await appended(writer, stream, events, revision < 0 ? 'no_stream' : revision)
        acknowledged.push(...idsOf(events))
      }
    }
    const drop = async () => {
      let drops = 0
      while (isWriting) {
        const count = acknowledged.length
        await eventually(() => Promise.resolve(acknowledged.length > count + 50 || !isWriting), 'progress after a loss')
        await dropConnections(database.url)
        drops++
      }
      return drops
    }

    const [drops, seen, seenByOther] = await Promise.all([
      drop(),
      firstEvents(log, {}, 800),
      firstEvents(other, { batchSize: 10 }, 800),
      Promise.all([log, other].flatMap((writer) => Array.from({ length: 4 }, () => write(writer)))).finally(() => {
        isWriting = false
      }),
    ])

    expect(drops).toBeGreaterThan(3)
    expect(idsOf(seen).toSorted()).toEqual(acknowledged.toSorted())
    expect(idsOf(seenByOther)).toEqual(idsOf(seen))
    expect(orderOf(seen)).toEqual(orderOf(seen).toSorted())
  },
)

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

test('a log restored into a server of fewer transactions goes on where it ended', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const old = newEvents(3)
  for (const event of old) await appended(log, newStream(), [event])
  // Seen from these events, this server is now as young as a new one.
  await database.pool.query('update event_log.event set transaction_id = transaction_id + 1000000000000')
  expect(await log.readAll()).toEqual([])

  await prepareLog(database.pool)
  const before = await untilCaughtUp(log, {})
  const checkpoint = before.at(-1)?.position
  const events = newEvents(3)
  for (const event of events) await appended(log, newStream(), [event])

  expect(idsOf(before)).toEqual(idsOf(old))
  const after = await firstEvents(log, { ...(checkpoint && { after: checkpoint }) }, 3)
  expect(idsOf(after)).toEqual(idsOf(events))
  expect(idsOf(await log.readAll())).toEqual(idsOf([...old, ...events]))
})

test('several processes prepare the log at once, and again at any time', async () => {
  await using database = await testDatabase()

  await Promise.all(Array.from({ length: 8 }, () => prepareLog(database.pool)))
  await using log = openLog(database.url)
  const events = newEvents(2)
  await appended(log, newStream(), events)
  await Promise.all(Array.from({ length: 3 }, () => prepareLog(database.pool)))

  expect(idsOf(await untilCaughtUp(log, {}))).toEqual(idsOf(events))
})

test('a subscription that cannot read the log fails, and says why', async () => {
  await using database = await testDatabase()
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

test('the parsers of pg are as they were', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  await appended(log, newStream(), newEvents(1))

  const { rows } = await database.pool.query<object>(`select '{"a":1}'::json as json, 1::bigint as big, now() as time`)

  expect(rows).toEqual([{ json: { a: 1 }, big: '1', time: expect.any(Date) as Date }])
})
