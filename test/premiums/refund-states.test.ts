import { describe } from 'vitest'
import type { MadeRefund } from '#domain/payments/payment.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import { PremiumRefundId, type PremiumEvent } from '#domain/premiums/events.ts'
import { rejected } from '../scenario.ts'
import {
  active,
  activeByCard,
  byCard,
  card,
  card_payment_id,
  collected,
  collectedByCard,
  customer_id,
  debit,
  due,
  dueByCard,
  first,
  now,
  owed,
  premium_id,
  refundFailed,
  requested,
  returned,
  scenario,
  settle,
  paidBy,
} from './premium-builders.ts'

/** Each command about a refund, and what the provider tells of it, in each state that the premium or the refund can be in. */

const refundOf = (last: number) => PremiumRefundId.parse(`b2000000-0000-5000-8000-00000000000${last}`)
const refund_id = refundOf(1)
const paid = [...active, due, collected]
const paidByCard = [...activeByCard, dueByCard, collectedByCard] satisfies readonly PolicyStreamEvent[]
const part = (last: number, refund_pence: number) => ({ ...owed('operator'), refund_id: refundOf(last), refund_pence })
/** As it was recorded before payments had streams of their own: without the provider's id. */
const given = (last: number, refund_pence: number, reason: 'operator' | 'provider' | 'paid_twice' = 'operator') =>
  ({
    type: 'PremiumRefunded',
    ...first,
    attempt: 1,
    refund_id: refundOf(last),
    refund_pence,
    reason,
  }) satisfies PremiumEvent

describe('the operator gives back', () => {
  const refund = (refund_pence: number | null) =>
    ({ type: 'RefundPremium', premium_id, refund_id, refund_pence }) as const

  scenario('all that is left where no amount is named', {
    given: [...paid, part(2, 1000)],
    when: refund(null),
    then: [part(1, 1875)],
  })
  scenario('409 conflict: nothing is left', {
    given: [...paid, part(2, 2875)],
    when: refund(null),
    then: rejected('conflict', undefined, 'given back'),
  })
  scenario('409 conflict: it was not collected', {
    given: [...active, due, requested],
    when: refund(1),
    then: rejected('conflict', undefined, 'not collected'),
  })
  for (const refund_pence of [2875, 2874])
    scenario(`of a card payment ${refund_pence === 2875 ? 'all' : 'a part'}`, {
      given: paidByCard,
      when: refund(refund_pence),
      then: [{ ...part(1, refund_pence), card_payment_id }],
    })
  for (const refund_pence of [2875, 1000])
    scenario(`${refund_pence} pence of the debit beside a card that was given back`, {
      given: [...paidByCard, paidBy(2, { also_paid_by: [byCard] }), given(2, 2875, 'paid_twice')],
      when: refund(refund_pence),
      then: [part(1, refund_pence)],
    })
  scenario('422 validation_failed: more than there is', {
    given: paid,
    when: refund(2876),
    then: rejected('validation_failed', { refund_pence: 'at most 2875' }, 'refund_pence'),
  })
})

describe('a refund that the operator asks for again with the same id', () => {
  const refund = (refund_pence: number | null) =>
    ({ type: 'RefundPremium', premium_id, refund_id, refund_pence }) as const
  const conflict = rejected('idempotency_key_conflict', { refund_pence: 'differs' }, 'another refund_pence')
  const reduced = {
    type: 'PremiumRefundReduced',
    ...first,
    attempt: 1,
    refund_id,
    refund_pence: 400,
  } satisfies PremiumEvent

  scenario('is owed once', { given: [...paid, part(1, 1000)], when: refund(1000), then: [] })
  scenario('is another one with another amount', { given: [...paid, part(1, 1000)], when: refund(999), then: conflict })
  scenario('is another one where a part was asked for, and now all that is left', {
    given: [...paid, part(1, 1000)],
    when: refund(null),
    then: conflict,
  })
  scenario('is the same where all that was left was asked for', {
    given: [...paid, part(2, 1000), part(1, 1875)],
    when: refund(null),
    then: [],
  })
  scenario('is the same where all that was left is named', {
    given: [...paid, part(2, 1000), part(1, 1875)],
    when: refund(1875),
    then: [],
  })
  scenario('is known by what was asked for, after less of it is owed', {
    given: [...paid, part(1, 1000), reduced],
    when: refund(1000),
    then: [],
  })
  scenario('and not by what is owed still', {
    given: [...paid, part(1, 1000), reduced],
    when: refund(400),
    then: conflict,
  })
  scenario('is known by what was asked for, after it was given back', {
    given: [...paid, part(1, 1000), given(1, 1000)],
    when: refund(1000),
    then: [],
  })
})

describe('a refund that could not be made yet', () => {
  const delay = (last = 1) =>
    ({
      type: 'DelayRefund',
      premium_id,
      refund_id: refundOf(last),
      failure_code: 'provider_unavailable',
      now,
    }) as const
  const delayed = (attempt: number, retry_at: string | null, last = 1): PremiumEvent => ({
    type: 'PremiumRefundDelayed',
    premium_id,
    refund_id: refundOf(last),
    failure_code: 'provider_unavailable',
    attempt,
    retry_at,
  })
  const nine = Array.from({ length: 9 }, (_, index) => delayed(index + 1, now))
  const failed: PremiumEvent = { ...refundFailed, refund_id, refund_pence: 1000 }

  scenario('is tried again', {
    given: [...paid, part(1, 1000)],
    when: delay(),
    then: [delayed(1, '2026-02-19T09:01:00.000Z')],
  })
  scenario('is counted by itself', {
    given: [...paid, part(1, 1000), part(2, 500), delayed(1, '2026-02-19T09:01:00.000Z')],
    when: delay(2),
    then: [delayed(1, '2026-02-19T09:01:00.000Z', 2)],
  })
  scenario('is not counted again before its next attempt, however often it is asked for', {
    given: [...paid, part(1, 1000), delayed(1, '2026-02-19T09:00:00.001Z')],
    when: delay(),
    then: [],
  })
  scenario('is counted at the moment of its next attempt', {
    given: [...paid, part(1, 1000), delayed(1, now)],
    when: delay(),
    then: [delayed(2, '2026-02-19T09:05:00.000Z')],
  })
  scenario('is left to the team after ten failures', {
    given: [...paid, part(1, 1000), ...nine],
    when: delay(),
    then: [delayed(10, null)],
  })
  scenario('and is then not delayed any more', {
    given: [...paid, part(1, 1000), ...nine, delayed(10, null)],
    when: delay(),
    then: [],
  })
  scenario('is none once it was made', { given: [...paid, part(1, 1000), given(1, 1000)], when: delay(), then: [] })
  scenario('is none that is not owed', { given: paid, when: delay(), then: [] })

  const ask = { type: 'RequestRefund', premium_id, refund_id } as const
  scenario('is asked for again by the team', {
    given: [...paid, part(1, 1000), ...nine, delayed(10, null)],
    when: ask,
    then: [{ type: 'PremiumRefundRequested', premium_id, refund_id }],
  })
  scenario('is tried as soon as the team asks for it, also before its next attempt was due', {
    given: [
      ...paid,
      part(1, 1000),
      delayed(1, '2026-02-19T09:00:00.001Z'),
      failed,
      { type: 'PremiumRefundRequested', premium_id, refund_id },
    ],
    when: delay(),
    then: [delayed(1, '2026-02-19T09:01:00.000Z')],
  })
  scenario('is not asked for while it is under way', { given: [...paid, part(1, 1000)], when: ask, then: [] })
  scenario('404 not_found: there is no such refund', {
    given: [...paid, part(2, 1000)],
    when: ask,
    then: rejected('not_found', undefined, 'no refund with this id'),
  })
})

const re = (number: number, refund_pence: number, of: Partial<MadeRefund> = {}): MadeRefund =>
  returned(refund_pence, { provider_refund_id: `re_${number}`, ...of })
const settleWith = (...refunds: readonly MadeRefund[]) => settle(debit.paid(1, { refunds }))
const failure_code = 'lost_or_stolen_card'

describe('what the provider has given back', () => {
  const two = [...paid, part(1, 1000), part(2, 500)]
  const ours = re(1, 500, { refund_id: refundOf(2) })
  const made = { ...given(2, 500), provider_refund_id: 're_1' }

  scenario('of two that are owed is recorded as the one that it says', {
    given: two,
    when: settleWith(ours),
    then: [made],
  })
  scenario('once', { given: [...two, made], when: settleWith(ours), then: [] })
  scenario('of what is owed is owed no more, whoever gave it back', {
    given: [...paid, part(2, 1000)],
    when: settleWith(re(1, 1000)),
    then: [{ ...given(2, 1000), provider_refund_id: 're_1' }],
  })
  scenario('by hand settles two of three that are owed, where it is as much as both', {
    given: [...paid, part(2, 700), part(3, 300), part(4, 1875)],
    when: settleWith(re(1, 1000)),
    then: [700, 300].map((pence, index) => ({ ...given(index + 2, pence), provider_refund_id: 're_1' })),
  })
  scenario('of a premium that was not collected is not recorded', { given: [...active, due], when: settle(), then: [] })
  scenario('is none of what is only owed where it is another that has come back', {
    given: [...paid, part(1, 1000), given(1, 1000), part(2, 500)],
    when: settleWith(re(1, 1000), re(2, 500, { has_failed: true, failure_code })),
    then: [],
  })
})

describe('a refund that came back to the provider', () => {
  const failed = (last: number, refund_pence: number, number: number): PremiumEvent => ({
    type: 'PremiumRefundFailed',
    ...first,
    attempt: 1,
    refund_id: refundOf(last),
    refund_pence,
    provider_refund_id: `re_${number}`,
    failure_code,
  })
  const back = { has_failed: true, failure_code }
  const two = [...paid, part(1, 1000), given(1, 1000), part(2, 500), given(2, 500)]
  const closing = { ...first, refund_id, customer_id, attempt: 1, refund_pence: 1000 }
  const notOwed = (last: number): PremiumEvent => ({
    type: 'PremiumRefundWaived',
    ...closing,
    refund_id: refundOf(last),
    why: 'not_owed',
    reason: null,
  })

  scenario('is the one that is named, and not the other', {
    given: [...paid, part(1, 1000), given(1, 1000), part(2, 1000), given(2, 1000)],
    when: settleWith(re(1, 1000, { refund_id: refundOf(2), ...back }), re(2, 1000, { refund_id })),
    then: [failed(2, 1000, 1)],
  })
  scenario('by hand is the one of its amount', {
    given: two,
    when: settleWith(re(1, 500), re(2, 1000, back)),
    then: [failed(1, 1000, 2)],
  })
  scenario('by hand of exactly both amounts takes no third', {
    given: [...two, part(3, 700), given(3, 700)],
    when: settleWith(re(1, 1500, back), re(2, 700)),
    then: [failed(1, 1000, 1), failed(2, 500, 1)],
  })
  scenario('is recorded once although another stands', {
    given: [...two, failed(1, 1000, 1)],
    when: settleWith(re(1, 1000, back), re(2, 500)),
    then: [],
  })
  for (const [how, closed] of [
    ['paid in another way', { type: 'PremiumRefundPaidOtherwise', ...closing, paid_on: '2026-03-02', reason: 'Bank.' }],
    ['owed no more', { type: 'PremiumRefundWaived', ...closing, why: 'not_owed', reason: 'A mistake.' }],
  ] as const)
    scenario(`is not one that was ${how}, but what was given back of it all the same`, {
      given: [...paid, part(1, 1000), closed, given(2, 1000, 'provider')],
      when: settleWith(re(1, 1000, { refund_id, ...back })),
      then: [failed(2, 1000, 1), notOwed(2)],
    })
  const byHand = [...paidByCard, { ...given(3, 1000, 'provider'), provider_refund_id: 're_1' }]
  const cardWith = (...refunds: readonly MadeRefund[]) => settle(card.paid(1, { refunds }))
  scenario('of what somebody gave back by hand, and nobody owed, is owed to nobody', {
    given: byHand,
    when: cardWith(re(1, 1000, back)),
    then: [failed(3, 1000, 1), notOwed(3)],
  })
  scenario('which is heard of once', {
    given: [...byHand, failed(3, 1000, 1), notOwed(3)],
    when: cardWith(re(1, 1000, back)),
    then: [],
  })
  scenario('is none of what is only owed of a card', {
    given: [...paidByCard, part(1, 2875)],
    when: cardWith(re(1, 2875, back)),
    then: [],
  })
})
