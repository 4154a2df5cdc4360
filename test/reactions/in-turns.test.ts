import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Position, RecordedEvent } from '#domain/event.ts'
import { inTurns } from '#infra/consumers/in-turns.ts'
import type { Batch } from '#infra/event-log/event-log.ts'
import { inStreamOrder, recorded } from '../recorded.ts'
import { tallyEvents } from '../projections/tally.ts'

const queueOf = ({ metadata }: RecordedEvent) => metadata.organisation_id ?? ''

/** Of each organisation one event, in a stream of its own or in the one stream of that organisation. */
const eventsOf = (organisations: readonly string[]): readonly RecordedEvent[] =>
  inStreamOrder(
    organisations.flatMap((organisation_id, index) =>
      recorded(tallyEvents, `tally-${organisation_id}-${index % 2}`, [{ type: 'TallyRaised', by: index }], {
        organisation_id,
      }),
    ),
  )

const batchOf = (events: readonly RecordedEvent[]): Batch => {
  const last = events.at(-1)
  if (!last) throw new Error('There is no event.')
  return { events, position: last.position, caughtUp: false }
}

/** A log goes on as long as it is followed. */
const forNews = () => new Promise(() => undefined)

/** As the log gives them, so many at once. */
async function* batchesOf(events: readonly RecordedEvent[], size: number): AsyncGenerator<Batch> {
  for (let from = 0; from < events.length; from += size) {
    const some = events.slice(from, from + size)
    yield { ...batchOf(some), caughtUp: from + size >= events.length }
  }
  await forNews()
}

const readFrom =
  (events: readonly RecordedEvent[]) =>
  async (stream: string, page: { readonly from?: number } = {}) =>
    events.filter((event) => event.stream === stream && event.revision >= (page.from ?? 0)).slice(0, 1)

const given = async (
  events: readonly RecordedEvent[],
  options: {
    readonly read?: number
    readonly batchSize: number
    readonly mostWaiting?: number
    readonly mostWhole?: number
  },
): Promise<readonly Batch[]> => {
  const { read = 10, ...rest } = options
  const batches: Batch[] = []
  let count = 0
  const all = inTurns(batchesOf(events, read), { queueOf, read: readFrom(events), end: () => undefined, ...rest })[
    Symbol.asyncIterator
  ]()
  while (count < events.length) {
    const next = await all.next()
    if (next.done) break
    batches.push(next.value)
    count += next.value.events.length
  }
  return batches
}

test('everything is given once, each queue in its order, and behind no position is anything still to come', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'a', 'a', 'b', 'c'), { minLength: 1, maxLength: 40 }),
      fc.record({
        read: fc.integer({ min: 1, max: 12 }),
        batchSize: fc.integer({ min: 1, max: 5 }),
        mostWaiting: fc.integer({ min: 1, max: 20 }),
        mostWhole: fc.integer({ min: 0, max: 5 }),
      }),
      async (organisations, options) => {
        const events = eventsOf(organisations)
        const batches = await given(events, options)

        const all = batches.flatMap((batch) => batch.events)
        expect(new Set(all.map(({ id }) => id))).toEqual(new Set(events.map(({ id }) => id)))
        expect(all).toHaveLength(events.length)
        for (const queue of ['a', 'b', 'c']) {
          const places = all.filter((event) => queueOf(event) === queue).map(({ position }) => position)
          expect(places).toEqual(places.toSorted())
        }
        const seen = new Set<Position>()
        for (const batch of batches) {
          expect(batch.events.length).toBeLessThanOrEqual(options.batchSize)
          for (const { position } of batch.events) seen.add(position)
          expect(events.filter(({ position }) => position <= batch.position && !seen.has(position))).toEqual([])
          if (batch.caughtUp) expect(seen.size).toBe(events.length)
        }
        expect(batches.at(-1)?.position).toBe(events.at(-1)?.position)
      },
    ),
    { numRuns: 200 },
  ))

test('the one event of an organisation does not wait for the thousands of another that are before it', async () => {
  const events = eventsOf([...Array.from({ length: 5_000 }, () => 'a'), 'b'])
  const batches = await given(events, { read: 1_000, batchSize: 64 })

  const turn = batches.findIndex((batch) => batch.events.some((event) => queueOf(event) === 'b'))
  // What was given before it was given while the log was still being read.
  expect(turn).toBeLessThan(10)
})

test('more queues than a batch has places take turns too', async () => {
  const organisations = Array.from({ length: 10 }, (_, queue) => `o${queue}`)
  const events = eventsOf([...organisations, ...organisations, ...organisations])
  const batches = await given(events, { read: 30, batchSize: 4 })

  const all = batches.flatMap((batch) => batch.events).map(queueOf)
  for (const organisation of organisations) expect(all.slice(0, 20)).toContain(organisation)
})

test('the position moves with every batch, however many queues there are', async () => {
  const organisations = Array.from({ length: 20 }, (_, queue) => `o${queue}`)
  const events = eventsOf([...organisations, ...organisations.toReversed(), ...organisations])
  const batches = await given(events, { read: 60, batchSize: 3 })

  const positions = batches.map(({ position }) => position)
  expect(positions).toEqual([...new Set(positions)].toSorted())
})

test('what was given again from the log is given once', async () => {
  const events = eventsOf(['a', 'b', 'a'])
  async function* repeating(): AsyncGenerator<Batch> {
    yield batchOf(events.slice(0, 2))
    yield batchOf(events)
    await forNews()
  }
  const all = inTurns(repeating(), { queueOf, read: readFrom(events), end: () => undefined, batchSize: 2 })[
    Symbol.asyncIterator
  ]()
  const seen: string[] = []
  while (seen.length < events.length) {
    const next = await all.next()
    if (next.done) break
    seen.push(...next.value.events.map(({ id }) => id))
  }
  expect(seen.toSorted()).toEqual(events.map(({ id }) => id).toSorted())
})

test('when the log cannot be followed any more, nothing that waits is given', async () => {
  async function* failing(): AsyncGenerator<Batch> {
    yield batchOf(eventsOf(['a', 'a', 'a']))
    await Promise.resolve()
    throw new Error('lost')
  }
  const all = inTurns(failing(), { queueOf, read: async () => [], end: () => undefined, batchSize: 1 })[
    Symbol.asyncIterator
  ]()
  const outcome = (async () => {
    for (let next = await all.next(); !next.done; next = await all.next());
  })()
  await expect(outcome).rejects.toThrow('lost')
})

test('when what was read ahead cannot be read again, that is told at once, however long the log stays quiet', async () => {
  const events = eventsOf(['a', 'a', 'b'])
  const away = new Error('The log is away.')
  const ending = new AbortController()
  async function* quiet(): AsyncGenerator<Batch> {
    yield batchOf(events)
    await new Promise((resolve) => ending.signal.addEventListener('abort', resolve))
  }
  const read = async () => {
    throw away
  }
  const all = inTurns(quiet(), { queueOf, read, batchSize: 10, mostWhole: 0, end: () => ending.abort() })

  await expect(all.next()).rejects.toBe(away)
})
