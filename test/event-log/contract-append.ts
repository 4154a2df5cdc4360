import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { NewEvent } from '#domain/event.ts'
import type { ExpectedRevision } from '#infra/event-log/event-log.ts'
import { appended, asAppended, idsOf, newEvents, newStream } from './events.ts'
import type { MakeLog } from './log-under-test.ts'

export const appendContract = (makeLog: MakeLog) =>
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

    test('appends in any order and with any expectation do what a simple model does', { timeout: 60_000 }, async () => {
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
