import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromStored } from '#domain/event.ts'
import { MandateId } from '#domain/payments/events.ts'
import { policyEvents, type PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import type { Policy } from '#domain/policies/record.ts'
import { testAccounts, testSortCode } from '#infra/stripe/test-accounts.ts'
import { readNews, type ProviderNews } from '#infra/stripe/news.ts'
import { setUpMandates } from '../../command-api/policy-mandates.ts'
import { makePaymentNews } from '../../command-api/receive-payment-news.ts'
import { eventOf } from '../../stand-ins/stripe/webhooks.ts'
import { organisation_id } from '../applications/release.ts'
import { scenariosOf } from '../scenario.ts'
import { samples } from '../stored-events/samples.ts'
import { bankDetailsSaved } from './builders.ts'
import { openSales, quotedAt, type Sales } from './fixture.ts'

const scenario = scenariosOf(policy)
const sample = samples.find(({ name }) => name === 'PolicyBound.v1')?.event
if (!sample) throw new Error('There is no sample of PolicyBound.')
const bound = fromStored(policyEvents, sample)

const mandate_id = MandateId.parse('b0000000-0000-5000-8000-000000000021')
const provider = {
  provider_customer_id: 'cus_1',
  provider_payment_method_id: 'pm_1',
  provider_mandate_id: 'mandate_1',
}
const recorded: PolicyEvent = {
  type: 'PolicyMandateRecorded',
  mandate_id,
  ...provider,
  account_number_last4: '4958',
  status: 'pending',
}
const changed = (status: 'active' | 'failed' | 'cancelled') =>
  ({ type: 'PolicyMandateChanged', mandate_id, status }) as const
const change = (status: 'active' | 'failed' | 'cancelled') => ({ type: 'ChangeMandate', mandate_id, status }) as const
const fail = (is_final = false) =>
  ({ type: 'RecordMandateFailure', failure_code: 'unanswered', is_final, now: quotedAt }) as const

describe('the mandate of a policy', () => {
  scenario('is recorded once', {
    given: [bound, recorded],
    when: { ...recorded, type: 'RecordMandate', status: 'pending' },
    then: [],
  })
  scenario('becomes active', { given: [bound, recorded], when: change('active'), then: [changed('active')] })
  scenario('which is told more than once', {
    given: [bound, recorded, changed('active')],
    when: change('active'),
    then: [],
  })
  scenario('and stays ended when older news comes late', {
    given: [bound, recorded, changed('cancelled')],
    when: change('active'),
    then: [],
  })
  scenario('that could not be made is tried again', {
    given: [bound],
    when: fail(),
    then: [
      { type: 'PolicyMandateDelayed', failure_code: 'unanswered', attempt: 1, retry_at: '2026-06-01T09:01:00.000Z' },
    ],
  })
  scenario('is left to the team after ten failures', {
    given: [
      bound,
      { type: 'PolicyMandateDelayed', failure_code: 'unanswered', attempt: 9, retry_at: '2026-06-01T09:01:00.000Z' },
    ],
    when: fail(),
    then: [{ type: 'PolicyMandateRefused', failure_code: 'unanswered', attempt: 10 }],
  })
  scenario('and so is one that the provider refuses', {
    given: [bound],
    when: fail(true),
    then: [{ type: 'PolicyMandateRefused', failure_code: 'unanswered', attempt: 1 }],
  })
  scenario('of which nothing is recorded once there is one', { given: [bound, recorded], when: fail(), then: [] })
  scenario('can be asked for anew by the team', {
    given: [bound, { type: 'PolicyMandateRefused', failure_code: 'unanswered', attempt: 10 }],
    when: { type: 'RequestMandate' },
    then: [{ type: 'PolicyMandateRequested', attempt: 11 }],
  })
})

describe('after a bind with bank details', () => {
  let sales: Sales
  beforeAll(async () => {
    sales = await openSales()
  })
  afterAll(async () => sales[Symbol.asyncDispose]())

  const sold = async (account?: string) => {
    const { quote_id, application_id } = await sales.ready({ banked: account === undefined, direct_debit_first: true })
    if (account !== undefined) {
      const saved = bankDetailsSaved(quote_id)
      if (saved.type !== 'BankDetailsSaved') throw new Error('These are no bank details.')
      const bank_details = { ...saved.bank_details, sort_code: testSortCode, account_number: account }
      await sales.append(application_id, [{ ...saved, bank_details }])
    }
    const { id } = (await sales.bind(quote_id)).body.data
    return { id, application_id, quote_id }
  }
  const context = {
    organisation_id,
    actor: { type: 'system', id: null } as const,
    correlation_id: 'test',
    now: quotedAt,
  }
  const make = async (id: string) => {
    const due = { organisation_id, kind: 'policy_mandate', id, stream: `policy-${id}`, due_at: quotedAt }
    await setUpMandates({ writer: sales.writer, desks: sales.desks }).fire(due, context)
  }
  const shown = async (id: string) => ((await sales.get(`/api/v1/policies/${id}`)).body as { data: Policy }).data
  const mandatesOf = (id: string) =>
    sales.stripe.objects().filter(({ object, metadata }) => {
      return object === 'setup_intent' && (metadata as Record<string, string>)['policy_id'] === id
    })
  const newsOf = (mandate: string, network_status: string) =>
    eventOf('mandate.updated', { id: mandate, object: 'mandate', status: 'active', ...details(network_status) })
  const receiveNews = async (event: object) => {
    const news = makePaymentNews({
      writer: sales.writer,
      desks: sales.desks,
      setUp: sales.setUp,
      mandateOwner: async () => owner,
    })
    await news(organisation_id, readNews(Buffer.from(JSON.stringify(event))) as ProviderNews, context)
  }
  const receive = async (mandate: string, network_status: string) => receiveNews(newsOf(mandate, network_status))
  const details = (network_status: string) => ({ payment_method_details: { bacs_debit: { network_status } } })
  let owner: { readonly id: string; readonly application_id: never } | undefined

  test('the mandate is made at the provider, and the policy shows it', async () => {
    const { id, application_id } = await sold()

    await make(id)

    expect((await shown(id)).payment_method).toMatchObject({
      account_number_last4: '4958',
      mandate_id: expect.any(String) as string,
      mandate_status: 'pending',
    })
    expect(await sales.typesOf(`application-${application_id}`)).toContain('MandateCreated')
    expect(mandatesOf(id)).toHaveLength(1)
  })

  test('a process that is killed before it has recorded the mandate leaves one mandate', async () => {
    const { id } = await sold()
    for (const atWrite of [1, 2]) {
      await using killed = await sales.startProcess({ atWrite, when: 'before' })
      const due = { organisation_id, kind: 'policy_mandate', id, stream: `policy-${id}`, due_at: quotedAt }
      const timer = setUpMandates({ writer: killed.writer, desks: sales.desks })
      await expect(timer.fire(due, context)).rejects.toThrow('killed')
    }

    await make(id)
    await make(id)

    expect(mandatesOf(id)).toHaveLength(1)
    expect((await sales.typesOf(`policy-${id}`)).filter((type) => type === 'PolicyMandateRecorded')).toHaveLength(1)
  })

  test('news of the banks reaches the policy', async () => {
    const { id, application_id } = await sold()
    await make(id)
    const { mandate_id: made } = (await shown(id)).payment_method
    owner = { id: made ?? '', application_id: application_id as never }
    const events = await sales.log.read(`policy-${id}`)
    const reference = String(events.find(({ type }) => type === 'PolicyMandateRecorded')?.data['provider_mandate_id'])

    await receive(reference, 'accepted')
    expect((await shown(id)).payment_method.mandate_status).toBe('active')

    await receive(reference, 'revoked')
    expect((await shown(id)).payment_method.mandate_status).toBe('cancelled')
  })

  test('news that comes while the mandate is being recorded is not taken, and reaches the policy when it comes again', async () => {
    const { id, application_id } = await sold()
    {
      await using killed = await sales.startProcess({ atWrite: 2, when: 'before' })
      const due = { organisation_id, kind: 'policy_mandate', id, stream: `policy-${id}`, due_at: quotedAt }
      const timer = setUpMandates({ writer: killed.writer, desks: sales.desks })
      await expect(timer.fire(due, context)).rejects.toThrow('killed')
    }
    const events = await sales.log.read(`application-${application_id}`)
    const created = events.find(({ type }) => type === 'MandateCreated')?.data
    const told = newsOf(String(created?.['provider_mandate_id']), 'accepted')

    owner = undefined
    await expect(receiveNews(told)).rejects.toThrow('Send the news again')
    owner = { id: String(created?.['mandate_id']), application_id: application_id as never }
    await expect(receiveNews(told)).rejects.toThrow('Send the news again')
    await make(id)
    await receiveNews(told)

    expect((await shown(id)).payment_method.mandate_status).toBe('active')
  })

  test('news of a mandate that is nobody’s here is taken once it is ten minutes old', async () => {
    owner = undefined
    const told = newsOf('mandate_of_another_system', 'accepted')
    await expect(receiveNews(told)).rejects.toThrow('Send the news again')
    await receiveNews({ ...told, created: Number(told['created']) - 600 })
  })

  test('an account that the provider refuses is left to the team, which can have it tried again', async () => {
    const { id } = await sold(testAccounts.setupFails)

    await make(id)

    expect((await shown(id)).payment_method.mandate_status).toBe('failed')
    const asked = await sales.post(`/admin/v1/organisations/${organisation_id}/policies/${id}/mandate`)
    expect(asked.status).toBe(200)
    expect((await sales.typesOf(`policy-${id}`)).slice(-2)).toEqual(['PolicyMandateRefused', 'PolicyMandateRequested'])
  })
})
