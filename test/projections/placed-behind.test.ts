import { expect, test, vi } from 'vitest'
import type { Position } from '#domain/event.ts'
import { requestResume } from '#infra/consumers/set-aside.ts'
import { compareWithRebuild } from '../../projections/compare.ts'
import { isPlacedBehind, placesBehind } from '../../projections/place.ts'
import type { Projection } from '../../projections/projection.ts'
import { rebuild } from '../../projections/rebuild.ts'
import { isShown } from '../../projections/shown-beside.ts'
import { runProjection } from '../../projections/runner.ts'
import { fixture, raised, soon, tallyId, type Fixture } from './fixture.ts'
import { connectOld } from './rebuilding.ts'
import { organisation_id, tallyEvents } from './tally.ts'

type Listed = {
  readonly organisation_id: string
  readonly tally_id: string
  readonly total: number
  readonly position: string
}

/** Tallies in the order of their changes, of which one that is lowered cannot be folded until that is mended. */
const listed = (version = 1) => {
  let isMended = false
  const projection: Projection<typeof tallyEvents, Listed, 'organisation_id' | 'tally_id'> = {
    name: 'listed',
    version,
    categories: ['tally'],
    events: tallyEvents,
    table: {
      columns: { organisation_id: 'uuid', tally_id: 'uuid', total: 'integer', position: 'text' },
      key: ['organisation_id', 'tally_id'],
      indexes: [`organisation_id, "position" collate "C"`, `organisation_id where ${isPlacedBehind}`],
    },
    place: { column: 'position', record: 'tally_id' },
    keys: (_event, { stream }) => [{ organisation_id, tally_id: stream.slice('tally-'.length) }],
    project: (row, event, { position }, key) => {
      const by = event.type === 'TallyRaised' ? event.by : 0
      if (by < 0 && !isMended) throw new Error('less than nothing')
      return { ...key, total: (row?.total ?? 0) + by, position }
    },
  }
  return { projection, mend: () => (isMended = true) }
}

/** Somebody who reads all that comes behind the last place that they have seen. */
const reader = ({ pool }: Fixture) => {
  let place = ''
  return async (): Promise<readonly (readonly [tally: string, total: number])[]> => {
    const { rows } = await pool.query<Listed>(
      'select * from listed where "position" collate "C" > $1 order by "position" collate "C"',
      [place],
    )
    place = rows.at(-1)?.position ?? place
    return rows.map(({ tally_id, total }) => [tally_id, total])
  }
}

test('a record that was set aside and is resumed comes round as a new change, to every reader once', async () => {
  await using the = await fixture()
  const { projection, mend } = listed()
  const { run, parts } = the.makeProcess()
  const running = run((given) => runProjection(projection, given))
  await the.append(1, raised(5))
  await the.append(1, raised(-2))
  await the.append(3, raised(-3), raised(4))
  await the.append(2, raised(10))
  await soon(() => expect(running.status()).toMatchObject({ state: 'live', setAside: 2 }))
  const read = reader(the)
  await soon(async () => expect((await the.pool.query('select from listed')).rowCount).toBe(2))
  expect(await read()).toEqual([[tallyId(1), 5], [tallyId(2), 10]]) // prettier-ignore

  mend()
  await requestResume(the.pool, 'listed', `tally-${tallyId(3)}`)
  await soon(() => expect(running.status().setAside).toBe(1))
  expect(await read()).toEqual([[tallyId(3), 1]])
  await requestResume(the.pool, 'listed')
  await soon(() => expect(running.status().setAside).toBe(0))
  const late = reader(the)
  expect(await read()).toEqual([[tallyId(1), 3]])
  expect(await compareWithRebuild(projection, parts)).toEqual({ rows: 3, different: 0, differences: [] })

  await rebuild(projection, parts)
  expect(await read()).toEqual([])
  await the.append(2, raised(1))
  await soon(async () => expect(await read()).toEqual([[tallyId(2), 11]]))
  expect(await late()).toEqual([[tallyId(3), 1], [tallyId(1), 3], [tallyId(2), 11]]) // prettier-ignore
})

test('what a new version of a read model can fold, and the former one could not, comes round as a new change', async () => {
  await using the = await fixture()
  const former = listed()
  const { run, parts } = the.makeProcess()
  const running = run((given) => runProjection(former.projection, given))
  await the.append(1, raised(5), raised(-2))
  await the.append(3, raised(-3))
  await the.append(2, raised(10))
  await soon(() => expect(running.status()).toMatchObject({ state: 'live', setAside: 2 }))
  const read = reader(the)
  await soon(async () => expect((await the.pool.query('select from listed')).rowCount).toBe(2))
  await read()

  const next = listed(2)
  next.mend()
  await rebuild(next.projection, parts)
  expect(await read()).toEqual([[tallyId(1), 3], [tallyId(3), -3]]) // prettier-ignore
  expect(await compareWithRebuild(next.projection, parts)).toEqual({ rows: 3, different: 0, differences: [] })
})

test('what only a new version can fold comes round as a new change while the former one is still read', async () => {
  await using the = await fixture()
  const former = the.makeProcess('former').run((given) => runProjection(listed().projection, given))
  await the.append(1, raised(5), raised(-2))
  await the.append(2, raised(10))
  await soon(() => expect(former.status()).toMatchObject({ state: 'live', setAside: 1 }))
  const read = reader(the)
  await soon(async () => expect((await the.pool.query('select from listed')).rowCount).toBe(2))
  await read()
  await using _former = await connectOld(the)

  const { projection, mend } = listed(2)
  mend()
  the.makeProcess('next').run((given) => runProjection(projection, given))

  await soon(async () => expect(await isShown(the.pool, projection)).toBe(true))
  expect(await read()).toEqual([[tallyId(1), 3]])
})

test('a new version of a read model with other rows takes the place of the former one, what was shown late comes round again', async () => {
  await using the = await fixture()
  const former = listed()
  const { run, parts } = the.makeProcess()
  const running = run((given) => runProjection(former.projection, given))
  await the.append(1, raised(5), raised(-2))
  await the.append(3, raised(6), raised(-2))
  await the.append(2, raised(10))
  await soon(() => expect(running.status()).toMatchObject({ state: 'live', setAside: 2 }))
  const read = reader(the)
  await read()
  former.mend()
  await requestResume(the.pool, 'listed', `tally-${tallyId(3)}`)
  await soon(() => expect(running.status().setAside).toBe(1))

  const { projection, mend } = listed(2)
  mend()
  const { columns, indexes } = projection.table
  type ByViewer = Listed & { readonly viewer: string }
  const next: Projection<typeof tallyEvents, ByViewer, 'organisation_id' | 'tally_id' | 'viewer'> = {
    ...projection,
    table: {
      columns: { ...columns, viewer: 'text' },
      key: ['organisation_id', 'tally_id', 'viewer'],
      indexes: indexes ?? [],
    },
    keys: (event, recorded) => projection.keys(event, recorded).map((key) => ({ ...key, viewer: 'all' })),
    project: (row, event, recorded, key) => {
      const listedNow = projection.project(row, event, recorded, key)
      return listedNow && { ...listedNow, viewer: key.viewer }
    },
  }
  await rebuild(next, parts)
  expect(await read()).toEqual([[tallyId(1), 3], [tallyId(3), 4]]) // prettier-ignore
  expect((await reader(the)())[0]).toEqual([tallyId(2), 10])
  expect(await compareWithRebuild(next, parts)).toEqual({ rows: 3, different: 0, differences: [] })
})

test('when it was shown late is told by the clock of the database, however that of the process goes', async () => {
  await using the = await fixture()
  const microseconds = async () => {
    const { rows } = await the.pool.query<{ at: string }>(
      'select (extract(epoch from clock_timestamp()) * 1000000)::bigint as at',
    )
    return Number(rows[0]?.at)
  }
  await the.pool.query('create table listed (position text)')
  const table = { name: 'listed' }
  const before = await microseconds()
  const slow = vi.spyOn(performance, 'now').mockReturnValue(-3_600_000)
  const behind = await placesBehind(the.pool, table, '5' as Position)
  slow.mockRestore()
  const after = await microseconds()

  const [upTo, shown, position] = behind('7').split('+')
  expect([upTo, position]).toEqual(['5', '7'])
  expect(Number(shown)).toBeGreaterThanOrEqual(before)
  expect(Number(shown)).toBeLessThanOrEqual(after)

  const ahead = `5+${after + 3_600_000_000}`
  await the.pool.query('insert into listed values ($1), ($2)', ['9', `${ahead}+7`])
  const last = (await placesBehind(the.pool, table, '5' as Position))('6')
  expect(last > `${ahead}+7`, 'The clock of the database was put back by an hour.').toBe(true)
})
