import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { makeLog } from '#infra/log.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { countDeliveries } from '../../delivery-worker/recovery/release-stuck.ts'
import { readBodies } from '../../delivery-worker/sending/body.ts'
import type { Claimed } from '../../delivery-worker/sending/queue.ts'
import { makeSend } from '../../delivery-worker/sending/send.ts'
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

/** A sender that knows no capability and reaches nobody. */
const unused = {
  capabilities: { subjects: [], actions: [], connections: [] },
  http: {
    request: () => Promise.reject(new Error('nothing is sent')),
    timeoutMs: 15_000,
    close: async () => undefined,
  },
  fill: () => Promise.reject(new Error('nothing is filled in')),
  keys: deriveKeys(randomBytes(32).toString('base64')),
  dataKeys: { of: () => Promise.reject(new Error('nothing is sealed')) },
}

describe('planning', () => {
  test('the same delivery twice makes one', async () => {
    await using own = await deliveryQueue()
    const delivery = planned(await connect(own.pool))

    await own.enqueue(delivery)
    await own.enqueue(delivery)

    expect(await own.rows()).toHaveLength(1)
  })

  test('again leaves what was delivered alone', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    const delivery = planned(connection)
    await own.enqueue(delivery)
    await own.complete(success(only(await own.claim([connection]))))

    await own.enqueue(delivery)

    expect(await own.rows()).toMatchObject([{ state: 'delivered', due_at: null }])
    expect(await own.claim([connection])).toEqual([])
  })

  test('keeps any character, as JSON', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    const message = { note: 'Zoë \u0000 \ud83d\ude00 \\u0041 "quoted"' }

    await own.enqueue(planned(connection, { message }))

    expect(only(await own.claim([connection])).message).toEqual(message)
  })
})

/** What can be claimed now; it is sent at once. */
const claimedAndSent = async (own: DeliveryQueue, connection: string): Promise<string[]> => {
  const claimed = await own.claim([connection])
  await own.complete(...claimed.map(success))
  return claimed.map(({ id }) => id)
}

describe('claiming', () => {
  test('takes a delivery for one worker, and records the attempt before it is sent', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    const delivery = planned(connection)
    await own.enqueue(delivery)

    const claims = await Promise.all([1, 2, 3].map(() => own.claim([connection])))

    expect(claims.flat()).toMatchObject([
      { id: delivery.id, number: 1, connection: { base_url: 'https://crm.example.com/' } },
    ])
    expect((await own.rows())[0]?.started_at).toBeInstanceOf(Date)
  })

  test('goes by the clock of the database: the lease and the retry end when it says so', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    await own.enqueue(planned(connection))
    const first = only(await own.claim([connection]))

    await own.complete(retried(first, 10))
    const { rows } = await own.pool.query<{ seconds: number }>(
      'select extract(epoch from due_at - finished_at)::float as seconds from delivery_queue, delivery_attempt',
    )

    expect(rows).toEqual([{ seconds: 10 }])
  })

  test('gives what a killed worker held to another when the lease ends, and the lost attempt is none of the five', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    const delivery = planned(connection)
    await own.enqueue(delivery)
    await own.claim([connection])

    await own.passTime(7)
    expect(await own.claim([connection])).toEqual([])
    await own.passTime(4)
    const again = only(await own.claim([connection]))

    expect(again).toMatchObject({ id: delivery.id, number: 2, sent: 0, unsent: 1 })
    expect(await own.attempts()).toMatchObject([{ number: 1, outcome: 'lost' }])
  })

  test('gives what a killed worker held to another before what became due later, however much that is', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    const lost = planned(connection)
    await own.enqueue(lost)
    await own.claim([connection])
    await own.enqueue(...Array.from({ length: 50 }, () => planned(connection)))

    await own.passTime(21)

    expect(only(await own.claim([connection], 1))).toMatchObject({ id: lost.id, number: 2 })
  })

  test('gives up what was lost with its worker twenty times: it is not sent again, and failed', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    await own.enqueue(planned(connection))
    const send = makeSend({
      ...unused,
      pool: own.pool,
      log: makeLog('silent', 'test'),
      metrics: makeMetrics(),
      now: () => new Date(),
    })
    const bodyOf = async (claimed: Claimed) =>
      (await readBodies(own.pool, unused.capabilities, [claimed], new Date()))(claimed)
    let claimed = only(await own.claim([connection]))
    for (let lost = 1; lost <= 20; lost++) {
      expect(claimed).toMatchObject({ number: lost, unsent: lost - 1 })
      // It is tried: only for want of a description of its subject, it has no body.
      expect(await bodyOf(claimed)).toMatchObject({ missing: expect.stringContaining('does not know') as unknown })
      await own.passTime(41)
      claimed = only(await own.claim([connection]))
    }

    const body = await bodyOf(claimed)
    await own.complete(await send(claimed, body))

    expect(body).toEqual({ missing: 'lost with its worker, or not sent, too often' })
    expect(await own.rows()).toMatchObject([{ state: 'failed' }])
    expect((await own.attempts()).map(({ outcome }) => outcome)).toEqual([
      ...Array<string>(20).fill('lost'),
      'not_sent',
    ])
  })

  test('waits for every read model that the delivery names', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    const started = planned(connection, { position: '5' })
    const issued = planned(connection, { position: '5', waits_for: ['applications', 'quotes'] })
    await own.enqueue(started, issued)
    const idsAt = async (applications: string | null, quotes: string | null) => {
      await own.passed(applications, quotes)
      await own.passTime(30)
      return claimedAndSent(own, connection)
    }

    expect(await idsAt(null, null)).toEqual([])
    expect(await idsAt('4', '9')).toEqual([])
    expect(await idsAt('5', '4')).toEqual([started.id])
    expect(await idsAt('5', '5')).toEqual([issued.id])
  })

  test('waits for the version of a read model that this worker reads, where that stands beside the one in use', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    const started = planned(connection, { position: '5' })
    await own.enqueue(started)
    await own.passedBeside('applications', '4')
    expect(await claimedAndSent(own, connection)).toEqual([])

    await own.passedBeside('applications', '5')
    await own.passTime(30)

    expect(await claimedAndSent(own, connection)).toEqual([started.id])
  })

  test('waits while a read model has set the record aside, and holds up no other record', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    const [waiting, other, unconcerned] = [planned(connection), planned(connection), planned(connection)]
    await own.enqueue(waiting, other, { ...unconcerned, waits_for: [] })
    await own.setAside('applications', waiting.stream)
    await own.setAside('applications', unconcerned.stream)
    await own.setAside('quotes', other.stream)
    const claimedIds = async () => (await claimedAndSent(own, connection)).toSorted()

    const whileSetAside = await claimedIds()
    await own.putBack('applications', waiting.stream)
    await own.passTime(30)
    const afterwards = await claimedIds()

    expect(whileSetAside).toEqual([other.id, unconcerned.id].toSorted())
    expect(afterwards).toEqual([waiting.id])
  })

  test('puts off what waits for a read model, so that what is ready behind it is claimed', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    await own.enqueue(...Array.from({ length: 10 }, () => planned(connection, { position: '99' })))
    const ready = planned(connection, { position: '100', waits_for: [] })
    await own.enqueue(ready)

    const first = await own.claim([connection], 10)
    const second = await own.claim([connection], 10)

    expect(first).toEqual([])
    expect(second.map(({ id }) => id)).toEqual([ready.id])
  })

  test('gives each connection no more than its room', async () => {
    await using own = await deliveryQueue()
    const [busy, idle] = [await connect(own.pool), await connect(own.pool)]
    await own.enqueue(...[busy, idle].flatMap((id) => Array.from({ length: 10 }, () => planned(id))))

    const taken = await own.claim([busy, idle], 4)

    const counted = (id: string) => taken.filter(({ connection_id }) => connection_id === id).length
    expect([busy, idle].map(counted)).toEqual([4, 4])
  })

  test('shares many deliveries among workers, each once', async () => {
    await using own = await deliveryQueue()
    const connections = await Promise.all([1, 2, 3].map(() => connect(own.pool)))
    await own.enqueue(...connections.flatMap((id) => Array.from({ length: 100 }, () => planned(id))))

    const claims = await Promise.all(Array.from({ length: 20 }, () => own.claim(connections, 10)))

    const ids = claims.flat().map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const left = await own.claim(connections, 300)
    expect(ids.length + left.length).toBe(300)
  })

  test('sends one probe to a connection in trouble, whichever worker sends it, until that has ended', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    await own.enqueue(...Array.from({ length: 5 }, () => planned(connection)))
    await own.pool.query(`insert into delivery_endpoint (connection_id, state) values ($1, 'open')`, [connection])

    const claims = await Promise.all([1, 2, 3].map(() => own.claim([connection], 1)))

    expect(claims.flat()).toHaveLength(1)
    expect(await own.claim([connection], 1)).toEqual([])
    await own.passTime(31)
    expect(await own.claim([connection], 1)).toHaveLength(1)
  })
})

describe('completing', () => {
  const claimedTwice = async (own: DeliveryQueue) => {
    const connection = await connect(own.pool)
    await own.enqueue(planned(connection))
    const first = only(await own.claim([connection]))
    await own.passTime(41)
    return { first, second: only(await own.claim([connection])) }
  }

  test('a retry makes it due again', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    await own.enqueue(planned(connection))
    const first = only(await own.claim([connection]))

    await own.complete(retried(first, 10))

    await own.passTime(9)
    expect(await own.claim([connection])).toEqual([])
    await own.passTime(1)
    expect(await own.claim([connection])).toMatchObject([{ id: first.id, number: 2, sent: 1, unsent: 0 }])
  })

  test('what was not sent is none of the five attempts', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    await own.enqueue(planned(connection))
    const first = only(await own.claim([connection]))

    await own.complete({ ...retried(first, 0), outcome: 'not_sent', status: null, reason: 'not sent: no key' })

    expect(await own.claim([connection])).toMatchObject([{ number: 2, sent: 0, unsent: 1 }])
    expect(await own.attempts()).toMatchObject([{ outcome: 'not_sent', reason: 'not sent: no key' }])
  })

  test('a failure of a worker that was thought dead does not end what another sends now', async () => {
    await using own = await deliveryQueue()
    const { first, second } = await claimedTwice(own)

    await own.complete(failure(first))
    expect(await own.rows()).toMatchObject([{ state: 'pending', unsent: 1 }])
    await own.complete(success(second))

    expect(await own.rows()).toMatchObject([{ state: 'delivered' }])
  })

  test('a success of a worker that was thought dead is a success, and a later failure takes nothing back', async () => {
    await using own = await deliveryQueue()
    const { first, second } = await claimedTwice(own)

    await own.complete(success(first))
    await own.complete(failure(second))

    expect(await own.rows()).toMatchObject([{ state: 'delivered', reason: null }])
    expect(await own.attempts()).toMatchObject([{ status: 200 }, { status: 500 }])
  })

  test('twice changes nothing', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    await own.enqueue(planned(connection))
    const first = only(await own.claim([connection]))

    await own.complete(retried(first))
    await own.complete(retried(first))

    expect(await own.rows()).toMatchObject([{ sent: 1 }])
  })

  test('what was delivered while it was cancelled is delivered; what failed stays cancelled', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    await own.enqueue(planned(connection), planned(connection))
    const [one, other] = await own.claim([connection])
    if (!one || !other) throw new Error('Two were planned.')
    await own.cancel({ of: 'connection', id: connection, organisation_id, position: '2', reason: 'connection_removed' })

    await own.complete(success(one), retried(other))

    const states = new Map((await own.rows()).map(({ id, state, reason }) => [id, [state, reason]]))
    expect(states.get(one.id)).toEqual(['delivered', null])
    expect(states.get(other.id)).toEqual(['cancelled', 'connection_removed'])
    await own.passTime(100)
    expect(await own.claim([connection])).toEqual([])
  })

  test('cancelling takes back what waits for one action and nothing else', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    const [one, other] = [planned(connection), planned(connection)]
    await own.enqueue(one, other)

    await own.cancel({ of: 'action', id: one.action_id, organisation_id, position: '2', reason: 'action_removed' })

    expect(await own.claim([connection])).toMatchObject([{ id: other.id }])
  })

  test('cancelling leaves what was planned because of later events', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    const [earlier, later] = [planned(connection, { position: '1' }), planned(connection, { position: '3' })]
    await own.enqueue(earlier, later)

    await own.cancel({ of: 'connection', id: connection, organisation_id, position: '2', reason: 'connection_removed' })

    expect((await own.rows()).filter(({ state }) => state === 'pending')).toMatchObject([{ id: later.id }])
  })

  test('of an organisation cancels its own only', async () => {
    await using own = await deliveryQueue()
    const connection = await connect(own.pool)
    await own.enqueue(planned(connection))

    await own.cancel({
      of: 'organisation',
      id: randomUUID(),
      organisation_id: randomUUID(),
      position: '2',
      reason: 'organisation_inactive',
    })

    expect(await own.claim([connection])).toHaveLength(1)
  })
})

test('what could have been sent a second ago is counted: not what is being sent, nor what waits for a failing connection', async () => {
  await using own = await deliveryQueue()
  const [working, failing, sending] = [await connect(own.pool), await connect(own.pool), await connect(own.pool)]
  await own.enqueue(planned(working), planned(working), planned(failing), planned(sending))
  await own.pool.query(`insert into delivery_endpoint (connection_id, state) values ($1, 'open')`, [failing])
  const metrics = makeMetrics()
  const due = async () => {
    await countDeliveries(own.pool, metrics)
    return (await metrics.deliveriesDue.get()).values.map(({ value }) => value)
  }

  await own.claim([sending])
  expect(await due()).toEqual([0])
  await own.passTime(2)
  expect(await due()).toEqual([2])
})
