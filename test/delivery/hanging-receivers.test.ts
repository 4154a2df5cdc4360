import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startReceiver } from '../../demo/receiver.ts'
import { OrganisationId } from '#domain/values.ts'
import { deliveryFixture, eventually, secret, type DeliveryFixture } from './fixture.ts'

const receiver = async () => {
  const started = await startReceiver({ secret })
  return { ...started, [Symbol.asyncDispose]: started.close }
}

const standings = async (fixture: DeliveryFixture) =>
  (await fixture.pool.query<{ state: string }>('select state from delivery_endpoint')).rows.map(({ state }) => state)
const beingSent = async (fixture: DeliveryFixture) =>
  (await fixture.deliveries()).filter(({ started_at }) => started_at !== null)

test('while 1,000 endpoints of one organisation hang, everything of another is delivered', async () => {
  await using fixture = await deliveryFixture()
  await using dead = await receiver()
  await using alive = await receiver()
  dead.misbehave(() => 'hang')
  const hostile = OrganisationId.parse(randomUUID())
  await Promise.all(
    Array.from({ length: 1_000 }, () => fixture.setUp(dead.url, ['application.started'], { organisation: hostile })),
  )
  await fixture.startApplication({ organisation: hostile })
  await fixture.startWorker({ concurrency: 32, timeoutMs: 60_000 })
  await dead.untilRequested(6, 30_000)

  await fixture.setUp(alive.url, ['application.started'])
  await Promise.all(Array.from({ length: 200 }, () => fixture.startApplication()))
  await alive.untilReceived(200, 30_000)

  // The places that one organisation may have for connections that are new or in trouble: each still waits for its timeout.
  expect(dead.requests).toHaveLength(6)
  await eventually(async () => (await fixture.attempts()).length === 200)
}, 90_000)

test('trouble is remembered for all workers: one probe at a time, and when it succeeds all the rest', async () => {
  await using fixture = await deliveryFixture()
  await using flaky = await receiver()
  flaky.misbehave(() => 'hang')
  await fixture.setUp(flaky.url, ['application.started'])
  await Promise.all(Array.from({ length: 10 }, () => fixture.startApplication()))
  const first = await fixture.startWorker({ timeoutMs: 200 })
  await eventually(async () => (await standings(fixture)).includes('open'))
  await first.stop()
  await eventually(async () => (await standings(fixture))[0] === 'open' && (await beingSent(fixture)).length === 0)
  const before = flaky.requests.length

  await using other = await receiver()
  await Promise.all([1, 2].map(() => fixture.startWorker({ concurrency: 32, timeoutMs: 60_000 })))
  await flaky.untilRequested(before + 1)
  const { endpoint_connection_id } = await fixture.setUp(other.url, ['quote.issued'])
  await (await fixture.startApplication()).issueQuote()
  await other.untilReceived(1)

  const probes = await beingSent(fixture)
  expect(probes.filter((each) => each.connection_id !== endpoint_connection_id)).toHaveLength(1)
  expect(flaky.requests).toHaveLength(before + 1)
}, 60_000)

test('a connection that answers again is trusted again', async () => {
  await using fixture = await deliveryFixture()
  await using flaky = await receiver()
  flaky.misbehave(() => 'hang')
  await fixture.setUp(flaky.url, ['application.started'])
  await Promise.all(Array.from({ length: 20 }, () => fixture.startApplication()))
  await fixture.startWorker({ timeoutMs: 200 })
  await eventually(async () => (await standings(fixture)).includes('open'))

  flaky.misbehave(() => undefined)
  await eventually(async () => (await standings(fixture))[0] === 'closed')
  await fixture.passTime(20)
  await flaky.untilReceived(20)

  expect(await standings(fixture)).toEqual(['closed'])
})

test('a connection that was moved begins again', async () => {
  await using fixture = await deliveryFixture()
  await using hooks = await receiver()
  const connection = await fixture.setUp(hooks.url, ['application.started'])
  await fixture.startWorker()
  await fixture.startApplication()
  await eventually(async () => (await standings(fixture))[0] === 'closed')

  await connection.move(`${hooks.url}/new`)

  await eventually(async () => (await standings(fixture)).length === 0)

  expect(await standings(fixture)).toEqual([])
})
