import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { systemClock } from '#infra/clock.ts'
import { makeLog } from '#infra/log.ts'
import { retentionRules } from '../../projections/retention/projection.ts'
import { tableOf } from '../../projections/table.ts'
import { keepUp } from '../../delivery-worker/recovery/upkeep.ts'
import { connect, deliveryQueue, only, planned, success, type DeliveryQueue } from './queue-fixture.ts'

const log = makeLog('silent', 'test')
const partitions = async ({ pool }: DeliveryQueue) =>
  (
    await pool.query<{ name: string }>(`
      select relname as name from pg_class where relispartition and relkind = 'r' order by relname`)
  ).rows.map(({ name }) => name)

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()

const keptOf = async ({ pool }: DeliveryQueue) =>
  (await pool.query<{ id: string; state: string; attempts: unknown }>('select id, state, attempts from delivery_kept'))
    .rows

/** A delivery of an event of long ago, delivered so many days ago. */
const deliveredLongAgo = async (own: DeliveryQueue, recorded_at: string, finishedDaysAgo: number) => {
  const connection = await connect(own.pool)
  const delivery = planned(connection, { recorded_at })
  await own.enqueue(delivery)
  await own.complete(success(only(await own.claim([connection]))))
  await own.pool.query('update delivery set finished_at = $2 where id = $1', [delivery.id, daysAgo(finishedDaysAgo)])
  return delivery
}

test('makes partitions ahead, so that no delivery has to wait for one', async () => {
  await using own = await deliveryQueue()

  await keepUp({ ...own, log, clock: systemClock, retentionDays: 30, accessDays: 2557 })

  expect((await partitions(own)).filter((name) => /^delivery_\d/.test(name))).toHaveLength(3)
})

test('drops deliveries and attempts that are older than they are kept, as whole partitions', async () => {
  await using own = await deliveryQueue()
  await own.pool.query('insert into delivery_planning default values')
  await deliveredLongAgo(own, daysAgo(60), 60)
  await deliveredLongAgo(own, daysAgo(20), 20)

  await keepUp({ ...own, log, clock: systemClock, retentionDays: 30, accessDays: 2557 })

  expect(await own.rows()).toHaveLength(1)
  expect(await own.attempts()).toHaveLength(1)
  expect(await keptOf(own)).toMatchObject([{ state: 'delivered', attempts: [{ number: 1, status: 200 }] }])
  const { rows } = await own.pool.query<{ dropped_before: Date }>('select dropped_before from delivery_planning')
  expect(rows[0]?.dropped_before.getTime()).toBeGreaterThan(Date.parse(daysAgo(60)))
  expect(rows[0]?.dropped_before.getTime()).toBeLessThan(Date.parse(daysAgo(30)))
})

test('never drops what is pending, nor what was finished lately', async () => {
  await using own = await deliveryQueue()
  await deliveredLongAgo(own, daysAgo(90), 1)
  const pending = planned(await connect(own.pool), { recorded_at: daysAgo(400) })
  await own.enqueue(pending)

  await keepUp({ ...own, log, clock: systemClock, retentionDays: 30, accessDays: 2557 })

  expect(await own.rows()).toHaveLength(2)
})

test('what is pending keeps nothing else: the deliveries of others that ended long ago go, with their attempts', async () => {
  await using own = await deliveryQueue()
  await own.pool.query('insert into delivery_planning default values')
  const recorded_at = daysAgo(60)
  const pending = planned(await connect(own.pool), { recorded_at })
  await own.enqueue(pending)
  const gone = await deliveredLongAgo(own, recorded_at, 59)
  const lately = await deliveredLongAgo(own, recorded_at, 1)

  await keepUp({ ...own, log, clock: systemClock, retentionDays: 30, accessDays: 2557 })
  await keepUp({ ...own, log, clock: systemClock, retentionDays: 30, accessDays: 2557 })

  expect((await own.rows()).map(({ id }) => id).toSorted()).toEqual([pending.id, lately.id].toSorted())
  expect((await own.attempts()).map(({ delivery_id }) => delivery_id)).toEqual([lately.id])
  expect((await keptOf(own)).map(({ id }) => id)).toEqual([gone.id])
  const { rows } = await own.pool.query<{ is_dropped: boolean }>(
    'select dropped_before > $1::timestamptz as is_dropped from delivery_planning',
    [recorded_at],
  )
  expect(rows).toEqual([{ is_dropped: true }])
})

test('forgets subjects about which nothing happened for long, and nothing else', async () => {
  await using own = await deliveryQueue()
  await connect(own.pool)
  await own.pool.query(`
    insert into delivery_known (kind, type, id, organisation_id, facts, learned_at)
    select 'subject', 'application', gen_random_uuid(), gen_random_uuid(), '{}', now() - days * interval '1 day'
    from unnest(array[1, 29, 31, 300]) as days;
    update delivery_known set learned_at = now() - interval '1 year' where kind = 'connection'`)

  await keepUp({ ...own, log, clock: systemClock, retentionDays: 30, accessDays: 2557 })

  const { rows } = await own.pool.query<{ kind: string }>('select kind from delivery_known order by kind')
  expect(rows.map(({ kind }) => kind)).toEqual(['connection', 'subject', 'subject'])
})

test('drops entries of the integration log that are older than they are kept', async () => {
  await using own = await deliveryQueue()
  await own.pool.query(`
    insert into integration_log (connection_id, slot, id, organisation_id, custom_integration_id, direction, at, accepted, reason)
    select gen_random_uuid(), 1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'inbound',
      now() - days * interval '1 day', true, days::text
    from unnest(array[1, 29, 31, 300]) as days`)

  await keepUp({ ...own, log, clock: systemClock, retentionDays: 30, accessDays: 2557 })

  const { rows } = await own.pool.query<{ reason: string }>('select reason from integration_log order by at desc')
  expect(rows.map(({ reason }) => reason)).toEqual(['1', '29'])
})

test('drops those that their organisation keeps for a shorter time since a day or more, and keeps none for longer', async () => {
  await using own = await deliveryQueue()
  const firms = {
    brief: randomUUID(),
    hasty: randomUUID(),
    patient: randomUUID(),
    rested: randomUUID(),
    silent: randomUUID(),
  }
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  const formerUntil = (until: string) => [{ kind: 'integration_log', period: null, until }]
  const former = { [firms.hasty]: formerUntil(inHours(1)), [firms.rested]: formerUntil(inHours(-1)) }
  await own.pool.query(tableOf(retentionRules).create)
  const brief = { integration_log: '7 days' }
  const periods = {
    [firms.brief]: brief,
    [firms.hasty]: brief,
    [firms.rested]: brief,
    [firms.patient]: { integration_log: '24 months' },
  }
  for (const [id, each] of Object.entries({ ...periods, [firms.silent]: { leads: '1 days' } }))
    await own.pool.query('insert into retention_rules (organisation_id, id, document) values ($1, $1, $2)', [
      id,
      { organisation_id: id, periods: each, former: former[id] ?? [] },
    ])
  for (const [name, id] of Object.entries(firms))
    await own.pool.query(
      `insert into integration_log (connection_id, slot, id, organisation_id, custom_integration_id, direction, at, accepted, reason)
      select gen_random_uuid(), 1, gen_random_uuid(), $1, gen_random_uuid(), 'outbound', now() - days * interval '1 day', false,
        $2 || ' ' || days from unnest(array[6, 8, 31]) as days`,
      [id, name],
    )

  await keepUp({ ...own, log, clock: systemClock, retentionDays: 30, accessDays: 2557 })

  const { rows } = await own.pool.query<{ reason: string }>('select reason from integration_log order by reason')
  expect(rows.map(({ reason }) => reason)).toEqual([
    'brief 6',
    'hasty 6',
    'hasty 8',
    'patient 6',
    'patient 8',
    'rested 6',
    'silent 6',
    'silent 8',
  ])
})

describe('what was set up earlier', () => {
  const setUpAt = async (own: DeliveryQueue, source: string, passed: Readonly<Record<string, string | null>>) => {
    await own.pool.query('insert into delivery_planning (source) values ($1)', [source])
    for (const [name, position] of Object.entries(passed))
      await own.pool.query(
        `insert into consumer_checkpoint (name, version, position, categories, awaited) values ($1, 1, $2, '{}', false)`,
        [name, position],
      )
    await own.pool.query(`
      insert into kafka_topic (topic, partitions) values ('events', 3);
      insert into kafka_published (topic, partition, position) values ('events', 0, '6'), ('events', 1, '3'), ('events', 2, null)`)
    await own.pool.query(`
      insert into delivery_set_up (organisation_id, kind, id, position, type, facts)
      select '6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f', 'action', '6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e60', position, 'workflow', '{}'
      from unnest(array['1', '2', '4', '6']) as position`)
    await keepUp({ ...own, log, clock: systemClock, retentionDays: 30, accessDays: 2557 })
    const { rows } = await own.pool.query<{ position: string }>(
      'select position from delivery_set_up order by position',
    )
    return rows.map(({ position }) => position)
  }

  test('is forgotten once every partition has been planned past its successor', async () => {
    await using own = await deliveryQueue()
    const passed = { 'kafka relay events': '9', 'deliveries events 0': '5', 'deliveries events 1': '3' }

    expect(await setUpAt(own, 'kafka events', passed)).toEqual(['4', '6'])
  })

  test('is kept while a partition has not been planned at all', async () => {
    await using own = await deliveryQueue()
    const passed = { 'kafka relay events': '9', 'deliveries events 0': null, 'deliveries events 1': '3' }

    expect(await setUpAt(own, 'kafka events', passed)).toEqual(['1', '2', '4', '6'])
  })

  test('is forgotten behind the planner of the log', async () => {
    await using own = await deliveryQueue()

    expect(await setUpAt(own, 'log', { deliveries: '7', 'deliveries events 0': '1' })).toEqual(['6'])
  })
})

test('forgets messages of the outbox, what was sent again and what reading cost, as long ago as deliveries', async () => {
  await using own = await deliveryQueue()
  const organisation_id = '0d9f6a4e-0000-4000-8000-000000000001'
  for (const days of [29, 31]) {
    await own.pool.query(
      `insert into outreach_outbox (organisation_id, id, contact_id, channel, sent_at, key_id, sealed)
       values ($1, gen_random_uuid(), gen_random_uuid(), 'email', now() - make_interval(days => $2), gen_random_uuid(), '')`,
      [organisation_id, days],
    )
    await own.pool.query(
      `insert into delivery_recovery (id, organisation_id, requested_at, states, since, until, per_second, after_recorded_at, finished_at)
       values (gen_random_uuid(), $1, now(), '{failed}', now(), now(), 1, now(), now() - make_interval(days => $2))`,
      [organisation_id, days],
    )
    await own.pool.query(`insert into reading_use values ($1, now()::date - $2::integer, 1, 1)`, [
      organisation_id,
      days + 370,
    ])
  }
  // One that is not done yet stays, however old it is.
  await own.pool.query(
    `insert into delivery_recovery (id, organisation_id, requested_at, states, since, until, per_second, after_recorded_at)
     values (gen_random_uuid(), $1, now() - interval '1 year', '{failed}', now(), now(), 1, now())`,
    [organisation_id],
  )

  await keepUp({ ...own, log, clock: systemClock, retentionDays: 30, accessDays: 2557 })

  const count = async (table: string) => (await own.pool.query(`select from ${table}`)).rowCount
  expect([await count('outreach_outbox'), await count('delivery_recovery'), await count('reading_use')]).toEqual([
    1, 2, 1,
  ])
})

test('makes the months of accesses ahead, and drops those that are no longer kept', async () => {
  await using own = await deliveryQueue()
  const months = async () =>
    (await partitions(own)).filter((name) => name.startsWith('access_record_')).map((name) => name.slice(14))
  const monthOf = (at: Date) => at.toISOString().slice(0, 7).replace('-', '_')
  for (const days of [100, 29, 0]) await own.pool.query('select access_partition($1::timestamptz)', [daysAgo(days)])

  await keepUp({ ...own, log, clock: systemClock, retentionDays: 30, accessDays: 30 })

  const now = new Date()
  const ahead = [1, 2].map((count) => monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + count, 1))))
  expect(await months()).toEqual([...new Set([monthOf(new Date(daysAgo(29))), monthOf(now), ...ahead])])
  expect((await partitions(own)).filter((name) => name.startsWith('access_subject_'))).toHaveLength(
    (await months()).length,
  )
})
