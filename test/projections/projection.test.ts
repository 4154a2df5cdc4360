import { expect, test } from 'vitest'
import { rowTypes } from '#infra/postgres/row-types.ts'
import type { Row, SomeProjection } from '../../projections/projection.ts'
import { listSetAside } from '#infra/consumers/set-aside.ts'
import { transaction } from '#infra/postgres/postgres.ts'
import { refoldEvents } from '../../projections/fold.ts'
import { runProjection } from '../../projections/runner.ts'
import { tableOf } from '../../projections/table.ts'
import { fillReadModel } from '../read-model.ts'
import { organisation_id, tallies } from './tally.ts'
import { raised, soon, tallyId, fixture } from './fixture.ts'

test('whoever waits for the position of what it wrote can read it', async () => {
  await using the = await fixture()
  const { run, progress } = the.makeProcess()
  run((parts) => runProjection(tallies, parts))

  for (let total = 1; total <= 20; total++) {
    const position = await the.append(1, raised())

    expect(await progress.wait('tally', position, 5_000)).toBe(true)
    const { rows } = await the.pool.query<Row>({ text: 'select id, total from tallies', types: rowTypes })
    expect(rows).toEqual([{ id: tallyId(1), total }])
  }
})

test('a table has what the events add up to, under its organisation', async () => {
  await using the = await fixture()
  await the.append(1, { type: 'TallyOpened', title: 'apples' }, raised(2), raised(3))
  await the.append(2, { type: 'TallyOpened', title: 'pears' })
  const last = await the.append(2, { type: 'TallyClosed', reason: 'eaten' })
  const { run, progress } = the.makeProcess()

  run((parts) => runProjection(tallies, parts))

  expect(await progress.wait('tally', last, 5_000)).toBe(true)
  const { rows } = await the.pool.query<Row>({ text: 'select * from tallies', types: rowTypes })
  expect(rows).toEqual([
    {
      organisation_id,
      id: tallyId(1),
      title: 'apples',
      total: 5,
      changes: 3,
      changed_at: '2026-01-15T12:00:00.000Z',
      notes: [],
    },
  ])
})

test('a projection whose table has a name that is taken says so', async () => {
  await using the = await fixture()
  await the.pool.query('create table tallies (id text)')
  const { run, lines } = the.makeProcess()

  const running = run((parts) => runProjection(tallies, parts))

  const reason = 'There is a table "tallies" that no projection has made. Remove or rename it.'
  await soon(() => expect(running.status().problem?.reason).toBe(reason))
  expect(lines[0]).toMatchObject({ consumer: 'tallies', error: { message: reason } })

  await the.pool.query('drop table tallies')
  await soon(() => expect(running.status().state).toBe('live'))
  expect(running.status().problem).toBeUndefined()
})

test('a row that its table cannot hold sets its record aside, with the reason', async () => {
  await using the = await fixture()
  await the.append(1, raised(1), raised(2 ** 40), raised(3))
  const narrow: SomeProjection = {
    ...tallies,
    table: { ...tallies.table, columns: { ...tallies.table.columns, total: 'integer' } },
  }
  const { run } = the.makeProcess()

  const running = run((parts) => runProjection(narrow, parts))

  await soon(() => expect(running.status()).toMatchObject({ state: 'live', setAside: 1 }))
  const reason = expect.stringMatching(/^error 22003 at /) as string
  expect(await listSetAside(the.pool, 'tallies', 10)).toMatchObject([{ type: 'TallyRaised', reason }])
  const { rows } = await the.pool.query<Row>('select total from tallies')
  expect(rows).toEqual([{ total: 1 }])
})

test('a record that is folded again from many pages keeps its connection busy, which PostgreSQL would end when idle', async () => {
  await using the = await fixture()
  await fillReadModel(the.pool, [tallies], [])
  const busyAt: string[] = []
  await transaction(the.pool, async (db) => {
    const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid')
    const pages = async function* () {
      for (let page = 0; page < 3; page++) {
        const { rows: seen } = await the.pool.query<{ at: string }>(
          'select query_start::text as at from pg_stat_activity where pid = $1',
          [rows[0]?.pid],
        )
        busyAt.push(seen[0]?.at ?? '')
        yield []
      }
    }
    await refoldEvents(db, tallies, tableOf(tallies), pages())
  })
  expect(new Set(busyAt).size).toBe(3)
})
