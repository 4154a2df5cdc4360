import { describe, expect, test } from 'vitest'
import type { MadeRefund } from '#domain/payments/payment.ts'
import type { PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import { evolvePolicyState, type PolicyState } from '#domain/policies/state.ts'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import { rejected, stateOf } from '../scenario.ts'
import { everyDay } from '../policies/calendars.ts'
import {
  active,
  activeByCard,
  bound,
  cancelled,
  card,
  card_payment_id,
  collected,
  collectedByCard,
  customer_id,
  debit,
  due,
  dueByCard,
  first,
  givenBack,
  inSuspense,
  mandateMade,
  now,
  owed,
  premium_id,
  refund_id,
  refundFailed,
  refundFailure,
  refundIdOf,
  reinstated,
  requested,
  returned,
  scenario,
  settle,
} from './premium-builders.ts'

describe('the operator', () => {
  const lapsed: PolicyEvent = { type: 'PolicyLapsed', customer_id, lapsed_on: '2026-04-16', overdue_pence: 2875 }
  const reinstate = (at: string) => ({ type: 'ReinstatePolicy', calendar: everyDay, now: at }) as const

  scenario('suspends cover, which then does not lapse by itself', {
    given: active,
    when: { type: 'SuspendPolicy' },
    then: [{ type: 'PolicySuspended', reason: 'operator', overdue_pence: 0 }],
  })
  scenario('reinstates it', {
    given: [...active, { type: 'PolicySuspended', reason: 'operator', overdue_pence: 0 }],
    when: reinstate(now),
    then: [{ ...reinstated, next_collection_on: '2026-02-15', next_collection_at: '2026-02-15T00:00:00.000Z' }],
  })
  scenario('409 conflict: premiums are overdue', {
    given: inSuspense,
    when: reinstate(now),
    then: rejected('conflict', undefined, 'overdue'),
  })
  scenario('reinstates a lapsed policy, which is paid for from then on', {
    given: [...active, mandateMade, lapsed],
    when: reinstate('2026-05-01T09:00:00.000Z'),
    then: [
      {
        ...reinstated,
        from: 'lapsed',
        next_collection_on: '2026-05-15',
        next_collection_at: '2026-05-14T23:00:00.000Z',
      },
    ],
  })
  test('and the next premium pays for the time from that day on, not for the time without cover', () => {
    const at = (days: string) => ({ occurred_at: days })
    const resumed: PolicyStreamEvent = {
      type: 'PolicyReinstated',
      from: 'lapsed',
      next_collection_on: '2026-05-15',
      next_collection_at: '2026-05-14T23:00:00.000Z',
      end_at: null,
      review_at: null,
      indexation_at: null,
    }
    const told: readonly (readonly [PolicyStreamEvent, string])[] = [
      ...active.map((event) => [event, now] as const),
      [due, now],
      [lapsed, '2026-04-16T00:00:00.000Z'],
      [resumed, '2026-05-01T09:00:00.000Z'],
    ]
    const state = told.reduce<PolicyState | undefined>(
      (before, [event, occurred_at]) => evolvePolicyState(before, event, at(occurred_at)),
      undefined,
    )
    const calls = (day: string, before = state) =>
      policy.decide(
        { type: 'CallPremium', calendar: everyDay, now: `${day}T09:00:00.000Z`, idOf: () => premium_id },
        before,
      )

    const [first] = calls('2026-05-15')
    expect(first).toMatchObject({ type: 'PremiumDue', number: 2, covers_from: '2026-05-01' })
    const after = first && evolvePolicyState(state, first, at('2026-05-15T09:00:00.000Z'))
    expect(calls('2026-06-15', after)[0]).toMatchObject({ number: 3, covers_from: '2026-06-01' })
  })
  const reinstatedInSummer: PolicyEvent = {
    ...reinstated,
    from: 'lapsed',
    next_collection_on: '2026-08-15',
    next_collection_at: '2026-08-14T23:00:00.000Z',
  }
  scenario('and has the mandate made that was not made before it lapsed', {
    given: [...active, lapsed],
    when: reinstate('2026-07-15T09:00:00.000Z'),
    then: [reinstatedInSummer, { type: 'PolicyMandateRequested', attempt: 1, bank_details_saved_at: null }],
  })
  scenario('on the ninetieth day still', {
    given: [...active, mandateMade, lapsed],
    when: reinstate('2026-07-15T09:00:00.000Z'),
    then: [reinstatedInSummer],
  })
  const until = (end_date: string) => [{ ...bound, end_date } as PolicyEvent, ...active.slice(1), mandateMade, lapsed]
  scenario('on the day before its term is over still', {
    given: until('2026-07-16'),
    when: reinstate('2026-07-15T09:00:00.000Z'),
    then: [{ ...reinstatedInSummer, end_at: '2026-07-15T23:00:00.000Z' }],
  })
  scenario('409 conflict: its term is over', {
    given: until('2026-07-15'),
    when: reinstate('2026-07-15T09:00:00.000Z'),
    then: rejected('conflict', undefined, 'term'),
  })
  scenario('409 conflict: later than the ninetieth day', {
    given: [...active, lapsed],
    when: reinstate('2026-07-16T09:00:00.000Z'),
    then: rejected('conflict', undefined, '2026-07-15'),
  })
  scenario('409 conflict: a premium that is with the banks is not written off', {
    given: [...active, due, requested],
    when: { type: 'WriteOffPremium', premium_id, reason: 'operator' },
    then: rejected('conflict'),
  })
})

describe('a refund', () => {
  const refund_id = PremiumRefundId.parse('b2000000-0000-5000-8000-000000000001')
  const refund = (refund_pence: number | null) =>
    ({ type: 'RefundPremium', premium_id, refund_id, refund_pence }) as const
  const part = { ...owed('operator'), refund_id, refund_pence: 1000 }

  scenario('gives a part back', { given: [...active, due, collected], when: refund(1000), then: [part] })
  scenario('once', { given: [...active, due, collected, part], when: refund(1000), then: [] })
  const others = { ...part, refund_id: PremiumRefundId.parse(premium_id) }
  scenario('of all that is left', {
    given: [...active, due, collected, others],
    when: refund(1875),
    then: [{ ...part, refund_pence: 1875 }],
  })
  scenario('of nothing more than is left', {
    given: [...active, due, collected, others],
    when: refund(1876),
    then: rejected('validation_failed', { refund_pence: 'at most 1875' }),
  })
  scenario('409 conflict: it was not collected', {
    given: [...active, due],
    when: refund(null),
    then: rejected('conflict'),
  })
  scenario('that somebody made at the provider is recorded', {
    given: [...active, due, collected],
    when: settle(debit.paid(1, { refunds: [returned(500)] })),
    then: [
      {
        ...givenBack,
        refund_id: refundIdOf('re_1'),
        refund_pence: 500,
        reason: 'provider',
        provider_refund_id: 're_1',
      },
    ],
  })
  scenario('that is ours is not recorded twice', {
    given: [...active, due, collected, part, { ...givenBack, refund_id, refund_pence: 1000 }],
    when: settle(debit.paid(1, { refunds: [returned(1000, { refund_id })] })),
    then: [],
  })
  scenario('of the cooling-off period gives all back that was collected', {
    given: [...active, due, collected],
    when: { type: 'CancelPolicy', reason: 'cooling_off', note: null, today: '2026-02-20' },
    then: [{ ...cancelled(), effective_on: '2026-02-20', refund_pence: 2875 }, owed('cooling_off')],
  })
})

describe('a refund that fails after it was made', () => {
  const again = { type: 'PremiumRefundRequested', premium_id, refund_id } as const
  const failing = { has_failed: true, failure_code: refundFailure.failure_code }
  const firstFailed = returned(2875, { refund_id, ...failing })
  const second = returned(2875, { refund_id, provider_refund_id: 're_2' })
  const stands = (...refunds: readonly MadeRefund[]) => settle(debit.paid(1, { refunds }))

  describe.each([
    ['of a debit', debit, [...active, due, collected, owed('operator')]],
    ['of a card', card, [...activeByCard, dueByCard, collectedByCard, owed('operator', card_payment_id)]],
  ] as const)('%s', (_which, by, asked) => {
    const refunded = [...asked, givenBack]
    const told = (...refunds: readonly MadeRefund[]) => settle(by.paid(1, { refunds }))

    scenario('is owed again', { given: refunded, when: told(firstFailed), then: [refundFailed] })
    scenario('also when it was never recorded as made', {
      given: asked,
      when: told(firstFailed),
      then: [{ ...givenBack, provider_refund_id: 're_1' }, refundFailed],
    })
    scenario('fails once, however often the provider says so', {
      given: [...refunded, refundFailed],
      when: told(firstFailed),
      then: [],
    })
    scenario('is left to the team, which has it tried once more', {
      given: [...refunded, refundFailed],
      when: { type: 'RequestRefund', premium_id, refund_id },
      then: [again],
    })
    scenario('is not made by what was made before', {
      given: [...refunded, refundFailed, again],
      when: told(firstFailed),
      then: [],
    })
    scenario('is made by what is made afterwards', {
      given: [...refunded, refundFailed, again],
      when: told(firstFailed, second),
      then: [{ ...givenBack, provider_refund_id: 're_2' }],
    })
    scenario('late news of the first does not touch the second', {
      given: [...refunded, refundFailed, again, { ...givenBack, provider_refund_id: 're_2' }],
      when: told(firstFailed, second),
      then: [],
    })
    scenario('the second can fail as well', {
      given: [...refunded, refundFailed, again, { ...givenBack, provider_refund_id: 're_2' }],
      when: told(firstFailed, { ...second, ...failing }),
      then: [{ ...refundFailed, provider_refund_id: 're_2' }],
    })
    scenario('one that was made by hand is known by its amount', {
      given: refunded,
      when: told({ ...firstFailed, refund_id: null }),
      then: [refundFailed],
    })
  })

  const refunded = [...active, due, collected, owed('operator'), givenBack]
  const part = (id: string, refund_pence: number) =>
    ({ ...givenBack, refund_id: PremiumRefundId.parse(first.premium_id.replace('b1', id)), refund_pence }) as const
  const failedPart = ({ refund_id: id, refund_pence }: ReturnType<typeof part>) => ({
    ...refundFailed,
    refund_id: id,
    refund_pence,
  })
  const byHand = part('b7', 2874)
  scenario('one that was made by hand and counted towards another is owed again, and the rest of that still', {
    given: [
      ...refunded.slice(0, -1),
      { ...byHand, provider_refund_id: 're_1' },
      { type: 'PremiumRefundReduced', ...first, refund_id, attempt: 1, refund_pence: 1 },
    ],
    when: stands(returned(2874, failing)),
    then: [failedPart(byHand)],
  })
  const [small, large] = [part('b8', 100), part('b9', 900)]
  scenario('one that was recorded in parts takes all of these with it', {
    given: [...active, due, collected, small, large],
    when: stands(returned(1000, failing)),
    then: [failedPart(small), failedPart(large)],
  })
  scenario('counts as owed: nothing more of the premium can be given back', {
    given: [...refunded, refundFailed],
    when: { type: 'RefundPremium', premium_id, refund_id: large.refund_id, refund_pence: 1 },
    then: rejected('conflict'),
  })
  test('does not stand as refunded, and says why', () => {
    expect(stateOf(policy, [...refunded, refundFailed])?.premiums[0]).toMatchObject({
      refunded_pence: 0,
      refunds: [{ status: 'owed', is_left: true, failure_code: 'expired_or_canceled_card' }],
    })
  })
})
