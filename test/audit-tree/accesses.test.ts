import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { AccessEntry } from '#infra/audit-tree/access-digest.ts'
import { ofInstallation, type Access } from '#infra/access-records/access.ts'
import { makeRecordAccess } from '#infra/access-records/recorder.ts'
import { sql, type Query } from '#infra/postgres/postgres.ts'
import { verifyAccesses } from '../../cli/audit/verify-accesses.ts'
import { keepAccesses } from '../../delivery-worker/recovery/keep-accesses.ts'
import { auditFixture, organisations } from './fixture.ts'

const [one, two] = organisations
const keptDays = 2_557

const accessOf = (organisation_id: string): Access => ({
  id: randomUUID(),
  organisation_id,
  actor_type: 'operator',
  actor_id: 'ada',
  method: 'GET',
  route: '/admin/v1/policies',
  record_type: 'policies',
  record_ids: [randomUUID()],
  rows_shown: 1,
  personal: null,
  filters: ['policy_number'],
  request_id: randomUUID(),
})

type Fixture = Awaited<ReturnType<typeof auditFixture>>

/** Records accesses that have the age at which they come into the audit log. */
const look = async (the: Fixture, organisation_id: string, count = 1, age = '40 hours') => {
  const record = makeRecordAccess(the.pool)
  const accesses = Array.from({ length: count }, () => accessOf(organisation_id))
  await Promise.all(accesses.map(record))
  await the.pool.query(sql`
    with moved as (update access_record set at = at - ${age}::interval where id = any (${accesses.map(({ id }) => id)}::uuid[]))
    update access_subject set at = at - ${age}::interval where access_id = any (${accesses.map(({ id }) => id)}::uuid[])`)
}

const entriesOf = async (the: Fixture) => {
  const { rows } = await the.pool.query<{ organisation_id: string | null; record: string }>(sql`
    select organisation_id, record from audit_leaf join audit_tree on tree_id = audit_tree.id
    where record is not null and generation = (select max(generation) from audit_generation) order by index, organisation_id`)
  return rows.map(({ organisation_id, record }) => ({ organisation_id, ...AccessEntry.parse(JSON.parse(record)) }))
}

const untilEntries = (the: Fixture, wanted: number) =>
  vi.waitUntil(async () => (await entriesOf(the)).length >= wanted, { timeout: 30_000, interval: 10 })

/** The reasons that an audit gives after a change that is then undone. */
const reasonsAfter = async (the: Fixture, change: Query, days = keptDays) => {
  const db = await the.pool.connect()
  try {
    await db.query('begin')
    await db.query(change)
    return (await verifyAccesses(db, days)).findings.map(({ reason }) => reason)
  } finally {
    await db.query('rollback')
    db.release()
  }
}

test('accesses have an entry in the audit log of their organisation, and any change of them is found', async () => {
  await using the = await auditFixture()
  await the.append(one)
  await the.pool.query(
    `select access_partition(now() - interval '100 days'), access_partition(now() - interval '2 days')`,
  )
  await look(the, one, 1, '100 days')
  await look(the, one, 3)
  await look(the, two)
  await look(the, ofInstallation)
  await look(the, one, 2, '1 hour')
  the.start()
  await untilEntries(the, 5)
  await the.untilSigned(6)
  // Those of now come in later.
  await makeRecordAccess(the.pool)(accessOf(one))

  const entries = await entriesOf(the)
  expect(entries.map(({ organisation_id, accesses }) => [organisation_id, accesses])).toEqual(
    expect.arrayContaining([
      [one, 1],
      [one, 3],
      [two, 1],
      [null, 1],
      [one, 2],
    ]),
  )
  expect(await the.verify()).toMatchObject({ leaves: 6, findings: [] })
  expect(await verifyAccesses(the.pool, keptDays)).toEqual({ accesses: 8, droppedUntil: null, findings: [] })

  const [old, former, latter] = entries.filter(({ organisation_id }) => organisation_id === one)
  const ofEntry = sql`at >= ${former?.since} and at < ${former?.until} and organisation_id = ${one}`
  const changed = `the accesses from ${former?.since} until ${former?.until} are not those that were recorded`
  const asOf = (set: string): Query => ({
    text: `update access_record set ${set} where ${ofEntry.text}`,
    values: ofEntry.values,
  })
  for (const set of [
    `actor_id = 'somebody else'`,
    `record_ids = '{}'`,
    `rows_shown = 0`,
    `filters = '{}'`,
    `at = at + interval '1 millisecond'`,
    `personal = 'masked'`,
  ])
    expect([set, ...(await reasonsAfter(the, asOf(set)))]).toEqual([set, expect.stringContaining(changed)])
  expect(
    await reasonsAfter(the, { text: `delete from access_record where ${ofEntry.text}`, values: ofEntry.values }),
  ).toEqual([expect.stringContaining(changed)])
  // Put in between two entries.
  const putIn = sql`
    insert into access_record select gen_random_uuid(), ${former?.until}::timestamptz, organisation_id, actor_type, actor_id, method,
      route, record_type, record_ids, rows_shown, personal, filters, request_id from access_record where at >= ${latter?.since} limit 1`
  expect(await reasonsAfter(the, putIn)).toEqual([
    expect.stringMatching(/^leaf \d+: 1 accesses have no entry before it$/),
  ])
  // Months that are kept no longer go.
  const forgotten = sql`delete from access_record where at < ${former?.since}`
  expect(await reasonsAfter(the, forgotten)).toEqual([expect.stringContaining(`from ${old?.since}`)])
  expect(await reasonsAfter(the, forgotten, 50)).toEqual([])
})

test('months that were dropped while accesses were kept for less are not missed, and one that is there is', async () => {
  await using the = await auditFixture()
  await the.append(one)
  await the.pool.query(`
    select access_partition(now() - interval '100 days'), access_partition(now() - interval '2 days')`)
  await look(the, one, 1, '100 days')
  await look(the, one, 3)
  the.start()
  await untilEntries(the, 2)
  await the.untilSigned(3)
  const [oldest] = await entriesOf(the)
  const since = oldest?.since ?? ''
  const month = since.slice(0, 7).replace('-', '_')

  const saysDropped = sql`
    with gone as (delete from access_record where at < now() - interval '90 days')
    insert into access_month_dropped (month) values (${month})`
  expect(await reasonsAfter(the, saysDropped)).toEqual([expect.stringContaining(`the accesses from ${since}`)])

  await keepAccesses({ pool: the.pool, log: pino({ level: 'silent' }), accessDays: 50 })
  const { accesses, droppedUntil, findings } = await verifyAccesses(the.pool, keptDays)
  expect({ accesses, findings }).toEqual({ accesses: 3, findings: [] })
  expect(Date.parse(droppedUntil ?? '')).toBeGreaterThan(Date.parse(since))
})
