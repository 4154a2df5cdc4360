import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { startReceiver, type ReceiverOptions } from '../../demo/receiver.ts'
import { compiled } from '../compiled.ts'
import { deliveryFixture, eventually, masterKey, secret, workerEnvironment, type DeliveryFixture } from './fixture.ts'

const receiver = async (options: Partial<ReceiverOptions> = {}) => {
  const started = await startReceiver({ secret, ...options })
  return { ...started, [Symbol.asyncDispose]: started.close }
}

const startApplications = (fixture: DeliveryFixture, count: number) =>
  Promise.all(Array.from({ length: count }, () => fixture.startApplication()))

const statesOf = async (fixture: DeliveryFixture) => (await fixture.deliveries()).map(({ state }) => state)
const allDelivered = (fixture: DeliveryFixture, count: number) =>
  eventually(async () => {
    const states = await statesOf(fixture)
    return states.length === count && states.every((state) => state === 'delivered')
  }, 60_000)

describe('several workers', () => {
  test('share what is to be sent, and while they are well nothing is sent twice', async () => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started', 'quote.issued'])
    await Promise.all([fixture.startWorker(), fixture.startWorker(), fixture.startWorker()])

    const started = await startApplications(fixture, 100)
    await Promise.all(started.map((application) => application.issueQuote()))
    await allDelivered(fixture, 200)

    expect(hooks.requests).toHaveLength(200)
    expect(new Set(hooks.requests.map(({ idempotency_key }) => idempotency_key)).size).toBe(200)
    expect(new Set(hooks.received.map(({ id }) => id)).size).toBe(200)
  })

  test('plan nothing twice and lose nothing when they come and go', async () => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started'])

    for (let round = 0; round < 5; round++) {
      const worker = await fixture.startWorker()
      const starting = startApplications(fixture, 20)
      await hooks.untilRequested(round * 20 + 5)
      await worker.stop()
      await starting
    }
    await fixture.startWorker()
    await allDelivered(fixture, 100)

    expect(hooks.requests).toHaveLength(100)
    expect(new Set(hooks.received.map(({ id }) => id)).size).toBe(100)
  })
})

describe('a worker that stops', () => {
  test('lets what it is sending finish', async () => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started'])
    const worker = await fixture.startWorker()
    await fixture.startApplication()
    await hooks.untilRequested(1)

    await worker.stop()

    expect(await fixture.deliveries()).toMatchObject([{ state: 'delivered' }])
  })
})

test('a worker killed while it sends is replaced: each webhook arrives, under one Idempotency-Key', async () => {
  await using fixture = await deliveryFixture()
  // Further apart than what a dead worker has already sent.
  const killAt = [10, 50, 90, 130]
  const count = 160
  using workers = workerProcesses(fixture.url)
  let received = 0
  await using hooks = await receiver({
    // Before the answer leaves: the worker never hears of it.
    onEvent: () => {
      if (killAt.includes(++received)) workers.killCurrent()
    },
  })
  await fixture.setUp(hooks.url, ['application.started'])
  await startApplications(fixture, count)

  workers.startNext()
  for (const _kill of killAt) {
    await workers.currentEnded()
    // What the dead one held is free when its lease ends; here it ends at once.
    await fixture.pool.query('update delivery_queue set due_at = now(), leased_until = null')
    workers.startNext()
  }
  await allDelivered(fixture, count)

  const keysByEvent = Map.groupBy(hooks.requests, ({ raw_body }) => (JSON.parse(raw_body) as { id: string }).id)
  expect(keysByEvent.size).toBe(count)
  for (const requests of keysByEvent.values())
    expect(new Set(requests.map(({ idempotency_key }) => idempotency_key)).size).toBe(1)
  expect(hooks.requests.length).toBeGreaterThan(count)
  const lost = (await fixture.attempts()).filter(({ outcome }) => outcome === 'lost')
  expect(lost.length).toBeGreaterThanOrEqual(killAt.length)
}, 180_000)

/** Workers in processes of their own, one after the other. */
const workerProcesses = (databaseUrl: string) => {
  const program = new URL('worker-process.ts', import.meta.url).pathname
  const own = { DELIVERY_CONCURRENCY: '8', DATABASE_URL: databaseUrl, MASTER_KEY: masterKey }
  const env = { ...compiled(), ...workerEnvironment, ...own }
  let current: ChildProcess | undefined
  let ended: Promise<unknown> = Promise.resolve()
  const killCurrent = () => current?.kill('SIGKILL')
  return {
    startNext: () => {
      current = spawn(process.execPath, [program], { env, stdio: ['ignore', 'ignore', 'inherit'] })
      ended = once(current, 'exit')
    },
    killCurrent,
    currentEnded: () => ended,
    [Symbol.dispose]: killCurrent,
  }
}

test('a receiver that asks for more time gets it', async () => {
  await using fixture = await deliveryFixture()
  await using hooks = await receiver()
  hooks.misbehave(({ repeated }) => (repeated ? undefined : { status: 429, headers: { 'retry-after': '60' } }))
  await fixture.setUp(hooks.url, ['application.started'])
  await fixture.startWorker()

  await fixture.startApplication()
  await eventually(async () => (await fixture.attempts()).length === 1)

  const { rows } = await fixture.pool.query<{ seconds: number }>(`
    select extract(epoch from due_at - finished_at)::float as seconds
    from delivery_queue join delivery_attempt on delivery_id = delivery_queue.id`)
  expect(rows).toEqual([{ seconds: 60 }])
})
