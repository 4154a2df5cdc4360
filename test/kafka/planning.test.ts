import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Admin } from '@platformatic/kafka'
import { describe, expect, test } from 'vitest'
import { listSetAside } from '#infra/consumers/set-aside.ts'
import { rewindRelay } from '#infra/kafka/relay.ts'
import { applicationEvents } from '#domain/applications/events.ts'
import { changingSetUp } from '../../delivery-worker/planning/set-up.ts'
import { compiled } from '../compiled.ts'
import { deliveryFixture, eventually, masterKey, workerEnvironment } from '../delivery/fixture.ts'
import { findKafka } from './broker.ts'
import {
  allDelivered,
  onTopic,
  partitionsOf,
  readTopic,
  receiver,
  session,
  settingsOf,
  startApplications,
  untilShared,
} from './fixture.ts'

const found = await findKafka()
const why = 'why' in found ? ` (skipped: ${found.why})` : ''
const brokers = 'kafka' in found ? found.kafka.brokers : ''

const published = async (environment: Readonly<Record<string, string>>) => (await readTopic(environment)).flat().length

describe.skipIf(why !== '')(`planning through Kafka${why}`, () => {
  test('plans what happens, with what was set up before it', async () => {
    await using fixture = await deliveryFixture({ environment: onTopic(brokers) })
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
    await using fixture = await deliveryFixture({ environment: onTopic(brokers) })
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started', 'quote.issued'])
    await untilShared([await fixture.startWorker(), await fixture.startWorker()])

    const applications = await startApplications(fixture, 40)
    await Promise.all(applications.map((application) => application.issueQuote()))
    await allDelivered(fixture, 80)

    expect(hooks.requests).toHaveLength(80)
    expect(new Set(hooks.received.map(({ id }) => id)).size).toBe(80)
  })

  test('workers that come and go lose nothing and plan nothing twice', async () => {
    await using fixture = await deliveryFixture({ environment: onTopic(brokers) })
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

  test('a worker that is killed is replaced by the others, which lose nothing and plan nothing twice', async () => {
    const environment = onTopic(brokers)
    await using fixture = await deliveryFixture({ environment })
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started'])
    const other = await fixture.startWorker()
    const killed = spawn(process.execPath, [new URL('../delivery/worker-process.ts', import.meta.url).pathname], {
      env: { ...compiled(), ...workerEnvironment, ...environment, DATABASE_URL: fixture.url, MASTER_KEY: masterKey },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    await eventually(async () => (await partitionsOf(other)).length === 2, 25_000)

    const starting = startApplications(fixture, 40)
    await hooks.untilRequested(5)
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    await starting
    await eventually(async () => (await partitionsOf(other)).length === 4, 25_000)
    // What the dead one was sending is free when its lease ends; here it ends at once.
    await fixture.pool.query('update delivery_queue set due_at = now(), leased_until = null')
    await allDelivered(fixture, 40)

    expect(new Set(hooks.received.map(({ id }) => id)).size).toBe(40)
    expect(new Set(hooks.requests.map(({ idempotency_key }) => idempotency_key)).size).toBe(40)
  })

  test('what the relay publishes again is planned once, and what comes later is planned', async () => {
    const environment = onTopic(brokers)
    await using fixture = await deliveryFixture({ environment })
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started', 'quote.issued', 'quote.accepted'])
    await fixture.startWorker()
    await startApplications(fixture, 4)
    const application = await fixture.startApplication()
    const quote = await application.issueQuote()
    await allDelivered(fixture, 6)
    const before = await published(environment)

    await rewindRelay(fixture.pool, environment.KAFKA_TOPIC, undefined)
    await application.acceptQuote(quote.quote_id)
    await allDelivered(fixture, 7)
    await eventually(async () => (await published(environment)) > 2 * before, 25_000)

    expect(hooks.requests).toHaveLength(7)
  })

  test('messages that are lost before they were planned are published again', async () => {
    const environment = onTopic(brokers)
    await using fixture = await deliveryFixture({ environment })
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started'])
    await fixture.startWorker()
    await startApplications(fixture, 5)
    await allDelivered(fixture, 5)
    // The planners stand still while the relay goes on: they wait for what is being set up.
    await using settingUp = await session(fixture)
    await changingSetUp(settingUp.client)
    const before = await published(environment)
    await startApplications(fixture, 20)
    await eventually(async () => (await published(environment)) >= before + 3 * 20)

    const admin = new Admin(settingsOf(environment).client)
    const partitions = [0, 1, 2, 3].map((partition) => ({ partition, offset: -1n }))
    await admin.deleteRecords({ topics: [{ name: environment.KAFKA_TOPIC, partitions }] })
    await admin.close()
    await settingUp.end()
    await allDelivered(fixture, 25)

    expect(hooks.requests).toHaveLength(25)
  })

  test('a topic that was deleted is made again, and everything goes on', async () => {
    const environment = onTopic(brokers)
    await using fixture = await deliveryFixture({ environment })
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started'])
    await fixture.startWorker()
    await startApplications(fixture, 10)
    await allDelivered(fixture, 10)

    const admin = new Admin(settingsOf(environment).client)
    await admin.deleteTopics({ topics: [environment.KAFKA_TOPIC] })
    await admin.close()
    await startApplications(fixture, 10)
    await allDelivered(fixture, 20)

    expect(hooks.requests).toHaveLength(20)
  }, 90_000)

  test('an event that cannot be planned sets its own stream aside, and all others are sent', async () => {
    const environment = onTopic(brokers)
    await using fixture = await deliveryFixture({ environment })
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started'])
    await fixture.startWorker()
    const neverBegan = 'application-11111111-1111-4111-8111-111111111111'

    await fixture.append(applicationEvents, neverBegan, [
      { type: 'ApplicationAbandoned', reason: 'inactive', superseded_by: null },
    ])
    await startApplications(fixture, 10)
    await allDelivered(fixture, 10)

    const aside = await Promise.all(
      [0, 1, 2, 3].map((partition) =>
        listSetAside(fixture.pool, `deliveries ${environment.KAFKA_TOPIC} ${partition}`, 10),
      ),
    )
    expect(aside.flat()).toMatchObject([{ record: neverBegan, revision: 0 }])
  })
})
