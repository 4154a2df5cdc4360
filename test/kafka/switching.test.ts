import { sql } from '#infra/postgres/postgres.ts'
import { describe, expect, test, vi } from 'vitest'
import { changingSetUp } from '../../delivery-worker/planning/set-up.ts'
import { deliveryFixture, eventually, type DeliveryFixture } from '../delivery/fixture.ts'
import { findKafka } from './broker.ts'
import {
  allDelivered,
  checkOf,
  onTopic,
  partitionsOf,
  receiver,
  session,
  startApplications,
  untilShared,
} from './fixture.ts'

const found = await findKafka()
const why = 'why' in found ? ` (skipped: ${found.why})` : ''
const brokers = 'kafka' in found ? found.kafka.brokers : ''

const sourceOf = async (fixture: DeliveryFixture) => {
  const { rows } = await fixture.pool.query<{ source: string }>('select source from delivery_planning')
  return rows[0]?.source
}

describe.skipIf(why !== '')(`an installation that is switched${why}`, () => {
  test('from the log to Kafka and back, and to another topic, sends each event once', async () => {
    const [one, other] = [onTopic(brokers), onTopic(brokers)]
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started', 'quote.issued', 'quote.replaced'])
    const application = await fixture.startApplication()
    let quote = await application.issueQuote()
    let count = 2

    for (const environment of [{}, one, {}, one, other, {}]) {
      const worker = await fixture.startWorker({ environment })
      await startApplications(fixture, 5)
      await application.replaceQuote(quote.quote_id, quote.quote_id)
      quote = await application.issueQuote()
      count += 7
      await allDelivered(fixture, count)
      await worker.stop()
    }

    expect(hooks.requests).toHaveLength(count)
    expect(hooks.received.filter(({ type }) => type === 'quote.replaced')).toHaveLength(6)
  })

  test('while some partitions are further than others loses nothing and plans nothing twice', async () => {
    const environment = onTopic(brokers)
    await using fixture = await deliveryFixture({ environment })
    await using hooks = await receiver()
    const { removeAction } = await fixture.setUp(hooks.url, ['application.started'])
    const first = await fixture.startWorker()
    await untilShared([first])
    await startApplications(fixture, 5)
    await allDelivered(fixture, 5)
    await first.stop()

    // One partition goes on, and the others stand still: somebody else seems to plan them.
    await using holding = await session(fixture)
    for (const partition of [1, 2, 3])
      await holding.client.query(sql`
        select pg_advisory_xact_lock(hashtextextended(${`lease deliveries ${environment.KAFKA_TOPIC} ${partition}`}, 0))`)
    const uneven = await fixture.startWorker()
    await startApplications(fixture, 20)
    await fixture.setUp(hooks.url, ['application.started'])
    await removeAction()
    await eventually(async () => (await fixture.deliveries()).length > 5)
    await uneven.stop()
    expect((await fixture.deliveries()).length).toBeLessThan(25)

    await fixture.startWorker({ environment: { KAFKA_BROKERS: '' } })
    await startApplications(fixture, 3)
    await eventually(async () => (await fixture.deliveries()).filter(({ state }) => state === 'pending').length === 0)
    await eventually(async () => (await fixture.deliveries()).length === 28)
    await holding.end()

    const events = (await fixture.deliveries()).map(({ event_id }) => event_id)
    expect(new Set(events).size).toBe(28)
    expect(await sourceOf(fixture)).toBe('log')
  })

  test('is planned by the workers that were started last; the others go on sending and say so', async () => {
    const environment = onTopic(brokers)
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started'])
    const former = await fixture.startWorker()
    await startApplications(fixture, 3)
    await allDelivered(fixture, 3)

    const latter = await fixture.startWorker({ environment })
    await untilShared([latter])
    await startApplications(fixture, 5)
    await allDelivered(fixture, 8)

    expect(await sourceOf(fixture)).toBe(`kafka ${environment.KAFKA_TOPIC}`)
    expect(hooks.requests).toHaveLength(8)
    expect(await checkOf(former, 'delivery planner')).toMatchObject({ ok: true })
    expect(await partitionsOf(latter)).toHaveLength(4)
  })

  test('ends the start of a worker whose topic has other partitions than before, and names the variable', async () => {
    const environment = onTopic(brokers)
    await using fixture = await deliveryFixture({ environment })
    const worker = await fixture.startWorker()
    await untilShared([worker])
    await worker.stop()
    await fixture.pool.query('update kafka_topic set partitions = 3')

    await expect(fixture.startWorker()).rejects.toThrow(
      /^KAFKA_TOPIC: test\..+ had 3 partitions, and now has 4\. .+ choose another topic\.$/,
    )
  })

  test('keeps the order of what was set up and what happened, wherever a partition is', async () => {
    const environment = onTopic(brokers)
    await using fixture = await deliveryFixture({ environment })
    await using hooks = await receiver()
    const worker = await fixture.startWorker()
    await untilShared([worker])
    // Nothing is planned meanwhile: all partitions plan only when everything is set up and removed.
    const before = await startApplications(fixture, 5)
    await using settingUp = await session(fixture)
    await changingSetUp(settingUp.client)
    await startApplications(fixture, 5)
    const { removeAction } = await fixture.setUp(hooks.url, ['application.started', 'quote.issued'])
    await before[0]?.issueQuote()
    await startApplications(fixture, 5)
    await removeAction()
    await startApplications(fixture, 5)
    const after = await fixture.setUp(hooks.url, ['quote.issued'])
    await before[1]?.issueQuote()
    await settingUp.end()
    // Whether a delivery is sent before its action is removed is left to chance; what was planned, and for which, is not.
    const planned = async () =>
      (await fixture.deliveries())
        .map(({ type, action_id }) => `${type}: ${action_id === after.lifecycle_action_id ? 'second' : 'first'} action`)
        .toSorted()

    const expected = [
      ...Array.from({ length: 5 }, () => 'application.started: first action'),
      'quote.issued: first action',
      'quote.issued: second action',
    ]
    await vi.waitFor(async () => expect(await planned()).toEqual(expected), { timeout: 60_000, interval: 50 })
  })
})
