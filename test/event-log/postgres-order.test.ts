import { expect, test } from 'vitest'
import { type RecordedEvent } from '#domain/event.ts'
import { prepareLog } from '#infra/event-log/postgres/postgres-log.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { heldBackSeconds } from '#infra/event-log/postgres/held-back.ts'
import { testDatabase } from '../database.ts'
import { allAfter, appended, eventually, firstEvents, idsOf, newEvent, newEvents, newStream } from './events.ts'
import {
  appendingConnections,
  appendOn,
  appendsWaiting,
  connect,
  dropConnections,
  openLog,
  preparedDatabase,
} from './postgres-log.ts'

const orderOf = (events: readonly RecordedEvent[]) => events.map(({ position }) => position)

test('a transaction held open during appends loses nothing', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  await using slow = await connect(database.url)
  const early = newEvent()
  const late = newEvents(20)
  const seen: RecordedEvent[] = []
  const leaving = new AbortController()
  const reading = (async () => {
    for await (const { events } of log.subscribe({ signal: leaving.signal })) seen.push(...events)
  })()

  await slow.query('begin')
  await appendOn(slow, newStream(), early)
  for (const event of late) await appended(log, newStream(), [event])
  const whileOpen = await log.readAll()
  await slow.query('commit')
  await eventually(() => Promise.resolve(seen.length === 21), 'all events')
  leaving.abort()
  await reading

  expect(whileOpen).toEqual([])
  expect(idsOf(seen)).toEqual([early.id, ...idsOf(late)])
  expect(orderOf(seen)).toEqual(orderOf(seen).toSorted())
  expect(idsOf(await log.readAll())).toEqual(idsOf(seen))
})

test('a transaction that is rolled back leaves no gap that anybody waits for', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  await using client = await connect(database.url)
  await client.query('begin')
  await appendOn(client, newStream(), newEvent())
  const events = newEvents(3)

  await appended(log, newStream(), events)
  await client.query('rollback')

  expect(idsOf(await firstEvents(log, {}, 3))).toEqual(idsOf(events))
})

test('a transaction that stays open and appends nothing holds up no reader', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  await using other = openLog(database.url)
  await using client = await connect(database.url)
  await client.query('begin; create table elsewhere (id integer); insert into elsewhere values (1)')
  const events = newEvents(3)
  for (const event of events) await appended(log, newStream(), [event])

  expect(idsOf(await firstEvents(log, {}, 3))).toEqual(idsOf(events))
  expect(idsOf(await firstEvents(other, {}, 3))).toEqual(idsOf(events))
  expect(idsOf(await log.readAll())).toEqual(idsOf(events))
  expect(await log.head()).toBeDefined()
  expect(await heldBackSeconds(database.pool)).toBe(0)
  await client.query('rollback')
})

test('an append without a transaction id makes readers wait for no transaction that appends nothing', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  await using older = await connect(database.url)
  await older.query('begin; select pg_current_xact_id()')
  await using client = await connect(database.url)
  await client.query('begin; lock table event_log.event in row exclusive mode')
  const [before, during, after] = [newEvent(), newEvent(), newEvent()]
  await appended(log, newStream(), [before])

  expect(idsOf(await log.readAll())).toEqual([before.id])

  await appendOn(client, newStream(), during)
  await appended(log, newStream(), [after])
  expect(idsOf(await log.readAll())).toEqual([before.id])
  await client.query('commit')
  expect(idsOf(await log.readAll())).toEqual([before.id, during.id, after.id])
  await older.query('rollback')
})

// Each lasts for a moment only, so that a view in the place of the locks has to show it.
test.each([
  ['has an id that its locks do not show yet', `not (is_own and locktype = 'transactionid')`, 'false'],
  ['is prepared, and first of all its id moves', 'true', `is_own and locktype = 'transactionid'`],
  ['is prepared, and first of all its lock of the log moves', 'true', `is_own and locktype = 'relation'`],
])('an append is waited for that %s', async (_, isShown, isMoved) => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  await using client = await connect(database.url)
  await client.query('begin')
  await appendOn(client, newStream(), newEvent())
  const asked = 'select pg_backend_pid() as pid, pg_current_xact_id()::text::integer as id'
  const { pid, id } = (await client.query<{ pid: number; id: number }>(asked)).rows[0] ?? expect.fail()
  await appended(log, newStream(), newEvents(1))
  await using reader = await connect(database.url)
  await reader.query(`
    create temp view pg_locks as
    select locktype, database, relation, transactionid, mode, granted,
      case when ${isMoved} then '-1/1' else virtualtransaction end as virtualtransaction,
      case when ${isMoved} then null else pid end as pid
    from (select *, pid = ${pid} as is_own from pg_catalog.pg_locks) as lock where ${isShown}`)

  const { rows } = await reader.query<{ horizon: number }>('select event_log.horizon()::integer as horizon')

  expect(rows[0]?.horizon).toBeLessThanOrEqual(id)
  await client.query('rollback')
})

test('for seconds after an upgrade, readers wait for all that write: an append of the former version may lock late', async () => {
  await using database = await testDatabase()
  await using log = openLog(database.url)
  await using older = await connect(database.url)
  await older.query('begin; select pg_current_xact_id()')
  await appended(log, newStream(), newEvents(1))
  const isReadable = async () => (await log.readAll()).length === 1
  const upgradedAgo = (interval: string) =>
    database.pool.query(`update event_log.state set locks_first_since = clock_timestamp() - interval '${interval}'`)

  await database.pool.query('update event_log.state set locks_first_since = null')
  expect(await isReadable()).toBe(false)
  await prepareLog(database.pool)
  expect(await isReadable()).toBe(false)
  await upgradedAgo('3 seconds')
  await prepareLog(database.pool)
  expect(await isReadable()).toBe(false)
  await upgradedAgo('11 seconds')
  await prepareLog(database.pool)
  expect(await isReadable()).toBe(true)
  await older.query('rollback')
})

test.each([1, 2])('an append of %d streams locks the log before it has a transaction id', async (count) => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  await using client = await connect(database.url)
  await client.query('begin; lock table event_log.event in share mode')
  const appending = Promise.all(newEvents(count).map(async (event) => appended(log, newStream(), [event], 'no_stream')))
  await appendsWaiting(database, 1)

  const { rows } = await appendingConnections(database, `wait_event_type = 'Lock' and backend_xid is null`)

  expect(rows).toHaveLength(1)
  await client.query('rollback')
  await appending
})

test('a stream shows what was appended to it although an older append is open', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  await using client = await connect(database.url)
  await client.query('begin')
  await appendOn(client, newStream(), newEvent())
  const stream = newStream()

  const { position } = await appended(log, stream, newEvents(2))

  expect((await log.read(stream)).at(-1)?.position).toBe(position)
  expect(await log.head()).toBeUndefined()
})

test(
  'while 32 writers append and others write elsewhere, readers miss nothing and repeat nothing',
  { timeout: 120_000 },
  async () => {
    await using database = await preparedDatabase()
    // Four processes' worth of transactions that overlap.
    const logs = Array.from({ length: 4 }, () => openLog(database.url))
    await using reader = openLog(database.url)
    const count = 32 * 60
    const byCursor: RecordedEvent[] = []
    let isWriting = true

    const write = async (log: EventLog) => {
      const stream = newStream()
      for (let revision = -1; revision < 59; revision++)
        await appended(log, stream, newEvents(1), revision < 0 ? 'no_stream' : revision)
    }
    const writing = Promise.all(logs.flatMap((log) => Array.from({ length: 8 }, () => write(log)))).then(() => {
      isWriting = false
    })
    // Some of them begin before an append and end after it, so that each reader meets both ways to tell what is settled.
    const writeElsewhere = async () => {
      await using client = await connect(database.url)
      while (isWriting) await client.query('begin; select pg_current_xact_id(), pg_sleep(random() * 0.05); commit')
    }
    const followCursor = async () => {
      const deadline = Date.now() + 60_000
      while ((isWriting || byCursor.length < count) && Date.now() < deadline)
        byCursor.push(...(await allAfter(reader, byCursor.at(-1)?.position, 100)))
    }
    const [live, , own] = await Promise.all([
      firstEvents(reader, { batchSize: 50 }, count),
      followCursor(),
      firstEvents(logs[0] ?? reader, {}, count),
      writing,
      ...Array.from({ length: 3 }, writeElsewhere),
    ])
    await Promise.all(logs.map((log) => log.close()))

    expect(new Set(idsOf(live)).size).toBe(count)
    for (const seen of [live, own, byCursor]) {
      expect(seen).toHaveLength(count)
      expect(orderOf(seen)).toEqual(orderOf(seen).toSorted())
      expect(idsOf(seen)).toEqual(idsOf(live))
    }
    const revisions = new Map<string, number>()
    for (const { stream, revision } of live) {
      expect(revision).toBe((revisions.get(stream) ?? -1) + 1)
      revisions.set(stream, revision)
    }
  },
)

test(
  'terminated connections lose no acknowledged append, and no reader misses or repeats one',
  { timeout: 120_000 },
  async () => {
    await using database = await preparedDatabase()
    await using log = openLog(database.url)
    await using other = openLog(database.url)
    const acknowledged: string[] = []
    let isWriting = true
    const write = async (writer: EventLog) => {
      const stream = newStream()
      for (let revision = -1; revision < 99; revision++) {
        const events = newEvents(1)
        await appended(writer, stream, events, revision < 0 ? 'no_stream' : revision)
        acknowledged.push(...idsOf(events))
      }
    }
    const drop = async () => {
      let drops = 0
      while (isWriting) {
        const count = acknowledged.length
        await eventually(() => Promise.resolve(acknowledged.length > count + 50 || !isWriting), 'progress after a loss')
        await dropConnections(database.url)
        drops++
      }
      return drops
    }

    const [drops, seen, seenByOther] = await Promise.all([
      drop(),
      firstEvents(log, {}, 800),
      firstEvents(other, { batchSize: 10 }, 800),
      Promise.all([log, other].flatMap((writer) => Array.from({ length: 4 }, () => write(writer)))).finally(() => {
        isWriting = false
      }),
    ])

    expect(drops).toBeGreaterThan(1)
    expect(idsOf(seen).toSorted()).toEqual(acknowledged.toSorted())
    expect(idsOf(seenByOther)).toEqual(idsOf(seen))
    expect(orderOf(seen)).toEqual(orderOf(seen).toSorted())
  },
)

test('a log restored into a server of fewer transactions goes on where it ended', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  const old = newEvents(3)
  for (const event of old) await appended(log, newStream(), [event])
  // Seen from these events, this server is now as young as a new one.
  await database.pool.query('update event_log.event set transaction_id = transaction_id + 1000000000000')
  expect(await log.readAll()).toEqual([])

  await prepareLog(database.pool)
  const before = await firstEvents(log, {}, 3)
  const checkpoint = before.at(-1)?.position
  const events = newEvents(3)
  for (const event of events) await appended(log, newStream(), [event])

  expect(idsOf(before)).toEqual(idsOf(old))
  const after = await firstEvents(log, { ...(checkpoint && { after: checkpoint }) }, 3)
  expect(idsOf(after)).toEqual(idsOf(events))
  expect(idsOf(await firstEvents(log, {}, 6))).toEqual(idsOf([...old, ...events]))
})

test('several processes prepare the log at once, and again at any time', async () => {
  await using database = await testDatabase()

  await Promise.all(Array.from({ length: 8 }, () => prepareLog(database.pool)))
  await using log = openLog(database.url)
  const events = newEvents(2)
  await appended(log, newStream(), events)
  await Promise.all(Array.from({ length: 3 }, () => prepareLog(database.pool)))

  expect(idsOf(await firstEvents(log, {}, 2))).toEqual(idsOf(events))
})

test('for how long events are held back by an open append is measured', async () => {
  await using database = await preparedDatabase()
  await using log = openLog(database.url)
  await using client = await connect(database.url)
  const seconds = () => heldBackSeconds(database.pool)
  await client.query('begin')
  await appendOn(client, newStream(), newEvent())

  await appended(log, newStream(), newEvents(2))

  await expect.poll(seconds, { timeout: 60_000 }).toBeGreaterThan(0)
  await client.query('rollback')
  await expect.poll(seconds, { timeout: 60_000 }).toBe(0)
})
