import { describe } from 'vitest'
import type { PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
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
  noArrears,
  now,
  owed,
  premium_id,
  requested,
  retried,
  twice_id,
  failed,
  activated,
  writtenOff,
  win,
  disputed,
  dispute,
  dueByCard,
  collectedByCard,
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
  const card_payment_id = 'd0000000-0000-5000-8000-000000000001'
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

  scenario('what was collected after the dispute was won is given back of the debit', {
    given: [...paidByCard, requestedAnew, cardStands],
    when: arrives(2),
    then: [collectedAnew, twice()],
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
