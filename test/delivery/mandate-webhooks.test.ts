import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { applicationEvents } from '#domain/applications/events.ts'
import { MandateId, paymentEvents } from '#domain/payments/events.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { OrganisationId, PolicyId, type QuoteId } from '#domain/values.ts'
import { startReceiver } from '../../demo/receiver.ts'
import { payments } from '../../projections/payments/projection.ts'
import { policies } from '../../projections/policies/projection.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { organisation_id, product_id, type TestApplication } from './applications.ts'
import { deliveryFixture, secret } from './fixture.ts'

const bound = sampleEvent(policyEvents, 'PolicyBound', 2)

const open = async () => {
  const fixture = await deliveryFixture({ readModels: [payments, policies] })
  const hooks = await startReceiver({ secret })
  await fixture.setUp(hooks.url, ['mandate.activated'])
  await fixture.startWorker()
  const application = await fixture.startApplication()
  await application.saveCustomer('Grace')
  const { quote_id } = await application.issueQuote()
  return {
    ...fixture,
    hooks,
    application,
    quote_id,
    [Symbol.asyncDispose]: async () => {
      await fixture[Symbol.asyncDispose]()
      await hooks.close()
    },
  }
}

/** A mandate from the customer's bank details, which the banks then accept. */
const accepted = async ({ tell }: TestApplication, quote_id: QuoteId, mandate_id = MandateId.parse(randomUUID())) => {
  await tell(paymentEvents, {
    type: 'MandateCreated',
    mandate_id,
    quote_id,
    product_id,
    session_id: null,
    provider_mandate_id: 'mandate_1',
    provider_customer_id: 'cus_1',
    provider_payment_method_id: 'pm_1',
    account_number_last4: '4958',
  })
  const { ids } = await tell(paymentEvents, { type: 'MandateActivated', mandate_id })
  return { mandate_id, event_id: ids[0] }
}

test('mandate.activated arrives signed, with the quote, the application and the customer before there is a policy', async () => {
  await using own = await open()
  const { application, hooks, quote_id } = own

  const { mandate_id, event_id } = await accepted(application, quote_id)
  await hooks.untilReceived(1)

  expect(hooks.requests.map(({ refused }) => refused)).toEqual([undefined])
  expect(hooks.received).toEqual([
    {
      id: event_id,
      type: 'mandate.activated',
      occurred_at: '2026-01-15T12:00:00.000Z',
      aggregate: { type: 'mandate', id: mandate_id },
      payload: { mandate_id: 'mandate_1', quote_id },
      product_id,
      organization_id: organisation_id,
      quote: expect.objectContaining({ id: quote_id, status: 'current' }) as unknown,
      application: expect.objectContaining({ id: application.application_id, policy_id: null }) as unknown,
      customer: expect.objectContaining({ first_name: 'Grace', email: 'grace@example.com' }) as unknown,
    },
  ])
  expect(hooks.requests[0]?.raw_body).not.toMatch(/4958|cus_1|pm_1/)
})

type Open = Awaited<ReturnType<typeof open>>

const sold = async ({ application, quote_id, append }: Open, changes: Partial<typeof bound> = {}) => {
  const policy_id = PolicyId.parse(randomUUID())
  const { policy_number } = bound
  await application.tell(applicationEvents, { type: 'ApplicationBound', policy_id, policy_number })
  const { application_id } = application
  const ours = { organisation_id: OrganisationId.parse(organisation_id), product_id, application_id, quote_id }
  await append(policyEvents, `policy-${policy_id}`, [{ ...bound, ...ours, policy_id, ...changes }])
  return { policy_id, policy_number, application_id }
}

test('mandate.activated carries the policy once it exists', async () => {
  await using own = await open()
  const { application, hooks, quote_id } = own
  const { policy_id, policy_number, application_id } = await sold(own)

  const { mandate_id } = await accepted(application, quote_id)
  await hooks.untilReceived(1)

  const [event = expect.fail()] = hooks.received
  expect(event).toMatchObject({
    type: 'mandate.activated',
    aggregate: { type: 'mandate', id: mandate_id },
    payload: { mandate_id: 'mandate_1', quote_id },
    policy: { id: policy_id, policy_number, status: 'pending_start', quote_id, application_id },
  })
  expect(Object.keys(event).filter((key) => key === 'quote' || key === 'application')).toEqual([])
})

test('mandate.activated shows the mandate of the policy as active, also before the policy has heard of it', async () => {
  await using own = await open()
  const { application, hooks, quote_id } = own
  const mandate_id = MandateId.parse(randomUUID())
  await sold(own, { mandate_id, mandate_status: 'pending' })

  await accepted(application, quote_id, mandate_id)
  await hooks.untilReceived(1)

  expect(hooks.received[0]).toMatchObject({ policy: { payment_method: { mandate_status: 'active' } } })
})

test('mandate.activated of one that another has replaced shows the policy with the other', async () => {
  await using own = await open()
  const { application, hooks, quote_id } = own
  await sold(own, { mandate_id: randomUUID(), mandate_status: 'pending' })

  await accepted(application, quote_id)
  await hooks.untilReceived(1)

  expect(hooks.received[0]).toMatchObject({ policy: { payment_method: { mandate_status: 'pending' } } })
})
