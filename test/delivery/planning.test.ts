import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { DatabaseError } from 'pg'
import { describe, expect, test } from 'vitest'
import { applicationEvents } from '#domain/applications/events.ts'
import { OrganisationId } from '#domain/values.ts'
import { listSetAside } from '#infra/consumers/set-aside.ts'
import { startReceiver } from '../../demo/receiver.ts'
import { deliveryWorkerCommand } from '../../delivery-worker/commands.ts'
import { deliveryFixture, eventually, secret, type DeliveryFixture } from './fixture.ts'

const receiver = async () => {
  const started = await startReceiver({ secret })
  return { ...started, [Symbol.asyncDispose]: started.close }
}

const run = async (fixture: DeliveryFixture, ...command: string[]) => {
  const lines: string[] = []
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString())
      done()
    },
  })
  return { code: await deliveryWorkerCommand(command, fixture, output), said: lines.join('') }
}

type Checked = Pick<Awaited<ReturnType<DeliveryFixture['startWorker']>>, 'checks'>
const plannerOf = async (worker: Checked) => (await worker.checks()).find(({ name }) => name === 'delivery planner')
const untilItAsks = (worker: Checked) => eventually(async () => (await plannerOf(worker))?.ok === false)

/** A log with a history, an action that asks for it, and a worker with an empty database. */
const withHistory = async (fixture: DeliveryFixture, url: string) => {
  await fixture.setUp(url, ['application.started', 'application.abandoned', 'quote.issued', 'quote.accepted'])
  const earlier = await fixture.startApplication()
  const quote = await earlier.issueQuote()
  // A transaction of another test may hide what is new from every reader, and a log without a history needs no decision.
  await eventually(async () => (await fixture.eventLog.readAll()).some(({ type }) => type === 'QuoteIssued'))
  return { earlier, quote }
}

describe('a planner without a checkpoint on a log with a history', () => {
  test('sends nothing, is not ready, and says what to do', async () => {
    await using fixture = await deliveryFixture({ decided: false })
    await using hooks = await receiver()
    await withHistory(fixture, hooks.url)

    const worker = await fixture.startWorker()
    await untilItAsks(worker)

    expect(await plannerOf(worker)).toMatchObject({
      detail:
        'nothing is sent until you choose from where: npm run delivery-worker -- plan-from now|beginning|<ISO time>',
    })
    expect(await fixture.deliveries()).toEqual([])
  })

  test('from now: sends what comes, with what it has learned from the history', async () => {
    await using fixture = await deliveryFixture({ decided: false })
    await using hooks = await receiver()
    const { earlier, quote } = await withHistory(fixture, hooks.url)
    const worker = await fixture.startWorker()
    await untilItAsks(worker)

    expect(await run(fixture, 'plan-from', 'now')).toMatchObject({ code: 0 })
    await earlier.acceptQuote(quote.quote_id)
    await hooks.untilReceived(1)

    expect(hooks.received).toMatchObject([{ type: 'quote.accepted', payload: { premium_pence: 1_875 } }])
    expect(await fixture.deliveries()).toHaveLength(1)
    expect(await plannerOf(worker)).toMatchObject({ ok: true })
  })

  test('from the beginning: sends the whole history', async () => {
    await using fixture = await deliveryFixture({ decided: false })
    await using hooks = await receiver()
    await withHistory(fixture, hooks.url)
    await fixture.startWorker()

    await run(fixture, 'plan-from', 'beginning')
    await hooks.untilReceived(2)

    expect(hooks.received.map(({ type }) => type).toSorted()).toEqual(['application.started', 'quote.issued'])
  })

  test('from a time: sends what was recorded from then on', async () => {
    await using fixture = await deliveryFixture({ decided: false })
    await using hooks = await receiver()
    const { earlier, quote } = await withHistory(fixture, hooks.url)
    const { rows } = await fixture.pool.query<{ now: Date }>('select clock_timestamp() as now from pg_sleep(0.01)')
    await earlier.acceptQuote(quote.quote_id)
    await fixture.startWorker()

    await run(fixture, 'plan-from', rows[0]?.now.toISOString() ?? '')
    await hooks.untilReceived(1)

    expect(hooks.received.map(({ type }) => type)).toEqual(['quote.accepted'])
    expect(await fixture.deliveries()).toHaveLength(1)
  })
})

test('a first start goes on by itself: on an empty log, and on one that was only set up', async () => {
  await using fixture = await deliveryFixture({ decided: false })
  await using hooks = await receiver()
  await fixture.setUp(hooks.url, ['application.started'])
  const worker = await fixture.startWorker()
  await eventually(async () => (await plannerOf(worker))?.detail === 'live')

  await fixture.startApplication()
  await hooks.untilReceived(1)

  expect(await plannerOf(worker)).toMatchObject({ ok: true })
})

test('a worker that starts while PostgreSQL is shutting down waits until it is back', async () => {
  await using fixture = await deliveryFixture({ decided: false })
  const away = Object.assign(new DatabaseError('the database system is shutting down', 0, 'error'), { code: '57P03' })
  let left = 2
  const db = new Proxy(fixture.pool, {
    get: (pool, name) => {
      if (name === 'query' && left-- > 0) return () => Promise.reject(away)
      const value: unknown = Reflect.get(pool, name)
      return typeof value === 'function' ? (value.bind(pool) as unknown) : value
    },
  })

  const worker = await fixture.startWorker({ db })

  expect(left).toBeLessThan(0)
  await eventually(async () => (await worker.checks()).every(({ ok }) => ok))
})

test('what was decided stays decided', async () => {
  await using fixture = await deliveryFixture({ decided: false })
  await run(fixture, 'plan-from', 'now')

  expect(await run(fixture, 'plan-from', 'beginning')).toMatchObject({
    code: 1,
    said: 'Nothing was changed: this database plans deliveries already, and goes on from where it is.\n',
  })
})

test.each([[[]], [['plan-from']], [['plan-from', 'yesterday']], [['plan', 'now']], [['plan-from', 'now', 'more']]])(
  '%j is not understood, and nothing is decided',
  async (command) => {
    await using fixture = await deliveryFixture({ decided: false })

    const { code, said } = await run(fixture, ...command)

    expect(code).toBe(2)
    expect(said).toContain('plan-from now|beginning|<ISO time>')
    expect((await fixture.pool.query('select from delivery_planning')).rowCount).toBe(0)
  },
)

test('an event that cannot be planned sets its own stream aside, and all others are sent', async () => {
  await using fixture = await deliveryFixture()
  await using hooks = await receiver()
  const other = OrganisationId.parse(randomUUID())
  await fixture.setUp(hooks.url, ['application.started'])
  await fixture.setUp(hooks.url, ['application.started'], { organisation: other })
  const neverBegan = `application-${randomUUID()}`
  const breakOne = () =>
    fixture.append(
      applicationEvents,
      neverBegan,
      [{ type: 'ApplicationAbandoned', reason: 'inactive', superseded_by: null }],
      other,
    )

  await fixture.startApplication()
  await breakOne()
  await fixture.startApplication({ organisation: other })
  await fixture.startApplication()
  const worker = await fixture.startWorker()
  await hooks.untilReceived(3)
  await breakOne()
  await fixture.startApplication({ organisation: other })
  await fixture.startApplication()
  await hooks.untilReceived(5)

  expect(await listSetAside(fixture.pool, 'deliveries', 10)).toMatchObject([
    { record: neverBegan, stream: neverBegan, revision: 0, reason: expect.stringContaining('never began') as string },
  ])
  expect(await plannerOf(worker)).toMatchObject({ ok: true })
})

test('a subject that was forgotten is read from the log again', async () => {
  await using fixture = await deliveryFixture({ decided: false })
  await using hooks = await receiver()
  await fixture.setUp(hooks.url, ['quote.issued', 'quote.replaced'])
  await fixture.startWorker()
  const application = await fixture.startApplication()
  const first = await application.issueQuote()
  await hooks.untilReceived(1)

  await fixture.pool.query(`delete from delivery_known where kind = 'subject'`)
  await application.replaceQuote(first.quote_id, first.quote_id)
  await hooks.untilReceived(2)

  expect(hooks.received[1]).toMatchObject({ payload: { quote_id: first.quote_id, premium_pence: 1_875 } })
})
