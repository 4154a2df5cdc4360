import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startReceiver } from '../../demo/receiver.ts'
import { deliveryFixture, eventually, secret, type DeliveryFixture } from '../delivery/fixture.ts'
import { findKafka } from './broker.ts'

const found = await findKafka()
const why = 'why' in found ? ` (skipped: ${found.why})` : ''
const brokers = 'kafka' in found ? found.kafka.brokers : ''

const receiver = async () => {
  const started = await startReceiver({ secret })
  return { ...started, [Symbol.asyncDispose]: started.close }
}

const throughKafka = (changes: Readonly<Record<string, string>> = {}) => ({
  environment: {
    KAFKA_BROKERS: brokers,
    KAFKA_TOPIC: `test.${randomUUID()}`,
    KAFKA_PARTITIONS: '4',
    KAFKA_SESSION_TIMEOUT_SECONDS: '2',
    ...changes,
  },
})

const startApplications = (fixture: DeliveryFixture, count: number) =>
  Promise.all(Array.from({ length: count }, () => fixture.startApplication()))

type Checked = Pick<Awaited<ReturnType<DeliveryFixture['startWorker']>>, 'checks'>

/** The partitions that a worker plans from, as its health says. */
const partitionsOf = async (worker: Checked): Promise<readonly number[]> => {
  const planner = (await worker.checks()).find(({ name }) => name === 'delivery planner')
  const [, listed = ''] = /^live: partitions ([\d, ]+)$/.exec(planner?.detail ?? '') ?? []
  return listed === '' ? [] : listed.split(', ').map(Number)
}

const allDelivered = (fixture: DeliveryFixture, count: number) =>
  eventually(async () => {
    const states = (await fixture.deliveries()).map(({ state }) => state)
    return states.length === count && states.every((state) => state === 'delivered')
  }, 25_000)

describe.skipIf(why !== '')(`planning through Kafka${why}`, () => {
  test('plans what happens, with what was set up before it', async () => {
    await using fixture = await deliveryFixture(throughKafka())
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started', 'quote.issued'])
    await fixture.startWorker()

    const applications = await startApplications(fixture, 10)
    await Promise.all(applications.map((application) => application.issueQuote()))
    await allDelivered(fixture, 20)

    expect(new Set(hooks.received.map(({ id }) => id)).size).toBe(20)
    expect(hooks.requests).toHaveLength(20)
  })

  test('several workers share the partitions, and plan nothing twice', async () => {
    await using fixture = await deliveryFixture(throughKafka())
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started', 'quote.issued'])
    const workers = await Promise.all([fixture.startWorker(), fixture.startWorker()])
    await eventually(async () => {
      const each = await Promise.all(workers.map(partitionsOf))
      return each.flat().length === 4 && each.every((partitions) => partitions.length === 2)
    }, 25_000)

    const applications = await startApplications(fixture, 40)
    await Promise.all(applications.map((application) => application.issueQuote()))
    await allDelivered(fixture, 80)

    expect(hooks.requests).toHaveLength(80)
    expect(new Set(hooks.received.map(({ id }) => id)).size).toBe(80)
  })

  test('workers that come and go lose nothing and plan nothing twice', async () => {
    await using fixture = await deliveryFixture(throughKafka())
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started'])

    for (let round = 0; round < 3; round++) {
      const worker = await fixture.startWorker()
      const starting = startApplications(fixture, 20)
      await hooks.untilRequested(round * 20 + 5)
      await worker.stop()
      await starting
    }
    await fixture.startWorker()
    await allDelivered(fixture, 60)

    expect(hooks.requests).toHaveLength(60)
  })
})
