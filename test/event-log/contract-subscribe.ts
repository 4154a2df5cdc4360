import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import type { NewEvent } from '#domain/event.ts'
import type { Batch } from '#infra/event-log/event-log.ts'
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
import type { MakeLog } from './log-under-test.ts'

export const subscribeContract = (makeLog: MakeLog) =>
  describe('subscribe', () => {
    test('all that has been comes in order, in batches of at most the size asked for', async () => {
      await using made = await makeLog()
      const category = newCategory()
      const streams = [newStream(category), newStream(category)]
      const ids: string[] = []
      for (let round = 0; round < 10; round++)
        for (const stream of streams) {
          const events = newEvents(2)
          await appended(made.log, stream, events)
          ids.push(...idsOf(events))
        }

      const batches = await batchesOf(
        made.log,
        { categories: [category], batchSize: 7 },
        (taken) => eventsIn(taken).length >= ids.length,
      )

      expect(idsOf(eventsIn(batches))).toEqual(ids)
      for (const { events, position } of batches) {
        expect(events.length).toBeLessThanOrEqual(7)
        if (events.length > 0) expect(position >= (events.at(-1)?.position ?? '')).toBe(true)
      }
    })

    test('categories and types are filtered, and an event must pass both', async () => {
      await using made = await makeLog()
      const [one, other, third] = [newCategory(), newCategory(), newCategory()]
      const [red, blue] = [newCategory('Red'), newCategory('Blue')]
      const events = new Map<string, NewEvent>()
      for (const category of [one, other, third])
        for (const type of [red, blue]) {
          const event = newEvent(type)
          events.set(`${category} ${type}`, event)
          await appended(made.log, newStream(category), [event])
        }
      const idOf = (category: string, type: string) => events.get(`${category} ${type}`)?.id

      const byCategory = await firstEvents(made.log, { categories: [one, other] }, 4)
      const byType = await firstEvents(made.log, { types: [red] }, 3)
      const byBoth = await firstEvents(made.log, { categories: [other, third], types: [blue] }, 2)

      expect(idsOf(byCategory)).toEqual([idOf(one, red), idOf(one, blue), idOf(other, red), idOf(other, blue)])
      expect(idsOf(byType)).toEqual([idOf(one, red), idOf(other, red), idOf(third, red)])
      expect(idsOf(byBoth)).toEqual([idOf(other, blue), idOf(third, blue)])
    })

    test('a category is the whole first part of a name, not the beginning of one', async () => {
      await using made = await makeLog()
      const category = newCategory()
      await appended(made.log, newStream(`${category}s`), newEvents(1))
      const wanted = newEvents(1)
      await appended(made.log, newStream(category), wanted)

      expect(idsOf(await firstEvents(made.log, { categories: [category] }, 1))).toEqual(idsOf(wanted))
    })

    test('a subscription resumes after any position', async () => {
      await using made = await makeLog()
      const category = newCategory()
      const ids: string[] = []
      for (let round = 0; round < 6; round++) {
        const events = newEvents(2)
        await appended(made.log, newStream(category), events)
        ids.push(...idsOf(events))
      }
      const all = await firstEvents(made.log, { categories: [category] }, ids.length)

      for (const [index, { position }] of all.slice(0, -1).entries()) {
        const rest = await firstEvents(made.log, { categories: [category], after: position }, ids.length - index - 1)
        expect(idsOf(rest)).toEqual(ids.slice(index + 1))
      }
    })

    test('a reader resumes after the position of any batch without a gap or a repeat', async () => {
      await using made = await makeLog()
      const category = newCategory()
      const events = newEvents(20)
      for (const event of events) {
        await appended(made.log, newStream(category), [event])
        await appended(made.log, newStream(), newEvents(1))
      }

      const seen: string[] = []
      let after = {}
      while (seen.length < events.length) {
        const [batch] = await batchesOf(made.log, { categories: [category], batchSize: 3, ...after }, () => true)
        seen.push(...idsOf(batch?.events ?? []))
        after = { after: batch?.position }
      }

      expect(seen).toEqual(idsOf(events))
    })

    test('it says that it has caught up when there was nothing at all', async () => {
      await using made = await makeLog()

      const [first] = await batchesOf(made.log, { categories: [newCategory()] }, (batches) =>
        batches.some(({ caughtUp }) => caughtUp),
      ).then((batches) => batches.slice(-1))

      expect(first?.events).toEqual([])
    })

    test('it says that it has caught up after the last event, and not before', async () => {
      await using made = await makeLog()
      const category = newCategory()
      const events = newEvents(25)
      for (const event of events) await appended(made.log, newStream(category), [event])
      await isVisible(made.log, (await appended(made.log, newStream(), newEvents(1))).position)

      const before = await untilCaughtUp(made.log, { categories: [category], batchSize: 4 })

      expect(idsOf(before)).toEqual(idsOf(events))
    })

    test.each([
      ['old events', 0],
      ['new events', 1],
      ['new events after a lost connection', 1],
    ])('it says that it has caught up after the last of %s that fill their batches exactly', async (what, writeAt) => {
      await using made = await makeLog()
      const category = newCategory()
      const events = newEvents(10)
      const write = () => appended(made.log, newStream(category), events)
      if (writeAt === 0) await isVisible(made.log, (await write()).position)

      const batches = await batchesOf(made.log, { categories: [category], batchSize: 5 }, async (taken) => {
        const last = taken.at(-1)
        if (taken.length === writeAt) {
          if (what.endsWith('connection')) await made.dropConnections()
          await write()
        }
        return eventsIn(taken).length >= events.length && last?.caughtUp === true
      })

      expect([...new Set(idsOf(eventsIn(batches)))]).toEqual(idsOf(events))
    })

    test('new events follow the old ones without a gap or a repeat', async () => {
      await using made = await makeLog()
      const category = newCategory()
      const events = newEvents(300)
      const write = async (from: number, to: number) => {
        for (const event of events.slice(from, to)) await appended(made.log, newStream(category), [event])
      }
      await write(0, 100)

      const writing = write(100, 300)
      const seen = await firstEvents(made.log, { categories: [category], batchSize: 10 }, events.length)
      await writing

      expect(idsOf(seen)).toEqual(idsOf(events))
    })

    test('every subscription sees the same order, which is that of the whole log', async () => {
      await using made = await makeLog()
      const category = newCategory()
      const streams = Array.from({ length: 8 }, () => newStream(category))
      const { position: before } = await appended(made.log, newStream(), newEvents(1))
      const write = async (stream: string) => {
        for (let revision = -1; revision < 24; revision++)
          await appended(made.log, stream, newEvents(1), revision < 0 ? 'no_stream' : revision)
      }

      const [live, alsoLive] = await Promise.all([
        firstEvents(made.log, { categories: [category] }, 200),
        firstEvents(made.log, { categories: [category], batchSize: 3 }, 200),
        ...streams.map(write),
      ])
      const later = await firstEvents(made.log, { categories: [category] }, 200)
      const all = (await allAfter(made.log, before)).filter(({ stream }) => stream.startsWith(category))

      expect(live).toHaveLength(200)
      expect(new Set(idsOf(live)).size).toBe(200)
      for (const others of [alsoLive, later, all]) expect(idsOf(others)).toEqual(idsOf(live))
      for (const name of streams)
        expect(live.filter(({ stream }) => stream === name).map(({ revision }) => revision)).toEqual(
          Array.from({ length: 25 }, (_, revision) => revision),
        )
    })

    test('the position moves past events that nobody asked for', async () => {
      await using made = await makeLog()
      const isLive = Promise.withResolvers<void>()
      const written = isLive.promise.then(() => appended(made.log, newStream(), newEvents(3)))

      const batches = await batchesOf(made.log, { categories: [newCategory()] }, async (taken) => {
        const last = taken.at(-1)
        if (last?.caughtUp) isLive.resolve()
        return taken.length > 1 && last !== undefined && last.position >= (await written).position
      })

      expect(eventsIn(batches)).toEqual([])
    })

    test('it goes on after its connections were lost, without a gap or a repeat', { timeout: 60_000 }, async () => {
      await using made = await makeLog()
      const category = newCategory()
      const events = newEvents(60)
      const write = async (from: number, to: number) => {
        for (const event of events.slice(from, to)) await appended(made.log, newStream(category), [event])
      }
      await write(0, 20)
      let dropped = 0

      const batches = await batchesOf(made.log, { categories: [category], batchSize: 5 }, async (taken) => {
        const count = eventsIn(taken).length
        // Once in the midst of the old events, and then whenever all that was written has been read.
        if (dropped === 0 || count === 20 + 10 * (dropped - 1)) {
          await made.dropConnections()
          if (count >= 20) await write(count, count + 10)
          dropped++
        }
        return count >= events.length
      })

      const seen = idsOf(eventsIn(batches))
      // At least once: after a loss a log may repeat, but never leave out nor change the order.
      expect([...new Set(seen)]).toEqual(idsOf(events))
      expect(dropped).toBeGreaterThan(2)
    })

    test('an append goes through although its connections were lost, and is stored once', async () => {
      await using made = await makeLog()
      const category = newCategory()
      const events = newEvents(40)

      const [results] = await Promise.all([
        Promise.all(events.map((event) => made.log.append(newStream(category), 'no_stream', [event]))),
        made.dropConnections(),
      ])

      expect(results.map(({ outcome }) => outcome)).toEqual(events.map(() => 'appended'))
      const seen = await firstEvents(made.log, { categories: [category] }, events.length)
      expect(idsOf(seen).toSorted()).toEqual(idsOf(events).toSorted())
    })

    test('it ends without an error whenever its signal says so', async () => {
      await using made = await makeLog()
      const category = newCategory()
      const { position } = await appended(made.log, newStream(category), newEvents(20))
      await isVisible(made.log, position)
      const takeUntil = async (isTime: (batch: Batch, taken: number) => boolean) => {
        const leaving = new AbortController()
        let taken = 0
        for await (const batch of made.log.subscribe({
          categories: [category],
          batchSize: 2,
          signal: leaving.signal,
        }))
          if (isTime(batch, ++taken)) leaving.abort()
        return taken
      }
      const takeFor = async (milliseconds: number) => {
        const leaving = new AbortController()
        setTimeout(() => leaving.abort(), milliseconds)
        const seen: string[] = []
        for await (const { events } of made.log.subscribe({ categories: [category], signal: leaving.signal }))
          seen.push(...idsOf(events))
        return seen.length
      }

      expect(await takeUntil(() => true)).toBe(1)
      expect(await takeUntil((_, taken) => taken === 4)).toBe(4)
      expect(await takeUntil(({ caughtUp }) => caughtUp)).toBeGreaterThanOrEqual(10)
      const moments = Array.from({ length: 60 }, (_, moment) => moment / 2)
      for (const count of await Promise.all(moments.map(takeFor))) expect([0, 20]).toContain(count)
      for await (const batch of made.log.subscribe({ signal: AbortSignal.abort() }))
        expect.fail(`There came ${batch.events.length}.`)
    })

    test('a slow reader does not make the log fill the memory', { timeout: 120_000 }, async () => {
      await using made = await makeLog()
      const category = newCategory()
      const count = 60
      for (let number = 0; number < count; number++)
        await appended(made.log, newStream(category), [newEvent('Heavy', { number, text: 'x'.repeat(500_000) })])
      const leaving = new AbortController()
      const slow = made.log.subscribe({ categories: [category], batchSize: 2, signal: leaving.signal })
      const reader = slow[Symbol.asyncIterator]()
      const usedBefore = memoryInUse()

      const numbers: unknown[] = []
      const take = async () => {
        const { value } = (await reader.next()) as IteratorResult<Batch, undefined>
        numbers.push(...(value?.events ?? []).map(({ data }) => data['number']))
      }
      await take()
      // As long as another one needs to read it all, twice.
      let fast = 0
      for (let round = 1; round <= 2; round++)
        for await (const { events } of made.log.subscribe({
          categories: [category],
          batchSize: 2,
          signal: leaving.signal,
        })) {
          fast += events.length
          if (fast === count * round) break
        }
      // All of it would be 30 MB. What is no longer in use may be given back a moment later.
      await eventually(() => Promise.resolve(memoryInUse() - usedBefore < 10_000_000), 'the memory to be given back')
      while (numbers.length < count) await take()
      leaving.abort()

      expect(fast).toBe(2 * count)
      expect(numbers).toEqual(Array.from({ length: count }, (_, number) => number))
    })
  })

/** What is left after a full collection of garbage. */
const memoryInUse = (): number => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
