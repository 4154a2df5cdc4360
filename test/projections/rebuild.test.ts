import { expect, test } from 'vitest'
import { OwnError } from '#domain/own-error.ts'
import { findCheckpoint } from '#infra/consumers/checkpoint.ts'
import { listSetAside, requestResume } from '#infra/consumers/set-aside.ts'
import { checkConsumer } from '#infra/parts.ts'
import { compareWithRebuild } from '../../projections/compare.ts'
import type { Row, SomeProjection } from '../../projections/projection.ts'
import { ReaderBehind } from '../../projections/history.ts'
import { rebuild, type RebuildProgress } from '../../projections/rebuild.ts'
import { runProjection } from '../../projections/runner.ts'
import { newEvent, tallies, type TallyEvent } from './tally.ts'
import { barrier, raised, soon, tallyId, through, fixture, type Fixture } from './fixture.ts'

const total = async ({ pool }: Fixture): Promise<number> => {
  const { rows } = await pool.query<{ total: number }>('select sum(total)::integer as total from tallies')
  return rows[0]?.total ?? 0
}

/** Tables that a rebuild may have made. */
const tables = async ({ pool }: Fixture): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename like '%tallies%'`,
  )
  return rows.map(({ name }) => name)
}

/** Tallies from 1 up, each raised by one. */
const fill = async ({ eventLog, settled }: Fixture, count: number) => {
  const appended = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      eventLog.append(`tally-${tallyId(index + 1)}`, 'no_stream', [newEvent(raised())]),
    ),
  )
  for (const each of appended) if (each.outcome === 'appended') await settled(each.position)
}

/** A log that hands out nothing beyond its first batch until it is let. */
const halting = ({ eventLog }: Fixture) => {
  const { passed, open } = barrier()
  const { passed: reached, open: reach } = barrier()
  const log = through(eventLog, async function* (batches, { signal }) {
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    let isFirst = true
    for await (const batch of batches) {
      if (!isFirst) {
        reach()
        await Promise.race([passed, aborted])
      }
      if (signal.aborted) return
      isFirst = false
      yield batch
    }
  })
  return { log, reached, open }
}

/** A log whose reader says that it has caught up after the first events, and reads the others only when it is let. */
const lagging = ({ eventLog }: Fixture, count: number) => {
  const { passed, open } = barrier()
  const { passed: reached, open: reach } = barrier()
  const log = through(eventLog, async function* (batches, { after, signal }) {
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    let isBehind = true
    for await (const batch of batches) {
      if (isBehind && after === undefined) {
        const events = batch.events.slice(0, count)
        yield { events, position: events.at(-1)?.position ?? batch.position, caughtUp: true }
        reach()
      }
      if (isBehind) await Promise.race([passed, aborted])
      if (signal.aborted) return
      isBehind = false
      yield batch
    }
  })
  return { log, reached, open }
}

const doubled: SomeProjection = {
  ...tallies,
  version: 2,
  project: (row: never, event: TallyEvent, recorded, key: never) =>
    tallies.project(row, event.type === 'TallyRaised' ? { ...event, by: 2 * event.by } : event, recorded, key),
}

/** A promise that says whether it is still open. */
const settling = <Result>(promise: Promise<Result>) => {
  let settled = false
  const settle = () => {
    settled = true
  }
  promise.then(settle, settle)
  return { promise, isSettled: () => settled }
}

const live = async (running: ReturnType<typeof runProjection>) =>
  soon(() => expect(running.status().state).toBe('live'))

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

test('when a new version starts, the table is rebuilt while the old one goes on, and the old process stops', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const old = the.makeProcess('old')
  const running = old.run((parts) => runProjection(tallies, parts))
  await live(running)
  const { log, reached, open } = halting(the)

  const next = the.makeProcess('next', log)
  const succeeding = next.run((parts) => runProjection(doubled, parts))
  await reached
  expect(await old.progress.wait('tally', await the.append(11, raised()), 5_000)).toBe(true)
  expect(await total(the)).toBe(11)
  // Whoever replaces processes by their readiness keeps the old one, which keeps the table up to date, until then.
  expect(checkConsumer(succeeding)).toMatchObject({
    ok: false,
    detail: expect.stringContaining('is being rebuilt') as string,
  })
  expect(checkConsumer(running)).toMatchObject({ ok: true })

  open()
  await soon(async () => expect(await total(the)).toBe(22))
  await the.append(12, raised())
  await soon(() => expect(running.status().state).toBe('failed'))
  expect(running.status().failure?.message).toBe('Version 2 of tallies has taken over from version 1.')
  await live(succeeding)
  expect(checkConsumer(succeeding)).toMatchObject({ ok: true, detail: 'live' })
  await soon(async () => expect(await total(the)).toBe(24))
  expect(await findCheckpoint(the.pool, 'tallies')).toMatchObject({ version: 2 })
})

test('an old process that stood by does not go on with what another version has rebuilt', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const [first, second] = [the.makeProcess('first'), the.makeProcess('second')]
  const working = first.run((parts) => runProjection(tallies, parts))
  await live(working)
  const waiting = second.run((parts) => runProjection(tallies, parts))
  await soon(() => expect(waiting.status().state).toBe('standing by'))

  await rebuild(doubled, the.makeProcess('operator').parts)
  await the.append(11, raised())

  await soon(() => {
    const states = [working, waiting].map((each) => each.status())
    expect(states).toMatchObject([{ state: 'failed' }, { state: 'failed' }])
  })
  expect(await total(the)).toBe(20)
  expect(await findCheckpoint(the.pool, 'tallies')).toMatchObject({ version: 2 })
})

test('a process whose rebuild was made by another meanwhile is ready', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const old = the.makeProcess('old')
  await live(old.run((parts) => runProjection(tallies, parts)))
  await old.stop()
  const stalling = halting(the)
  const stalled = the.makeProcess('stalled', stalling.log)
  // It believes to hold every lease that it asks for.
  const leases = { take: async () => ({ signal: stalled.parts.signal, release: async () => {} }) }
  const running = stalled.run((parts) => runProjection(doubled, { ...parts, leases }))
  await stalling.reached
  await rebuild(doubled, the.makeProcess('other').parts)

  stalling.open()

  await live(running)
  expect(checkConsumer(running)).toMatchObject({ ok: true, detail: 'live' })
})

test('when processes of a new version start at the same time, the table is rebuilt once', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const old = the.makeProcess('old')
  await live(old.run((parts) => runProjection(tallies, parts)))
  await soon(async () => expect(await total(the)).toBe(10))
  await old.stop()

  const processes = [the.makeProcess(), the.makeProcess()]
  for (const { run } of processes) run((parts) => runProjection(doubled, parts))

  await soon(async () => expect(await total(the)).toBe(20))
  await soon(() => {
    const messages = processes.flatMap(({ lines }) => lines.map(({ msg }) => msg))
    expect(messages).toContain('consumer has caught up')
    expect(messages.filter((message) => message === 'projection is being rebuilt')).toHaveLength(1)
  })
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

test('a rebuild that has lost its lease without knowing does no harm to the next one', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const [stalling, slow] = [halting(the), halting(the)]
  const zombie = the.makeProcess('zombie', stalling.log)
  const stubborn = {
    ...zombie.parts,
    leases: { take: async () => ({ signal: zombie.parts.signal, release: async () => {} }) },
  }
  const stalled = settling(rebuild(doubled, stubborn))
  await stalling.reached
  const { parts } = the.makeProcess('next', slow.log)
  const rebuilt = rebuild(tallies, parts)
  await slow.reached

  stalling.open()

  await expect(stalled.promise).rejects.toThrow('Another rebuild of tallies has begun')
  slow.open()
  await rebuilt
  expect(await total(the)).toBe(10)
  expect(await compareWithRebuild(tallies, parts)).toMatchObject({ different: 0 })
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

test('a rebuild sets a record aside whose event cannot be folded, as the table in use does, and makes all others anew', async () => {
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

test('a record of a read model that is resumed is folded anew, and is as a rebuild makes it', async () => {
  await using the = await fixture()
  const { projection, mend } = timid()
  const { run, parts } = the.makeProcess()
  const running = run((given) => runProjection(projection, given))
  await the.append(1, raised(1), { type: 'TallyOpened', title: 'apples' }, raised(-2), raised(3))
  await the.append(2, raised(10))
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
    [10, 1],
  ])
  expect(await compareWithRebuild(tallies, parts)).toEqual({ rows: 2, different: 0, differences: [] })
  await the.append(1, raised(1))
  await soon(async () => expect((await totals(the))[0]).toEqual([7, 6]))
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
