import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import type { RecordedEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { findCheckpoint, moveCheckpoint, openCheckpoint } from '#infra/consumers/checkpoint.ts'
import type { ConsumerStatus } from '#infra/consumers/consumer.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { listSetAside } from '#infra/consumers/set-aside.ts'
import { changeOf } from '../../projections/fold.ts'
import type { Row, SomeProjection } from '../../projections/projection.ts'
import { runProjection } from '../../projections/runner.ts'
import { tableOf } from '../../projections/table.ts'
import { barrier, fixture, raised, soon, tallyId, through, type Fixture } from './fixture.ts'
import { tallies, type TallyEvent } from './tally.ts'

const totals = async ({ pool }: Fixture) => {
  const { rows } = await pool.query<Row>('select id, total::integer, changes from tallies order by id')
  return rows.map(({ id, total, changes }) => [Number(String(id).slice(-2)), total, changes])
}

/** Two events at a time, and only behind the last of them that all was read. */
const inPairs = (log: EventLog): EventLog =>
  through(log, async function* (batches) {
    for await (const { events, position, caughtUp } of batches)
      for (let from = 0; from === 0 || from < events.length; from += 2) {
        const pair = events.slice(from, from + 2)
        const isLast = from + 2 >= events.length
        yield {
          events: pair,
          position: isLast ? position : (pair.at(-1)?.position ?? position),
          caughtUp: isLast && caughtUp,
        }
      }
  })

const withQuery = (pool: Pool, query: (statement: { readonly text: string }) => Promise<unknown>): Pool =>
  new Proxy(pool, {
    get: (target, property) => {
      if (property === 'query') return query
      const value: unknown = Reflect.get(target, property)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })

/** A pool that holds back the first statement that writes a change, until it is let go. */
const holdingBack = (pool: Pool) => {
  const [reached, goesOn] = [barrier(), barrier()]
  const query = async (statement: { readonly text: string }) => {
    if (statement.text.includes('with moved')) {
      reached.open()
      await goesOn.passed
    }
    return pool.query(statement)
  }
  return { held: withQuery(pool, query), reached, goesOn }
}

const isLive = (status: () => ConsumerStatus) => soon(() => expect(status()).toMatchObject({ state: 'live' }))

test('rows that are still being written count for the events behind them', async () => {
  await using the = await fixture()
  for (let round = 0; round < 12; round++) await the.append(round % 3, raised(1), raised(10))
  await the.append(1, { type: 'TallyClosed', reason: 'done' }, raised(5))

  const { status } = the.makeProcess('process', inPairs(the.eventLog)).run((parts) => runProjection(tallies, parts))

  await isLive(status)
  const eight = [44, 8] as const
  expect(await totals(the)).toEqual([
    [0, ...eight],
    [1, 5, 1],
    [2, ...eight],
  ])
})

/** A pool that counts the statements that read rows. */
const counting = (pool: Pool) => {
  let reads = 0
  const query = async (statement: { readonly text: string }) => {
    if (statement.text.startsWith('select found.')) reads++
    return pool.query(statement)
  }
  return { counted: withQuery(pool, query), reads: () => reads }
}

test('a row that was written is not read again when its record changes again', async () => {
  await using the = await fixture()
  await the.append(1, raised(1))
  const { run } = the.makeProcess()
  let reads = () => NaN
  const running = run((parts) => {
    const counter = counting(parts.pool)
    reads = counter.reads
    return runProjection(tallies, { ...parts, pool: counter.counted })
  })
  await isLive(running.status)

  await the.append(1, raised(10))
  await the.append(2, raised(5), { type: 'TallyClosed', reason: 'done' })
  await the.append(1, raised(100))
  await soon(async () => expect(await totals(the)).toEqual([[1, 111, 3]]))
  expect(reads()).toBe(0)
  await the.append(2, raised(7))
  await soon(async () => expect(await totals(the)).toEqual([[1, 111, 3], [2, 7, 1]])) // prettier-ignore
  expect(reads()).toBe(1)
})

test('a row that an event has touched without a change is not kept: nothing was written that tells how large it is', async () => {
  await using the = await fixture()
  const untitled: SomeProjection = {
    ...tallies,
    project: (row: never, event: TallyEvent, recorded, key: never) =>
      event.type === 'TallyOpened' ? row : tallies.project(row, event, recorded, key),
  }
  const table = tableOf(untitled)
  await the.pool.query(table.create)
  for (const tally of [1, 2, 3]) await the.append(tally, raised(tally))
  const stored = await the.eventLog.readAll({ limit: 3 })
  const before = await changeOf(the.pool, untitled, table, stored)
  await the.append(1, { type: 'TallyOpened', title: 'apples' })
  await the.append(2, raised(10))
  await the.append(3, { type: 'TallyClosed', reason: 'done' })
  const later = (await the.eventLog.readAll({ limit: 6 })).slice(3)

  const change = await changeOf(the.pool, untitled, table, later, { known: before?.rows ?? new Map() })

  const rowsOf = (tally: number) => [...(change?.rows ?? [])].filter(([identity]) => identity.includes(tallyId(tally)))
  expect([1, 2, 3].map((tally) => rowsOf(tally).map(([, row]) => row !== undefined))).toEqual([[], [true], [false]])
})

/** So many events in each batch, in turn. */
const inBatchesOf = (log: EventLog, sizes: readonly number[]): EventLog =>
  through(log, async function* (batches) {
    const left = [...sizes]
    let held: readonly RecordedEvent[] = []
    for await (const batch of batches) {
      held = [...held, ...batch.events]
      if (held.length > 0 && held.length !== left[0]) continue
      yield { ...batch, events: held }
      if (held.length > 0) left.shift()
      held = []
    }
  })

test('rows that were written while another record was set aside are known as they are then', async () => {
  await using the = await fixture()
  const timid: SomeProjection = {
    ...tallies,
    project: (row: never, event: TallyEvent, recorded, key: never) => {
      if (event.type === 'TallyRaised' && event.by < 0) throw new OwnError('less than nothing')
      return tallies.project(row, event, recorded, key)
    },
  }
  const log = inBatchesOf(the.eventLog, [1, 2, 1])
  const { status } = the.makeProcess('process', log).run((parts) => runProjection(timid, parts))
  await isLive(status)
  await the.append(2, raised(1))
  await soon(async () => expect(await totals(the)).toEqual([[2, 1, 1]]))
  await the.append(1, raised(-1))
  await the.append(2, raised(10))
  await soon(async () => expect(await totals(the)).toEqual([[2, 11, 2]]))
  await soon(() => expect(status()).toMatchObject({ setAside: 1 }))
  await the.append(2, raised(100))
  await soon(async () => expect(await totals(the)).toEqual([[2, 111, 3]]))
})

test('events that cannot be written, in the middle of many, set their record aside, and no other event is lost', async () => {
  await using the = await fixture()
  const narrow: SomeProjection = {
    ...tallies,
    table: { ...tallies.table, columns: { ...tallies.table.columns, total: 'integer' } },
  }
  await the.append(1, raised(1), raised(2), raised(3))
  await the.append(2, raised(1), raised(2 ** 40), raised(3))
  await the.append(1, raised(4), raised(5), raised(6))
  await the.append(2, raised(4))

  const { status } = the.makeProcess('process', inPairs(the.eventLog)).run((parts) => runProjection(narrow, parts))

  await isLive(status)
  expect(await totals(the)).toEqual([
    [1, 21, 6],
    [2, 1, 1],
  ])
  expect(await listSetAside(the.pool, 'tallies', 10)).toMatchObject([{ stream: `tally-${tallyId(2)}`, revision: 1 }])
})

test('two processes that both believe to hold the lease lose nothing and count nothing twice', async () => {
  await using the = await fixture()
  const [first, second] = [the.makeProcess('first'), the.makeProcess('second')]
  const { held, reached, goesOn } = holdingBack(first.parts.pool)
  await the.append(1, raised(1))
  const stalled = first.run((parts) => runProjection(tallies, { ...parts, pool: held }))
  // It has read the rows and worked out what to write.
  await reached.passed

  await the.cutOff('coverstream leases')
  const { status } = second.run((parts) => runProjection(tallies, parts))
  await isLive(status)
  await the.append(1, raised(10))
  await soon(async () => expect(await totals(the)).toEqual([[1, 11, 2]]))
  goesOn.open()

  const stale = 'stale checkpoint: another instance moved it, so the consumer reads it again'
  await soon(() => expect(first.lines.map(({ msg }) => msg)).toContain(stale))
  await soon(() => expect(stalled.status()).toMatchObject({ state: 'standing by' }))
  await the.append(1, raised(100))
  await soon(async () => expect(await totals(the)).toEqual([[1, 111, 3]]))
})

test('who has worked from a checkpoint before another took over cannot move it, even where it still is', async () => {
  await using the = await fixture()
  const consumer = { name: 'tallies', version: 1, categories: ['tally'], awaited: true }
  const position = await the.append(1, raised(1))
  const before = await openCheckpoint(the.pool, consumer)

  const after = await openCheckpoint(the.pool, consumer)

  expect(await moveCheckpoint(the.pool, 'tallies', before, position)).toBe(false)
  expect(await moveCheckpoint(the.pool, 'tallies', after, position)).toBe(true)
  expect(await findCheckpoint(the.pool, 'tallies')).toMatchObject({ position })
})
