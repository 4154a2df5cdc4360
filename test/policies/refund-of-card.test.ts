import { describe } from 'vitest'
import { policy } from '#domain/policies/policy.ts'
import { PremiumRefundId, type PremiumEvent } from '#domain/premiums/events.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import {
  activeByCard,
  card_payment_id,
  collected,
  collectedByCard,
  due,
  dueByCard,
  first,
  now,
  owed,
  premium_id,
} from './premium-builders.ts'

/** Of a first premium that a card and a debit have paid: the payment that still holds it gives it back. */

const scenario = scenariosOf(policy)
const refund_id = PremiumRefundId.parse('b2000000-0000-5000-8000-000000000001')
const otherwise = PremiumRefundId.parse('b2000000-0000-5000-8000-000000000002')
const ofDebit = { ...owed('operator'), refund_id, card_payment_id: null }
const ofCard = { ...ofDebit, card_payment_id }
const given = (attempt: number, refund_pence = 2875) =>
  ({
    type: 'PremiumRefunded',
    ...first,
    attempt,
    refund_id: otherwise,
    refund_pence,
    reason: 'paid_twice',
  }) satisfies PremiumEvent
const beside = (attempt: number, method: 'card' | 'direct_debit') =>
  ({
    type: 'PremiumReinstated',
    ...first,
    attempt,
    method,
    payment_intent_id: method === 'card' ? null : `pi_${attempt}`,
    reinstated_at: now,
    refund_id: otherwise,
  }) satisfies PremiumEvent
const byDebit = [...activeByCard, dueByCard, collectedByCard, beside(1, 'card'), { ...collected, attempt: 2 }]
const byCard = [...activeByCard, dueByCard, collectedByCard, beside(2, 'direct_debit')]

describe('a refund of a debit that holds no more', () => {
  const move = { type: 'OweRefundOfCard', premium_id, refund_id } as const

  scenario('is owed of the card, which holds as much', {
    given: [...byDebit, given(2), ofDebit],
    when: move,
    then: [ofCard],
  })
  scenario('is owed of the card once', {
    given: [...byDebit, given(2), ofDebit, ofCard],
    when: move,
    then: [],
  })
  scenario('stays what it is where a part of the card was given back: a card is given back whole', {
    given: [...byDebit, given(1, 400), ofDebit],
    when: move,
    then: [],
  })
  scenario('stays what it is where less is owed than the card holds', {
    given: [...byDebit, given(2), { ...ofDebit, refund_pence: 2874 }],
    when: move,
    then: [],
  })
  scenario('stays what it is where the card is to give back another', {
    given: [...byDebit, { ...ofCard, refund_id: otherwise }, ofDebit],
    when: move,
    then: [],
  })
  scenario('stays what it is where no card has paid', {
    given: [...activeByCard, { ...due, number: 2 }, { ...collected, number: 2 }, ofDebit],
    when: move,
    then: [],
  })
  scenario('stays what it is once it is left to the team', {
    given: [
      ...byDebit,
      given(2),
      ofDebit,
      { type: 'PremiumRefundDelayed', premium_id, refund_id, failure_code: 'x', attempt: 10, retry_at: null },
    ],
    when: move,
    then: [],
  })
})

describe('the operator gives back', () => {
  const refund = (refund_pence: number | null) =>
    ({ type: 'RefundPremium', premium_id, refund_id, refund_pence }) as const

  scenario('the debit beside a card that was given back', {
    given: [...byCard, given(1)],
    when: refund(null),
    then: [ofDebit],
  })
  scenario('a part of the debit beside a card that was given back', {
    given: [...byCard, given(1)],
    when: refund(1000),
    then: [{ ...ofDebit, refund_pence: 1000 }],
  })
  scenario('the card of which a part was given back, whole', {
    given: [...byCard, given(1, 2874)],
    when: refund(1000),
    then: rejected('validation_failed', undefined, 'Correct'),
  })
  scenario('the same once more, after it is owed of the card: it was asked for before', {
    given: [...byDebit, given(2), ofDebit, ofCard],
    when: refund(null),
    then: [],
  })
})
