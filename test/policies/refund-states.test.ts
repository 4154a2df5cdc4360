import { describe } from 'vitest'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import { PremiumRefundId, type PremiumEvent } from '#domain/premiums/events.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import {
  active,
  activeByCard,
  card_payment_id,
  collected,
  customer_id,
  due,
  first,
  now,
  owed,
  premium_id,
  refundFailed,
  requested,
  disputed,
  dueByCard,
  collectedByCard,
} from './premium-builders.ts'

/** Each command about a refund, in each state that the premium or the refund can be in. */

const scenario = scenariosOf(policy)
const refundOf = (last: number) => PremiumRefundId.parse(`b2000000-0000-5000-8000-00000000000${last}`)
const refund_id = refundOf(1)
const paid = [...active, due, collected]
const paidByCard = [...activeByCard, dueByCard, collectedByCard] satisfies readonly PolicyStreamEvent[]
const part = (last: number, refund_pence: number) => ({ ...owed('operator'), refund_id: refundOf(last), refund_pence })
const given = (last: number, refund_pence: number, reason: 'operator' | 'provider' = 'operator') =>
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
  scenario('a card payment whole', {
    given: paidByCard,
    when: refund(2875),
    then: [{ ...part(1, 2875), card_payment_id }],
  })
  scenario('422 validation_failed: a part of a card payment', {
    given: paidByCard,
    when: refund(2874),
    then: rejected('validation_failed', { refund_pence: 'must be 2875' }, 'refund_pence'),
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

describe('of two refunds that are owed', () => {
  const done = (last: number, failed_before = 0) =>
    ({ type: 'RecordPremiumRefund', premium_id, refund_id: refundOf(last), attempt: 1, failed_before }) as const
  const two = [...paid, part(1, 1000), part(2, 500)]

  scenario('the one that was made is recorded', { given: two, when: done(2), then: [given(2, 500)] })
  scenario('once', { given: [...two, given(2, 500)], when: done(2), then: [] })
  scenario('one that there is not is none', { given: two, when: done(3), then: [] })
  scenario('one is said to have been made although the other failed before: it was not', {
    given: two,
    when: done(2, 1),
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
  scenario('is asked for anew by the team', {
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

describe('what the provider has given back', () => {
  const told = (total_pence: number) =>
    ({ type: 'RecordProviderRefund', premium_id, refund_id, attempt: 1, total_pence, failed_before: 0 }) as const

  scenario('beyond what is owed is somebody else’s', {
    given: [...paid, part(2, 1000)],
    when: told(1001),
    then: [given(2, 1000), given(1, 1, 'provider')],
  })
  scenario('of what is owed is owed no more, whoever tells it first', {
    given: [...paid, part(2, 1000)],
    when: told(1000),
    then: [given(2, 1000)],
  })
  scenario('settles of two that are owed the one of its amount', {
    given: [...paid, part(2, 1000), part(3, 500)],
    when: told(500),
    then: [given(3, 500)],
  })
  scenario('settles two of three that are owed, where it is as much as both', {
    given: [...paid, part(2, 700), part(3, 300), part(4, 1875)],
    when: told(1000),
    then: [given(2, 700), given(3, 300)],
  })
  scenario('of a premium that was not collected is not recorded', {
    given: [...active, due],
    when: told(500),
    then: [],
  })
})

describe('a card payment that was given back', () => {
  const returned = (returned_pence: number) =>
    ({ type: 'RecordCardReturned', refundId: () => refund_id, returned_pence }) as const

  scenario('was owed', { given: [...paidByCard, part(2, 2875)], when: returned(2875), then: [given(2, 2875)] })
  scenario('was given back by somebody else', {
    given: paidByCard,
    when: returned(2875),
    then: [given(1, 2875, 'provider')],
  })
  scenario('in part', { given: paidByCard, when: returned(1), then: [given(1, 1, 'provider')] })
  scenario('never more than was paid', { given: paidByCard, when: returned(9999), then: [given(1, 2875, 'provider')] })
  scenario('is recorded whole, although the firm has paid a part otherwise', {
    given: [
      ...paidByCard,
      part(2, 875),
      {
        type: 'PremiumRefundPaidOtherwise',
        ...first,
        refund_id: refundOf(2),
        customer_id,
        attempt: 1,
        refund_pence: 875,
        paid_on: '2026-03-02',
        reason: 'Bank transfer.',
      },
    ],
    when: returned(2875),
    then: [given(1, 2875, 'provider')],
  })
  scenario('is recorded once', { given: [...paidByCard, given(2, 2875)], when: returned(2875), then: [] })
  scenario('is none while nothing came back', { given: paidByCard, when: returned(0), then: [] })
  scenario('is none of a policy that is paid by Direct Debit', { given: paid, when: returned(2875), then: [] })
  scenario('is none before the card was charged', {
    given: [...active, dueByCard],
    when: returned(2875),
    then: [],
  })
})

describe('a refund that came back to the provider', () => {
  const failure = { provider_refund_id: 're_1', failure_code: 'lost_or_stolen_card' }
  const failed = (last: number, refund_pence: number): PremiumEvent => ({
    type: 'PremiumRefundFailed',
    ...first,
    attempt: 1,
    refund_id: refundOf(last),
    refund_pence,
    ...failure,
  })
  const told = (last: number | null, refund_pence: number) =>
    ({
      type: 'RecordRefundFailure',
      attempt: 1,
      premium_id,
      refund_id: last === null ? null : refundOf(last),
      refund_pence,
      ...failure,
    }) as const
  const two = [...paid, part(1, 1000), given(1, 1000), part(2, 500), given(2, 500)]

  scenario('is the one that is named, and not the other', { given: two, when: told(1, 1000), then: [failed(1, 1000)] })
  scenario('by hand is the one of its amount', { given: two, when: told(null, 1000), then: [failed(1, 1000)] })
  scenario('by hand of another amount takes the last with it', {
    given: two,
    when: told(null, 400),
    then: [failed(2, 500)],
  })
  scenario('by hand takes none that is only owed', {
    given: [...paid, part(1, 1000), given(1, 1000), part(2, 500)],
    when: told(null, 500),
    then: [failed(1, 1000)],
  })
  scenario('by hand of exactly both amounts takes no third', {
    given: [...two, part(3, 700), given(3, 700)],
    when: told(null, 1200),
    then: [failed(3, 700), failed(2, 500)],
  })
  scenario('is recorded once although another stands', {
    given: [...two, failed(1, 1000)],
    when: told(1, 1000),
    then: [],
  })
  const closing = { ...first, refund_id, customer_id, attempt: 1, refund_pence: 1000 }
  for (const [how, closed] of [
    ['paid in another way', { type: 'PremiumRefundPaidOtherwise', ...closing, paid_on: '2026-03-02', reason: 'Bank.' }],
    ['owed no more', { type: 'PremiumRefundWaived', ...closing, why: 'not_owed', reason: 'A mistake.' }],
  ] as const)
    scenario(`is not one that was ${how}, but what was given back of it all the same`, {
      given: [...paid, part(1, 1000), closed, given(2, 1000, 'provider')],
      when: told(1, 1000),
      then: [failed(2, 1000)],
    })
  scenario('of a card is none of what is only owed', {
    given: [...paidByCard, part(1, 2875)],
    when: { type: 'RecordCardReturnFailure', ...failure },
    then: [],
  })
  scenario('of a card is none of a policy that is paid by Direct Debit', {
    given: two,
    when: { type: 'RecordCardReturnFailure', ...failure },
    then: [],
  })
})

describe('a card payment of which somebody has given back a part by hand', () => {
  const byHand = [...paidByCard, given(3, 1000, 'provider')]
  const failure = { provider_refund_id: 're_1', failure_code: 'lost_or_stolen_card' }
  const about = { ...first, attempt: 1, refund_id: refundOf(3), refund_pence: 1000 }
  const failed: PremiumEvent = { type: 'PremiumRefundFailed', ...about, ...failure }
  const waived = (why: 'not_owed' | 'taken_back'): PremiumEvent => ({
    type: 'PremiumRefundWaived',
    ...about,
    customer_id,
    why,
    reason: null,
  })
  const comesBack = {
    type: 'RecordRefundFailure',
    attempt: 1,
    premium_id,
    refund_id: refundOf(3),
    refund_pence: 1000,
    ...failure,
  } as const

  scenario('does not owe that part when it comes back to the provider', {
    given: byHand,
    when: comesBack,
    then: [failed, waived('not_owed')],
  })
  scenario('hears of that once', { given: [...byHand, failed, waived('not_owed')], when: comesBack, then: [] })
  scenario('has been taken back by the payer’s bank: so has that part', {
    given: [...byHand, disputed, { type: 'PremiumWrittenOff', ...first, attempt: 1, reason: 'operator' }],
    when: comesBack,
    then: [failed, waived('taken_back')],
  })
  const returned = (returned_pence: number) =>
    ({ type: 'RecordCardReturned', refundId: () => refundOf(1), returned_pence }) as const
  scenario('has the rest given back, and that part is not counted again', {
    given: [...byHand, part(2, 1875)],
    when: returned(2875),
    then: [given(2, 1875)],
  })
  scenario('has only so much more given back by hand', {
    given: byHand,
    when: returned(1400),
    then: [given(1, 400, 'provider')],
  })
  scenario('has all given back that is owed, and by hand what goes beyond it', {
    given: [...paidByCard, part(2, 700), part(4, 300)],
    when: returned(1400),
    then: [given(2, 700), given(4, 300), given(1, 400, 'provider')],
  })
  scenario('is closed with what is owed of it, and not with that part', {
    given: [...byHand, { ...part(2, 1875), card_payment_id }],
    when: { type: 'RecordCardReturnClosed', closing: { how: 'not_owed', reason: 'A mistake.' } },
    then: [
      {
        type: 'PremiumRefundWaived',
        ...about,
        refund_id: refundOf(2),
        refund_pence: 1875,
        customer_id,
        why: 'not_owed',
        reason: 'A mistake.',
      },
    ],
  })
})
