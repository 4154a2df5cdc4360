import { describe, expect, test } from 'vitest'
import { deliveryRecoveryEvents, DeliveryRecoveryId, deliverySettingsEvents } from '#domain/deliveries/events.ts'
import { noDeliverySettings, type DeliverySettings } from '#domain/deliveries/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { transaction } from '#infra/postgres/postgres.ts'
import { candidateSearch, recordHealth } from '../../delivery-worker/endpoints/endpoints.ts'
import { operate } from '../../delivery-worker/recovery/operations.ts'
import { claim, releaseInOrder } from '../../delivery-worker/sending/queue.ts'
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

const organisation = OrganisationId.parse(organisation_id)

const set = ({ pool }: DeliveryQueue, connection_id: string, settings: Partial<DeliverySettings>) =>
  transaction(pool, (db) =>
    operate(
      db,
      recorded(deliverySettingsEvents, `delivery_settings-${connection_id}`, [
        {
          type: 'DeliverySettingsChanged',
          organisation_id: organisation,
          connection_id,
          ...noDeliverySettings,
          ...settings,
        },
      ]),
    ),
  )

const claimLimited = ({ pool }: DeliveryQueue, connection_id: string, room = 100) =>
  claim(pool, [{ organisation_id, connection_id, room, standing: 'closed', limited: true }])

const candidates = async ({ pool }: DeliveryQueue) =>
  (await candidateSearch(pool).find(true)).map(({ connection_id }) => connection_id)

describe('a connection with a rate', () => {
  const withRate = async (own: DeliveryQueue, per_second: number) => {
    const connection = await connect(own.pool)
    await set(own, connection, { per_second })
    await own.enqueue(...Array.from({ length: 50 }, () => planned(connection)))
    return connection
  }
  const passSeconds = ({ pool }: DeliveryQueue, seconds: number) =>
    pool.query('update delivery_setting set next_at = next_at - make_interval(secs => $1)', [seconds])

  test('is sent no more in a second, and is not asked again before there is room', async () => {
    await using own = await deliveryQueue()
    const connection = await withRate(own, 10)

    const first = await claimLimited(own, connection)
    // However long the machine takes.
    await passSeconds(own, -3_600)
    const atOnce = await claimLimited(own, connection)
    const asked = await candidates(own)
    await passSeconds(own, 3_700)
    const later = await claimLimited(own, connection)

    expect([first.length, atOnce.length, later.length]).toEqual([10, 0, 10])
    expect(asked).toEqual([])
  })

  test('below one a second sends one at a time', async () => {
    await using own = await deliveryQueue()
    const connection = await withRate(own, 0.1)

    const first = await claimLimited(own, connection)
    await passSeconds(own, 5)
    const early = await claimLimited(own, connection)
    await passSeconds(own, 5)
    const due = await claimLimited(own, connection)

    expect([first.length, early.length, due.length]).toEqual([1, 0, 1])
  })

  test('keeps to it although several workers send', async () => {
    await using own = await deliveryQueue()
    const connection = await withRate(own, 0.1)

    const claims = await Promise.all(Array.from({ length: 8 }, () => claimLimited(own, connection)))

    expect(claims.flat()).toHaveLength(1)
  })
})

test('a connection sends no more at once than was set, whichever worker claims', async () => {
  await using own = await deliveryQueue()
  const connection = await connect(own.pool)
  await set(own, connection, { at_once: 3 })
  await own.enqueue(...Array.from({ length: 10 }, () => planned(connection)))

  const claims = (await Promise.all(Array.from({ length: 8 }, () => claimLimited(own, connection)))).flat()
  const [ended] = claims
  if (ended) await own.complete(success(ended))

  expect(claims).toHaveLength(3)
  expect(await claimLimited(own, connection)).toHaveLength(1)
})

describe('a connection that sends in order', () => {
  const stream = 'application-00000000-0000-4000-8000-000000000001'
  const inOrder = async (own: DeliveryQueue) => {
    const connection = await connect(own.pool)
    await set(own, connection, { in_order: true })
    const deliveries = ['1', '2', '3'].map((position) => planned(connection, { stream, position }))
    return { connection, deliveries, ids: deliveries.map(({ id }) => id) }
  }
  const claimIds = async (own: DeliveryQueue, connection: string) => (await own.claim([connection])).map(({ id }) => id)

  test('sends what is about one record one after the other, and about others meanwhile', async () => {
    await using own = await deliveryQueue()
    const { connection, deliveries, ids } = await inOrder(own)
    const other = planned(connection, { position: '4' })
    await own.enqueue(...deliveries, other)

    const first = await own.claim([connection])
    const [head] = first.filter(({ id }) => id !== other.id)
    if (head) await own.complete(success(head))
    const second = await claimIds(own, connection)

    expect(first.map(({ id }) => id).toSorted()).toEqual(
      [ids[0] ?? '', other.id].toSorted((one, another) => one.localeCompare(another)),
    )
    expect(second).toEqual([ids[1]])
  })

  test('waits while an earlier one is tried again, and goes on when it has failed', async () => {
    await using own = await deliveryQueue()
    const { connection, deliveries, ids } = await inOrder(own)
    await own.enqueue(...deliveries)

    await own.complete(retried(only(await own.claim([connection])), 10))
    const meanwhile = await claimIds(own, connection)
    await own.passTime(10)
    await own.complete(failure(only(await own.claim([connection]))))

    expect(meanwhile).toEqual([])
    expect(await claimIds(own, connection)).toEqual([ids[1]])
  })

  test('goes on when the one before was cancelled, or ended at the moment when the next was planned', async () => {
    await using own = await deliveryQueue()
    const { connection, deliveries, ids } = await inOrder(own)
    await own.enqueue(...deliveries)
    await own.pool.query('delete from delivery_queue where id = $1', [ids[0]])

    const before = await claimIds(own, connection)
    const released = await releaseInOrder(own.pool)
    const again = await releaseInOrder(own.pool)

    expect([before, released, again]).toEqual([[], true, false])
    expect(await claimIds(own, connection)).toEqual([ids[1]])
  })

  test('can be set, and set back, while deliveries wait', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    const deliveries = ['1', '2', '3'].map((position) => planned(connection, { stream, position }))
    await own.enqueue(...deliveries)

    await set(own, connection, { in_order: true })
    const first = await claimIds(own, connection)
    await set(own, connection, { in_order: false })
    const rest = await claimIds(own, connection)

    expect(first).toEqual([deliveries[0]?.id])
    expect(rest.toSorted()).toEqual(
      deliveries
        .slice(1)
        .map(({ id }) => id)
        .toSorted(),
    )
  })
})

describe('a connection that is disabled when it fails for too long', () => {
  const watched = async (own: DeliveryQueue) => {
    const connection = await connect(own.pool)
    await set(own, connection, { disable_after_minutes: 60 })
    await own.enqueue(planned(connection))
    const failsFor = async (minutes: number) => {
      await own.pool.query('update delivery_setting set failing_since = now() - make_interval(mins => $1)', [minutes])
      await recordHealth(own.pool, new Map([[connection, 'failing']]))
    }
    return { connection, failsFor }
  }
  const news = async ({ pool }: DeliveryQueue) =>
    (await pool.query<{ type: string }>('select type from delivery_news order by happened_at')).rows.map(
      ({ type }) => type,
    )

  test('is watched from its first failure, warned of half-way, and then disabled: what is planned waits', async () => {
    await using own = await deliveryQueue()
    const { connection, failsFor } = await watched(own)

    await failsFor(29)
    const early = await news(own)
    await failsFor(31)
    await failsFor(40)
    const warned = await news(own)
    const sending = await candidates(own)
    await failsFor(61)

    expect([early, warned, await news(own)]).toEqual([
      [],
      ['ConnectionFailing'],
      ['ConnectionFailing', 'ConnectionDisabled'],
    ])
    expect(sending).toEqual([connection])
    expect(await candidates(own)).toEqual([])
    expect(await own.rows()).toMatchObject([{ state: 'pending' }])
  })

  test('begins again with every success', async () => {
    await using own = await deliveryQueue()
    const { connection, failsFor } = await watched(own)
    await failsFor(59)

    await recordHealth(own.pool, new Map([[connection, 'well']]))
    await recordHealth(own.pool, new Map([[connection, 'failing']]))

    const { rows } = await own.pool.query('select warned_at, disabled_at from delivery_setting')
    expect(rows).toEqual([{ warned_at: null, disabled_at: null }])
  })

  test('is recovered by one request: what waited is sent, and what failed since it began to fail', async () => {
    await using own = await deliveryQueue()
    const { connection, failsFor } = await watched(own)
    await failsFor(61)
    const id = DeliveryRecoveryId.parse('00000000-0000-4000-8000-000000000002')

    await transaction(own.pool, (db) =>
      operate(
        db,
        recorded(deliveryRecoveryEvents, `delivery_recovery-${id}`, [
          {
            type: 'DeliveryRecoveryRequested',
            delivery_recovery_id: id,
            organisation_id: organisation,
            delivery_id: null,
            connection_id: connection,
            types: null,
            states: ['failed'],
            since: null,
            until: null,
            per_second: 50,
            enables: true,
          },
        ]),
      ),
    )

    expect(await candidates(own)).toEqual([connection])
    const { rows } = await own.pool.query<{ hours: number }>(
      'select round(extract(epoch from now() - since) / 3600)::integer as hours from delivery_recovery',
    )
    expect(rows).toEqual([{ hours: 25 }])
  })

  test('is never disabled unless that was set', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    await set(own, connection, { per_second: 5 })

    await own.pool.query(`update delivery_setting set failing_since = now() - interval '1 year'`)
    await recordHealth(own.pool, new Map([[connection, 'failing']]))

    expect(await news(own)).toEqual([])
  })
})
