import { describe, expect, test } from 'vitest'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import type { PremiumEvent } from '#domain/premiums/events.ts'
import { stateOf } from '../scenario.ts'
import {
  activated,
  active,
  bound,
  byCard,
  byDebit,
  cancelled,
  card,
  card_payment_id,
  collected,
  collectedAnew,
  collectedByCard,
  customer_id,
  debit,
  disputed,
  due,
  dueByCard,
  failed,
  first,
  givenBack,
  askedAnew,
  idOf,
  noArrears,
  now,
  owed,
  premium_id,
  refundIdOf,
  refund_id,
  requested,
  requestedAnew,
  retried,
  returned,
  scenario,
  settle,
  paidBy,
  twice,
} from './premium-builders.ts'

/** What follows for a policy whose premium more than one attempt has collected; its histories are in `test/premiums/`. */

const inArrears = { ...noArrears, since: '2026-02-19', overdue_pence: 2875, check_at: '2026-03-21T00:00:00.000Z' }
const paid = [...active, due, requested, collected]
const again = [...paid, disputed, ...askedAnew]
const both = [...again, collectedAnew, twice(), paidBy(1, { also_paid_by: [byDebit(2)] })]
const waived = (attempt: number) =>
  ({
    type: 'PremiumRefundWaived',
    ...first,
    refund_id,
    customer_id,
    attempt,
    refund_pence: 2875,
    why: 'taken_back',
    reason: null,
  }) satisfies PremiumEvent

describe('a premium that two attempts have collected', () => {
  const later = '2026-02-25T09:00:00.000Z'
  scenario('has the newer one given back; each is shown with the day on which it was collected', {
    given: [...active, due, requested, failed(), ...askedAnew, noArrears, collectedAnew],
    when: settle(debit.paid(1, { captured_at: later }), debit.paid(2)),
    then: [twice(), paidBy(1, { collected_at: later, also_paid_by: [byDebit(2)] })],
  })
  scenario('which is decided once', { given: both, when: settle(debit.won(), debit.paid(2)), then: [] })
  scenario('is paid by the other when one is taken back, which is then not given back', {
    given: both,
    when: settle(debit.disputed(), debit.paid(2)),
    then: [waived(1), paidBy(2, { disputed_attempts: [1] })],
  })
  scenario('is not paid, and overdue, when one of both was given back and the other taken back', {
    given: [...both, { ...givenBack, attempt: 2, reason: 'paid_twice' }],
    when: settle(debit.disputed(), debit.paid(2, { refunds: [returned(2875, { refund_id })] })),
    then: [disputed, paidBy(1, { disputed_attempts: [1] }), inArrears],
  })
  scenario('is not paid while the second is under way and the first, which was won, is taken back', {
    given: [...again, collected],
    when: settle(debit.disputed(), debit.coming(2)),
    then: [disputed, { ...requestedAnew, check_at: '2026-02-27T09:00:00.000Z' }, inArrears],
  })
  scenario('waits for the second where the first, which was won, is given back by hand meanwhile', {
    given: [...again, collected],
    when: settle(debit.won(1, { refunds: [returned(2875)] }), debit.coming(2)),
    then: [
      {
        ...givenBack,
        refund_id: refundIdOf('re_1'),
        reason: 'paid_twice',
        provider_refund_id: 're_1',
      },
      { ...requestedAnew, check_at: '2026-02-27T09:00:00.000Z' },
      paidBy(2, { payment_intent_id: 'pi_2', disputed_attempts: [] }),
      inArrears,
    ],
  })
  scenario(
    'is left to the team where the first is given back by hand, and nobody knows whether the second was asked for',
    {
      given: [...again, collected],
      when: settle(debit.won(1, { refunds: [returned(2875)] }), debit.coming(2, { payment_intent_id: null })),
      then: [
        { ...givenBack, refund_id: refundIdOf('re_1'), reason: 'paid_twice', provider_refund_id: 're_1' },
        { ...disputed, failure_code: 'refunded', disputed_on: null },
        paidBy(1),
        inArrears,
      ],
    },
  )
  scenario('is asked for by an attempt of its own, although an earlier one had paid it meanwhile', {
    given: [...again, collectedAnew, { ...disputed, attempt: 2 }, collected, disputed, inArrears],
    when: { type: 'RetryPremium', premium_id, by: 'operator', now },
    then: [retried(3)],
  })
})

describe('of a first premium by card that was taken back and asked for by Direct Debit', () => {
  const paidByCard: readonly PolicyStreamEvent[] = [
    { ...bound, card_payment_id, first_premium: { method: 'card', status: 'succeeded', paid_at: now } },
    activated,
    dueByCard,
    collectedByCard,
    disputed,
    retried(2),
  ]
  const cooledOff = cancelled({ card_payment_id })

  scenario('the debit beside the card that was won is given back', {
    given: [...paidByCard, requestedAnew, collectedAnew],
    when: settle(card.won(), debit.paid(2)),
    then: [twice(), paidBy(1, { ...byCard, also_paid_by: [byDebit(2)] })],
  })
  scenario('what is collected after the policy was cancelled is given back of the debit', {
    given: [...paidByCard, requestedAnew, cooledOff],
    when: settle(card.disputed(), debit.paid(2)),
    then: [collectedAnew, owed('cooling_off')],
  })
  scenario('what the card had paid is given back on the card, where nothing was collected and the policy cancelled', {
    given: [...paidByCard, cooledOff],
    when: settle(card.won()),
    then: [collectedByCard, owed('cooling_off', card_payment_id), paidBy(1, byCard)],
  })
  scenario('what is still to be asked for when the policy is cancelled is not written off: it is looked for', {
    given: paidByCard,
    when: { type: 'CancelPolicy', reason: 'other', note: null, today: '2026-02-20' },
    then: [{ ...cancelled({ card_payment_id }), reason: 'other', cooling_off: false, effective_on: '2026-02-20' }],
  })
  const second = { premium_id: idOf(2), number: 2, due_on: '2026-03-15' }
  scenario('a later premium is paid by debit, and settled by itself', {
    given: [...paidByCard, ...[due, requested, collected].map((event) => ({ ...event, ...second }))],
    when: { ...settle(debit.disputed()), premium_id: second.premium_id, now: '2026-03-20T09:00:00.000Z' },
    then: [
      { ...disputed, ...second, disputed_on: '2026-03-20' },
      { ...inArrears, overdue_pence: 5750 },
    ],
  })
})

describe('what a version before this one has recorded', () => {
  const otherwise = refundIdOf('otherwise')
  const reinstated: PremiumEvent = {
    type: 'PremiumReinstated',
    ...first,
    attempt: 1,
    method: 'direct_debit',
    payment_intent_id: 'pi_1',
    reinstated_at: now,
    refund_id: otherwise,
  }
  const takenBack: PremiumEvent = { type: 'PremiumTakenBack', ...first, attempt: 1, disputed_on: '2026-02-19' }
  const twiceBefore: PremiumEvent = { ...twice(), refund_id: otherwise }
  const before = [...again, collectedAnew, reinstated, twiceBefore]

  scenario('as paid twice is owed once, and the payments are shown as they stand', {
    given: before,
    when: settle(debit.won(), debit.paid(2)),
    then: [paidBy(1, { also_paid_by: [byDebit(2)] })],
  })
  scenario('as taken back and owed no more stays so', {
    given: [...before, takenBack, { ...waived(2), refund_id: otherwise }],
    when: settle(debit.disputed(), debit.paid(2)),
    then: [],
  })
  scenario('as won while it is asked for again pays the premium', {
    given: [...again, reinstated],
    when: settle(debit.won(), debit.coming(2)),
    then: [collected, paidBy(1)],
  })
  scenario('as given back of one of both, by our id, is known by it, and missing once the other is lost', {
    given: [...before, { ...givenBack, attempt: 2, refund_id: otherwise, reason: 'paid_twice' }],
    when: settle(
      debit.disputed(),
      debit.paid(2, {
        refunds: [returned(2875, { refund_id: otherwise })],
      }),
    ),
    then: [disputed, inArrears],
  })
})

test('nothing follows from payments that were read before the policy has changed', () => {
  const taken = settle(debit.disputed())

  expect(policy.decide({ ...taken, changes: paid.length - 1 }, stateOf(policy, paid))).toEqual([])
})
