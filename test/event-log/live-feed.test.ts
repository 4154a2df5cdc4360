import { once } from 'node:events'
import { expect, test } from 'vitest'
import { categoryOf, type Position } from '#domain/event.ts'
import { withLiveFeed } from '#infra/consumers/live-feed.ts'
import type { Batch, EventLog, Subscription } from '#infra/event-log/event-log.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { subscribeContract } from './contract-subscribe.ts'
import {
  appended,
  batchesOf,
  eventsIn,
  eventually,
  idsOf,
  isVisible,
  newCategory,
  newEvents,
  newStream,
} from './events.ts'
import { dropConnections, openLog, preparedDatabase } from './postgres-log.ts'

subscribeContract(async () => {
  const database = await preparedDatabase()
  const log = withLiveFeed(postgresLog({ url: database.url }))
  return {
    log,
    dropConnections: () => dropConnections(database.url),
    [Symbol.asyncDispose]: async () => {
      await log.close()
      await database[Symbol.asyncDispose]()
    },
  }
})

/** A log that notes the subscriptions to it, and how many are open. */
const observed = (log: EventLog) => {
  const opened: Subscription[] = []
  let open = 0
  const subscribe = async function* (subscription: Subscription) {
    opened.push(subscription)
    open++
    try {
      yield* log.subscribe(subscription)
    } finally {
      open--
    }
  }
  return { log: { ...log, subscribe }, opened, open: () => open }
}

test('subscriptions that have caught up share one live subscription to all that they want', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const { log: watched, opened, open } = observed(log)
  const shared = withLiveFeed(watched)
  const categories = Array.from({ length: 6 }, () => newCategory())
  let caughtUp = 0
  const readings = categories.map((category) =>
    batchesOf(shared, { categories: [category] }, (taken) => {
      if (taken.length === 1) caughtUp++
      return eventsIn(taken).length === 3
    }),
  )
  await eventually(() => Promise.resolve(caughtUp === categories.length && open() === 1), 'all to join')
  const openedBefore = opened.length

  for (let round = 0; round < 3; round++)
    for (const category of categories) {
      await appended(log, newStream(category), newEvents(1))
      await appended(log, newStream(), newEvents(1))
    }

  const taken = await Promise.all(readings)
  expect(taken.map((batches) => eventsIn(batches).map(({ stream }) => categoryOf(stream)))).toEqual(
    categories.map((category) => [category, category, category]),
  )
  expect(opened).toHaveLength(openedBefore)
  expect(opened.at(-1)?.categories?.toSorted()).toEqual(categories.toSorted())
  await eventually(() => Promise.resolve(open() === 0), 'the live subscription to end with its last member')
})

test('what happens in other categories costs a subscriber nothing, and moves its position a moment later', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const { log: watched, open } = observed(log)
  const shared = withLiveFeed(watched)
  const [busy, quiet] = [newCategory(), newCategory()]
  const events = newEvents(40)
  let end = '' as Position
  const taken: Batch[] = []
  const following = batchesOf(shared, { categories: [busy] }, (batches) => eventsIn(batches).length === events.length)
  const waiting = batchesOf(shared, { categories: [quiet] }, (batches) => {
    taken.splice(0, taken.length, ...batches)
    return end !== '' && (batches.at(-1)?.position ?? '') >= end
  })
  await eventually(() => Promise.resolve(taken.length > 0 && open() === 1), 'both to join')

  const startedAt = performance.now()
  for (const event of events) end = (await appended(log, newStream(busy), [event])).position
  await Promise.all([following, waiting])

  const mostMoves = (performance.now() - startedAt) / 250 + 3
  expect(eventsIn(taken)).toEqual([])
  expect(taken.length).toBeLessThan(mostMoves)
  expect(taken.at(-1)).toMatchObject({ caughtUp: true })
})

test('a subscriber too slow for the feed reads by itself, joins again, and misses nothing', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const { log: watched, open } = observed(log)
  const shared = withLiveFeed(watched, { waitingBytes: 10_000 })
  const category = newCategory()
  const leaving = new AbortController()
  const slow = shared
    .subscribe({ categories: [category], batchSize: 5, signal: leaving.signal })
    [Symbol.asyncIterator]()
  const take = async () => ((await slow.next()) as IteratorResult<Batch, undefined>).value
  const first = await take()
  const events = newEvents(200)

  const fast = batchesOf(shared, { categories: [category] }, (taken) => eventsIn(taken).length === events.length)
  for (const event of events) await appended(log, newStream(category), [event])
  const seen: string[] = []
  while (seen.length < events.length) {
    const batch = await take()
    expect(batch?.events.length).toBeLessThanOrEqual(5)
    seen.push(...idsOf(batch?.events ?? []))
  }

  expect(first).toMatchObject({ events: [], caughtUp: true })
  expect(seen).toEqual(idsOf(events))
  expect(idsOf(eventsIn(await fast))).toEqual(idsOf(events))
  const waiting = take()
  await eventually(() => Promise.resolve(open() === 1), 'the slow subscriber to join again')
  leaving.abort()
  await waiting
})

test('a subscriber is told that it has caught up when the feed is opened again behind the end of the log', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const { log: watched, opened } = observed(log)
  const subscribe = async function* (subscription: Subscription) {
    const isFirstFeed = opened.length === 1
    for await (const batch of watched.subscribe(subscription)) if (!isFirstFeed) yield batch
  }
  const shared = withLiveFeed({ ...watched, subscribe })
  const [category, later] = [newCategory(), newCategory()]
  const reading = batchesOf(
    shared,
    { categories: [category] },
    (taken) => eventsIn(taken).length > 0 && taken.at(-1)?.caughtUp === true,
  )
  await eventually(() => Promise.resolve(opened.length === 2), 'the feed to open')
  const events = newEvents(2)
  await isVisible(log, (await appended(log, newStream(category), events)).position)

  const joining = batchesOf(shared, { categories: [later] }, (taken) => eventsIn(taken).length > 0)
  await eventually(() => Promise.resolve(opened.length === 4), 'the feed to open again')

  expect(idsOf(eventsIn(await reading))).toEqual(idsOf(events))
  await appended(log, newStream(later), newEvents(1))
  await joining
})

test('a subscriber that joins a feed that is ahead of it is told that it has caught up', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const category = newCategory()
  const { position } = await appended(log, newStream(category), newEvents(1))
  await isVisible(log, position)
  const events = await log.readAll({})
  const before = '' as Position
  let opened = 0
  const subscribe = async function* ({ signal }: Subscription): AsyncGenerator<Batch> {
    const isOfSecond = ++opened === 3
    if (isOfSecond) {
      yield { events: [], position: before, caughtUp: true }
      yield { events, position, caughtUp: false }
    }
    yield { events: [], position, caughtUp: true }
    if (!signal.aborted) await once(signal, 'abort')
  }
  const shared = withLiveFeed({ ...log, subscribe })
  const leaving = new AbortController()
  const first = shared.subscribe({ categories: [category], signal: leaving.signal })[Symbol.asyncIterator]()
  await first.next()
  const following = first.next()
  await eventually(() => Promise.resolve(opened === 2), 'the feed to open')

  const batches = await batchesOf(
    shared,
    { categories: [category] },
    (taken) => eventsIn(taken).length > 0 && taken.at(-1)?.caughtUp === true,
  )

  expect(idsOf(eventsIn(batches))).toEqual(idsOf(events))
  leaving.abort()
  await following
})

test('whatever joins while others write sees every event once, in order', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const shared = withLiveFeed(log, { waitingBytes: 50_000 })
  const categories = Array.from({ length: 4 }, () => newCategory())
  const written = new Map(categories.map((category) => [category, newEvents(120)]))
  const writing = Promise.all(
    [...written].map(async ([category, events]) => {
      for (const event of events) await appended(log, newStream(category), [event])
    }),
  )

  const joined = [...categories, ...categories].map(async (category, number) => {
    await eventually(
      async () => (await log.readAll({ limit: 40 * (number + 1) })).length >= 40 * (number + 1),
      'enough to be written',
    )
    const count = written.get(category)?.length
    const batches = await batchesOf(shared, { categories: [category] }, (taken) => eventsIn(taken).length === count)
    return idsOf(eventsIn(batches))
  })

  const seen = await Promise.all(joined)
  await writing
  expect(seen).toEqual([...categories, ...categories].map((category) => idsOf(written.get(category) ?? [])))
})

test('a log that cannot be followed fails all subscriptions, and the next ones try again', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  let isBroken = true
  const subscribe = async function* (subscription: Subscription) {
    let seen = 0
    for await (const batch of log.subscribe(subscription)) {
      if (isBroken && seen++ > 0) throw new Error('no such table')
      yield batch
    }
  }
  const shared = withLiveFeed({ ...log, subscribe })
  const category = newCategory()
  let live = 0
  const following = [1, 2].map(() => batchesOf(shared, { categories: [category] }, () => live++ < 0))
  await eventually(() => Promise.resolve(live >= 2), 'both to have caught up')
  const outcomes = Promise.allSettled(following)

  const [event] = newEvents(1)
  if (event) await appended(log, newStream(category), [event])

  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  isBroken = false
  expect(
    idsOf(eventsIn(await batchesOf(shared, { categories: [category] }, (taken) => eventsIn(taken).length > 0))),
  ).toEqual([event?.id])
})
