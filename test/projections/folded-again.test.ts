import { expect, test } from 'vitest'
import { OwnError } from '#domain/own-error.ts'
import { listSetAside, requestResume } from '#infra/consumers/set-aside.ts'
import { compareWithRebuild } from '../../projections/compare.ts'
import type { Row, SomeProjection } from '../../projections/projection.ts'
import { rebuild } from '../../projections/rebuild.ts'
import { runProjection } from '../../projections/runner.ts'
import { raised, soon, tallyId, fixture, type Fixture } from './fixture.ts'
import { live } from './rebuilding.ts'
import { tallies, type TallyEvent } from './tally.ts'

/** Refuses to fold amounts below nothing, until it is mended. */
const timid = () => {
  let isMended = false
  const projection: SomeProjection = {
    ...tallies,
    project: (row: never, event: TallyEvent, recorded, key: never) => {
      if (!isMended && event.type === 'TallyRaised' && event.by < 0) throw new OwnError('less than nothing')
      return tallies.project(row, event, recorded, key)
    },
  }
  return {
    projection,
    mend: () => {
      isMended = true
    },
  }
}

const totals = async ({ pool }: Fixture) => {
  const { rows } = await pool.query<Row>('select id, total::integer as total, changes from tallies order by id')
  return rows.map((row) => [row['total'], row['changes']])
}

test('a rebuild sets a record aside whose event cannot be folded, as the table in use does, and makes all others again', async () => {
  await using the = await fixture()
  await the.append(1, raised(1), raised(-2), raised(3))
  await the.append(2, raised(10))
  const { projection } = timid()
  const { parts } = the.makeProcess()

  await rebuild(projection, parts)

  expect(await totals(the)).toEqual([
    [1, 1],
    [10, 1],
  ])
  const waiting = { record: `tally-${tallyId(1)}`, revision: 1, reason: 'less than nothing' }
  expect(await listSetAside(the.pool, 'tallies', 10)).toMatchObject([waiting])
  const running = the.makeProcess().run((given) => runProjection(projection, given))
  await live(running)
  await the.append(1, raised(4))
  await the.append(2, raised(11))
  await soon(async () => expect(await totals(the)).toEqual([[1, 1], [21, 2]])) // prettier-ignore
  expect(running.status().setAside).toBe(1)
  expect(await compareWithRebuild(projection, parts)).toEqual({ rows: 2, different: 0, differences: [] })
})

test('a record of a read model that is resumed is folded again, and is as a rebuild makes it', async () => {
  await using the = await fixture()
  const { projection, mend } = timid()
  const { run, parts } = the.makeProcess()
  const running = run((given) => runProjection(projection, given))
  await live(running)
  await the.append(1, raised(1), { type: 'TallyOpened', title: 'apples' })
  await the.append(2, raised(4))
  await soon(async () => expect(await totals(the)).toEqual([[1, 2], [4, 1]])) // prettier-ignore
  await the.append(1, raised(-2), raised(3))
  await the.append(2, raised(6))
  await the.append(3, raised(5), raised(-5), { type: 'TallyClosed', reason: 'done' })
  await soon(() => expect(running.status().setAside).toBe(2))
  await the.append(1, raised(4))
  // What an earlier fold has made of the record counts no more.
  await the.pool.query('update tallies set total = 1000 where id = $1', [tallyId(1)])

  mend()
  await requestResume(the.pool, 'tallies')

  await soon(() => expect(running.status().setAside).toBe(0))
  expect(await totals(the)).toEqual([
    [6, 5],
    [10, 2],
  ])
  expect(await compareWithRebuild(tallies, parts)).toEqual({ rows: 2, different: 0, differences: [] })
  await the.append(1, raised(1))
  await soon(async () => expect((await totals(the))[0]).toEqual([7, 6]))
})
