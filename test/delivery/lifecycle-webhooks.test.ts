import { describe, expect, test } from 'vitest'
import { organisationEvents } from '#domain/access/events.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import { OrganisationId, ProductId } from '#domain/values.ts'
import { startReceiver } from '../../demo/receiver.ts'
import { answers, organisation_id, product_id } from './applications.ts'
import { deliveryFixture, eventually, secret } from './fixture.ts'

const receiver = async (signing = secret) => {
  const started = await startReceiver({ secret: signing })
  return { ...started, [Symbol.asyncDispose]: started.close }
}

const all = ['application.started', 'application.customer_saved', 'quote.issued', 'quote.accepted'] as const
const uuid = /^[0-9a-f-]{36}$/

test('application.started, quote.issued and quote.accepted arrive, each signed, each under one Idempotency-Key', async () => {
  await using fixture = await deliveryFixture()
  await using hooks = await receiver()
  await fixture.setUp(hooks.url, ['application.started', 'quote.issued', 'quote.accepted'])
  await fixture.startWorker()

  const application = await fixture.startApplication()
  await application.saveCustomer('Grace')
  const quote = await application.issueQuote()
  await application.acceptQuote(quote.quote_id)
  await hooks.untilReceived(3)

  const types = hooks.received.map(({ type }) => type).toSorted()
  expect(types).toEqual(['application.started', 'quote.accepted', 'quote.issued'])
  expect(hooks.requests.filter(({ refused }) => refused !== undefined)).toEqual([])
  expect(new Set(hooks.requests.map(({ idempotency_key }) => idempotency_key)).size).toBe(3)
  await eventually(async () => (await fixture.deliveries()).every(({ state }) => state === 'delivered'))
  expect((await fixture.attempts()).map(({ outcome, status }) => [outcome, status])).toEqual([
    ['answered', 200],
    ['answered', 200],
    ['answered', 200],
  ])
})

describe('a request', () => {
  test('has the headers and the body keys of the specification', async () => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['quote.issued'])
    await fixture.startWorker()

    const application = await fixture.startApplication()
    await application.saveCustomer('Zoë 😀')
    const { quote_id, event_id } = await application.issueQuote()
    await hooks.untilReceived(1)

    const [request] = hooks.requests
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': expect.stringMatching(uuid) as unknown,
      'x-service-signature': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/) as unknown,
    })
    expect(hooks.received[0]).toEqual({
      id: event_id,
      type: 'quote.issued',
      occurred_at: '2026-01-15T12:00:00.000Z',
      aggregate: { type: 'quote', id: quote_id },
      payload: { quote_id, premium_pence: 1_875, expires_at: '2126-02-14T12:00:00.000Z', replaced_by: null },
      product_id,
      organization_id: organisation_id,
      quote: expect.objectContaining({ id: quote_id, display_id: `quo_${quote_id}`, status: 'current' }) as unknown,
      application: expect.objectContaining({
        id: application.application_id,
        display_id: `app_${application.application_id}`,
        status: 'in_capture',
        cover_amount_pence: 20_000_000,
      }) as unknown,
      customer: expect.objectContaining({ first_name: 'Zoë 😀', email: 'grace@example.com' }) as unknown,
    })
  })

  test('about an application carries the application with its customer, null while there is none', async () => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started'])
    await fixture.startWorker()

    const { application_id, started_event_id } = await fixture.startApplication()
    await hooks.untilReceived(1)

    const [event] = hooks.received
    expect(event).toMatchObject({
      id: started_event_id,
      type: 'application.started',
      aggregate: { type: 'application', id: application_id },
      payload: {},
      application: { id: application_id, customer: null },
      customer: null,
    })
    expect(Object.keys(event ?? {})).not.toContain('quote')
  })

  test('never holds the underwriting answers, nor what gives one away, nor the share token', async () => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, all)
    await fixture.startWorker()

    const application = await fixture.startApplication()
    await application.saveCustomer('Grace')
    const { quote_id } = await application.issueQuote()
    await application.acceptQuote(quote_id)
    await hooks.untilReceived(4)

    const sent = hooks.requests.map(({ raw_body }) => raw_body).join('\n')
    const given = [answers.smoker, ...answers.conditions, String(answers.alcohol_units), answers.family_history]
    expect(given.filter((answer) => sent.includes(answer))).toEqual([])
    expect(Object.keys(answers).filter((key) => sent.includes(`"${key}"`))).toEqual([])
    expect(sent).not.toMatch(/risk_factors|share_token|loading_percent|"loadings"|rate_tables/)
  })

  test('tells by which quote another was replaced', async () => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['quote.replaced'])
    await fixture.startWorker()

    const application = await fixture.startApplication()
    const first = await application.issueQuote()
    const second = await application.issueQuote()
    await application.tell(quoteEvents, {
      type: 'QuoteReplaced',
      quote_id: first.quote_id,
      replaced_by: second.quote_id,
    })
    await hooks.untilReceived(1)

    expect(hooks.received[0]).toMatchObject({
      aggregate: { id: first.quote_id },
      payload: { quote_id: first.quote_id, replaced_by: second.quote_id },
      quote: { status: 'replaced' },
    })
  })
})

describe('which events are sent', () => {
  test('those of the chosen product, of the chosen types and of the own organisation', async () => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['quote.issued'], { product_id })
    await fixture.startWorker()
    const other = ProductId.parse('11111111-2222-4333-8444-555555555555')
    const stranger = OrganisationId.parse('99999999-2222-4333-8444-555555555555')

    await (await fixture.startApplication({ product: other })).issueQuote()
    await (await fixture.startApplication({ organisation: stranger })).issueQuote()
    const own = await (await fixture.startApplication()).issueQuote()
    await hooks.untilReceived(1)
    const last = await (await fixture.startApplication()).issueQuote()
    await hooks.untilReceived(2)

    expect(hooks.received.map(({ id }) => id)).toEqual([own.event_id, last.event_id])
    expect(await fixture.deliveries()).toHaveLength(2)
  })

  test('none that happened before the action was there', async () => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    await fixture.startApplication()
    await fixture.setUp(hooks.url, ['application.started'])
    const { started_event_id } = await fixture.startApplication()

    // All is in the log by now, and planned in one go.
    await fixture.startWorker()
    await hooks.untilReceived(1)

    expect((await fixture.deliveries()).map(({ event_id }) => event_id)).toEqual([started_event_id])
  })

  test('each to every action that asks for it, under a key of its own', async () => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started'])
    await fixture.setUp(hooks.url, ['application.started'])
    await fixture.startWorker()

    await fixture.startApplication()
    await hooks.untilReceived(2)

    const [one, other] = hooks.requests
    expect(one?.idempotency_key).not.toBe(other?.idempotency_key)
    expect(hooks.received[0]?.id).toBe(hooks.received[1]?.id)
  })
})

describe('a retry', () => {
  test('has the same Idempotency-Key, a signature of its own, and the latest details', async () => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    hooks.failNext(1, 503)
    await fixture.setUp(hooks.url, ['application.started'])
    await fixture.startWorker()

    const application = await fixture.startApplication()
    await hooks.untilRequested(1)
    await application.saveCustomer('Grace')
    await fixture.untilShown(application, 'in_capture')
    await eventually(async () => (await fixture.attempts()).length === 1)
    await fixture.passTime(12)
    await hooks.untilReceived(1)

    const [first, second] = hooks.requests
    expect(second?.idempotency_key).toBe(first?.idempotency_key)
    expect(second?.headers['x-service-signature']).not.toBe(first?.headers['x-service-signature'])
    expect(JSON.parse(first?.raw_body ?? '')).toMatchObject({ customer: null })
    expect(JSON.parse(second?.raw_body ?? '')).toMatchObject({ customer: { first_name: 'Grace' } })
    await eventually(async () => (await fixture.deliveries())[0]?.state === 'delivered')
    expect(await fixture.attempts()).toMatchObject([
      { number: 1, outcome: 'answered', status: 503 },
      { number: 2, outcome: 'answered', status: 200 },
    ])
  })

  test('is made four times, and then the delivery has failed', async () => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    hooks.failNext(99, 500)
    await fixture.setUp(hooks.url, ['application.started'])
    await fixture.startWorker()

    await fixture.startApplication()
    for (const [index, seconds] of [12, 46, 115, 230].entries()) {
      await eventually(async () => (await fixture.attempts()).length === index + 1)
      const [delivery] = await fixture.deliveries()
      expect(delivery).toMatchObject({ state: 'pending', sent: index + 1 })
      await fixture.passTime(seconds)
    }
    await eventually(async () => (await fixture.deliveries())[0]?.state !== 'pending')
    await fixture.passTime(100_000)
    await fixture.startApplication()
    await hooks.untilRequested(6)

    expect(await fixture.deliveries()).toMatchObject([{ state: 'failed', reason: 'status 500' }, { state: 'pending' }])
    expect(hooks.requests).toHaveLength(6)
  })

  test.each([400, 403, 404, 301])('is not made after %i', async (status) => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    hooks.failNext(1, status)
    await fixture.setUp(hooks.url, ['application.started'])
    await fixture.startWorker()

    await fixture.startApplication()
    await eventually(async () => (await fixture.deliveries())[0]?.state === 'failed')

    expect(await fixture.deliveries()).toMatchObject([{ reason: `status ${status}` }])
    expect(await fixture.attempts()).toMatchObject([{ number: 1, status }])
  })

  test('follows when nobody answers, and says why there was no answer', async () => {
    await using fixture = await deliveryFixture()
    const gone = await startReceiver({ secret })
    await gone.close()
    await fixture.setUp(gone.url, ['application.started'])
    await fixture.startWorker()

    await fixture.startApplication()
    await eventually(async () => (await fixture.attempts()).length === 1)

    expect(await fixture.deliveries()).toMatchObject([{ state: 'pending', sent: 1 }])
    expect(await fixture.attempts()).toMatchObject([{ outcome: 'unanswered', status: null }])
    expect((await fixture.attempts())[0]?.reason).toContain('ECONNREFUSED')
  })

  test('follows when the answer takes longer than the time-out', async () => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    hooks.misbehave(() => 'hang')
    await fixture.setUp(hooks.url, ['application.started'])
    await fixture.startWorker({ timeoutMs: 100 })

    await fixture.startApplication()
    await eventually(async () => (await fixture.attempts()).length === 1)

    expect(await fixture.attempts()).toMatchObject([{ outcome: 'unanswered', reason: 'no answer within 0.1 s' }])
    expect(await fixture.deliveries()).toMatchObject([{ state: 'pending' }])
  })

  test('is not made to an address that may not be reached', async () => {
    await using fixture = await deliveryFixture()
    await fixture.setUp('https://169.254.169.254/latest/meta-data', ['application.started'])
    await fixture.startWorker()

    await fixture.startApplication()
    await eventually(async () => (await fixture.deliveries())[0]?.state === 'failed')

    expect((await fixture.deliveries())[0]?.reason).toContain('not a public address')
    expect(await fixture.attempts()).toMatchObject([{ outcome: 'refused' }])
  })
})

describe('a connection', () => {
  test('that has a new secret signs with it from then on, retries too', async () => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver('the new secret')
    const connection = await fixture.setUp(hooks.url, ['application.started'])
    hooks.misbehave(({ refused }) => (refused === undefined ? undefined : { status: 500 }))
    await fixture.startWorker()

    await fixture.startApplication()
    await hooks.untilRequested(1)
    await connection.regenerate('the new secret')
    await eventually(async () => (await fixture.attempts()).length === 1)
    await fixture.startApplication()
    await hooks.untilReceived(1)
    await fixture.passTime(12)
    await hooks.untilReceived(2)

    expect(hooks.requests[0]?.refused).toBe('signature mismatch')
  })

  test('that is moved is sent to at its new address', async () => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    const connection = await fixture.setUp('https://old.example.com/', ['application.started'])
    await connection.move(hooks.url)
    await fixture.startWorker()

    const { application_id } = await fixture.startApplication()
    await hooks.untilReceived(1)

    expect(hooks.received[0]).toMatchObject({ aggregate: { id: application_id } })
  })

  test.each([
    ['connection', 'connection_removed'],
    ['action', 'action_removed'],
    ['active action', 'action_inactive'],
    ['organisation', 'organisation_inactive'],
  ])('what waits is cancelled with a reason when the %s goes: %s', async (what, reason) => {
    await using fixture = await deliveryFixture()
    await using hooks = await receiver()
    hooks.failNext(99)
    const connection = await fixture.setUp(hooks.url, ['application.started'])
    await fixture.startWorker()
    await fixture.startApplication()
    await eventually(async () => (await fixture.attempts()).length === 1)

    if (what === 'connection') await connection.removeConnection()
    if (what === 'action') await connection.removeAction()
    if (what === 'active action') await connection.deactivateAction()
    if (what === 'organisation')
      await fixture.append(organisationEvents, `organisation-${organisation_id}`, [
        { type: 'OrganisationDeactivated', organisation_id },
      ])
    await eventually(async () => (await fixture.deliveries())[0]?.state === 'cancelled')

    expect(await fixture.deliveries()).toMatchObject([{ state: 'cancelled', reason }])
    expect(hooks.requests).toHaveLength(1)
  })

  test('that is gone does not lose an event without a trace', async () => {
    await using fixture = await deliveryFixture()
    const connection = await fixture.setUp('https://crm.example.com/', ['application.started'])
    await connection.removeConnection()
    await fixture.startWorker()

    await fixture.startApplication()
    await eventually(async () => (await fixture.deliveries()).length === 1)

    expect(await fixture.deliveries()).toMatchObject([{ state: 'cancelled', reason: 'connection_removed' }])
    expect(await fixture.attempts()).toEqual([])
  })
})

test('nothing is sent before the read models have passed its event, so that no snapshot is older than it', async () => {
  await using fixture = await deliveryFixture()
  await using hooks = await receiver()
  await fixture.setUp(hooks.url, ['application.customer_saved'])
  await fixture.startWorker()
  const application = await fixture.startApplication()
  await application.saveCustomer('Grace')
  await hooks.untilReceived(1)
  await fixture.stopProjections()

  const first = await application.saveCustomer('Ada')
  const second = await application.saveCustomer('Mary')
  await eventually(async () => (await fixture.deliveries()).length === 3)
  const moveTo = `update consumer_checkpoint set position = $1 where name = 'applications'`
  await fixture.pool.query(moveTo, [first.position])
  await hooks.untilReceived(2)

  expect(hooks.received[1]?.id).toBe(first.ids[0])
  const waiting = (await fixture.deliveries()).find(({ event_id }) => event_id === second.ids[0])
  expect(waiting).toMatchObject({ state: 'pending', sent: 0, started_at: null })
})
