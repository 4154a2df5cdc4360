import { expect, test } from 'vitest'
import { findCheckpoint } from '#infra/consumers/checkpoint.ts'
import { compareWithRebuild } from '../../projections/compare.ts'
import { ReaderBehind } from '../../projections/history.ts'
import type { Row } from '../../projections/projection.ts'
import { rebuild, type RebuildProgress } from '../../projections/rebuild.ts'
import { runProjection } from '../../projections/runner.ts'
import { raised, soon, tallyId, fixture } from './fixture.ts'
import { doubled, fill, halting, lagging, live, settling, tables, total } from './rebuilding.ts'
import { tallies } from './tally.ts'

test('a rebuild happens beside the table in use, while events keep coming, and no reader sees it half done', async () => {
  await using the = await fixture()
  await fill(the, 300)
  const { run, progress } = the.makeProcess()
  run((parts) => runProjection(tallies, parts))
  await soon(async () => expect(await total(the)).toBe(300))
  await the.pool.query(`update tallies set total = 1000 where id = $1`, [tallyId(7)])

  const rebuilding = the.makeProcess('rebuild')
  const reports: RebuildProgress[] = []
  const rebuilt = settling(rebuild(tallies, rebuilding.parts, { report: (each) => reports.push(each) }))
  let written = 300
  const excess: number[] = []
  while (!rebuilt.isSettled()) {
    const position = await the.append(1 + (written % 300), raised())
    written++
    expect(await progress.wait('tally', position, 5_000)).toBe(true)
    excess.push((await total(the)) - written)
  }
  await rebuilt.promise

  // The row that was wrong, and then nothing: no part of the new table was seen before it was whole.
  expect(excess.filter((each) => each !== 999 && each !== 0)).toEqual([])
  expect(excess).toEqual(excess.toSorted((one, other) => other - one))
  const last = await the.append(1, raised())
  expect(await progress.wait('tally', last, 5_000)).toBe(true)
  expect(await total(the)).toBe(written + 1)
  expect(await compareWithRebuild(tallies, rebuilding.parts)).toEqual({ rows: 300, different: 0, differences: [] })
  const done = reports.map((report) => report.done)
  expect(done).toEqual(done.toSorted((one, other) => one - other))
  expect(reports.at(-1)?.done).toBe(reports.at(-1)?.total)
  expect(await tables(the)).toEqual(['tallies'])
})

test('a rebuild that is ended in the middle leaves nothing that blocks the next one', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const { parts } = the.makeProcess()
  const { log, reached } = halting(the)
  const killed = the.makeProcess('killed', log)
  const rebuilding = settling(rebuild(tallies, killed.parts))
  await reached
  expect(await tables(the)).toContain('tallies__rebuild')

  killed.abort()
  await expect(rebuilding.promise).rejects.toThrow('abort')
  await rebuild(doubled, parts)

  expect(await total(the)).toBe(20)
  expect(await tables(the)).toEqual(['tallies'])
})

test('a rebuild waits for readers without making others wait behind it for long', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const { parts } = the.makeProcess()
  await rebuild(tallies, parts)
  const reader = await the.pool.connect()
  await reader.query('begin; select from tallies')

  const rebuilt = settling(rebuild(doubled, parts))
  await soon(async () => {
    const { rows } = await the.pool.query<Row>(`select from pg_locks where not granted and locktype = 'relation'`)
    expect(rows).toHaveLength(1)
  })
  const startedAt = performance.now()
  expect(await total(the)).toBe(10)
  expect(performance.now() - startedAt).toBeLessThan(1_000)
  expect(rebuilt.isSettled()).toBe(false)
  await reader.query('commit')
  reader.release()

  await rebuilt.promise
  expect(await total(the)).toBe(20)
})

test('a rebuild is refused when the reader of the log stays short of the end that the log had before', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const inUse = the.makeProcess('projections')
  await live(inUse.run((parts) => runProjection(tallies, parts)))
  const { log } = lagging(the, 4)
  const { parts } = the.makeProcess('operator', log)

  await expect(rebuild(tallies, parts, { lagMs: 100 })).rejects.toThrow(ReaderBehind)
  await expect(compareWithRebuild(tallies, parts, { lagMs: 100 })).rejects.toThrow(ReaderBehind)

  expect(await total(the)).toBe(10)
})

test('a rebuild waits for a reader of the log that lags behind', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const { log, reached, open } = lagging(the, 4)
  const { parts } = the.makeProcess('operator', log)

  const rebuilding = rebuild(doubled, parts)
  await reached
  open()
  await rebuilding

  expect(await total(the)).toBe(20)
  const next = the.makeProcess('next')
  await live(next.run((given) => runProjection(doubled, given)))
  expect(await total(the)).toBe(20)
  expect((await findCheckpoint(the.pool, 'tallies'))?.position).toBe(await the.eventLog.head())
})

test('a table can be rebuilt again and again, with all its indexes', async () => {
  await using the = await fixture()
  const { parts } = the.makeProcess()
  await fill(the, 3)
  for (let times = 0; times < 3; times++) await rebuild(tallies, parts)

  const { rows } = await the.pool.query<Row>(`select indexdef from pg_indexes where tablename = 'tallies'`)
  expect(rows).toHaveLength(2)
  expect(await total(the)).toBe(3)
})

test('a comparison finds rows that are wrong, missing, or should not be there', async () => {
  await using the = await fixture()
  await fill(the, 5)
  const { parts } = the.makeProcess()
  await rebuild(tallies, parts)
  expect(await compareWithRebuild(tallies, parts)).toEqual({ rows: 5, different: 0, differences: [] })

  await the.pool.query(`update tallies set notes = '[1]' where id = $1`, [tallyId(1)])
  await the.pool.query(`delete from tallies where id = $1`, [tallyId(2)])
  await the.pool.query(`update tallies set id = $2 where id = $1`, [tallyId(3), tallyId(9)])
  const { rows, different, differences } = await compareWithRebuild(tallies, parts)

  expect({ rows, different }).toEqual({ rows: 4, different: 4 })
  const ids = differences.map(({ inUse, rebuilt }) => [inUse?.['id'], rebuilt?.['id']])
  expect(ids).toEqual(
    expect.arrayContaining([
      [tallyId(1), tallyId(1)],
      [undefined, tallyId(2)],
      [undefined, tallyId(3)],
      [tallyId(9), undefined],
    ]),
  )
})
