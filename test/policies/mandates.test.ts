import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromStored } from '#domain/event.ts'
import type { Policy } from '#domain/policies/record.ts'
import { testAccounts, testSortCode } from '#infra/stripe/test-accounts.ts'
import { readProviderEvent, type ProviderEvent } from '#infra/stripe/provider-events.ts'
import { makeLog } from '#infra/log.ts'
import { whenPolicyMandateChangedProveMandate } from '../../command-api/applications/when-policy-mandate-changed-prove-mandate.ts'
import { collectPremiums } from '../../command-api/premiums/collect-premiums.ts'
import { setUpMandates } from '../../command-api/payments/policy-mandates.ts'
import { contextOf } from '../../command-api/reactions/reaction.ts'
import { makePaymentNews } from '../../command-api/payment-news/receive.ts'
import { eventOf } from '../../stand-ins/stripe/webhooks.ts'
import { organisation_id } from '../applications/release.ts'
import { bankDetailsSaved } from './builders.ts'
import { openSales, quotedAt, type Body, type Sales } from './fixture.ts'
import { england } from './calendars.ts'

const log = makeLog('silent', 'test')

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
  const make = async (id: string, due_at = quotedAt) => {
    const due = { organisation_id, kind: 'policy_mandate', id, stream: `policy-${id}`, due_at }
    await setUpMandates({ writer: sales.writer, merchants: sales.merchants }).fire(due, { ...context, now: due_at })
  }
  const shown = async (id: string) => ((await sales.get(`/api/v1/policies/${id}`)).body as { data: Policy }).data
  /** What the mandate is called in events; it is shown as the provider calls it. */
  const ownIdOf = async (id: string) => {
    const recorded = (await sales.log.read(`policy-${id}`)).find(({ type }) => type === 'PolicyMandateRecorded')
    return String(recorded?.data['mandate_id'])
  }
  const mandatesOf = (id: string) =>
    sales.stripe.objects().filter(({ object, metadata }) => {
      return object === 'setup_intent' && (metadata as Record<string, string>)['policy_id'] === id
    })
  const newsOf = (mandate: string, network_status: string) =>
    eventOf('mandate.updated', { id: mandate, object: 'mandate', status: 'active', ...details(network_status) })
  const receiveNews = async (event: object) => {
    const news = makePaymentNews({
      calendar: england,
      writer: sales.writer,
      merchants: sales.merchants,
      setUp: sales.setUp,
      log,
      mandateOwner: async () => owner,
    })
    await news(organisation_id, readProviderEvent(Buffer.from(JSON.stringify(event))) as ProviderEvent, context)
  }
  const banksSay = async (mandate: string, network_status: string) => {
    const body = new URLSearchParams({ network_status })
    const asked = await fetch(`${sales.stripe.url}/stand-in/mandates/${mandate}`, { method: 'POST', body })
    expect(asked.status).toBe(200)
  }
  const receive = async (mandate: string, network_status: string) => {
    await banksSay(mandate, network_status)
    await receiveNews(newsOf(mandate, network_status))
  }
  const details = (network_status: string) => ({ payment_method_details: { bacs_debit: { network_status } } })
  let owner: { readonly id: string; readonly application_id: never } | undefined

  test('the mandate is made at the provider, and the policy shows it under the id that webhooks tell', async () => {
    const { id, application_id } = await sold()

    await make(id)

    expect((await shown(id)).payment_method).toEqual({
      type: 'direct_debit',
      account_number_last4: '4958',
      mandate_id: mandatesOf(id)[0]?.['mandate'],
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
      const timer = setUpMandates({ writer: killed.writer, merchants: sales.merchants })
      await expect(timer.fire(due, context)).rejects.toThrow('killed')
    }

    await make(id)
    await make(id)

    expect(mandatesOf(id)).toHaveLength(1)
    expect((await sales.typesOf(`policy-${id}`)).filter((type) => type === 'PolicyMandateRecorded')).toHaveLength(1)
  })

  test('bank details that are replaced while the provider makes a mandate are those that the next is made from', async () => {
    const { id, application_id, quote_id } = await sold()
    const saved = bankDetailsSaved(quote_id)
    if (saved.type !== 'BankDetailsSaved') throw new Error('These are no bank details.')
    const bank_details = { ...saved.bank_details, sort_code: '107999', account_number: '88837491' }
    const merchant = sales.merchants()
    const setUpMandate: typeof merchant.provider.setUpMandate = async (...asked) => {
      const answer = await merchant.provider.setUpMandate(...asked)
      await sales.append(application_id, [{ ...saved, bank_details, account_number_last4: '7491' }])
      return answer
    }
    const merchants = () => ({ ...merchant, provider: { ...merchant.provider, setUpMandate } })
    const due = { organisation_id, kind: 'policy_mandate', id, stream: `policy-${id}`, due_at: quotedAt }
    await setUpMandates({ writer: sales.writer, merchants }).fire(due, context)
    expect((await sales.typesOf(`policy-${id}`)).at(-1)).toBe('PolicyMandateDelayed')

    await make(id, '2026-06-01T09:01:00.000Z')

    expect((await shown(id)).payment_method).toMatchObject({ account_number_last4: '7491', mandate_status: 'pending' })
  })

  test('an account that is refused after another was given does not end the request: the mandate is made from the other', async () => {
    const { id } = await sold(testAccounts.setupFails)
    const merchant = sales.merchants()
    const setUpMandate: typeof merchant.provider.setUpMandate = async (...asked) => {
      const refusal = await merchant.provider.setUpMandate(...asked)
      const direct_debit = { account_holder_name: 'Anna Osei', sort_code: '10-79-99', account_number: '88837491' }
      const address = `/admin/v1/organisations/${organisation_id}/policies/${id}/mandate`
      sales.clock(new Date(Date.parse(quotedAt) + 60_000).toISOString())
      expect((await sales.post(address, { direct_debit })).status).toBe(200)
      sales.clock(quotedAt)
      return refusal
    }
    const merchants = () => ({ ...merchant, provider: { ...merchant.provider, setUpMandate } })
    const due = { organisation_id, kind: 'policy_mandate', id, stream: `policy-${id}`, due_at: quotedAt }

    await setUpMandates({ writer: sales.writer, merchants }).fire(due, context)
    expect((await shown(id)).payment_method.mandate_status).toBe('pending')
    await make(id)

    expect((await shown(id)).payment_method).toMatchObject({ account_number_last4: '7491', mandate_status: 'pending' })
    expect(await sales.typesOf(`policy-${id}`)).not.toContain('PolicyMandateRefused')
  })

  test('news of the banks reaches the policy', async () => {
    const { id, application_id } = await sold()
    await make(id)
    owner = { id: await ownIdOf(id), application_id: application_id as never }
    const { mandate_id } = (await shown(id)).payment_method
    const reference = String(mandate_id)

    await receive(reference, 'accepted')
    expect((await shown(id)).payment_method.mandate_status).toBe('active')

    await receive(reference, 'revoked')
    expect((await shown(id)).payment_method.mandate_status).toBe('cancelled')

    // Their bank reinstates it.
    await receive(reference, 'accepted')
    expect((await shown(id)).payment_method.mandate_status).toBe('active')
  })

  test('a customer whose mandate was cancelled gives another account, from which a new mandate is made', async () => {
    const { id, application_id } = await sold()
    await make(id)
    const former = (await shown(id)).payment_method.mandate_id
    owner = { id: await ownIdOf(id), application_id: application_id as never }
    const reference = String(former)
    const address = `/admin/v1/organisations/${organisation_id}/policies/${id}/mandate`
    const other = { account_holder_name: 'Anna Osei', sort_code: '10-79-99', account_number: '88837491' }

    const early = await sales.post(address, { direct_debit: other })
    expect(early).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    await receive(reference, 'accepted')
    await receive(reference, 'revoked')
    const wrong = await sales.post(address, { direct_debit: { ...other, account_number: '88837493' } })
    expect(wrong).toMatchObject({ status: 422, body: { error: { code: 'direct_debit_invalid' } } })
    const { fields = {} } = (wrong.body as Body).error
    expect(Object.keys(fields).toSorted()).toEqual(['direct_debit.account_number', 'direct_debit.sort_code'])
    expect((await shown(id)).payment_method.mandate_status).toBe('cancelled')

    for (let time = 0; time < 2; time++) expect((await sales.post(address, { direct_debit: other })).status).toBe(200)
    await make(id)
    await make(id)

    const { mandate_id, ...method } = (await shown(id)).payment_method
    expect(method).toEqual({ type: 'direct_debit', account_number_last4: '7491', mandate_status: 'pending' })
    expect(mandate_id).not.toBe(former)
    expect(mandatesOf(id)).toHaveLength(2)
    expect((await sales.typesOf(`application-${application_id}`)).slice(-2)).toEqual([
      'BankDetailsSaved',
      'MandateCreated',
    ])
    await receive(reference, 'revoked')
    expect((await shown(id)).payment_method.mandate_status).toBe('pending')
  })

  const other = { account_holder_name: 'Anna Osei', sort_code: '10-79-99', account_number: '88837491' }
  const giveOther = (id: string) =>
    sales.post(`/admin/v1/organisations/${organisation_id}/policies/${id}/mandate`, { direct_debit: other })
  /** The customer's bank ends it, and nobody is told. */
  const revoke = async (id: string) => {
    await banksSay(String((await shown(id)).payment_method.mandate_id), 'revoked')
  }

  test('other bank details are refused while the mandate that was made from the former ones is being recorded', async () => {
    const { id, application_id } = await sold()
    {
      await using killed = await sales.startProcess({ atWrite: 2, when: 'before' })
      const due = { organisation_id, kind: 'policy_mandate', id, stream: `policy-${id}`, due_at: quotedAt }
      const timer = setUpMandates({ writer: killed.writer, merchants: sales.merchants })
      await expect(timer.fire(due, context)).rejects.toThrow('killed')
    }

    const refused = await giveOther(id)
    await make(id)

    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    expect((await shown(id)).payment_method).toMatchObject({ account_number_last4: '4958', mandate_status: 'pending' })
    expect((await sales.typesOf(`application-${application_id}`)).at(-1)).toBe('MandateCreated')
  })

  test('a mandate that has ended, of which the provider has not told, is replaced: the provider is asked', async () => {
    const { id, application_id } = await sold()
    await make(id)
    const former = (await shown(id)).payment_method.mandate_id
    await revoke(id)

    expect((await giveOther(id)).status).toBe(200)
    await make(id)

    expect((await shown(id)).payment_method).toMatchObject({ account_number_last4: '7491', mandate_status: 'pending' })
    expect((await shown(id)).payment_method.mandate_id).not.toBe(former)
    expect((await sales.typesOf(`application-${application_id}`)).slice(-3)).toEqual([
      'MandateCancelled',
      'BankDetailsSaved',
      'MandateCreated',
    ])
  })

  test('so is one without other bank details, and nothing changes where it goes on', async () => {
    const { id } = await sold()
    await make(id)
    const address = `/admin/v1/organisations/${organisation_id}/policies/${id}/mandate`
    const former = (await shown(id)).payment_method
    expect((await sales.post(address)).status).toBe(200)
    expect((await shown(id)).payment_method).toEqual(former)

    await revoke(id)
    expect((await sales.post(address)).status).toBe(200)

    expect((await shown(id)).payment_method).toMatchObject({ mandate_id: null, mandate_status: 'pending' })
  })

  test('503 unavailable: the provider does not say whether the mandate goes on', async () => {
    const { id } = await sold()
    await make(id)
    sales.stripe.misbehave(({ url }) =>
      url.pathname.startsWith('/v1/mandates/') ? { status: 500, body: {} } : undefined,
    )

    const { status, body } = await giveOther(id)

    sales.stripe.misbehave(undefined)
    expect([status, (body as { error: { code: string } }).error.code]).toEqual([503, 'unavailable'])
  })

  /** The first premium is asked for; answers the payment at the provider. */
  const collect = async (id: string) => {
    const process = { writer: sales.writer, merchants: sales.merchants, clock: { now: () => new Date(quotedAt) } }
    const timer = collectPremiums({ ...process, calendar: england }).find(({ kind }) => kind === 'policy_premium')
    const due = { organisation_id, kind: 'policy_premium', id, stream: `policy-${id}`, due_at: '2027-01-01T00:00:00Z' }
    await timer?.fire(due, { ...context, now: due.due_at })
    return sales.stripe
      .objects()
      .find(({ object, metadata }) => object === 'payment_intent' && JSON.stringify(metadata).includes(id))
  }
  /** The banks answer, and the provider tells of it. */
  const payerAnswers = async (asked: Awaited<ReturnType<typeof collect>>, failure_code?: string) => {
    const body = new URLSearchParams(failure_code === undefined ? {} : { failure_code })
    await fetch(`${sales.stripe.url}/stand-in/payment_intents/${asked?.id}/settle`, { method: 'POST', body })
    const type = `payment_intent.${failure_code === undefined ? 'succeeded' : 'payment_failed'}`
    const now = sales.stripe.objects().find(({ id }) => id === asked?.id) ?? expect.fail()
    const news = readProviderEvent(Buffer.from(JSON.stringify(eventOf(type, now))))
    if (news === 'other') throw new Error('The news cannot be read.')
    const { writer, merchants, setUp } = sales
    const parts = { calendar: england, writer, merchants, setUp, log, mandateOwner: async () => undefined }
    await makePaymentNews(parts)(organisation_id, news, { ...context, now: '2027-01-05T00:00:00Z' })
  }

  test('a mandate that has ended is known by the first premium that is not collected on it', async () => {
    const { id } = await sold()
    await make(id)
    await revoke(id)

    await collect(id)

    expect(await sales.typesOf(`policy-${id}`)).toEqual(expect.arrayContaining(['PremiumFailed']))
    expect((await shown(id)).payment_method.mandate_status).toBe('cancelled')
  })

  test('so is one whose premium the provider says was not collected', async () => {
    const { id } = await sold()
    await make(id)
    const asked = await collect(id)
    await revoke(id)

    await payerAnswers(asked, 'debit_not_authorized')

    const types = await sales.typesOf(`policy-${id}`)
    expect(types.slice(-3)).toEqual(['PremiumFailed', 'ArrearsChanged', 'PolicyMandateChanged'])
    expect((await shown(id)).payment_method.mandate_status).toBe('cancelled')
  })

  test('a mandate that is proven by a collection is active where receivers are told of it', async () => {
    const { id, application_id } = await sold()
    await make(id)
    await payerAnswers(await collect(id))
    const reaction = whenPolicyMandateChangedProveMandate(sales.writer)
    const changed = (await sales.log.read(`policy-${id}`)).find(({ type }) => type === 'PolicyMandateChanged')
    if (!changed) expect.fail('The collection has proven nothing.')

    for (let time = 0; time < 2; time++)
      await reaction.react(
        fromStored(reaction.events, changed),
        changed,
        contextOf(reaction, changed, new AbortController().signal),
      )

    const told = (await sales.typesOf(`application-${application_id}`)).filter((type) => type === 'MandateActivated')
    expect(told).toEqual(['MandateActivated'])
  })

  test('news that comes while the mandate is being recorded is not taken, and reaches the policy when it comes again', async () => {
    const { id, application_id } = await sold()
    {
      await using killed = await sales.startProcess({ atWrite: 2, when: 'before' })
      const due = { organisation_id, kind: 'policy_mandate', id, stream: `policy-${id}`, due_at: quotedAt }
      const timer = setUpMandates({ writer: killed.writer, merchants: sales.merchants })
      await expect(timer.fire(due, context)).rejects.toThrow('killed')
    }
    const events = await sales.log.read(`application-${application_id}`)
    const created = events.find(({ type }) => type === 'MandateCreated')?.data
    const told = newsOf(String(created?.['provider_mandate_id']), 'accepted')

    owner = undefined
    await expect(receiveNews(told)).rejects.toThrow('Send the news again')
    owner = { id: String(created?.['mandate_id']), application_id: application_id as never }
    await banksSay(String(created?.['provider_mandate_id']), 'accepted')
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
