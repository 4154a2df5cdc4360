import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { findCheckpoint, moveCheckpoint, openCheckpoint } from '#infra/consumers/checkpoint.ts'
import type { ConsumerStatus } from '#infra/consumers/consumer.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { listSetAside } from '#infra/consumers/set-aside.ts'
import type { Row, SomeProjection } from '../../projections/projection.ts'
import { runProjection } from '../../projections/runner.ts'
import { barrier, fixture, raised, soon, tallyId, through, type Fixture } from './fixture.ts'
import { tallies } from './tally.ts'

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
  const held = new Proxy(pool, {
    get: (target, property) => {
      if (property === 'query') return query
      const value: unknown = Reflect.get(target, property)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  return { held, reached, goesOn }
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
