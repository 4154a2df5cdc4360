import { describe, expect, test } from 'vitest'
import type { PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { Policy, renderPolicy, type PolicyStreamEvent } from '#domain/policies/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { bound, cancelled as cancelledWith, collected, customer_id, due, first } from '../premiums/premium-builders.ts'

/** Of a policy from 2 February 2026 to 2 February 2051, which can be cancelled with a full refund until 4 March 2026. */
const scenario = scenariosOf(policy)
const activated: PolicyEvent = { type: 'PolicyActivated', start_date: '2026-02-02' }
const suspended: PolicyEvent = { type: 'PolicySuspended', reason: 'operator', overdue_pence: 0 }
const lapsed: PolicyEvent = { type: 'PolicyLapsed', customer_id, lapsed_on: '2026-12-15', overdue_pence: 2875 }
const expired: PolicyEvent = { type: 'PolicyExpired', end_date: '2051-02-02' }
const cancelled = (changes: Parameters<typeof cancelledWith>[0] = {}) =>
  cancelledWith({ effective_on: '2026-02-10', ...changes })
const cancel = (reason: 'cooling_off' | 'customer_request', today = '2026-02-10') =>
  ({ type: 'CancelPolicy', reason, note: null, today }) as const

describe('cover ends on its day', () => {
  const when = { type: 'ExpirePolicy', now: '2051-02-02T00:00:00.000Z' } as const
  scenario('also while it is suspended', { given: [bound, activated, suspended], when, then: [expired] })
  scenario('never where it has no end', { given: [{ ...bound, end_date: null }, activated], when, then: [] })
  scenario('not when it has lapsed before', { given: [bound, activated, lapsed], when, then: [] })
  scenario('once', { given: [bound, activated, expired], when, then: [] })
})

describe('a cancellation', () => {
  const given = [bound, activated]
  scenario('is refused to who has no time to cool off', {
    given: [{ ...bound, cooling_off_ends_on: null }, activated],
    when: cancel('cooling_off'),
    then: rejected('validation_failed', { reason: 'this policy has no cooling-off period' }, 'Choose another reason'),
  })
  scenario('for another reason than the first one is refused', {
    given: [...given, cancelled()],
    when: cancel('customer_request'),
    then: rejected('conflict', undefined, 'This policy has ended (cancelled), so it cannot be cancelled.'),
  })
  scenario('of a lapsed policy is refused', {
    given: [...given, lapsed],
    when: cancel('customer_request', '2026-12-16'),
    then: rejected('conflict', undefined, 'This policy has ended (lapsed)'),
  })
  scenario('of an expired policy is refused', {
    given: [...given, expired],
    when: cancel('cooling_off'),
    then: rejected('conflict', undefined, 'This policy has ended (expired)'),
  })
})

describe('what a card paid before the first premium was recorded', () => {
  const card_payment_id = 'f0000000-0000-4000-8000-000000000001'
  const by = (method: 'card' | 'direct_debit', status: 'succeeded' | 'authorised' | 'failed' | 'pending') => ({
    ...bound,
    card_payment_id: method === 'card' ? card_payment_id : null,
    first_premium: { method, status, paid_at: status === 'succeeded' ? '2026-02-01T09:00:00.000Z' : null },
  })
  const refunds = (name: string, sold: PolicyEvent, refund_pence: number) => {
    scenario(name, {
      given: [sold, activated],
      when: cancel('cooling_off'),
      then: [
        cancelled({
          refund_pence,
          card_payment_id: sold.type === 'PolicyBound' ? sold.card_payment_id : null,
        }),
      ],
    })
  }
  refunds('is given back when it was charged', by('card', 'succeeded'), bound.premium_pence)
  refunds('is let go when it was authorised', by('card', 'authorised'), bound.premium_pence)
  refunds('is nothing when the card failed', by('card', 'failed'), 0)
  refunds('is nothing when Direct Debit was to pay', by('direct_debit', 'pending'), 0)
  scenario('is kept when the time to cool off is not why', {
    given: [by('card', 'authorised'), activated],
    when: cancel('customer_request'),
    then: [cancelled({ reason: 'customer_request', cooling_off: false, card_payment_id })],
  })
  test('is not given back twice when the premium is recorded as collected by card', () => {
    const byCard: readonly PolicyStreamEvent[] = [
      { ...due, method: 'card' },
      { ...collected, method: 'card' },
    ]
    const state = stateOf(policy, [by('card', 'succeeded'), ...byCard, activated])
    const [told, ...others] = policy.decide(cancel('cooling_off'), state)
    expect(told).toMatchObject({ type: 'PolicyCancelled', refund_pence: bound.premium_pence })
    expect(others).toMatchObject([{ type: 'PremiumRefundOwed', refund_pence: bound.premium_pence }])
  })
})

describe('news of the firm’s own system', () => {
  const update = {
    inbound_event_id: '1e000000-0000-4000-8000-000000000001',
    custom_integration_id: '1c000000-0000-4000-8000-000000000001' as never,
    integration_connection_id: '1c000000-0000-4000-8000-000000000002' as never,
    update_type: 'policy.changed',
  }
  const tell = (organisation_id: OrganisationId) =>
    ({ type: 'RecordPolicyUpdate', organisation_id, ...update }) as const
  const another = OrganisationId.parse('99999999-0000-4000-8000-000000000001')
  scenario('is recorded', {
    given: [bound],
    when: tell(bound.organisation_id),
    then: [{ type: 'PolicyUpdated', ...update }],
  })
  scenario('of another firm’s policy is ignored', { given: [bound], when: tell(another), then: [] })
  scenario('of a policy that there is not is ignored', { given: [], when: tell(bound.organisation_id), then: [] })
  test('changes nothing that is shown', () => {
    const updated = stateOf(policy, [bound, { type: 'PolicyUpdated', ...update }])
    expect(updated).toEqual({ ...stateOf(policy, [bound]), changes: 2 })
  })
})

describe('the record', () => {
  const after = (...events: readonly PolicyStreamEvent[]) => {
    const state = stateOf(policy, [bound, ...events])
    if (!state) throw new Error('There is no policy.')
    return state
  }
  const failed: PolicyStreamEvent = {
    type: 'PremiumFailed',
    ...first,
    customer_id,
    attempt: 1,
    failure_code: 'insufficient_funds',
    retry_at: null,
    disputed_on: null,
  }
  test('knows what became of the first premium, whatever became of the second', () => {
    const second = { premium_id: 'b1000000-0000-5000-8000-000000000002' as never, number: 2 }
    const paid = { method: 'direct_debit', status: 'succeeded', paid_at: collected.collected_at }
    expect(after(due, collected).first_premium).toEqual(paid)
    expect(after(due, failed).first_premium).toMatchObject({ method: 'direct_debit', status: 'failed' })
    const next = { ...due, ...second, due_on: '2026-03-15', covers_from: '2026-03-02' }
    expect(after(due, collected, next, { ...failed, ...second }).first_premium).toEqual(paid)
    const later = { ...collected, ...second, collected_at: '2026-03-19T09:00:00.000Z' }
    expect(after(due, collected, next, later).first_premium).toEqual(paid)
  })

  const reinstated = (from: 'lapsed' | 'suspended'): PolicyEvent => ({
    type: 'PolicyReinstated',
    from,
    next_collection_on: '2027-01-15',
    next_collection_at: '2027-01-15T00:00:00.000Z',
    end_at: '2051-02-02T00:00:00.000Z',
    review_at: null,
    indexation_at: null,
  })
  test('covers end with a lapse, and go on to their own end when it is undone', () => {
    const ends = (...events: readonly PolicyEvent[]) =>
      after(activated, ...events).components.map(({ status, ends_on }) => [status, ends_on])
    const [component] = bound.components
    expect(ends(lapsed)).toEqual([['ended', '2026-12-15']])
    expect(ends(lapsed, reinstated('lapsed'))).toEqual([['active', component?.expires_on]])
    expect(ends(suspended, reinstated('suspended'))).toEqual(ends())
  })

  test('new terms change the cover that they name, and no other', () => {
    const [component] = bound.components
    if (!component) throw new Error('Nothing is covered.')
    const two = { ...bound, components: [component, { ...component, cover_index: 1 }] }
    const terms = { cover_index: 1, cover_amount_pence: 2_600, monthly_benefit_pence: null, premium_pence: 99 }
    const state = stateOf(policy, [
      two,
      {
        type: 'PolicyIndexed',
        index_on: '2027-02-02',
        premium_pence: 3000,
        annual_premium_pence: 36_000,
        components: [terms],
        next_indexation_on: null,
        next_indexation_at: null,
      },
    ])
    expect(state?.components.map(({ premium_pence }) => premium_pence)).toEqual([component.premium_pence, 99])
  })

  test('is shown with the key documents of its product, where the product says that they are', () => {
    const issued = (name: string, url: string): PolicyEvent => ({
      type: 'PolicyDocumentIssued',
      kind: 'key_facts',
      document_id: 'd1000000-0000-5000-8000-000000000021',
      version_id: 'd2000000-0000-5000-8000-000000000023',
      sha256: 'e'.repeat(64),
      bytes: 21_000,
      key_document: { name, url },
    })
    const record = after(
      issued('Ours', '/api/v1/key_documents/7'),
      issued('Theirs', 'https://insurer.example/facts.pdf'),
    )

    expect(renderPolicy(record, 'https://acme.example').documents.map(({ name, url }) => [name, url])).toEqual([
      ['Ours', 'https://acme.example/api/v1/key_documents/7'],
      ['Theirs', 'https://insurer.example/facts.pdf'],
    ])
  })

  test('is shown with what its documents are called and where they are', () => {
    const issue = (kind: 'policy_schedule' | 'cancellation_notice', version_id: string): PolicyEvent => ({
      type: 'PolicyDocumentIssued',
      kind,
      document_id: 'd1000000-0000-5000-8000-000000000021',
      version_id,
      sha256: 'e'.repeat(64),
      bytes: 21_000,
      key_document: null,
    })
    const [schedule, notice] = ['d2000000-0000-5000-8000-000000000021', 'd2000000-0000-5000-8000-000000000022'] as const
    const record = after(issue('policy_schedule', schedule), issue('cancellation_notice', notice))
    const shown = renderPolicy(record, 'https://acme.example')

    expect(Policy.strict().parse(shown)).toEqual(shown)
    const { display_id, premium_frequency, documents, ...others } = shown
    expect([display_id, premium_frequency]).toEqual([`pol_${bound.policy_id}`, 'monthly'])
    expect(record).toMatchObject(others)
    const url = (version_id: string) =>
      `https://acme.example/api/v1/policies/${bound.policy_id}/documents/${version_id}`
    expect(documents).toEqual([
      {
        document_id: 'd1000000-0000-5000-8000-000000000021',
        version_id: schedule,
        kind: 'policy_schedule',
        name: 'Policy schedule',
        url: url(schedule),
        issued_at: '2026-01-15T12:00:00.000Z',
      },
      {
        document_id: 'd1000000-0000-5000-8000-000000000021',
        version_id: notice,
        kind: 'cancellation_notice',
        name: 'Your right to cancel',
        url: url(notice),
        issued_at: '2026-01-15T12:00:00.000Z',
      },
    ])
  })
})
