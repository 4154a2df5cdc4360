import { randomInt } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { headText, readHead } from '#infra/audit-tree/checkpoint-text.ts'
import { leafRecord } from '#infra/audit-tree/leaf-record.ts'
import { leafHash } from '#infra/audit-tree/merkle.ts'
import { openNote, verifierOf } from '#infra/audit-tree/signed-note.ts'
import { appended, emptyEdge, rootOfEdge } from '#infra/audit-tree/tiles.ts'
import { eventStoreDbLog } from '#infra/event-log/eventstoredb/eventstoredb-log.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { startEventStoreDb } from '../eventstoredb/server.ts'
import { beginNewLog } from '../../cli/audit/new-log.ts'
import { newStream } from '../event-log/events.ts'
import { auditFixture, eventOf, organisations, publicKeys } from './fixture.ts'

type Signed = { readonly origin: string; readonly note: string }

/** The newest checkpoint of each log, as it was signed. */
const headsOf = async (the: Awaited<ReturnType<typeof auditFixture>>) => {
  const { rows } = await the.pool.query<Signed>(sql`
    select distinct on (tree_id) origin, note from audit_checkpoint join audit_tree on audit_tree.id = tree_id
    order by tree_id, audit_checkpoint.size desc`)
  return rows.map(({ origin, note }) => {
    const [key] = publicKeys
    if (!key) throw new Error('There is no key.')
    return readHead(openNote(note, [verifierOf(origin, key)])?.text ?? '')
  })
}

/** The root of an organisation's events, worked out from the log alone. */
const rootOf = async (the: Awaited<ReturnType<typeof auditFixture>>, organisation: string | null) => {
  const events = (await the.events()).filter(({ metadata }) => metadata.organisation_id === organisation)
  return rootOfEdge(
    appended(
      emptyEdge,
      events.map((event) => leafHash(leafRecord(event))),
    ).edge,
  )
}

const [one, two] = organisations

test('events from before the first start and later ones are signed, for each organisation and for the installation', async () => {
  await using the = await auditFixture()
  await the.append(one, 300)
  await the.append(null, 2)
  the.start()
  await the.untilSigned(302)
  await the.append(two, 3)
  await the.append(one, 1)
  await the.untilSigned(306)

  expect(await headsOf(the)).toEqual([
    { origin: `audit.test/audit/${one}`, size: 301, root: await rootOf(the, one) },
    { origin: 'audit.test/audit/installation', size: 2, root: await rootOf(the, null) },
    { origin: `audit.test/audit/${two}`, size: 3, root: await rootOf(the, two) },
  ])
  expect(await the.verify()).toMatchObject({ logs: 3, leaves: 306, waiting: 0, findings: [] })
})

test('over EventStoreDB the leaves are those of its own events, in its order', async () => {
  await using server = await startEventStoreDb()
  await using the = await auditFixture(eventStoreDbLog(server.url))
  await the.append(one, 5)
  the.start()
  await the.append(null, 2)
  await the.append(one, 260)
  await the.untilSigned(267)

  expect(await headsOf(the)).toEqual([
    { origin: `audit.test/audit/${one}`, size: 265, root: await rootOf(the, one) },
    { origin: 'audit.test/audit/installation', size: 2, root: await rootOf(the, null) },
  ])
  expect(await the.verify()).toMatchObject({ leaves: 267, findings: [] })
})

test('of two processes one signs, and the other goes on where it ends', async () => {
  await using the = await auditFixture()
  await the.append(one, 10)
  const first = the.start()
  await the.untilSigned(10)
  const second = the.start()
  await the.append(one, 10)
  await the.untilSigned(20)
  expect(second.check()).toEqual({ name: 'audit log', ok: true, detail: 'standing by' })

  await first.stop()
  await the.append(one, 10)
  await the.untilSigned(30)

  expect(second.check()).toEqual({ name: 'audit log', ok: true, detail: 'signing' })
  expect(await the.verify()).toMatchObject({ leaves: 30, findings: [] })
})

test('without a key the trees are filled, nothing is signed, and health says so', async () => {
  await using the = await auditFixture()
  await the.append(one, 10)
  const unsigned = the.start({ AUDIT_KEY: undefined })

  await vi.waitUntil(async () => (await the.verify()).leaves === 10, { timeout: 60_000 })

  expect(unsigned.check()).toEqual({ name: 'audit log', ok: true, detail: 'nothing is signed: AUDIT_KEY is not set' })
  expect(await the.verify()).toMatchObject({ checkpoints: 0, findings: [] })
  await unsigned.stop()
  the.start()
  await the.untilSigned(10)
  expect(await the.verify()).toMatchObject({ checkpoints: 1, findings: [] })
})

test('a process whose connections are cut off at any moment leaves nothing out and takes nothing in twice', async () => {
  await using the = await auditFixture()
  the.start()
  the.start()
  for (let round = 0; round < 12; round++) {
    await the.append(round % 2 === 0 ? one : two, 25)
    await the.pool.query(sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name like 'audit%'`)
  }

  await the.untilSigned(300)

  expect(await the.verify()).toMatchObject({ leaves: 300, waiting: 0, findings: [] })
})

test('a tree that does not begin with what was signed is not signed again, and health says which', async () => {
  await using the = await auditFixture()
  await the.append(one, 3)
  const before = the.start()
  await the.untilSigned(3)
  await before.stop()
  await the.pool.query(sql`update audit_checkpoint set root = sha256('other')`)
  await the.append(one, 1)
  await the.append(two, 1)

  const process = the.start()
  await the.untilSigned(4)

  const detail = `not signed: audit.test/audit/${one}: its 4 leaves do not begin with the 3 that were signed`
  await vi.waitUntil(() => process.check().detail === detail, { timeout: 60_000 })
  expect(process.check().ok).toBe(false)
  expect(process.lines.filter(({ msg }) => String(msg).startsWith('an audit log is not signed'))).toHaveLength(1)
  expect((await headsOf(the)).map((head) => head?.size)).toEqual([3, 1])
})

test('a tree that is smaller than what was signed is not signed', async () => {
  await using the = await auditFixture()
  await the.append(one, 3)
  const before = the.start()
  await the.untilSigned(3)
  await before.stop()
  await the.pool.query(sql`update audit_checkpoint set size = 300`)
  await the.append(one, 1)

  const process = the.start()

  const detail = `not signed: audit.test/audit/${one}: it has 4 leaves, and 300 were signed`
  await vi.waitUntil(() => process.check().detail === detail, { timeout: 60_000 })
  expect((await headsOf(the)).map((head) => head?.size)).toEqual([3])
})

test.each([
  ['signed_size = 0', 'its 3 leaves were signed, and it says otherwise'],
  ['size = -5', 'it has -5 leaves, and 3 were signed'],
])('a tree that was altered (%s) stops no other, and health says which', async (change, reason) => {
  await using the = await auditFixture()
  await the.append(one, 3)
  await the.append(two, 2)
  const before = the.start()
  await the.untilSigned(5)
  await before.stop()
  await the.pool.query(`update audit_tree set ${change} where organisation_id = '${one}'`)
  await the.append(two, 1)

  const process = the.start()

  const detail = `not signed: audit.test/audit/${one}: ${reason}`
  await vi.waitUntil(() => process.check().detail === detail, { timeout: 60_000 })
  const signedOfTwo = async () =>
    (await headsOf(the)).some((head) => head?.origin === `audit.test/audit/${two}` && head.size === 3)
  await vi.waitUntil(signedOfTwo, { timeout: 60_000 })
  expect(process.check()).toMatchObject({ ok: false, detail })
})

test('logs that begin again take all events in again, and name the last checkpoint of the one before', async () => {
  await using the = await auditFixture()
  await the.append(one, 3)
  await the.append(null, 1)
  the.start()
  await the.untilSigned(4)
  const [former] = await headsOf(the)

  expect(await beginNewLog(the.pool, 'restored from the backup of Tuesday')).toBe(2)
  await the.append(two, 1)
  await the.untilSigned(7)

  const { rows } = await the.pool.query<{ origin: string; size: string; record: string | null }>(sql`
    select origin, size, record from audit_tree left join audit_leaf on tree_id = id and index = 0
    where generation = 2 order by id`)
  expect(rows.map(({ origin, size }) => [origin, size])).toEqual([
    [`audit.test/audit/${one}/2`, '4'],
    ['audit.test/audit/installation/2', '2'],
    [`audit.test/audit/${two}/2`, '1'],
  ])
  const record: unknown = JSON.parse(rows[0]?.record ?? '')
  expect(record).toMatchObject({ kind: 'new_log', because: 'restored from the backup of Tuesday' })
  expect(rows[0]?.record).toContain(former && JSON.stringify(headText(former)).slice(1, -1))
  expect(Buffer.byteLength(rows[0]?.record ?? '')).toBeLessThan(1_000)
  expect(await the.verify()).toMatchObject({ leaves: 7, findings: [] })
})

test.each([
  [
    'an event that was changed',
    `update event_log.event set data = '{"premium_pence":30000}' where revision = 7`,
    'leaf 7:',
  ],
  ['an event that was taken out', 'delete from event_log.event where revision = 7', 'leaf 7:'],
  ['an entry that was taken out of the index', 'delete from audit_leaf where index = 7', 'leaf 7:'],
  [
    'a tile that was changed',
    'update audit_tile set hashes = set_byte(hashes, 230, get_byte(hashes, 230) # 1)',
    'leaf 7:',
  ],
  ['a checkpoint that was changed', 'update audit_checkpoint set root = sha256(root)', 'checkpoint 20:'],
  ['a checkpoint that was taken out', 'delete from audit_checkpoint', 'checkpoint 20:'],
])('an audit finds %s, and names the first place', async (_, statement, place) => {
  await using the = await auditFixture()
  await the.append(one, 20)
  const process = the.start()
  await the.untilSigned(20)
  await process.stop()
  expect((await the.verify()).findings).toEqual([])

  await the.pool.query(statement)

  const { findings } = await the.verify()
  expect(findings.map(({ origin, reason }) => [origin, reason.slice(0, place.length)])).toEqual([
    [`audit.test/audit/${one}`, place],
  ])
})

test('the same events make the same leaves on both logs', async () => {
  await using server = await startEventStoreDb()
  await using here = await auditFixture()
  await using there = await auditFixture(eventStoreDbLog(server.url))
  const stream = newStream()
  const values = {
    text: 'é \u2028 "',
    numbers: [0, -0, 1e21, 0.1, 1e-7],
    nested: { b: null, a: [{}] },
    '\u20ac': 1,
    $personal: 'x',
  }
  const events = [eventOf(one, values), eventOf(null, {})]
  for (const { log } of [here, there]) await log.append(stream, 'any', events)

  const [ours, theirs] = await Promise.all([here.events(), there.events()])

  const recorded_at = new Date()
  const recordsOf = (all: typeof ours) => all.map((event) => String(leafRecord({ ...event, recorded_at })))
  expect(recordsOf(ours)).toHaveLength(2)
  expect(recordsOf(theirs)).toEqual(recordsOf(ours))
})

test('a leaf has the millisecond in which its event was recorded, whenever that is', async () => {
  await using the = await auditFixture()
  const events = Array.from({ length: 1_000 }, () => eventOf(one))
  await the.log.append(newStream(), 'any', events)
  // Among them times of 2004 and 2038, whose fractions are the least exact in binary.
  const spans = [
    [Date.UTC(2004, 0, 1), Date.UTC(2004, 10, 1)],
    [Date.UTC(2038, 1, 1), Date.UTC(2039, 8, 1)],
    [Date.UTC(2020, 0, 1), Date.UTC(2100, 0, 1)],
  ] as const
  const expected = new Map(
    events.map(({ id }, place) => {
      const [from, until] = spans[place % 3] ?? spans[0]
      return [id, randomInt(from, until)] as const
    }),
  )
  await the.pool.query(sql`
    update event_log.event as event
    set recorded_at = timestamptz 'epoch' + ms * interval '1 ms' + micros * interval '1 us'
    from unnest(${[...expected.keys()]}::uuid[], ${[...expected.values()]}::bigint[], ${events.map((_, place) => (place % 4) * 333)}::integer[])
      as given (id, ms, micros)
    where event.id = given.id`)

  const read = await the.events()

  expect(new Map(read.map((event) => [event.id, event.recorded_at.getTime()]))).toEqual(expected)
})

test('a process that has lost the trees to another one signs nothing more', async () => {
  await using the = await auditFixture()
  await the.append(one, 3)
  const process = the.start()
  await the.untilSigned(3)
  await the.pool.query(sql`update consumer_checkpoint set generation = generation + 1 where name = 'audit'`)

  await the.append(one, 1)
  await the.untilSigned(4)

  expect(
    process.lines.map(({ error }) => (error as { message?: string } | undefined)?.message ?? error),
  ).toContainEqual(expect.stringContaining('Another process fills the audit log.'))
  expect(await the.verify()).toMatchObject({ leaves: 4, findings: [] })
})
