import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RecordedEvent } from '#domain/event.ts'
import { inOrder } from '#infra/consumers/in-order.ts'
import { recorded } from '../recorded.ts'
import { raised } from '../projections/fixture.ts'
import { tallyEvents } from '../projections/tally.ts'

const recordOf = ({ stream }: RecordedEvent) => stream
const never = new AbortController().signal

const eventsOf = (streams: readonly number[]): readonly RecordedEvent[] =>
  streams.flatMap((stream, index) => recorded(tallyEvents, `tally-${stream}`, [raised(index)]))

const numberOf = ({ data }: RecordedEvent) => Number(data['by'])

test('events of a record are handled in order, and no more at once than allowed', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(4), { maxLength: 30 }),
      fc.integer({ min: 1, max: 5 }),
      async (streams, concurrency) => {
        const events = eventsOf(streams)
        const underWay = new Set<string>()
        const done = new Map<string, number[]>()
        let most = 0

        const outcome = await inOrder(events, {
          recordOf,
          concurrency,
          signal: never,
          handle: async (event) => {
            expect(underWay).not.toContain(event.stream)
            underWay.add(event.stream)
            most = Math.max(most, underWay.size)
            for (let turns = numberOf(event) % 3; turns > 0; turns--) await turn()
            done.set(event.stream, [...(done.get(event.stream) ?? []), numberOf(event)])
            underWay.delete(event.stream)
          },
        })

        expect(outcome).toEqual({ handled: events.length })
        expect(most).toBeLessThanOrEqual(concurrency)
        expect([...done.values()].flat()).toHaveLength(events.length)
        for (const numbers of done.values()) expect(numbers).toEqual(numbers.toSorted((one, other) => one - other))
      },
    ),
    { numRuns: 50 },
  ))

test('after a failure no event is begun, and it is known up to where all were handled', async () => {
  const events = eventsOf([1, 2, 1, 3])
  const begun: number[] = []

  const outcome = await inOrder(events, {
    recordOf,
    concurrency: 2,
    signal: never,
    handle: async (event) => {
      begun.push(numberOf(event))
      await turn()
      if (numberOf(event) === 1) throw new Error('refused')
    },
  })

  expect(outcome).toMatchObject({ handled: 1, failure: { event: events[1], error: { message: 'refused' } } })
  expect(begun).not.toContain(3)
})

test('after the signal was aborted no event is begun', async () => {
  const ending = new AbortController()
  const begun: number[] = []

  const outcome = await inOrder(eventsOf([1, 1, 2]), {
    recordOf,
    concurrency: 1,
    signal: ending.signal,
    handle: async (event) => {
      begun.push(numberOf(event))
      ending.abort()
    },
  })

  expect(begun).toEqual([0])
  expect(outcome).toEqual({ handled: 1 })
})
