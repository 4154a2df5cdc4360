import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { DeliveryRecoveryId, deliveryRecoveryEvents, type DeliveryRecoveryEvent } from '#domain/deliveries/events.ts'
import { OrganisationId } from '#domain/values.ts'
import { transaction } from '#infra/postgres/postgres.ts'
import { capabilities } from '../../delivery-worker/capabilities.ts'
import { operate } from '../../delivery-worker/recovery/operations.ts'
import { recoverStep } from '../../delivery-worker/recovery/recovery.ts'
import { recorded } from '../recorded.ts'
import { organisation_id } from './applications.ts'
import {
  connect,
  deliveryQueue,
  failure,
  only,
  planned,
  retried,
  success,
  type DeliveryQueue,
} from './queue-fixture.ts'

const asked = (changes: Partial<DeliveryRecoveryEvent> = {}): DeliveryRecoveryEvent => ({
  type: 'DeliveryRecoveryRequested',
  delivery_recovery_id: DeliveryRecoveryId.parse(randomUUID()),
  organisation_id: OrganisationId.parse(organisation_id),
  delivery_id: null,
  connection_id: null,
  types: null,
  states: ['failed'],
  since: '2026-01-01T00:00:00.000Z',
  until: '2030-01-01T00:00:00.000Z',
  per_second: 1_000,
  enables: false,
  ...changes,
})

/** The planner takes the request in. */
const request = async ({ pool }: DeliveryQueue, event: DeliveryRecoveryEvent) =>
  transaction(pool, (db) =>
    operate(db, recorded(deliveryRecoveryEvents, `delivery_recovery-${event.delivery_recovery_id}`, [event])),
  )

const recoverAll = async ({ pool }: DeliveryQueue) => {
  let resent = 0
  for (let step = await recoverStep(pool, capabilities); step.worked; step = await recoverStep(pool, capabilities))
    resent += step.resent
  return resent
}

const states = async (own: DeliveryQueue) => (await own.rows()).map(({ state }) => state).toSorted()

/** Deliveries of one connection that ended like this. */
const ended = async (own: DeliveryQueue, end: typeof failure, count = 1, changes = {}) => {
  const connection = await connect(own.pool)
  const deliveries = Array.from({ length: count }, () => planned(connection, changes))
  await own.enqueue(...deliveries)
  await own.complete(...(await own.claim([connection], count)).map(end))
  return { connection, deliveries }
}

describe('what failed', () => {
  test('is sent again with the same id, which is its Idempotency-Key, and has five new attempts', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    const delivery = planned(connection)
    await own.enqueue(delivery)
    for (let attempt = 1; attempt < 5; attempt++) {
      await own.complete(retried(only(await own.claim([connection])), 0))
      await own.passTime(1)
    }
    await own.complete(failure(only(await own.claim([connection]))))

    await request(own, asked())
    await recoverAll(own)

    expect(await own.rows()).toMatchObject([{ id: delivery.id, state: 'pending', reason: null, sent: 0 }])
    expect(await own.claim([connection])).toMatchObject([{ id: delivery.id, number: 6, sent: 0, unsent: 0 }])
  })

  test('can be chosen by connection, type, time and id', async () => {
    await using own = await deliveryQueue()
    const one = await ended(own, failure, 2, { type: 'quote.issued' })
    const other = await ended(own, failure, 2, { type: 'policy.bound' })
    const resentBy = async (changes: Partial<DeliveryRecoveryEvent>) => {
      await request(own, asked(changes))
      await recoverAll(own)
      const pending = (await own.rows()).filter(({ state }) => state === 'pending').map(({ id }) => id)
      for (const { connection } of [one, other]) await own.complete(...(await own.claim([connection])).map(failure))
      return pending.toSorted()
    }
    const idsOf = ({ deliveries }: typeof one) => deliveries.map(({ id }) => id).toSorted()

    expect(await resentBy({ connection_id: one.connection })).toEqual(idsOf(one))
    expect(await resentBy({ types: ['policy.bound'] })).toEqual(idsOf(other))
    expect(await resentBy({ delivery_id: one.deliveries[0]?.id ?? '', since: null })).toEqual([one.deliveries[0]?.id])
    expect(await resentBy({ since: '2026-03-01T10:00:00.001Z' })).toEqual([])
    expect(await resentBy({ until: '2026-03-01T09:59:59.999Z' })).toEqual([])
    expect(await resentBy({})).toHaveLength(4)
  })

  test('of another organisation is left alone', async () => {
    await using own = await deliveryQueue()
    await ended(own, failure)

    await request(own, asked({ organisation_id: OrganisationId.parse(randomUUID()) }))

    expect(await recoverAll(own)).toBe(0)
    expect(await states(own)).toEqual(['failed'])
  })

  test('is not sent over a connection that was removed, and that is counted', async () => {
    await using own = await deliveryQueue()
    const { connection } = await ended(own, failure)
    await own.pool.query(`update delivery_known set facts = '{"removed":true}' where id = $1`, [connection])

    await request(own, asked())
    await recoverAll(own)

    expect(await states(own)).toEqual(['failed'])
    expect(await recoveries(own)).toMatchObject([{ resent: 0, skipped: 1, finished: true }])
  })
})

test('what is sent again over a connection that sends in order waits for what is about the same record and comes before it', async () => {
  await using own = await deliveryQueue()
  const connection = await connect(own.pool)
  const stream = 'application-00000000-0000-4000-8000-000000000001'
  const deliveries = ['1', '2', '3'].map((position) => planned(connection, { stream, position }))
  const other = planned(connection, { position: '4' })
  await own.enqueue(...deliveries, other)
  await own.complete(...(await own.claim([connection])).map(failure))
  await own.pool.query(
    'insert into delivery_setting (connection_id, organisation_id, in_order) values ($1, $2, true)',
    [connection, organisation_id],
  )

  await request(own, asked())
  await recoverAll(own)
  const sent: string[][] = []
  for (let round = 0; round < 3; round++) {
    const claims = await own.claim([connection])
    sent.push(claims.map(({ id }) => id).toSorted())
    await own.complete(...claims.map(success))
  }

  const [first = '', second = '', third = ''] = deliveries.map(({ id }) => id)
  expect(sent).toEqual([[first, other.id].toSorted(), [second], [third]])
})

const recoveries = async ({ pool }: DeliveryQueue) =>
  (
    await pool.query<{ resent: number; skipped: number; finished: boolean }>(
      'select resent, skipped, finished_at is not null as finished from delivery_recovery order by requested_at',
    )
  ).rows

test('what was delivered is sent again only if that is asked for', async () => {
  await using own = await deliveryQueue()
  await ended(own, success)

  await request(own, asked({ states: ['failed', 'cancelled'] }))
  const unasked = await recoverAll(own)
  await request(own, asked({ states: ['delivered'] }))

  expect(unasked).toBe(0)
  expect(await recoverAll(own)).toBe(1)
  expect(await states(own)).toEqual(['pending'])
})

test('the same request twice is carried out once', async () => {
  await using own = await deliveryQueue()
  await ended(own, success, 3)
  const twice = asked({ states: ['delivered'] })

  await request(own, twice)
  const first = await recoverAll(own)
  const { rows } = await own.pool.query<{ connection_id: string }>('select connection_id from delivery limit 1')
  await own.complete(...(await own.claim([rows[0]?.connection_id ?? ''])).map(success))
  await request(own, twice)

  expect(first).toBe(3)
  expect(await recoverAll(own)).toBe(0)
  expect(await states(own)).toEqual(['delivered', 'delivered', 'delivered'])
})

test('several requests at once, carried out by several workers, put each delivery back once', async () => {
  await using own = await deliveryQueue()
  const { connection } = await ended(own, failure, 60)
  for (let each = 0; each < 3; each++) await request(own, asked())

  const workers = Array.from({ length: 6 }, async () => {
    let resent = 0
    for (let step = 0; step < 4; step++) resent += (await recoverStep(own.pool, capabilities)).resent
    return resent
  })
  const resent = (await Promise.all(workers)).reduce((sum, each) => sum + each, 0)

  expect(resent).toBe(60)
  expect(await own.claim([connection], 100)).toHaveLength(60)
})

test('a request that cannot be carried out holds up no other, and is tried again later', async () => {
  await using own = await deliveryQueue()
  await ended(own, failure, 5)
  const broken = asked()
  await request(own, broken)
  await own.pool.query(`update delivery_recovery set per_second = 0 where id = $1`, [broken.delivery_recovery_id])
  await request(own, asked())

  const first = await recoverStep(own.pool, capabilities)
  const second = await recoverStep(own.pool, capabilities)

  expect(first).toMatchObject({ worked: true, resent: 0, failure: { code: expect.any(String) as unknown } })
  expect(second).toEqual({ worked: true, resent: 5 })
  expect(await recoverStep(own.pool, capabilities)).toEqual({ worked: false, resent: 0 })
  const { rows } = await own.pool.query('select id from delivery_recovery where finished_at is null')
  expect(rows).toEqual([{ id: broken.delivery_recovery_id }])
})

test('no more are put back in a second than was asked for, and the next step begins where this one ended', async () => {
  await using own = await deliveryQueue()
  await ended(own, failure, 25)
  await request(own, asked({ per_second: 10 }))
  const step = () => recoverStep(own.pool, capabilities)
  const passSecond = () => own.pool.query(`update delivery_recovery set next_at = next_at - interval '1 second'`)

  const first = await step()
  const tooEarly = await step()
  await passSecond()
  const second = await step()
  await passSecond()
  const third = await step()

  expect([first, tooEarly, second, third]).toEqual([
    { worked: true, resent: 10 },
    { worked: false, resent: 0 },
    { worked: true, resent: 10 },
    { worked: true, resent: 5 },
  ])
  expect(await recoveries(own)).toEqual([{ resent: 25, skipped: 0, finished: true }])
})

test('a worker that is killed in a step leaves it undone, and the next one does it', async () => {
  await using own = await deliveryQueue()
  await ended(own, failure, 5)
  await request(own, asked())
  const dying = {
    ...capabilities,
    get subjects(): never {
      throw new Error('killed')
    },
  }

  await expect(recoverStep(own.pool, dying)).rejects.toThrow('killed')

  expect(await states(own)).toEqual(Array(5).fill('failed'))
  expect(await recoverAll(own)).toBe(5)
})

test('an end that is reported late, of an attempt before, changes nothing of what is sent again', async () => {
  await using own = await deliveryQueue()
  const connection = await connect(own.pool)
  await own.enqueue(planned(connection))
  const first = only(await own.claim([connection]))
  await own.complete(failure(first))
  await request(own, asked())
  await recoverAll(own)

  await own.complete(failure(first))

  expect(await own.rows()).toMatchObject([{ state: 'pending', sent: 0 }])
})
