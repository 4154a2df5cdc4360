import { describe, test, expect } from 'vitest'
import type { MadeRefund } from '#domain/payments/payment.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import { evolvePolicyState, type PolicyState } from '#domain/policies/state.ts'
import { refundable } from '#domain/premiums/record.ts'
import { PremiumRefundId, type PremiumEvent } from '#domain/premiums/events.ts'
import { rejected } from '../scenario.ts'
import {
  active,
  activeByCard,
  cancelled,
  card_payment_id,
  collected,
  customer_id,
  due,
  first,
  givenBack,
  refund_id,
  refundFailed,
  refundFailure,
  noArrears,
  now,
  owed,
  premium_id,
  requested,
  retried,
  writtenOff,
  debit,
  disputed,
  refundIdOf,
  returned,
  scenario,
  settle,
  dueByCard,
  collectedByCard,
} from './premium-builders.ts'

const closed = { ...first, refund_id, customer_id, attempt: 1, refund_pence: 2875 }
const paid = {
  type: 'PremiumRefundPaidOtherwise',
  ...closed,
  paid_on: '2026-03-02',
  reason: 'Bank transfer.',
} satisfies PremiumEvent
const notOwed = {
  type: 'PremiumRefundWaived',
  ...closed,
  why: 'not_owed',
  reason: 'A mistake.',
} satisfies PremiumEvent
const takenBack = { ...notOwed, why: 'taken_back', reason: null } satisfies PremiumEvent

const isPaid = { how: 'paid_otherwise', paid_on: '2026-03-02', reason: 'Bank transfer.' } as const
const isNotOwed = { how: 'not_owed', reason: 'A mistake.' } as const
const close = (closing: typeof isPaid | typeof isNotOwed) =>
  ({ type: 'CloseRefund', premium_id, refund_id, closing }) as const
const again = { type: 'RequestRefund', premium_id, refund_id } as const
const re_1 = returned(2875, { refund_id })
/** It has come back to the provider. */
const back = { ...re_1, has_failed: true, failure_code: refundFailure.failure_code }

const refunded = [...active, due, collected, owed('operator'), givenBack]
const left = [...refunded, refundFailed]
const premiumAfter = (events: readonly PolicyStreamEvent[]) =>
  events.reduce<PolicyState | undefined>(
    (before, event) => evolvePolicyState(before, event, { occurred_at: now }),
    undefined,
  )?.premiums[0] ?? expect.fail()

describe('a refund that was left to the team', () => {
  scenario('is closed when the customer was paid in another way', { given: left, when: close(isPaid), then: [paid] })
  scenario('once', { given: [...left, paid], when: close(isPaid), then: [] })
  scenario('or when it is owed no more', { given: left, when: close(isNotOwed), then: [notOwed] })
  scenario('and that once', { given: [...left, notOwed], when: close(isNotOwed), then: [] })
  scenario('409 conflict: it was closed in the other way', {
    given: [...left, notOwed],
    when: close(isPaid),
    then: rejected('conflict', undefined, 'come to its end already (waived)'),
  })
  scenario('409 conflict: it is still tried', {
    given: [...active, due, collected, owed('operator')],
    when: close(isPaid),
    then: rejected('conflict', undefined, 'still tried'),
  })
  scenario('409 conflict: it was made', {
    given: refunded,
    when: close(isPaid),
    then: rejected('conflict', undefined, 'come to its end already (refunded)'),
  })
  scenario('of a card payment is closed like any other', {
    given: [...activeByCard, dueByCard, collectedByCard, owed('operator', card_payment_id), givenBack, refundFailed],
    when: close(isPaid),
    then: [paid],
  })
  scenario('and is not tried any more', { given: [...left, paid], when: again, then: [] })
  test('what was paid in another way counts as given back, what is not owed does not', () => {
    const [one, other] = [premiumAfter([...left, paid]), premiumAfter([...left, notOwed])]
    expect([one.refunded_pence, refundable(one)]).toEqual([2875, 0])
    expect([other.refunded_pence, refundable(other)]).toEqual([0, 2875])
  })
  scenario('news that it was made all the same is recorded by itself: the customer was paid twice', {
    given: [...left, paid],
    when: settle(debit.paid(1, { refunds: [back, { ...re_1, provider_refund_id: 're_2' }] })),
    then: [{ ...givenBack, refund_id: refundIdOf('re_2'), reason: 'provider', provider_refund_id: 're_2' }],
  })
})

describe('a part that somebody has given back by hand, of a refund that is left to the team,', () => {
  const re = (number: number, refund_pence: number) => returned(refund_pence, { provider_refund_id: `re_${number}` })
  const byHand = (number: number, refund_pence: number) =>
    ({
      ...givenBack,
      refund_id: refundIdOf(`re_${number}`),
      refund_pence,
      provider_refund_id: `re_${number}`,
    }) as const
  const told = (...refunds: readonly MadeRefund[]) => settle(debit.paid(1, { refunds: [back, ...refunds] }))
  const reduced = { type: 'PremiumRefundReduced', ...first, refund_id, attempt: 1, refund_pence: 2475 } as const
  const partly = [...left, byHand(2, 400), reduced]

  scenario('is recorded, and only the rest is owed still', {
    given: left,
    when: told(re(2, 400)),
    then: [byHand(2, 400), reduced],
  })
  scenario('once', { given: partly, when: told(re(2, 400)), then: [] })
  scenario('and so is another', {
    given: partly,
    when: told(re(2, 400), re(3, 100)),
    then: [byHand(3, 100), { ...reduced, refund_pence: 2375 }],
  })
  scenario('settles it when nothing is left', {
    given: partly,
    when: told(re(2, 400), re(3, 2475)),
    then: [{ ...byHand(3, 2475), refund_id }],
  })
  scenario('is not lost when the rest is then paid otherwise', {
    given: partly,
    when: close(isPaid),
    then: [{ ...paid, refund_pence: 2475 }],
  })
  test('what was given back by hand and otherwise adds up to what was owed', () => {
    const premium = premiumAfter([...partly, { ...paid, refund_pence: 2475 }])
    expect([premium.refunded_pence, refundable(premium)]).toEqual([2875, 0])
    expect(premium.refunds.map(({ status, refund_pence }) => [status, refund_pence])).toEqual([
      ['paid_otherwise', 2475],
      ['refunded', 400],
    ])
  })
  scenario('beyond what is owed was nobody’s debt', {
    given: [...active, due, collected, { ...owed('operator'), refund_pence: 1000 }],
    when: settle(debit.paid(1, { refunds: [re(1, 1400)] })),
    then: [
      { ...givenBack, refund_pence: 1000, provider_refund_id: 're_1' },
      {
        ...byHand(1, 400),
        refund_id: refundIdOf('re_1 1'),
        reason: 'provider',
      },
    ],
  })
})

function idOfProvider() {
  return PremiumRefundId.parse(premium_id.replace('b1', 'b9'))
}

describe('a premium that was to be asked for again, and is asked for no more', () => {
  const given = [...active, due, requested, collected, owed('operator'), disputed, retried(2)]
  scenario('since the policy has ended: what was to be given back of it is owed no more', {
    given: [...given, cancelled({ effective_on: '2026-03-01', cooling_off: false, reason: 'other' })],
    when: { type: 'WriteOffPremium', premium_id, reason: 'policy_ended' },
    then: [
      { ...writtenOff, attempt: 2 },
      { ...takenBack, attempt: 2 },
    ],
  })
  scenario('by the team, while nobody can ask for it: neither is that', {
    given: [
      ...given,
      {
        type: 'PremiumDelayed',
        premium_id,
        attempt: 2,
        failure_code: 'mandate_pending',
        failures: 1,
        retry_at: '2026-02-20T00:00:00.000Z',
      },
    ],
    when: { type: 'WriteOffPremium', premium_id, reason: 'operator' },
    then: [
      { ...writtenOff, attempt: 2, reason: 'operator' },
      { ...takenBack, attempt: 2 },
    ],
  })
})

describe('a premium that the payer’s bank takes back', () => {
  const inArrears = { ...noArrears, since: '2026-02-19', overdue_pence: 2875, check_at: '2026-03-21T00:00:00.000Z' }
  const withTeam = {
    type: 'PremiumRefundDelayed',
    premium_id,
    refund_id,
    failure_code: 'disputed',
    attempt: 1,
    retry_at: null,
  } satisfies PremiumEvent
  const part = { refund_id: idOfProvider(), refund_pence: 100 }
  const done = { ...givenBack, ...part } satisfies PremiumEvent
  const paidByDebit = [...active, due, requested, collected]
  const takes = settle(debit.disputed())
  const takesAndGave = settle(debit.disputed(1, { refunds: [returned(100)] }))

  scenario('leaves to the team what was still to be given back of it', {
    given: [...paidByDebit, owed('operator')],
    when: takes,
    then: [disputed, withTeam, inArrears],
  })
  scenario('leaves as it is what was given back of it, and what is left to the team already', {
    given: [...paidByDebit, owed('operator'), withTeam, { ...owed('operator'), ...part }, done],
    when: takesAndGave,
    then: [disputed, inArrears],
  })
  scenario('before anybody has recorded that it was collected, has failed all the same', {
    given: [...active, due],
    when: takes,
    then: [disputed, inArrears],
  })
  const ended = [...paidByDebit, cancelled()]
  scenario('once the policy has ended, is given back by that', {
    given: [...ended, owed('cooling_off')],
    when: takes,
    then: [disputed, writtenOff, takenBack],
  })
  scenario('once the policy has ended, is given back by that, beside what was given back before', {
    given: [...paidByDebit, { ...owed('operator'), ...part }, done, cancelled(), owed('cooling_off')],
    when: takesAndGave,
    then: [disputed, writtenOff, takenBack],
  })
  const inDispute = [...refunded, disputed]
  const taken = debit.disputed(1, { refunds: [back] })
  scenario('and written off, is not to be given back any more', {
    given: [...inDispute, refundFailed, inArrears],
    when: { type: 'WriteOffPremium', premium_id, reason: 'operator' },
    then: [{ ...writtenOff, reason: 'operator' }, takenBack, noArrears],
  })
  scenario('after it was given back: when that fails, nobody owes anything of a premium that was written off', {
    given: [...inDispute, { ...writtenOff, reason: 'operator' }],
    when: settle(taken),
    then: [refundFailed, takenBack],
  })
  scenario('409 conflict: nothing of it can be given back while it is not collected again', {
    given: [...inDispute, refundFailed],
    when: again,
    then: rejected('conflict', undefined, 'collected again'),
  })
  const collectedAnew = [...inDispute, retried(2), { ...collected, attempt: 2, payment_intent_id: 'pi_2' }]
  scenario('and is collected again: when the old refund fails, it is owed again, and the team decides', {
    given: collectedAnew,
    when: settle(taken, debit.paid(2)),
    then: [refundFailed],
  })
  scenario('which can have it given back of the new payment', {
    given: [...collectedAnew, refundFailed],
    when: again,
    then: [{ type: 'PremiumRefundRequested', premium_id, refund_id }],
  })
})
