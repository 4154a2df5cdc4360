import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { noIntegrations } from '#domain/custom-integrations/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { startReceiver, type Receiver } from '../../demo/receiver.ts'
import { deliveryOperatorRoutes } from '../../command-api/deliveries/routes.ts'
import { LifecycleWebhook } from '../../delivery-worker/lifecycle/webhook-specs.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { lifecycleEventRoutes } from '../../query-api/deliveries/lifecycle-routes.ts'
import { deliveryRecoveryRoutes } from '../../query-api/deliveries/recovery-routes.ts'
import { deliveryRoutes } from '../../query-api/deliveries/routes.ts'
import { serve, serverCaller } from '../serve.ts'
import { organisation_id } from './applications.ts'
import { deliveryFixture, eventually, secret } from './fixture.ts'

const organisation = OrganisationId.parse(organisation_id)

/** A firm with a worker, and the operator's routes over its deliveries. */
const firm = async () => {
  const fixture = await deliveryFixture()
  const hooks = await startReceiver({ secret })
  const { endpoint_connection_id } = await fixture.setUp(hooks.url, ['application.started', 'quote.issued'])
  const connections = new Map([[endpoint_connection_id as string, { organisation_id: organisation }]])
  const api = await serve(
    [
      ...deliveryOperatorRoutes({
        writer: makeWriter({ log: fixture.eventLog, seen: async () => undefined }),
        pool: fixture.pool,
        connections,
        integrations: noIntegrations(),
      }),
      ...deliveryRoutes({ pool: fixture.pool, db: fixture.pool, dataKeys: fixture.dataKeys }),
      ...deliveryRecoveryRoutes({ pool: fixture.pool }),
      ...lifecycleEventRoutes({ pool: fixture.pool }),
    ],
    serverCaller({ organisation_id: organisation }),
  )
  await fixture.startWorker()
  return { fixture, hooks, api, connection: endpoint_connection_id, own: `/admin/v1/organisations/${organisation}` }
}

const { fixture, hooks, api, connection, own } = await firm()
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await hooks.close()
  await fixture[Symbol.asyncDispose]()
})

type Delivery = {
  readonly id: string
  readonly type: string
  readonly subject: { readonly id: string }
  readonly state: string
  readonly attempts: readonly { readonly request: unknown; readonly response: unknown }[]
}
type Listed<Each> = { readonly data: readonly Each[]; readonly next_cursor: string | null }

const deliveries = async (filter = '') =>
  ((await api.get(`/admin/v1/deliveries?organisation_id=${organisation}${filter}`)).body as Listed<Delivery>).data
const oneFailed = async () => {
  hooks.misbehave(() => ({ status: 422, headers: { 'set-cookie': 'session=1' }, body: '{"error":"unknown field"}' }))
  const { application_id } = await fixture.startApplication()
  const failed = () => deliveries(`&stream=application-${application_id}&state=failed`)
  await eventually(async () => (await failed()).length === 1)
  hooks.misbehave(() => undefined)
  const [delivery] = await failed()
  if (!delivery) throw new Error('It failed a moment ago.')
  return delivery
}
const stateOf = async (id: string) =>
  ((await api.get(`/admin/v1/deliveries/${id}`)).body as { data: Delivery }).data.state
const arrivedWith = ({ requests }: Receiver, id: string) =>
  requests.filter(({ idempotency_key, status }) => idempotency_key === id && status === 200)

test('an attempt is shown with heads and bodies, and without secrets', async () => {
  const { id } = await oneFailed()

  const { body } = await api.get(`/admin/v1/deliveries/${id}`)
  const [attempt] = (body as { data: Delivery }).data.attempts

  expect(attempt).toMatchObject({
    status: 422,
    request: {
      method: 'POST',
      url: hooks.url,
      headers: { 'Idempotency-Key': id, 'X-Service-Sequence': '0' },
      body: expect.stringContaining('"type":"application.started"') as string,
    },
    response: {
      status: 422,
      headers: { 'set-cookie': '(not shown)' },
      body: '{"error":"unknown field"}',
    },
  })
  const { rows } = await fixture.pool.query(`select from delivery_attempt
    where position('unknown field'::bytea in coalesce(sealed, '')) > 0 or exchange::text like '%unknown field%'`)
  expect(rows).toEqual([])
})

describe('POST delivery_recoveries', () => {
  test('200: with dry_run counts, and changes nothing', async () => {
    const { id } = await oneFailed()

    const counted = await api.post(`${own}/delivery_recoveries`, { delivery_id: id, dry_run: true })

    expect(counted).toMatchObject({ status: 200, body: { data: { deliveries: 1, by_state: { failed: 1 } } } })
    expect(await stateOf(id)).toBe('failed')
  })

  test('202: sends again with the same Idempotency-Key, which is listed and kept in the log', async () => {
    const { id } = await oneFailed()

    const asked = await api.post(`${own}/delivery_recoveries`, { delivery_id: id })
    await eventually(async () => (await stateOf(id)) === 'delivered')

    expect(asked.status).toBe(202)
    expect(arrivedWith(hooks, id)).toHaveLength(1)
    const recovery = (asked.body as { data: { id: string } }).data.id
    const listed = (await api.get(`/admin/v1/delivery_recoveries?organisation_id=${organisation}`))
      .body as Listed<object>
    expect(listed.data).toContainEqual(expect.objectContaining({ id: recovery, resent: 1, skipped: 0 }))
    const shown = await api.get(`/admin/v1/delivery_recoveries/${recovery}`)
    expect(shown).toMatchObject({ status: 200, body: { data: { id: recovery, delivery_id: id } } })
    expect(await fixture.eventLog.read(`delivery_recovery-${recovery}`)).toMatchObject([
      { type: 'DeliveryRecoveryRequested', metadata: { actor: { type: 'operator' } } },
    ])
  })

  test('202: the same request with the same key, twice and at once, is one', async () => {
    const { id } = await oneFailed()
    const key = { 'idempotency-key': randomUUID() }

    const answers = await Promise.all(
      Array.from({ length: 5 }, () => api.post(`${own}/delivery_recoveries`, { delivery_id: id }, key)),
    )
    await eventually(async () => (await stateOf(id)) === 'delivered')

    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1)
    expect(arrivedWith(hooks, id)).toHaveLength(1)
  })

  const recoveries = async () =>
    (await fixture.eventLog.readAll()).filter(({ type }) => type === 'DeliveryRecoveryRequested').length
  const wanted = { connection_id: connection, since: '2026-01-01T00:00:00Z', types: ['quote.none'], per_second: 5 }

  test.each([
    [{ connection_id: undefined }, ['connection_id']],
    [{ since: '2026-01-01T00:00:01Z', until: '2026-01-02T00:00:00Z' }, ['since', 'until']],
    [{ types: ['quote.other'] }, ['types']],
    [{ states: ['failed', 'delivered'] }, ['states']],
    [{ per_second: 6 }, ['per_second']],
    [{ missed: true }, ['missed']],
    [{ delivery_id: randomUUID() }, ['delivery_id']],
  ])('409 idempotency_key_conflict: another request with the same key, by %j, names %j', async (other, inputs) => {
    const key = { 'idempotency-key': randomUUID() }
    const first = await api.post(`${own}/delivery_recoveries`, wanted, key)
    const stream = `delivery_recovery-${(first.body as { data: { id: string } }).data.id}`

    const refused = await api.post(`${own}/delivery_recoveries`, { ...wanted, ...other }, key)

    expect(first.status).toBe(202)
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'idempotency_key_conflict' } } })
    const { fields, message } = (refused.body as { error: { fields: object; message: string } }).error
    expect(Object.keys(fields).toSorted()).toEqual(inputs)
    for (const input of inputs) expect(message).toContain(input)
    expect(await fixture.eventLog.read(stream)).toHaveLength(1)
    const again = { ...wanted, since: '2026-01-01T01:00:00+01:00' }
    expect(await api.post(`${own}/delivery_recoveries`, again, key)).toMatchObject({ status: 202, body: first.body })
  })

  test('409: of two other requests with the same key at once, one is taken', async () => {
    const key = { 'idempotency-key': randomUUID() }

    const answers = await Promise.all(
      [5, 6].map((per_second) => api.post(`${own}/delivery_recoveries`, { ...wanted, per_second }, key)),
    )

    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([202, 409])
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
      error: { code: 'idempotency_key_conflict', fields: { per_second: 'differs from what the key started' } },
    })
  })

  test.each([
    ['longer than 255 characters', 'x'.repeat(256), {}],
    ['longer than 255 characters where they are only counted', 'x'.repeat(256), { dry_run: true }],
    ['with a control character', 'one\u0085two', {}],
  ])('422: a key %s', async (_how, key, changes) => {
    const before = await recoveries()

    const answer = await api.post(`${own}/delivery_recoveries`, { ...wanted, ...changes }, { 'idempotency-key': key })

    const fields = { 'Idempotency-Key': 'must be at most 255 characters, none of them control characters' }
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'validation_failed', fields } } })
    expect(await recoveries()).toBe(before)
  })

  test.each([
    [{}, 'since'],
    [{ missed: true }, 'connection_id'],
    [{ since: 'yesterday' }, 'since'],
    [{ since: '2026-01-01T00:00:00Z', states: ['pending'] }, 'states[0]'],
    [{ since: '2026-01-01T00:00:00Z', per_second: 0 }, 'per_second'],
    [{ since: '2026-01-01T00:00:00Z', types: ['quote issued'] }, 'types[0]'],
  ])('422: %j names %s', async (body, field) => {
    const answer = await api.post(`${own}/delivery_recoveries`, body)

    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'validation_failed' } } })
    expect(Object.keys((answer.body as { error: { fields: object } }).error.fields)).toEqual([field])
  })

  test('404: of an unknown connection', async () => {
    const sent = { since: '2026-01-01T00:00:00Z', connection_id: randomUUID() }

    expect(await api.post(`${own}/delivery_recoveries`, sent)).toMatchObject({ status: 404 })
  })
})

test('a failure is an event that is sent to whoever asked for it, and a failure of that is none', async () => {
  const alarm = await startReceiver({ secret })
  await fixture.setUp(alarm.url, ['webhook.failed'])
  alarm.misbehave(() => ({ status: 400 }))

  const { id } = await oneFailed()
  const isToldOf = async () =>
    (await deliveries('&type=webhook.failed&state=failed&limit=200')).some(({ subject }) => subject.id === id)
  await eventually(isToldOf)
  alarm.misbehave(() => undefined)
  const other = await oneFailed()
  await eventually(async () => alarm.received.some(({ payload }) => JSON.stringify(payload).includes(other.id)))
  await alarm.close()

  const about = (delivery: string) => alarm.requests.filter(({ raw_body }) => raw_body.includes(delivery))
  expect(alarm.received.filter(({ payload }) => JSON.stringify(payload).includes(other.id))).toMatchObject([
    {
      type: 'webhook.failed',
      aggregate: { type: 'webhook', id: other.id },
      payload: { delivery_id: other.id, connection_id: connection, event_type: 'application.started', status: 422 },
      product_id: null,
    },
  ])
  expect([about(id), about(other.id)].map((requests) => requests.length)).toEqual([1, 1])
  const { rows } = await fixture.pool.query('select from delivery_news')
  expect(rows).toEqual([])
})

test('every lifecycle webhook is as its description in the OpenAPI document says, and has no other keys', () => {
  expect(hooks.received.length).toBeGreaterThan(0)
  for (const body of hooks.received) expect(LifecycleWebhook.strict().safeParse(body).error).toBeUndefined()
})

test('202: a ping is sent over the connection, signed like everything else', async () => {
  const { status, body } = await api.post(`${own}/connections/${connection}/ping`, {})
  const { stream } = (body as { data: { stream: string } }).data
  await eventually(async () => (await deliveries(`&stream=${stream}`))[0]?.state === 'delivered')

  expect(status).toBe(202)
  expect(hooks.received.filter(({ type }) => type === 'webhook.ping')).toMatchObject([
    { aggregate: { type: 'connection', id: connection }, payload: {}, product_id: null, organization_id: organisation },
  ])
  expect((await api.post(`${own}/connections/${randomUUID()}/ping`, {})).status).toBe(404)
})

describe('delivery_settings', () => {
  const address = `${own}/connections/${connection}/delivery_settings`

  test('200: are changed one by one, and take effect', async () => {
    const none = await api.get(address)
    await api.patch(address, { per_second: 500, in_order: true })
    const changed = await api.patch(address, { at_once: 8 })

    const data = { per_second: 500, at_once: 8, in_order: true, disable_after_minutes: null }
    expect(none.body).toEqual({
      data: { per_second: null, at_once: null, in_order: false, disable_after_minutes: null },
    })
    expect(changed).toMatchObject({ status: 200, body: { data } })
    expect((await api.get(address)).body).toEqual({ data })
    await eventually(
      async () => (await fixture.pool.query('select from delivery_setting where at_once = 8')).rowCount === 1,
    )
    const connections = await api.get(`/admin/v1/delivery_connections?organisation_id=${organisation}`)
    expect(connections.body).toMatchObject({
      data: [{ connection_id: connection, disabled_at: null }],
      next_cursor: null,
    })
    await api.patch(address, { per_second: null, at_once: null, in_order: false })
  })

  test.each([{ per_second: 0 }, { at_once: 0 }, { at_once: 1.5 }, { disable_after_minutes: 1 }, { in_order: 'yes' }])(
    '422: %j',
    async (body) => {
      expect(await api.patch(address, body)).toMatchObject({ status: 422 })
    },
  )
})

describe('GET /api/v1/lifecycle_events', () => {
  type Event = { readonly id: string; readonly type: string }
  const page = async (query: string) => (await api.get(`/api/v1/lifecycle_events?${query}`)).body as Listed<Event>
  const readAll = async (query: string, limit = 3) => {
    const found: Event[] = []
    let cursor = ''
    for (;;) {
      const { data, next_cursor } = await page(`${query}&limit=${limit}${cursor}`)
      if (data.length === 0) return found
      found.push(...data)
      cursor = `&cursor=${next_cursor}`
    }
  }

  test('200: every event in the order of the log, asked for or not, while writers write, none missed and none twice', async () => {
    const written = Promise.all(Array.from({ length: 20 }, async () => (await fixture.startApplication()).issueQuote()))
    const seen: string[] = []
    let cursor = ''
    const read = async () => {
      const { data, next_cursor } = await page(`limit=7${cursor}`)
      seen.push(...data.map(({ id }) => id))
      if (next_cursor !== null) cursor = `&cursor=${next_cursor}`
      return data.length
    }

    await read()
    const quotes = await written
    await eventually(async () => {
      while ((await read()) > 0);
      return quotes.every(({ event_id }) => seen.includes(event_id))
    })

    expect(new Set(seen).size).toBe(seen.length)
    const types = (await readAll('')).map(({ type }) => type)
    expect(types.filter((type) => type === 'quote.issued')).toHaveLength(20)
    expect(types).toContain('webhook.failed')
  })

  test('200: by type, product and time, without snapshot', async () => {
    const issued = await readAll('type=quote.issued,quote.accepted')
    const { rows } = await fixture.pool.query<{ product_id: string }>(
      `select product_id from lifecycle_event where type = 'quote.issued' limit 1`,
    )

    expect(new Set(issued.map(({ type }) => type))).toEqual(new Set(['quote.issued']))
    expect(Object.keys(issued[0] ?? {}).toSorted()).toEqual(
      [
        'aggregate',
        'id',
        'occurred_at',
        'organization_id',
        'payload',
        'product_id',
        'recorded_at',
        'sequence',
        'type',
      ].toSorted(),
    )
    expect(await readAll(`product_id=${rows[0]?.product_id}&type=quote.issued`)).toEqual(issued)
    expect(await readAll(`product_id=${randomUUID()}`)).toEqual([])
    expect(await readAll('since=2020-01-01T00:00:00Z')).toEqual(await readAll(''))
    expect(await readAll('since=2100-01-01T00:00:00Z')).toEqual([])
    expect(await readAll('type=policy.unheard_of')).toEqual([])
  })

  test.each(['type=Quote', 'product_id=x', 'since=now', 'limit=0', 'limit=201', 'cursor=nonsense', 'limit=1&limit=2'])(
    '422: %s',
    async (query) => {
      expect(await api.get(`/api/v1/lifecycle_events?${query}`)).toMatchObject({
        status: 422,
        body: { error: { code: 'invalid_parameter' } },
      })
    },
  )
})
