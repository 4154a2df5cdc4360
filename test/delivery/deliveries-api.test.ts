import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startReceiver } from '../../demo/receiver.ts'
import { deliveryRoutes } from '../../query-api/deliveries/routes.ts'
import { testDatabase } from '../database.ts'
import { serve } from '../serve.ts'
import { connect, deliveryQueue, planned } from './queue-fixture.ts'
import { organisation_id } from './applications.ts'
import { deliveryFixture, eventually, secret } from './fixture.ts'

type Listed = { data: { id: string; type: string; state: string }[]; next_cursor: string | null }

const noKeys = { byId: async () => new Map() }
const mine = `/admin/v1/deliveries?organisation_id=${organisation_id}`

test('200: every delivery of an organisation with its attempts, newest first, in pages', async () => {
  await using fixture = await deliveryFixture()
  await using api = await serve(deliveryRoutes({ pool: fixture.pool, db: fixture.pool, dataKeys: fixture.dataKeys }))
  const hooks = await startReceiver({ secret })
  await using _closing = { [Symbol.asyncDispose]: hooks.close }
  hooks.failNext(1, 404)
  const { endpoint_connection_id } = await fixture.setUp(hooks.url, ['application.started', 'quote.issued'])
  await fixture.startWorker()

  const application = await fixture.startApplication()
  await eventually(async () => (await fixture.deliveries())[0]?.state === 'failed')
  const { quote_id, event_id } = await application.issueQuote()
  await eventually(async () => (await fixture.deliveries()).some(({ state }) => state === 'delivered'))

  const { body } = await api.get(mine)
  expect(body).toMatchObject({
    next_cursor: null,
    data: [
      {
        event_id,
        type: 'quote.issued',
        subject: { type: 'quote', id: quote_id },
        stream: `application-${application.application_id}`,
        connection_id: endpoint_connection_id,
        state: 'delivered',
        reason: null,
        due_at: null,
        attempts: [{ number: 1, outcome: 'answered', status: 200, reason: null }],
      },
      {
        type: 'application.started',
        subject: { type: 'application', id: application.application_id },
        state: 'failed',
        reason: 'status 404',
        attempts: [{ number: 1, outcome: 'answered', status: 404 }],
      },
    ],
  })

  const first = (await api.get(`${mine}&limit=1`)).body as Listed
  const second = (await api.get(`${mine}&limit=1&cursor=${first.next_cursor}`)).body as Listed
  expect([...first.data, ...second.data]).toEqual((body as Listed).data)
  expect(second.next_cursor).toBeNull()

  const one = await api.get(`/admin/v1/deliveries/${first.data[0]?.id}`)
  expect(one.body).toEqual({ data: first.data[0] })
})

test('200: by state, by type, by event, by subject, by stream and by connection', async () => {
  await using fixture = await deliveryFixture()
  await using api = await serve(deliveryRoutes({ pool: fixture.pool, db: fixture.pool, dataKeys: fixture.dataKeys }))
  const gone = await fixture.setUp('https://crm.example.com/', ['application.started'])
  await gone.removeConnection()
  const refused = await fixture.setUp('https://10.0.0.1/', ['quote.issued'])
  await fixture.startWorker()
  const application = await fixture.startApplication()
  const { event_id, quote_id } = await application.issueQuote()
  await eventually(async () => (await fixture.deliveries()).some(({ state }) => state === 'failed'))
  const typesBy = async (filter: string) =>
    ((await api.get(`${mine}&${filter}`)).body as Listed).data.map(({ type }) => type)

  expect(await typesBy('state=cancelled')).toEqual(['application.started'])
  expect(await typesBy('state=failed')).toEqual(['quote.issued'])
  expect(await typesBy('state=pending')).toEqual([])
  expect(await typesBy('type=quote.issued')).toEqual(['quote.issued'])
  expect(await typesBy(`event_id=${event_id}`)).toEqual(['quote.issued'])
  expect(await typesBy(`stream=application-${application.application_id}`)).toHaveLength(2)
  expect(await typesBy(`subject_id=${quote_id}`)).toEqual(['quote.issued'])
  expect(await typesBy(`connection_id=${refused.endpoint_connection_id}`)).toEqual(['quote.issued'])
  const stranger = `/admin/v1/deliveries?organisation_id=${randomUUID()}`
  expect((await api.get(stranger)).body).toEqual({ data: [], next_cursor: null })
})

test('200: with a filter, a page reads 10,000 rows, and its cursor leads to the rows after them', async () => {
  await using queue = await deliveryQueue()
  await using api = await serve(deliveryRoutes({ pool: queue.pool, db: queue.pool, dataKeys: noKeys }))
  const connection_id = await connect(queue.pool)
  await queue.enqueue(planned(connection_id, { type: 'quote.issued' }))
  const others = (count: number) =>
    queue.pool.query(
      `insert into delivery (recorded_at, id, organisation_id, event_id, action_id, connection_id, type, stream, position,
          subject_type, subject_id, message, state)
        select recorded_at + interval '1 second', gen_random_uuid(), organisation_id, event_id, action_id, connection_id,
          'application.started', stream, position, subject_type, subject_id, message, 'pending'
        from delivery, generate_series(1, $1) where type = 'quote.issued'`,
      [count],
    )
  const page = async (cursor?: string) =>
    (await api.get(`${mine}&type=quote.issued${cursor === undefined ? '' : `&cursor=${cursor}`}`)).body as Listed

  await others(9_999)
  const within = await page()
  await others(1)
  const beyond = await page()
  const next = await page(beyond.next_cursor ?? undefined)

  expect(within).toMatchObject({ data: [{ type: 'quote.issued' }] })
  expect(beyond).toEqual({ data: [], next_cursor: expect.any(String) as string })
  expect(next).toEqual({ data: within.data, next_cursor: null })
})

test.each([
  '/admin/v1/deliveries',
  `${mine}&state=lost`,
  `${mine}&limit=0`,
  `${mine}&limit=201`,
  `${mine}&cursor=nonsense`,
  `${mine}&cursor=WzFd`,
])('422: %s', async (path) => {
  await using database = await testDatabase()
  await using api = await serve(deliveryRoutes({ pool: database.pool, db: database.pool, dataKeys: noKeys }))

  expect(await api.get(path)).toMatchObject({ status: 422, body: { error: { code: 'invalid_parameter' } } })
})

test('before anything was sent there is nothing: 200 with an empty list, and 404', async () => {
  await using database = await testDatabase()
  await using api = await serve(deliveryRoutes({ pool: database.pool, db: database.pool, dataKeys: noKeys }))

  expect(await api.get(mine)).toMatchObject({ status: 200, body: { data: [] } })
  expect(await api.get(`/admin/v1/deliveries/${randomUUID()}`)).toMatchObject({ status: 404 })
})
