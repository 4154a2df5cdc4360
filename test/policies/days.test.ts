import { describe } from 'vitest'
import { MandateId } from '#domain/payments/events.ts'
import type { CancellationReason, MandateStatus, PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { active, bound, cancelled, collected, due, first, owed, premium_id } from '../premiums/premium-builders.ts'

/** What a policy does on a day and not on the day before or after it: it starts on 2 February 2026, for 25 years. */

const scenario = scenariosOf(policy)
const at = (date: string) => `${date}T12:00:00.000Z`
const cancel = (today: string, reason: CancellationReason = 'customer_request') =>
  ({ type: 'CancelPolicy', reason, note: null, today }) as const
const ended = (effective_on: string, changes: object = {}): PolicyEvent => ({
  ...cancelled(),
  reason: 'customer_request',
  cooling_off: false,
  effective_on,
  ...changes,
})

describe('cover', () => {
  scenario('does not start on the day before', {
    given: [bound],
    when: { type: 'ActivatePolicy', now: at('2026-02-01') },
    then: [],
  })
  scenario('starts on its day', {
    given: [bound],
    when: { type: 'ActivatePolicy', now: at('2026-02-02') },
    then: [{ type: 'PolicyActivated', start_date: '2026-02-02' }],
  })
  scenario('does not end on the day before', {
    given: active,
    when: { type: 'ExpirePolicy', now: at('2051-02-01') },
    then: [],
  })
  scenario('ends on its day', {
    given: active,
    when: { type: 'ExpirePolicy', now: at('2051-02-02') },
    then: [{ type: 'PolicyExpired', end_date: '2051-02-02' }],
  })
})

describe('a cancellation', () => {
  const coolingOff = { reason: 'cooling_off', cooling_off: true } as const
  scenario('on the last day of the cooling-off period is one', {
    given: active,
    when: cancel('2026-03-04', 'cooling_off'),
    then: [ended('2026-03-04', coolingOff)],
  })
  scenario('422 validation_failed: on the day after it is none', {
    given: active,
    when: cancel('2026-03-05', 'cooling_off'),
    then: rejected('validation_failed', { reason: '2026-03-04' }),
  })
  scenario('before cover begins ends it on the day on which it would have begun', {
    given: [bound],
    when: cancel('2026-01-20'),
    then: [ended('2026-02-02')],
  })
  const paid = (covers_from: string) => [...active, { ...due, covers_from }, collected]
  scenario('gives back what pays for the time from that very day on', {
    given: paid('2026-03-10'),
    when: cancel('2026-03-10'),
    then: [ended('2026-03-10', { refund_pence: 2875 }), owed('policy_ended')],
  })
  scenario('keeps what pays for a time that began the day before', {
    given: paid('2026-03-09'),
    when: cancel('2026-03-10'),
    then: [ended('2026-03-10')],
  })
  const refund_id = PremiumRefundId.parse('b2000000-0000-5000-8000-000000000001')
  const given = (refund_pence: number) =>
    ({ type: 'PremiumRefunded', ...first, attempt: 1, refund_id, refund_pence, reason: 'operator' }) as const
  scenario('gives back the last penny of a premium', {
    given: [...paid('2026-03-10'), given(2874)],
    when: cancel('2026-03-10'),
    then: [ended('2026-03-10', { refund_pence: 1 }), { ...owed('policy_ended'), refund_pence: 1 }],
  })
  scenario('owes nothing of a premium that was given back whole', {
    given: [...paid('2026-03-10'), given(2875)],
    when: cancel('2026-03-10'),
    then: [ended('2026-03-10')],
  })
})

describe('what the banks say of a mandate', () => {
  const mandate_id = MandateId.parse('b0000000-0000-5000-8000-000000000021')
  const recorded: PolicyEvent = {
    type: 'PolicyMandateRecorded',
    mandate_id,
    provider_customer_id: 'cus_1',
    provider_payment_method_id: 'pm_1',
    provider_mandate_id: 'mandate_1',
    account_number_last4: '4958',
    status: 'pending',
  }
  const changed = (status: MandateStatus) =>
    ({ type: 'PolicyMandateChanged', mandate_id, status, application_id: bound.application_id }) as const
  const possible: Readonly<Record<MandateStatus, readonly MandateStatus[]>> = {
    pending: ['active', 'failed', 'cancelled'],
    active: ['cancelled'],
    // The banks reinstate a Direct Debit.
    failed: ['active'],
    cancelled: ['active'],
  }
  const statuses = Object.keys(possible) as MandateStatus[]
  for (const status of statuses)
    for (const next of statuses)
      scenario(`${next} after ${status}: ${possible[status].includes(next) ? 'it is recorded' : 'nothing changes'}`, {
        given: [bound, recorded, ...(status === 'pending' ? [] : [changed(status)])],
        when: { type: 'ChangeMandate', mandate_id, status: next },
        then: possible[status].includes(next) ? [changed(next)] : [],
      })
  scenario('of another mandate changes nothing', {
    given: [bound, recorded],
    when: { type: 'ChangeMandate', mandate_id: MandateId.parse(premium_id), status: 'active' },
    then: [],
  })
})

describe('a review of premiums', () => {
  const sold = bound
  const { premium_pence, annual_premium_pence } = sold
  const components = sold.components.map((component) => ({
    ...component,
    premium_basis: 'reviewable' as const,
    review_period_years: 1,
  }))
  const until = (end_date: string): readonly PolicyEvent[] => [
    { ...sold, components, end_date, next_review_on: '2027-02-02' },
    ...active.slice(1),
  ]
  const review = (date: string) => ({ type: 'ReviewPolicy', components: [], now: at(date) }) as const
  const reviewed = (next_review_on: string | null): PolicyEvent => ({
    type: 'PolicyReviewed',
    premium_pence,
    annual_premium_pence,
    components: components.map(({ cover_index, cover_amount_pence, monthly_benefit_pence, ...each }) => ({
      cover_index,
      cover_amount_pence,
      monthly_benefit_pence,
      premium_pence: each.premium_pence,
    })),
    next_review_on,
    next_review_at: next_review_on === null ? null : `${next_review_on}T00:00:00.000Z`,
  })
  scenario('409 conflict: is not concluded on the day before', {
    given: until('2051-02-02'),
    when: review('2027-02-01'),
    then: rejected('conflict', undefined, '2027-02-02'),
  })
  scenario('is concluded on its day, and the next one follows while cover goes on', {
    given: until('2028-02-03'),
    when: review('2027-02-02'),
    then: [reviewed('2028-02-02')],
  })
  scenario('is the last one when cover ends with the next', {
    given: until('2028-02-02'),
    when: review('2027-02-02'),
    then: [reviewed(null)],
  })
})
