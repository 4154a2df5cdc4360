import { expect, test } from 'vitest'
import { makeLog } from '#infra/log.ts'
import { capabilities } from '../../delivery-worker/capabilities.ts'
import { renewLeases } from '../../delivery-worker/sending/leases.ts'
import { startSender } from '../../delivery-worker/sending/sender.ts'
import { eventually } from './fixture.ts'
import { connect, deliveryQueue, only, planned, success, type DeliveryQueue } from './queue-fixture.ts'

/** What a worker has before it renews it, with what is added at random. */
const leaseSeconds = 10

/** A connection in this state, and deliveries that are due over it. */
const connectionIn = async (own: DeliveryQueue, state: 'closed' | 'open', count = 5): Promise<string> => {
  const connection = await connect(own.pool)
  await own.enqueue(
    ...Array.from({ length: count }, (_, index) => planned(connection, { position: String(index + 1) })),
  )
  await own.pool.query('insert into delivery_endpoint (connection_id, state) values ($1, $2)', [connection, state])
  return connection
}

test('what is still being sent stays with its worker, as long as that renews it', async () => {
  await using own = await deliveryQueue()
  const connection = await connectionIn(own, 'closed', 1)
  const held = only(await own.claim([connection]))

  for (let renewal = 0; renewal < 5; renewal++) {
    await own.passTime(7)
    await renewLeases(own.pool, [held])
    expect(await own.claim([connection])).toEqual([])
  }

  await own.passTime(leaseSeconds)
  expect(await own.claim([connection])).toMatchObject([{ id: held.id, number: 2 }])
})

test('a probe that takes long stays the only one, and a killed worker takes its probe along for a few seconds only', async () => {
  await using own = await deliveryQueue()
  const connection = await connectionIn(own, 'open')
  const probe = only(await own.claim([connection], 1))

  for (let renewal = 0; renewal < 5; renewal++) {
    await own.passTime(7)
    await renewLeases(own.pool, [probe])
    expect(await own.claim([connection], 1)).toEqual([])
  }

  await own.passTime(leaseSeconds)
  expect(await own.claim([connection], 1)).toMatchObject([{ id: probe.id, number: 2 }])
})

test('workers that are killed with their probes one after the other keep a connection for as many leases, not longer', async () => {
  await using own = await deliveryQueue()
  const connection = await connectionIn(own, 'open')

  const numbers: number[] = []
  for (let killed = 0; killed < 3; killed++) {
    numbers.push(only(await own.claim([connection], 1)).number)
    await own.passTime(leaseSeconds)
  }

  expect(numbers).toEqual([1, 2, 3])
})

test('a worker that was thought dead renews nothing that another has claimed since, nor what has ended', async () => {
  await using own = await deliveryQueue()
  const connection = await connectionIn(own, 'closed', 2)
  const [lost, ended] = await own.claim([connection])
  if (!lost || !ended) throw new Error('Two were planned.')
  await own.complete(success(ended))
  await own.passTime(leaseSeconds)
  const again = only(await own.claim([connection]))

  await own.passTime(7)
  await renewLeases(own.pool, [lost, ended])
  await own.passTime(leaseSeconds - 7)

  expect(await own.claim([connection])).toMatchObject([{ id: lost.id, number: again.number + 1 }])
  expect((await own.rows()).find(({ id }) => id === ended.id)).toMatchObject({ state: 'delivered' })
})

const senderOf = (
  own: DeliveryQueue,
  parts: Pick<Parameters<typeof startSender>[0], 'send'> & { monotonicMs?: () => number },
) => {
  const sender = startSender({
    pool: own.pool,
    log: makeLog('silent', 'test'),
    now: () => new Date(),
    concurrency: 32,
    renewMs: 10,
    capabilities: {
      ...capabilities,
      subjects: capabilities.subjects.map((subject) => ({
        ...subject,
        readSnapshots: () => Promise.resolve(() => ({})),
      })),
    },
    ...parts,
  })
  return { ...sender, [Symbol.asyncDispose]: sender.stop }
}

test('a receiver that takes half a minute is sent each delivery once', async () => {
  await using own = await deliveryQueue()
  const connection = await connectionIn(own, 'closed', 3)
  const waiting: (() => void)[] = []
  const renewed = async () =>
    (await own.pool.query(`select from delivery_queue where leased_until > now() + interval '6 s'`)).rowCount === 3
  await using _sender = senderOf(own, {
    send: (claimed) => new Promise((resolve) => waiting.push(() => resolve(success(claimed)))),
  })
  await eventually(() => Promise.resolve(waiting.length === 3))

  for (let passed = 0; passed < 30; passed += 6) {
    await own.passTime(6)
    await eventually(renewed)
    expect(await own.claim([connection])).toEqual([])
  }
  for (const answer of waiting) answer()
  await eventually(async () => (await own.rows()).every(({ state }) => state === 'delivered'))

  expect(waiting).toHaveLength(3)
  expect((await own.attempts()).map(({ outcome }) => outcome)).toEqual(['answered', 'answered', 'answered'])
})

test('a worker that was paused before its probe gives the probe back, and the delivery', async () => {
  await using own = await deliveryQueue()
  await connectionIn(own, 'open', 1)
  let clockMs = 0
  let isPaused = true
  let sent = 0
  await using _sender = senderOf(own, {
    // Each look at the clock comes a minute later.
    monotonicMs: () => (clockMs += isPaused ? 60_000 : 0),
    send: (claimed) => {
      sent++
      return Promise.resolve(success(claimed))
    },
  })
  // Each round looks at least twice: several probes were claimed and given back.
  await eventually(() => Promise.resolve(clockMs > 20 * 60_000))
  expect([sent, (await own.attempts()).length]).toEqual([0, 0])

  isPaused = false
  await eventually(async () => (await own.rows()).every(({ state }) => state === 'delivered'))

  expect((await own.attempts()).map(({ number }) => number)).toEqual([1])
})
