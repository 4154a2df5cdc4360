import { describe, expect, test } from 'vitest'
import { severableWayTo } from '../eventstoredb/proxy.ts'
import { deliveryFixture, eventually } from '../delivery/fixture.ts'
import { startRole } from '../journeys/role-process.ts'
import { freePort } from '../journeys/service-process.ts'
import { findKafka } from './broker.ts'
import { saslUser } from './own-broker.ts'
import {
  allDelivered,
  checkOf,
  onTopic,
  receiver,
  settingsOf,
  startApplications,
  topicOf,
  untilShared,
} from './fixture.ts'
import { openTopic } from '#infra/kafka/topic.ts'
import { misconfiguration } from '#infra/kafka/failures.ts'

const found = await findKafka()
const ports = 'kafka' in found ? found.kafka.ports : undefined
const why = 'why' in found ? found.why : 'the broker is not our own'
const skipped = ports ? '' : ` (skipped: ${why})`

describe.skipIf(!ports)(`brokers that are away${skipped}`, () => {
  test('make a worker not ready, and afterwards everything goes on by itself', async () => {
    const environment = onTopic(`127.0.0.1:${ports?.cuttable}`)
    await using way = await severableWayTo('127.0.0.1', ports?.behind ?? 0, ports?.cuttable)
    await using fixture = await deliveryFixture({ environment })
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started'])
    const workers = [await fixture.startWorker(), await fixture.startWorker()]
    await untilShared(workers)
    await startApplications(fixture, 5)
    await allDelivered(fixture, 5)

    await way.cut()
    await startApplications(fixture, 20)
    for (const worker of workers) await eventually(async () => (await checkOf(worker, 'kafka'))?.ok === false)
    expect((await checkOf(workers[0] ?? { checks: async () => [] }, 'kafka'))?.detail).toMatch(
      /^away since .+: Kafka: /,
    )
    expect(await fixture.deliveries()).toHaveLength(5)
    way.mend()
    await allDelivered(fixture, 25)

    expect(hooks.requests).toHaveLength(25)
    for (const worker of workers) await eventually(async () => (await checkOf(worker, 'kafka'))?.ok === true)
  })

  test('and connections that fall silent are given up, and everything goes on by itself', async () => {
    const environment = onTopic(`127.0.0.1:${ports?.cuttable}`)
    await using way = await severableWayTo('127.0.0.1', ports?.behind ?? 0, ports?.cuttable)
    await using fixture = await deliveryFixture({ environment })
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started'])
    const worker = await fixture.startWorker()
    await untilShared([worker])

    way.freeze()
    await startApplications(fixture, 10)
    await eventually(async () => (await checkOf(worker, 'kafka'))?.ok === false)
    way.thaw()
    await allDelivered(fixture, 10)

    expect(hooks.requests).toHaveLength(10)
  })
})

describe.skipIf(!ports)(`the start of a worker${skipped}`, () => {
  test('waits for brokers that are away, and says which', { timeout: 90_000 }, async () => {
    const broker = `127.0.0.1:${await freePort()}`
    await using fixture = await deliveryFixture()

    await using role = await startRole({ DATABASE_URL: fixture.url, ...onTopic(broker) }, 'delivery-worker/main.ts')
    await eventually(async () => role.output().includes('"variable":"KAFKA_BROKERS"'), 60_000)

    expect(role.output()).toContain(`"address":"${broker}"`)
    expect((await role.details()).body).toMatchObject({
      checks: [{ name: 'start', detail: `waits for KAFKA_BROKERS at ${broker}` }],
    })
  })

  const plain = `127.0.0.1:${ports?.plain}`
  const sasl = `127.0.0.1:${ports?.sasl}`
  const user = { KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_USERNAME: saslUser.username, KAFKA_PASSWORD: saslUser.password }
  const faultOf = (environment: Readonly<Record<string, string>>) =>
    openTopic(settingsOf(environment)).then(
      () => undefined,
      (error: unknown) => misconfiguration(error, 'the address')?.message,
    )

  test('signs in with the user and password that are given', async () => {
    expect(await topicOf(settingsOf(onTopic(sasl, user)))).toMatchObject({ partitions: 4 })
  })

  test('names the variable that cannot work, and never shows the password', async () => {
    expect(await faultOf(onTopic(plain, { KAFKA_TLS: 'true' }))).toMatch(/^KAFKA_TLS: the broker does not speak TLS \(/)
    expect(await faultOf(onTopic(sasl, { ...user, KAFKA_PASSWORD: 'a wrong password' }))).toMatch(
      /^KAFKA_USERNAME: the user or password is wrong \((?!.*a wrong password)/,
    )
    expect(await faultOf(onTopic(sasl, { ...user, KAFKA_SASL_MECHANISM: 'SCRAM-SHA-256' }))).toMatch(
      /^KAFKA_SASL_MECHANISM: the broker does not take this mechanism \(/,
    )
    expect(await faultOf(onTopic(`127.0.0.1:${ports?.tls}`, { KAFKA_TLS: 'true' }))).toMatch(
      /^KAFKA_CA_FILE: the certificate of the broker does not fit \(/,
    )
  })
})
