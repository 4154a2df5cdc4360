import { describe } from 'vitest'
import type { PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import type { SettlePremium } from '#domain/policies/settle-premium.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import { PremiumRefundId, type PremiumEvent } from '#domain/premiums/events.ts'
import { scenariosOf } from '../scenario.ts'
import {
  active,
  bound,
  cancelled,
  collected,
  customer_id,
  due,
  first,
  givenBack,
  idOf,
  noArrears,
  now,
  owed,
  premium_id,
  refund_id,
  refundFailed,
  refundFailure,
  requested,
  retried,
  twice_id,
  failed,
  activated,
  writtenOff,
  win,
  wins,
  settle,
  disputed,
  dispute,
  dueByCard,
  collectedByCard,
  card_payment_id,
  arrives,
  stands,
  twice,
  askedAnew,
  collectedAnew,
  requestedAnew,
} from './premium-builders.ts'

/** A premium that more than one attempt has collected: nothing is collected twice without being given back. */

const scenario = scenariosOf(policy)
const other_id = PremiumRefundId.parse('b2000000-0000-5000-8000-000000000008')

describe('a premium that another attempt has paid already is paid twice, and the newer payment is given back', () => {
  const given = [...active, due, requested, failed(), ...askedAnew]

  scenario('when an attempt that had failed has succeeded after all', {
    given: [...given, noArrears, collectedAnew],
    when: arrives(1),
    then: [stands(1), twice()],
  })
  scenario('when the newer one is told after that', {
    given: [...given, noArrears, collected],
    when: arrives(2),
    then: [stands(1), collectedAnew, twice()],
  })
  scenario('once, however often either is told', {
    given: [...given, noArrears, collected, stands(1), collectedAnew, twice()],
    when: arrives(2, other_id),
    then: [],
  })
  scenario('once, however often either is told: the earlier one', {
    given: [...given, noArrears, collected, stands(1), collectedAnew, twice()],
    when: arrives(1, other_id),
    then: [],
  })
  scenario('from the day on which each was collected', {
    given: [...given, noArrears, collected],
    when: {
      ...arrives(2),
      result: { ...arrives(2).result, collected_at: '2026-02-25T09:00:00.000Z' },
    } as SettlePremium,
    then: [stands(1), { ...collectedAnew, collected_at: '2026-02-25T09:00:00.000Z' }, twice()],
  })
  scenario('when it was written off in trust of a dispute that was won', {
    given: [
      ...active,
      due,
      requested,
      collected,
      disputed,
      ...askedAnew,
      stands(1),
      { ...collected, collected_at: now },
    ],
    when: arrives(2),
    then: [stands(1), collectedAnew, twice()],
  })
})

describe('of a first premium by card that was taken back and asked for by Direct Debit', () => {
  const application_id = bound.application_id
  const paidByCard: readonly PolicyStreamEvent[] = [
    { ...bound, card_payment_id, first_premium: { method: 'card', status: 'succeeded', paid_at: now } },
    activated,
    dueByCard,
    collectedByCard,
    disputed,
    retried(2),
  ]
  const cardStands: PremiumEvent = { ...stands(1), method: 'card', payment_intent_id: null }
  const cooledOff = cancelled({ card_payment_id })
  const toCard = { application_id, card_payment_id }
  const second = { premium_id: idOf(2), number: 2, due_on: '2026-03-15' }

  scenario('what was given back of the debit, beside the card, and fails is owed still', {
    given: [
      ...paidByCard,
      requestedAnew,
      collectedAnew,
      { ...disputed, attempt: 2 },
      { ...cardStands, refund_id: other_id },
      collectedByCard,
      stands(2),
      twice(),
      { ...givenBack, refund_id: twice_id, attempt: 2, reason: 'paid_twice' },
    ],
    when: {
      type: 'RecordRefundFailure',
      premium_id,
      refund_id: twice_id,
      attempt: 2,
      refund_pence: 2875,
      ...refundFailure,
    },
    then: [{ ...refundFailed, refund_id: twice_id }],
  })
  scenario('what was collected after the dispute was won is given back of the debit', {
    given: [...paidByCard, requestedAnew, cardStands],
    when: arrives(2),
    then: [collectedAnew, twice()],
  })
  scenario('the card payment stands beside the debit that is asked for', {
    given: [...paidByCard, requestedAnew],
    when: win,
    then: [cardStands],
  })
  scenario('the card payment stands as that beside the debit that was collected, which is given back', {
    given: [...paidByCard, requestedAnew, collectedAnew],
    when: win,
    then: [cardStands, twice()],
  })
  const both = [...paidByCard, requestedAnew, collectedAnew, cardStands, twice()]
  const byHand: PremiumEvent = { ...givenBack, refund_id: twice_id, reason: 'paid_twice' }
  const returned = (returned_pence: number) =>
    ({ type: 'RecordCardReturned', refundId: () => refund_id, returned_pence }) as const
  scenario('the card payment may be given back by hand: then the debit is not', {
    given: both,
    when: returned(2875),
    then: [byHand],
  })
  scenario('which is recorded once', { given: [...both, byHand], when: returned(2875), then: [] })
  scenario('of a part of the card payment that is given back by hand, the rest is given back of the debit', {
    given: both,
    when: returned(2874),
    then: [
      { ...givenBack, refund_pence: 2874, reason: 'paid_twice' },
      { type: 'PremiumRefundReduced', ...first, refund_id: twice_id, attempt: 1, refund_pence: 1 },
    ],
  })
  scenario('what is owed for the cancellation too, when the debit was given back already', {
    given: [...both, { ...byHand, attempt: 2 }, cooledOff, owed('cooling_off')],
    when: returned(2875),
    then: [{ ...givenBack, reason: 'cooling_off' }],
  })
  scenario('the card payment that is given back by hand while the debit is asked for pays nothing any more', {
    given: [...paidByCard, requestedAnew, cardStands],
    when: returned(2875),
    then: [byHand, { ...noArrears, since: '2026-02-19', overdue_pence: 2875, check_at: '2026-03-21T00:00:00.000Z' }],
  })
  scenario('so that the debit is not given back once it is collected', {
    given: [...paidByCard, requestedAnew, cardStands, byHand],
    when: arrives(2),
    then: [collectedAnew],
  })
  scenario('a part of it that is given back by hand meanwhile was given back of the premium', {
    given: [...paidByCard, requestedAnew, cardStands],
    when: returned(2874),
    then: [{ ...givenBack, refund_pence: 2874, reason: 'provider' }],
  })
  scenario('and what is given back of the card beside the debit that was given back', {
    given: [...both, { ...byHand, attempt: 2 }],
    when: returned(2875),
    then: [{ ...givenBack, reason: 'provider' }],
  })
  scenario('what was given back by hand of the card and comes back to the provider is owed again', {
    given: [...both, byHand],
    when: { type: 'RecordCardReturnFailure', ...refundFailure },
    then: [{ ...refundFailed, refund_id: twice_id, attempt: 2 }],
  })
  scenario('the debit that was given back is not owed again when a refund of the card comes back', {
    given: [...both, { ...byHand, attempt: 2 }],
    when: { type: 'RecordCardReturnFailure', ...refundFailure },
    then: [],
  })
  scenario('a debit that was taken back stands as a debit', {
    given: [...paidByCard, requestedAnew, collectedAnew, { ...disputed, attempt: 2 }, retried(3)],
    when: wins(2),
    then: [stands(2)],
  })
  scenario('a later premium was paid by debit, and stands as that', {
    given: [
      ...paidByCard.slice(0, 2),
      dueByCard,
      collectedByCard,
      ...[due, requested, collected, disputed, retried(2)].map((event) => ({ ...event, ...second })),
    ],
    when: { ...win, premium_id: second.premium_id },
    then: [{ ...stands(1), ...second }],
  })
  scenario('what is collected after the policy was cancelled is given back of the debit', {
    given: [...paidByCard, requestedAnew, cooledOff],
    when: arrives(2),
    then: [collectedAnew, owed('cooling_off')],
  })
  scenario('what is still to be asked for when the policy is cancelled is not written off: it is looked for', {
    given: [...paidByCard, cardStands],
    when: { type: 'CancelPolicy', reason: 'other', note: null, today: '2026-02-20' },
    then: [{ ...cancelled({ card_payment_id }), reason: 'other', cooling_off: false, effective_on: '2026-02-20' }],
  })
  scenario('what the card had paid is given back on the card, where nothing was collected and the policy cancelled', {
    given: [...paidByCard, cardStands, cooledOff],
    when: { type: 'WriteOffPremium', premium_id, reason: 'policy_ended' },
    then: [
      { ...collectedByCard, collected_at: now },
      { ...owed('cooling_off'), ...toCard },
    ],
  })
  scenario('what the card had paid is given back on the card, when the debit of a cancelled policy is taken back', {
    given: [...paidByCard, requestedAnew, cardStands, collectedAnew, twice(), cooledOff],
    when: dispute(2),
    then: [
      { ...disputed, attempt: 2 },
      { ...collectedByCard, collected_at: now },
      { ...owed('cooling_off'), ...toCard },
      {
        type: 'PremiumRefundWaived',
        ...first,
        refund_id: twice_id,
        customer_id,
        attempt: 2,
        refund_pence: 2875,
        why: 'taken_back',
        reason: null,
      },
    ],
  })
})

const inArrears = { ...noArrears, since: '2026-02-19', overdue_pence: 2875, check_at: '2026-03-21T00:00:00.000Z' }
const takenBack = (attempt: number): PremiumEvent => ({
  type: 'PremiumTakenBack',
  ...first,
  attempt,
  disputed_on: '2026-02-19',
})
const waivedTwice = (otherwise = twice_id, attempt = 2) =>
  ({
    type: 'PremiumRefundWaived',
    ...first,
    refund_id: otherwise,
    customer_id,
    attempt,
    refund_pence: 2875,
    why: 'taken_back',
    reason: null,
  }) satisfies PremiumEvent
const givenTwice = (attempt: number, otherwise = twice_id) =>
  ({ ...givenBack, refund_id: otherwise, attempt, reason: 'paid_twice' }) satisfies PremiumEvent

describe('a dispute that is won beside another payment, and lost after all', () => {
  const won = [...active, due, requested, collected, disputed, ...askedAnew, collectedAnew, stands(1), twice()]
  const again = { ...collected, collected_at: now }

  scenario('leaves the other payment, which is not given back', {
    given: won,
    when: dispute(),
    then: [takenBack(1), waivedTwice()],
  })
  scenario('once', { given: [...won, takenBack(1), waivedTwice()], when: dispute(), then: [] })
  scenario('and won once more, has one of both given back', {
    given: [...won, takenBack(1), waivedTwice()],
    when: wins(1, other_id),
    then: [stands(1, other_id), twice(other_id)],
  })
  scenario('leaves the premium unpaid where one of both was given back', {
    given: [...won, givenTwice(2)],
    when: dispute(),
    then: [{ ...stands(2), reinstated_at: collectedAnew.collected_at }, disputed, inArrears],
  })
  scenario('which is paid once it is won once more', {
    given: [...won, givenTwice(2), stands(2), disputed],
    when: wins(1, other_id),
    then: [stands(1, other_id), again],
  })
  scenario('leaves the premium overdue while it is asked for anew', {
    given: won.slice(0, -3).concat(stands(1)),
    when: dispute(),
    then: [takenBack(1), inArrears],
  })
  scenario('also where it was given back by hand meanwhile: won once more it pays nothing', {
    given: [...won.slice(0, -3), stands(1), givenTwice(1), takenBack(1), inArrears],
    when: wins(1, other_id),
    then: [stands(1)],
  })
  scenario('makes what was given back of it by hand a part of the premium', {
    given: [
      ...won,
      { ...givenTwice(1, other_id), refund_pence: 400 },
      { type: 'PremiumRefundReduced', ...first, refund_id: twice_id, attempt: 1, refund_pence: 2475 },
    ],
    when: dispute(),
    then: [
      takenBack(1),
      { ...waivedTwice(), refund_pence: 2475 },
      { ...givenTwice(1, other_id), refund_pence: 400, reason: 'provider' },
    ],
  })
  scenario('is told of no attempt that pays nothing', { given: won, when: dispute(3), then: [] })
})

describe('a premium that three attempts have collected', () => {
  const anew = { payment_intent_id: 'pi_3', attempt: 3 }
  const second = { ...disputed, attempt: 2 }
  const two = [...active, due, requested, collected, disputed, ...askedAnew, collectedAnew, second]
  const asked = [...two, retried(3), { ...requested, ...anew }, { ...collected, ...anew }]
  const three: readonly PolicyStreamEvent[] = [...asked, stands(1), twice()]
  const allStand = [...three, stands(2, other_id), twice(other_id)]

  scenario('has two of the payments given back', {
    given: three,
    when: wins(2, other_id),
    then: [stands(2, other_id), twice(other_id)],
  })
  scenario('and no more when news of the first is told again', { given: allStand, when: wins(1, other_id), then: [] })
  scenario('nor of the second', { given: allStand, when: wins(2), then: [] })
  scenario('nor when one of both was given back', {
    given: [...allStand, givenTwice(3), givenTwice(2, other_id)],
    when: wins(1, other_id),
    then: [],
  })
  scenario('is paid by the first that stands when the newest is taken back', {
    given: allStand,
    when: dispute(3),
    then: [{ ...disputed, attempt: 3 }, { ...collected, collected_at: now }, waivedTwice(twice_id, 3)],
  })
  scenario('has what was given back of one that is lost stand for another', {
    given: [...allStand, givenTwice(3)],
    when: dispute(),
    then: [takenBack(1), stands(2), waivedTwice(other_id, 3)],
  })
  scenario('is asked for by an attempt of its own, although an earlier one had paid it meanwhile', {
    given: [...two, stands(1), collected, disputed, inArrears],
    when: { type: 'RetryPremium', premium_id, by: 'operator', now },
    then: [retried(3)],
  })
  scenario('is not paid by one that was taken back before another was', {
    given: [...two, stands(1), collected, disputed],
    when: arrives(2),
    then: [],
  })
  scenario('is paid by one that had failed, although a later one was taken back', {
    given: [...active, due, requested, failed(), ...askedAnew, collectedAnew, { ...disputed, attempt: 2 }, inArrears],
    when: arrives(1),
    then: [{ ...collected, collected_at: now }, noArrears],
  })
})

describe('of two payments of which one was given back', () => {
  const given = [...active, due, requested, collected, disputed, ...askedAnew, collectedAnew, stands(1), givenTwice(2)]
  const lost = [...given, { ...disputed, attempt: 2 }, inArrears]
  const asked = [...lost, retried(3), { ...requested, attempt: 3, payment_intent_id: 'pi_3' }]

  scenario('nothing is left when the other is taken back: what is collected anew is not given back', {
    given: asked,
    when: arrives(3, other_id),
    then: [{ ...collected, attempt: 3, payment_intent_id: 'pi_3', collected_at: now }, noArrears],
  })
  scenario('and what is not collected is owed', {
    given: asked,
    when: { ...settle('failed', 3) },
    then: [failed(3, null)],
  })
  scenario('the premium is paid when that has failed, and the other was taken back', {
    given: lost,
    when: {
      type: 'RecordRefundFailure',
      premium_id,
      refund_id: twice_id,
      attempt: 2,
      refund_pence: 2875,
      ...refundFailure,
    },
    then: [
      { ...refundFailed, refund_id: twice_id, attempt: 2 },
      { ...collected, collected_at: now },
      waivedTwice(),
      noArrears,
    ],
  })
  scenario('what was given back of the other by hand, and fails, is none of it', {
    given: [...given, { ...givenBack, refund_id: other_id, attempt: 1, reason: 'provider' }],
    when: {
      type: 'RecordRefundFailure',
      premium_id,
      refund_id: null,
      attempt: 2,
      refund_pence: 2875,
      ...refundFailure,
    },
    then: [{ ...refundFailed, refund_id: twice_id, attempt: 2 }],
  })
})

scenario('a payment that had failed first and is given back by hand is the one of two that is given back', {
  given: [...active, due, requested, failed(), ...askedAnew, noArrears, collectedAnew, stands(1), twice()],
  when: { type: 'RecordProviderRefund', premium_id, refund_id, attempt: 1, total_pence: 2875, failed_before: 0 },
  then: [givenTwice(1)],
})

scenario('a premium whose other payment stands is not written off when the policy ends', {
  given: [...active, due, requested, collected, disputed, ...askedAnew, stands(1), failed(2, null)],
  when: { type: 'WriteOffPremium', premium_id, reason: 'operator' },
  then: [{ ...collected, collected_at: now }],
})

describe('a dispute that the firm has won', () => {
  const paid = [...active, due, requested, collected]
  const again = { ...collected, collected_at: now }

  scenario('is told once while the premium is collected anew', {
    given: [...paid, disputed, ...askedAnew, stands(1)],
    when: win,
    then: [],
  })
  scenario('was none, where the banks had never paid', {
    given: [...active, due, requested, failed()],
    when: win,
    then: [],
  })
  scenario('can be lost after all: the premium is owed again', {
    given: [...paid, disputed, again],
    when: dispute(),
    then: [disputed, inArrears],
  })
  scenario('can be won again after that: the premium is paid', {
    given: [...paid, disputed, again, disputed],
    when: win,
    then: [again],
  })
  scenario('pays nothing any more once the firm has given it back by itself, and the other payment is taken back', {
    given: [
      ...paid,
      disputed,
      ...askedAnew,
      collectedAnew,
      stands(1),
      twice(),
      {
        type: 'PremiumRefundPaidOtherwise',
        ...first,
        refund_id: twice_id,
        customer_id,
        attempt: 2,
        refund_pence: 2875,
        paid_on: '2026-03-02',
        reason: 'Bank transfer.',
      },
    ],
    when: dispute(2),
    then: [{ ...disputed, attempt: 2 }, inArrears],
  })
})

describe('a dispute that the firm wins of a policy that was cancelled', () => {
  const cooledOff: PolicyEvent = cancelled({ refund_pence: 2875 })
  const waived: PremiumEvent = {
    type: 'PremiumRefundWaived',
    ...first,
    refund_id: premium_id as never,
    customer_id,
    attempt: 1,
    refund_pence: 2875,
    why: 'taken_back',
    reason: null,
  }
  const paid = [...active, due, requested, collected]
  const again = { ...collected, collected_at: now }

  scenario('is owed to the customer again, although it was not while the bank had it', {
    given: [...paid, cooledOff, owed('cooling_off'), disputed, writtenOff, waived],
    when: win,
    then: [again, { ...owed('cooling_off'), refund_id: twice_id }],
  })
  scenario('and loses, and wins once more, is owed once more', {
    given: [
      ...paid,
      cooledOff,
      owed('cooling_off'),
      disputed,
      writtenOff,
      waived,
      again,
      { ...owed('cooling_off'), refund_id: twice_id },
      disputed,
      writtenOff,
      { ...waived, refund_id: twice_id },
    ],
    when: wins(1, other_id),
    then: [again, { ...owed('cooling_off'), refund_id: other_id }],
  })
  scenario('is owed beside what is collected anew, each by an id of its own', {
    given: [...paid, owed('operator'), disputed, { ...waived, why: 'not_owed' }, ...askedAnew, cooledOff],
    when: arrives(2, other_id),
    then: [collectedAnew, { ...owed('cooling_off'), refund_id: other_id }],
  })
  scenario('is the firm’s own where it had given the premium back already', {
    given: [...paid, cooledOff, owed('cooling_off'), { ...givenBack, reason: 'cooling_off' }, disputed, writtenOff],
    when: win,
    then: [again],
  })
  scenario('is owed in so far as it was not given back', {
    given: [...paid, { ...givenBack, refund_pence: 875 }, cooledOff, disputed, writtenOff],
    when: win,
    then: [again, { ...owed('cooling_off'), refund_id: twice_id, refund_pence: 2000 }],
  })
})
