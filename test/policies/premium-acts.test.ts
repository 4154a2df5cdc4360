import { describe, expect, test } from 'vitest'
import { type PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import { evolvePolicyState, type PolicyState } from '#domain/policies/state.ts'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import {
  bound,
  active,
  customer_id,
  premium_id,
  first,
  due,
  requested,
  collected,
  now,
  inSuspense,
  mandateMade,
  reinstated,
  owed,
  cancelled,
  givenBack,
  refund_id,
  refundFailed,
  refundFailure,
  dueByCard,
  collectedByCard,
  activeByCard,
  card_payment_id,
} from './premium-builders.ts'
import { everyDay } from './calendars.ts'

const scenario = scenariosOf(policy)

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
    when: { type: 'RecordProviderRefund', premium_id, refund_id, attempt: 1, total_pence: 500, failed_before: 0 },
    then: [{ type: 'PremiumRefunded', ...first, attempt: 1, refund_id, refund_pence: 500, reason: 'provider' }],
  })
  scenario('that is ours is not recorded twice', {
    given: [...active, due, collected, part, { ...givenBack, refund_id: part.refund_id, refund_pence: 1000 }],
    when: { type: 'RecordProviderRefund', premium_id, refund_id, attempt: 1, total_pence: 1000, failed_before: 0 },
    then: [],
  })
  scenario('of the cooling-off period gives all back that was collected', {
    given: [...active, due, collected],
    when: { type: 'CancelPolicy', reason: 'cooling_off', note: null, today: '2026-02-20' },
    then: [{ ...cancelled(), effective_on: '2026-02-20', refund_pence: 2875 }, owed('cooling_off')],
  })
})

describe('a refund that fails after it was made', () => {
  const told = (change: object = {}) =>
    ({
      type: 'RecordRefundFailure',
      premium_id,
      refund_id,
      attempt: 1,
      refund_pence: 2875,
      ...refundFailure,
      ...change,
    }) as const
  const refunded = [...active, due, collected, owed('operator'), givenBack]
  const again = { type: 'PremiumRefundRequested', premium_id, refund_id } as const
  const done = (failed_before: number) =>
    ({ type: 'RecordPremiumRefund', premium_id, refund_id, failed_before, attempt: 1 }) as const

  scenario('is owed again', { given: refunded, when: told(), then: [refundFailed] })
  scenario('also when it was never recorded as made', {
    given: refunded.slice(0, -1),
    when: told(),
    then: [refundFailed],
  })
  scenario('fails once, however often the provider says so', {
    given: [...refunded, refundFailed],
    when: told(),
    then: [],
  })
  scenario('is left to the team, which has it tried once more', {
    given: [...refunded, refundFailed],
    when: { type: 'RequestRefund', premium_id, refund_id },
    then: [again],
  })
  scenario('is not done by who asked the provider before', {
    given: [...refunded, refundFailed],
    when: done(0),
    then: [],
  })
  scenario('is done by who asks it afterwards', {
    given: [...refunded, refundFailed, again],
    when: done(1),
    then: [givenBack],
  })
  scenario('late news of the first does not touch the second', {
    given: [...refunded, refundFailed, again, givenBack],
    when: told(),
    then: [],
  })
  scenario('the second can fail as well', {
    given: [...refunded, refundFailed, again, givenBack],
    when: told({ provider_refund_id: 're_2' }),
    then: [{ ...refundFailed, provider_refund_id: 're_2' }],
  })
  scenario('one that was made by hand is known by its amount', {
    given: refunded,
    when: told({ refund_id: null }),
    then: [refundFailed],
  })
  scenario('one that was made by hand and counted towards another takes that with it', {
    given: refunded,
    when: told({ refund_id: null, refund_pence: 2874 }),
    then: [refundFailed],
  })
  const part = (id: string, refund_pence: number) =>
    ({ ...givenBack, refund_id: PremiumRefundId.parse(first.premium_id.replace('b1', id)), refund_pence }) as const
  const [small, large] = [part('b8', 100), part('b9', 900)]
  const failedPart = ({ refund_id: id, refund_pence }: typeof small) => ({
    ...refundFailed,
    refund_id: id,
    refund_pence,
  })
  scenario('one that was recorded in parts takes as many with it as hold its amount, the last first', {
    given: [...active, due, collected, small, large],
    when: told({ refund_id: null, refund_pence: 1000 }),
    then: [failedPart(large), failedPart(small)],
  })
  scenario('and no more than these', {
    given: [...active, due, collected, small, large],
    when: told({ refund_id: null, refund_pence: 899 }),
    then: [failedPart(large)],
  })
  scenario('counts as owed: nothing more of the premium can be given back', {
    given: [...refunded, refundFailed],
    when: {
      type: 'RefundPremium',
      premium_id,
      refund_id: PremiumRefundId.parse(first.premium_id.replace('b1', 'b9')),
      refund_pence: 1,
    },
    then: rejected('conflict'),
  })
  test('does not stand as refunded, and says why', () => {
    const state = [...refunded, refundFailed].reduce<PolicyState | undefined>(
      (before, event) => evolvePolicyState(before, event, { occurred_at: now }),
      undefined,
    )
    expect(state?.premiums[0]).toMatchObject({
      refunded_pence: 0,
      refunds: [{ status: 'owed', is_left: true, failure_code: 'expired_or_canceled_card' }],
    })
  })

  describe('on a card', () => {
    const byCard = [...activeByCard, dueByCard, collectedByCard, owed('operator', card_payment_id), givenBack] as const
    const card = { type: 'RecordCardReturnFailure', ...refundFailure } as const
    scenario('is owed again by the policy, too', { given: byCard, when: card, then: [refundFailed] })
    scenario('once', { given: [...byCard, refundFailed], when: card, then: [] })
    scenario('409 conflict: it is the payment that is tried once more', {
      given: [...byCard, refundFailed],
      when: { type: 'RequestRefund', premium_id, refund_id },
      then: rejected('conflict', undefined, 'card payment'),
    })
    scenario('is refunded once the card was given back', {
      given: [...byCard, refundFailed],
      when: { type: 'RecordCardReturned', refundId: () => refund_id, returned_pence: 2875 },
      then: [givenBack],
    })
  })
})
