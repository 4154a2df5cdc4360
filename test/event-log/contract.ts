import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { NewEvent } from '#domain/event.ts'
import type { Batch, EventLog, ExpectedRevision } from '#infra/event-log.ts'
import {
  allAfter,
  appended,
  asAppended,
  batchesOf,
  eventsIn,
  firstEvents,
  idsOf,
  isVisible,
  newCategory,
  newEvent,
  newEvents,
  newStream,
  untilCaughtUp,
} from './events.ts'

export type LogUnderTest = {
  readonly log: EventLog
  /** Breaks every connection that the log has at this moment. */
  readonly dropConnections: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** What every event log promises. The log may hold other events: each test has streams and categories of its own. */
export const eventLogContract = (name: string, makeLog: () => Promise<LogUnderTest>) =>
  describe(name, () => {
    describe('append', () => {
      test('events are stored in order, whole, and as they were', async () => {
        await using made = await makeLog()
        const stream = newStream()
        const events = newEvents(3)
        const before = Date.now()

        const { revision } = await appended(made.log, stream, events, 'no_stream')

        const read = await made.log.read(stream)
        expect(revision).toBe(2)
        expect(read.map(asAppended)).toEqual(events)
        expect(read.map((event) => event.revision)).toEqual([0, 1, 2])
        expect(read.map((event) => event.stream)).toEqual([stream, stream, stream])
        for (const { recorded_at } of read) expect(Math.abs(recorded_at.getTime() - before)).toBeLessThan(60_000)
      })

      test('the position of an append is that of its last event', async () => {
        await using made = await makeLog()
        const stream = newStream()

        const { position } = await appended(made.log, stream, newEvents(3))

        expect((await made.log.read(stream)).at(-1)?.position).toBe(position)
      })

      test('a stream that has events conflicts with the expectation of none', async () => {
        await using made = await makeLog()
        const stream = newStream()
        const first = newEvents(2)
        await appended(made.log, stream, first, 'no_stream')

        const result = await made.log.append(stream, 'no_stream', newEvents(2))

        expect(result).toEqual({ outcome: 'conflict', revision: 1 })
        expect(idsOf(await made.log.read(stream))).toEqual(idsOf(first))
      })

      test('an exact expectation is met by that revision and no other', async () => {
        await using made = await makeLog()
        const stream = newStream()
        await appended(made.log, stream, newEvents(3), 'no_stream')

        for (const wrong of [0, 1, 3, 100])
          expect(await made.log.append(stream, wrong, newEvents(2))).toEqual({ outcome: 'conflict', revision: 2 })
        const result = await made.log.append(stream, 2, newEvents(2))

        expect(result).toMatchObject({ outcome: 'appended', revision: 4 })
        expect(await made.log.read(stream)).toHaveLength(5)
      })

      test('a stream without events conflicts with an exact expectation', async () => {
        await using made = await makeLog()
        const stream = newStream()

        const result = await made.log.append(stream, 0, newEvents(1))

        expect(result).toEqual({ outcome: 'conflict', revision: undefined })
        expect(await made.log.read(stream)).toEqual([])
      })

      test('whoever expects nothing appends at the end', async () => {
        await using made = await makeLog()
        const stream = newStream()
        const events = newEvents(3)

        for (const [revision, event] of events.entries())
          expect(await made.log.append(stream, 'any', [event])).toMatchObject({ outcome: 'appended', revision })

        expect(idsOf(await made.log.read(stream))).toEqual(idsOf(events))
      })

      test.each(['no_stream', 1] as const)(
        'repeating an append that expected %s is the same append, however late',
        async (expected) => {
          await using made = await makeLog()
          const stream = newStream()
          if (expected !== 'no_stream') await appended(made.log, stream, newEvents(2), 'no_stream')
          const events = newEvents(3)
          const first = await appended(made.log, stream, events, expected)

          const atOnce = await made.log.append(stream, expected, events)
          await appended(made.log, stream, newEvents(4), first.revision)
          const later = await made.log.append(stream, expected, events)

          expect(atOnce).toMatchObject({ outcome: 'appended', revision: first.revision })
          expect(later).toMatchObject({ outcome: 'appended', revision: first.revision })
          expect(await made.log.read(stream)).toHaveLength(first.revision + 1 + 4)
        },
      )

      test('the same expectation with other events is a conflict, not a repetition', async () => {
        await using made = await makeLog()
        const stream = newStream()
        const events = newEvents(2)
        await appended(made.log, stream, events, 'no_stream')

        const result = await made.log.append(stream, 'no_stream', newEvents(2))

        expect(result).toEqual({ outcome: 'conflict', revision: 1 })
        expect(idsOf(await made.log.read(stream))).toEqual(idsOf(events))
      })

      test('of those who append at the same revision at once, one succeeds', async () => {
        await using made = await makeLog()
        const stream = newStream()
        await appended(made.log, stream, newEvents(1), 'no_stream')

        const results = await Promise.all(Array.from({ length: 16 }, () => made.log.append(stream, 0, newEvents(2))))

        expect(results.filter(({ outcome }) => outcome === 'appended')).toHaveLength(1)
        expect(results.filter(({ outcome }) => outcome === 'conflict')).toHaveLength(15)
        expect(await made.log.read(stream)).toHaveLength(3)
      })

      test('all who append at once without an expectation succeed', async () => {
        await using made = await makeLog()
        const stream = newStream()
        const appends = Array.from({ length: 16 }, () => newEvents(2))

        const results = await Promise.all(appends.map((events) => made.log.append(stream, 'any', events)))

        const revisions = results.map((result) => (result.outcome === 'appended' ? result.revision : -1))
        expect(revisions.toSorted((one, other) => one - other)).toEqual(appends.map((_, index) => 2 * index + 1))
        const read = await made.log.read(stream)
        for (const [index, events] of appends.entries()) {
          const last = revisions[index] ?? -1
          expect(idsOf(read.slice(last - 1, last + 1))).toEqual(idsOf(events))
        }
      })

      test('an append of no events is refused, and so is a name that is no stream', async () => {
        await using made = await makeLog()

        await expect(made.log.append(newStream(), 'any', [])).rejects.toThrow(RangeError)
        for (const name of ['', 'nodash', '-id', 'category-', 'a-\u0000', 'a-\n', 'a-\uD800', `a-${'x'.repeat(1_023)}`])
          await expect(made.log.append(name, 'any', newEvents(1))).rejects.toThrow(RangeError)
      })

      test(
        'appends in any order and with any expectation do what a simple model does',
        { timeout: 60_000 },
        async () => {
          await using made = await makeLog()
          const expectation = fc.oneof(fc.constant('any' as const), fc.constant('no_stream' as const), fc.nat(6))
          const step = fc.record({
            stream: fc.nat(2),
            expected: expectation,
            count: fc.integer({ min: 1, max: 3 }),
            // Repeats an earlier step instead, when there is one.
            repeats: fc.option(fc.nat(9), { freq: 3 }),
          })

          await fc.assert(
            fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
              const streams = [newStream(), newStream(), newStream()]
              const model = streams.map((): string[] => [])
              const done: { stream: number; expected: ExpectedRevision; events: readonly NewEvent[] }[] = []

              for (const { stream, expected, count, repeats } of steps) {
                const earlier = repeats === null ? undefined : done[repeats]
                // Without an exact expectation not every log knows a repetition.
                const asked =
                  earlier && earlier.expected !== 'any' ? earlier : { stream, expected, events: newEvents(count) }
                done.push(asked)
                const result = await made.log.append(streams[asked.stream] ?? '', asked.expected, asked.events)
                expect(result).toMatchObject(appendToModel(model[asked.stream] ?? [], asked.expected, asked.events))
              }

              for (const [index, stream] of streams.entries())
                expect(idsOf(await made.log.read(stream))).toEqual(model[index])
            }),
            { numRuns: 40 },
          )
        },
      )
    })

    describe('read', () => {
      test('an unknown stream has no events', async () => {
        await using made = await makeLog()

        expect(await made.log.read(newStream())).toEqual([])
        expect(await made.log.read(newStream(), { direction: 'backwards' })).toEqual([])
      })

      test('a stream is read in pages, forwards and backwards, from any revision', async () => {
        await using made = await makeLog()
        const stream = newStream()
        await appended(made.log, stream, newEvents(10), 'no_stream')
        const revisions = async (page: Parameters<EventLog['read']>[1]) =>
          (await made.log.read(stream, page)).map(({ revision }) => revision)

        expect(await revisions({ limit: 3 })).toEqual([0, 1, 2])
        expect(await revisions({ from: 3, limit: 3 })).toEqual([3, 4, 5])
        expect(await revisions({ from: 8, limit: 3 })).toEqual([8, 9])
        expect(await revisions({ from: 10 })).toEqual([])
        expect(await revisions({ direction: 'backwards', limit: 3 })).toEqual([9, 8, 7])
        expect(await revisions({ direction: 'backwards', from: 6, limit: 3 })).toEqual([6, 5, 4])
        expect(await revisions({ direction: 'backwards', from: 1, limit: 3 })).toEqual([1, 0])
        expect(await revisions({ direction: 'backwards', from: 100, limit: 1 })).toEqual([9])
      })

      test('the whole log is read in pages, forwards and backwards, in the same order', async () => {
        await using made = await makeLog()
        const category = newCategory()
        const before = await appended(made.log, newStream(category), newEvents(1))
        const streams = [newStream(category), newStream(category)]
        for (let round = 0; round < 5; round++)
          for (const stream of streams) await appended(made.log, stream, newEvents(2))
        const after = await appended(made.log, newStream(category), newEvents(1))
        await isVisible(made.log, after.position)

        const forwards = await allAfter(made.log, before.position, 3)
        const upToLast = forwards.filter(({ position }) => position < after.position)
        const backwards = []
        for (let beyond = after.position; ;) {
          const page = await made.log.readAll({ beyond, direction: 'backwards', limit: 3 })
          const fresh = page.filter(({ position }) => position > before.position)
          backwards.push(...fresh)
          beyond = page.at(-1)?.position ?? beyond
          if (fresh.length < 3) break
        }

        const own = upToLast.filter(({ stream }) => stream.startsWith(category))
        expect(own).toHaveLength(20)
        expect(idsOf(backwards.toReversed())).toEqual(idsOf(upToLast))
        const positions = upToLast.map(({ position }) => position)
        expect(positions).toEqual(positions.toSorted())
        expect(new Set(positions).size).toBe(positions.length)
      })

      test('the last events of the log are read backwards from its very end', async () => {
        await using made = await makeLog()
        const { position } = await appended(made.log, newStream(), newEvents(3))
        await isVisible(made.log, position)

        const page = await made.log.readAll({ direction: 'backwards', limit: 5 })

        expect(page[0]?.position).toBe(await made.log.head())
        expect(page.map((event) => event.position)).toContain(position)
      })

      test('the head moves with every append, and so does the measure', async () => {
        await using made = await makeLog()
        const stream = newStream()

        const first = await appended(made.log, stream, newEvents(1))
        await isVisible(made.log, first.position)
        const second = await appended(made.log, stream, newEvents(1))
        await isVisible(made.log, second.position)

        expect(second.position > first.position).toBe(true)
        expect(made.log.measure(second.position)).toBeGreaterThan(made.log.measure(first.position))
      })
    })

    describe('content', () => {
      test('names hold any Unicode', async () => {
        await using made = await makeLog()
        const category = newCategory('名前é🎉')
        const names = [
          'Ω',
          '🎉🏳️‍🌈',
          "o'brien",
          '"quoted"',
          '{a,b}',
          '$1',
          '100%',
          'a\\b',
          'NULL',
          'ﬁ',
          'é',
          'e\u0301',
          'a b-c-d',
        ]
        const streams = names.map((name) => `${category}-${name}`)
        for (const stream of streams) await appended(made.log, stream, [newEvent('Größe🎉Geändert')], 'no_stream')

        const subscribed = await firstEvents(
          made.log,
          { categories: [category], types: ['Größe🎉Geändert'] },
          streams.length,
        )

        expect(subscribed.map(({ stream }) => stream)).toEqual(streams)
        for (const stream of streams) expect(await made.log.read(stream)).toMatchObject([{ stream, revision: 0 }])
      })

      test('JSON of any kind comes back as it was', { timeout: 60_000 }, async () => {
        await using made = await makeLog()
        const text = fc.string({ unit: 'binary' })
        const data = fc.dictionary(text, fc.jsonValue({ stringUnit: 'binary', depthSize: 'medium' }))

        await fc.assert(
          fc.asyncProperty(data, async (value) => {
            const stream = newStream()
            const event = newEvent('AnyJson', JSON.parse(JSON.stringify(value)) as typeof value)
            await appended(made.log, stream, [event])

            const [read] = await made.log.read(stream)
            expect(JSON.stringify(read?.data)).toBe(JSON.stringify(event.data))
          }),
          { numRuns: 60 },
        )
      })

      test('JSON that other stores stumble over comes back as it was', async () => {
        await using made = await makeLog()
        const stream = newStream()
        const text = String.raw`{"nul":"a\u0000b","lone":"\ud800","pair":"🎉","__proto__":{"x":1},"":null,"é":1e-7,"big":9007199254740991,"b":1,"a":2,"10":0,"html":"</script>","esc":"\\u0000"}`
        const event = newEvent('Odd', JSON.parse(text) as NewEvent['data'])
        await appended(made.log, stream, [event])

        const [read] = await made.log.read(stream)

        expect(JSON.stringify(read?.data)).toBe(JSON.stringify(event.data))
        expect(Object.keys(read?.data ?? {})).toEqual(Object.keys(event.data))
      })

      test('an event may have a megabyte', async () => {
        await using made = await makeLog()
        const category = newCategory()
        const stream = newStream(category)
        const event = newEvent('Large', { text: 'ab'.repeat(500_000) })
        await appended(made.log, stream, [event])

        const [read] = await made.log.read(stream)
        const [subscribed] = await firstEvents(made.log, { categories: [category] }, 1)

        expect(read && asAppended(read)).toEqual(event)
        expect(subscribed && asAppended(subscribed)).toEqual(event)
      })

      test('a stream may have ten thousand events', { timeout: 120_000 }, async () => {
        await using made = await makeLog()
        const category = newCategory()
        const stream = newStream(category)
        const events = newEvents(10_000)
        for (let start = 0; start < events.length; start += 500)
          await appended(made.log, stream, events.slice(start, start + 500), start === 0 ? 'no_stream' : start - 1)

        const read: string[] = []
        for (;;) {
          const page = await made.log.read(stream, { from: read.length })
          read.push(...idsOf(page))
          if (page.length < 1_000) break
        }
        const subscribed = await firstEvents(made.log, { categories: [category] }, events.length)

        expect(read).toEqual(idsOf(events))
        expect(idsOf(subscribed)).toEqual(idsOf(events))
      })
    })

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

      test('it ends without an error when its signal says so', async () => {
        await using made = await makeLog()
        const category = newCategory()
        await appended(made.log, newStream(category), newEvents(20))
        const countUntil = async (isEnd: (batches: number, caughtUp: boolean) => boolean) => {
          const leaving = new AbortController()
          let batches = 0
          const subscription = made.log.subscribe({ categories: [category], batchSize: 2, signal: leaving.signal })
          for await (const { caughtUp } of subscription)
            // The first time in the midst of a batch, the second time while it waits for the next.
            if (isEnd(++batches, caughtUp)) setTimeout(() => leaving.abort(), caughtUp ? 20 : 0)
          return batches
        }

        expect(await countUntil((_, caughtUp) => caughtUp)).toBeGreaterThanOrEqual(10)
        const aborted = AbortSignal.abort()
        for await (const batch of made.log.subscribe({ signal: aborted }))
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
        const grown = memoryInUse() - usedBefore
        while (numbers.length < count) await take()
        leaving.abort()

        expect(fast).toBe(2 * count)
        // All of it would be 30 MB.
        expect(grown).toBeLessThan(12_000_000)
        expect(numbers).toEqual(Array.from({ length: count }, (_, number) => number))
      })
    })
  })

const appendToModel = (ids: string[], expected: ExpectedRevision, events: readonly NewEvent[]) => {
  const revision = ids.length - 1
  const asked = expected === 'no_stream' ? -1 : expected
  const isRepetition = asked !== 'any' && events.every(({ id }, index) => ids[asked + 1 + index] === id)
  if (isRepetition) return { outcome: 'appended', revision: asked + events.length }
  if (asked !== 'any' && asked !== revision)
    return { outcome: 'conflict', revision: revision === -1 ? undefined : revision }
  ids.push(...idsOf(events))
  return { outcome: 'appended', revision: ids.length - 1 }
}

/** What is left after a full collection of garbage. */
const memoryInUse = (): number => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
