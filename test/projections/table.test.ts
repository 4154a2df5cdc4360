import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import type { ClientBase, Pool } from 'pg'
import { expect, test } from 'vitest'
import { idOf, type RecordedEvent } from '#domain/event.ts'
import { rowTypes } from '#infra/postgres/row-types.ts'
import { transaction } from '#infra/postgres/postgres.ts'
import { applyEvents } from '../../projections/fold.ts'
import type { ColumnType, Row, SomeProjection } from '../../projections/projection.ts'
import { tableOf } from '../../projections/table.ts'
import { testDatabase } from '../database.ts'
import { fillReadModel, readModel } from '../read-model.ts'
import { recorded } from '../recorded.ts'
import { organisation_id, tallies, tallyEvents, type TallyEvent } from './tally.ts'

const closed: TallyEvent = { type: 'TallyClosed', reason: 'done' }

const columns: Readonly<Record<string, ColumnType>> = {
  id: 'uuid',
  name: 'text',
  is_open: 'boolean',
  rank: 'integer',
  pence: 'bigint',
  born_on: 'date',
  seen_at: 'timestamptz',
  document: 'json',
  order: 'text',
}

const everything = (key: readonly string[]): SomeProjection => ({
  name: 'everything',
  version: 1,
  categories: [],
  events: {},
  table: { columns, key },
  keys: () => [],
  project: () => undefined,
})

const row: Row = {
  id: 'a81bc81b-dead-4e5d-abff-90865d1e13b1',
  name: 'Zoë "the\\one" {O’Neill},\n😀',
  is_open: true,
  rank: -7,
  pence: Number.MAX_SAFE_INTEGER,
  born_on: '1999-12-31',
  seen_at: '2026-01-15T12:00:00.125Z',
  document: { z: null, a: ['a pair \u{1F600}, a backslash \\u0000', { deep: [1.5, 'NULL'] }], 7: 'first' },
  order: null,
}

const saved = async (pool: Pool, key: readonly string[], rows: readonly Row[]) => {
  const table = tableOf(everything(key))
  return transaction(pool, async (db) => {
    await db.query(table.create)
    await table.save(db, rows)
    return table.load(db, rows)
  })
}

test('a row comes back as it was written', async () => {
  await using database = await testDatabase()

  expect(await saved(database.pool, ['id'], [row])).toEqual([row])
})

test('what PostgreSQL cannot read any part of is kept as U+FFFD, so that all else of the row can be read', async () => {
  await using database = await testDatabase()
  const text = 'NUL \u0000, half a pair \ud800 \udc00, escaped \\u0000 \\\ud800, 😀'
  const document = { [text]: [text], last: 1 }

  const [found] = await saved(database.pool, ['id'], [{ ...row, document }])

  const kept = 'NUL \uFFFD, half a pair \uFFFD \uFFFD, escaped \\u0000 \\\uFFFD, 😀'
  expect(found?.['document']).toEqual({ [kept]: [kept], last: 1 })
  const { rows } = await database.pool.query(`select document ->> 'last' as last from everything`)
  expect(rows).toEqual([{ last: '1' }])
})

test('a row of nothing but its key comes back with nulls', async () => {
  await using database = await testDatabase()

  const nothing = Object.fromEntries(Object.keys(columns).map((column) => [column, null]))
  expect(await saved(database.pool, ['id'], [{ id: row['id'] }])).toEqual([{ ...nothing, id: row['id'] }])
})

test('every column but JSON can be a key, and a key that is written differently is the same key', async () => {
  await using database = await testDatabase()
  const key = Object.keys(columns).filter((column) => column !== 'document')
  const first = { ...row, order: 'a\u0000b\ud800' }
  const again = { ...first, id: String(row['id']).toUpperCase(), seen_at: '2026-01-15T13:00:00.1250+01:00' }
  const table = tableOf(everything(key))

  const [loaded] = await saved(database.pool, key, [first])

  expect(table.identityOf(again)).toBe(table.identityOf(first))
  expect(table.identityOf(loaded ?? {})).toBe(table.identityOf(first))
  expect(table.identityOf({ ...first, rank: -8 })).not.toBe(table.identityOf(first))
})

test('instants come back in UTC, whatever form and time zone they were written in', async () => {
  await using database = await testDatabase()
  await database.pool.query(`create table instants (at timestamptz)`)
  await database.pool.query(`insert into instants values ('2026-07-01T12:00:00+05:45'), ('1880-01-01T00:00:00Z')`)

  const inZone = (zone: string) =>
    transaction(database.pool, async (db) => {
      await db.query(`set local timezone = '${zone}'`)
      const { rows } = await db.query<{ at: string }>({ text: 'select at from instants order by at', types: rowTypes })
      return rows.map(({ at }) => at)
    })
  const instants = ['1880-01-01T00:00:00.000Z', '2026-07-01T06:15:00.000Z']
  expect(await inZone('UTC')).toEqual(instants)
  expect(await inZone('Europe/London')).toEqual(instants)
  expect(await inZone('Europe/Amsterdam')).toEqual(instants)
})

test('the parsers of pg stay as they are', async () => {
  await using database = await testDatabase()
  await saved(database.pool, ['id'], [row])

  const { rows } = await database.pool.query<Row>('select pence, seen_at, born_on from everything')

  expect(rows).toEqual([
    { pence: String(row['pence']), seen_at: expect.any(Date) as unknown, born_on: expect.any(Date) as unknown },
  ])
})

test('a value that its column cannot hold is refused', async () => {
  await using database = await testDatabase()
  const refused = (column: string, value: unknown, reason: string) =>
    expect(saved(database.pool, ['id'], [{ ...row, [column]: value }])).rejects.toThrow(reason)

  await refused('rank', 1.5, 'invalid input syntax for type integer')
  await refused('rank', 2 ** 31, 'out of range')
  await refused('name', { first: 'Zoë' }, 'cannot hold')
  await refused('id', 'nobody', 'invalid input syntax for type uuid')
  await refused('id', null, 'null value')
})

test('rows are read, written and removed in one statement each, not read for first events, and not written when they did not change', async () => {
  const indifferent: SomeProjection = {
    ...tallies,
    project: (current: Row | undefined, event: TallyEvent, { revision }: RecordedEvent, key: Row) =>
      event.type === 'TallyClosed' ? undefined : revision === 0 ? { ...key, title: 'a' } : current,
  }
  await using view = await readModel(indifferent)
  const streams = Array.from({ length: 50 }, () => `tally-${randomUUID()}`)
  const statementsFor = async (from: number, eventOf: (index: number) => TallyEvent) => {
    const events = streams.flatMap((name, index) => recorded(tallyEvents, name, [eventOf(index)], { from }))
    const statements: (string | undefined)[] = []
    await transaction(view.pool, async (db) => {
      const query = async (statement: { text: string; values: unknown[] }) => {
        const result = await db.query<Row>(statement)
        statements.push(`${statement.text.trim().slice(0, 6)} ${result.rowCount}`)
        return result
      }
      // Of a connection, only this is used.
      await applyEvents({ query } as unknown as ClientBase, indifferent, tableOf(indifferent), events)
    })
    return statements
  }

  expect(await statementsFor(0, () => ({ type: 'TallyOpened', title: '' }))).toEqual(['insert 50'])
  expect(await statementsFor(1, () => ({ type: 'TallyRaised', by: 1 }))).toEqual(['select 50'])
  const half = (index: number): TallyEvent => (index % 2 ? closed : { type: 'TallyRaised', by: 1 })
  expect(await statementsFor(2, half)).toEqual(['select 50', 'delete 25'])
})

test('a row keeps the key that it was asked for by', async () => {
  const straying: SomeProjection = { ...tallies, project: () => ({ organisation_id, id: randomUUID() }) }
  await using view = await readModel(straying)

  const applied = view.apply(recorded(tallyEvents, `tally-${randomUUID()}`, [closed]))

  await expect(applied).rejects.toThrow('another key')
})

test('an event that names a row twice counts once for it', async () => {
  const stuttering: SomeProjection = {
    ...tallies,
    keys: (_event, { stream: name }) => [
      { organisation_id, id: idOf(name) },
      { organisation_id: organisation_id.toUpperCase(), id: idOf(name) },
    ],
  }
  await using view = await readModel(stuttering)

  await view.apply(recorded(tallyEvents, `tally-${randomUUID()}`, [{ type: 'TallyRaised', by: 3 }]))

  const { rows } = await view.pool.query<Row>('select total::int, changes from tallies')
  expect(rows).toEqual([{ total: 3, changes: 1 }])
})

const stream = fc
  .constantFrom('tally-1', 'tally-2', 'tally-3')
  .map((name) => name.replace(/\d/, (digit) => tallyId(digit)))
const tallyId = (digit: string) => `00000000-0000-4000-8000-00000000000${digit}`
const tally: fc.Arbitrary<TallyEvent> = fc.oneof(
  fc.record({ type: fc.constant('TallyOpened' as const), title: fc.string({ unit: 'binary' }) }),
  fc.record({
    type: fc.constant('TallyRaised' as const),
    by: fc.integer(),
    note: fc.jsonValue().map((note): unknown => note),
  }),
  fc.constant(closed),
)

test('events handled in batches of any size add up to what they add up to one by one', async () => {
  await using view = await readModel(tallies)
  const contents = async () => {
    const { rows } = await view.pool.query<Row>({ text: 'select * from tallies order by id', types: rowTypes })
    await view.pool.query('truncate tallies')
    return rows
  }

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(stream, tally), { maxLength: 30 }),
      fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1 }),
      async (happened, sizes) => {
        const events = happened.flatMap(([name, each], index) => {
          const from = happened.slice(0, index).filter(([earlier]) => earlier === name).length
          return recorded(tallyEvents, name, [each], { from })
        })
        for (const event of events) await view.apply([event])
        const oneByOne = await contents()

        for (let from = 0, turn = 0; from < events.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1
          await view.apply(events.slice(from, from + size))
          from += size
        }
        expect(await contents()).toEqual(oneByOne)
      },
    ),
    { numRuns: 60 },
  )
})

test('what concerns a projection reaches its table, and nothing else', async () => {
  await using view = await readModel(tallies)
  const name = `tally-${tallyId('1')}`

  await fillReadModel(
    view.pool,
    [tallies],
    [
      ...recorded(tallyEvents, name, [
        { type: 'TallyOpened', title: 'apples' },
        { type: 'TallyRaised', by: 2 },
      ]),
      ...recorded(tallyEvents, name.replace('tally', 'other'), [{ type: 'TallyRaised', by: 100 }]),
    ],
  )

  const { rows } = await view.pool.query<Row>('select organisation_id, title, total::int from tallies')
  expect(rows).toEqual([{ organisation_id, title: 'apples', total: 2 }])
})
