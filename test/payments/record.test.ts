import { describe, expect, test } from 'vitest'
import { MandateId, PaymentId, paymentEvents, type PaymentEvent } from '#domain/payments/events.ts'
import { cardPaymentOf, evolvePayments, noPayments, unusedAt, usableMandate } from '#domain/payments/record.ts'
import { CustomerId, QuoteId } from '#domain/values.ts'

/** What is known of how an application is paid for, after the events about it. */

const quote_id = QuoteId.parse('d0000000-0000-4000-8000-000000000001')
const otherQuote = QuoteId.parse('d0000000-0000-4000-8000-000000000002')
const mandate_id = MandateId.parse('f1000000-0000-4000-8000-000000000001')
const otherMandate = MandateId.parse('f1000000-0000-4000-8000-000000000002')
const payment_id = PaymentId.parse('f0000000-0000-4000-8000-000000000001')
const otherPayment = PaymentId.parse('f0000000-0000-4000-8000-000000000002')
const customer_id = CustomerId.parse('c0000000-0000-4000-8000-000000000001')
const policy_id = 'e0000000-0000-4000-8000-000000000001'
const at = '2026-06-01T09:00:00.000Z'

const after = (...events: readonly PaymentEvent[]) =>
  events.reduce((payments, event) => evolvePayments(payments, event, { occurred_at: at }), noPayments)

const bank_details = {
  account_holder_name: 'Anna Ash',
  sort_code: '108800',
  account_number: '00012345',
  address_line1: null,
  address_line2: null,
  address_city: null,
  address_postal_code: null,
}
const saved: PaymentEvent = {
  type: 'BankDetailsSaved',
  quote_id,
  customer_id,
  bank_details,
  account_number_last4: '2345',
}
const session = { quote_id, session_id: 'cs_1', provider_customer_id: 'cus_1' }
const made = {
  mandate_id,
  quote_id,
  session_id: 'cs_1',
  provider_mandate_id: 'mandate_1',
  provider_customer_id: 'cus_1',
  provider_payment_method_id: 'pm_1',
  account_number_last4: '2345',
}
const mandateMade: PaymentEvent = { type: 'MandateCreated', ...made, product_id: null }

const opened = (id = payment_id, of = quote_id): PaymentEvent => ({
  type: 'CardPaymentOpened',
  payment_id: id,
  quote_id: of,
  payment_intent_id: 'pi_1',
  provider_customer_id: 'cus_1',
  amount_pence: 1250,
  currency_code: 'GBP',
  idempotency_key: 'opened-1',
})
const paid = { card_brand: 'visa', card_last4: '4242', paid_at: at, idempotency_key: 'taken-1' }
const taken = (status: 'succeeded' | 'authorised', id = payment_id): PaymentEvent => ({
  type: 'CardPaymentTaken',
  payment_id: id,
  status,
  ...paid,
})
const owed: PaymentEvent = { type: 'CardPaymentReturnOwed', payment_id, reason: 'not_used' }
const returned: PaymentEvent = {
  type: 'CardPaymentReturned',
  payment_id,
  policy_id: null,
  how: 'refunded',
  amount_pence: 1250,
}
const settlementFailed = (attempt: number, retry_at: string | null): PaymentEvent => ({
  type: 'CardPaymentSettlementFailed',
  payment_id,
  failure_code: 'provider_unavailable',
  attempt,
  retry_at,
})
const captured: PaymentEvent = { type: 'CardPaymentCaptured', payment_id, policy_id: null }
const returnFailed: PaymentEvent = {
  type: 'CardPaymentReturnFailed',
  payment_id,
  policy_id: null,
  failure_code: 'lost_or_stolen_card',
  provider_refund_id: 're_1',
}
const closed = (how: 'paid_otherwise' | 'not_owed' | 'taken_back'): PaymentEvent => ({
  type: 'CardPaymentReturnClosed',
  payment_id,
  policy_id: null,
  how,
  paid_on: null,
  reason: null,
})

const card = (...events: readonly PaymentEvent[]) => after(opened(), ...events).cards[0]

test('nothing is known of a payment before there was one', () => {
  expect(after()).toEqual({ bank_details: null, mandate: null, sessions: [], cards: [] })
})

test('bank details are kept with when they were saved, and the last ones count', () => {
  const later = { ...saved, bank_details: { ...bank_details, sort_code: '200000' } }

  expect(after(saved, later).bank_details).toEqual({
    quote_id,
    bank_details: later.bank_details,
    account_number_last4: '2345',
    saved_at: at,
  })
})

test('bank details are encrypted under the key of whose they are', () => {
  expect(paymentEvents.BankDetailsSaved.subject({ customer_id }, 'application-1')).toBe(customer_id)
  expect(paymentEvents.BankDetailsSaved.subject({ customer_id: null }, 'application-1')).toBeNull()
})

describe('a Direct Debit mandate', () => {
  test('may be made in any session that was opened for it', () => {
    const again = { ...session, session_id: 'cs_2' }

    const { sessions } = after({ type: 'MandateSessionOpened', ...session }, { type: 'MandateSessionOpened', ...again })

    expect(sessions).toEqual([session, again])
  })

  test('waits for the banks at first', () => {
    expect(after(mandateMade).mandate).toEqual({ ...made, status: 'pending', created_at: at })
  })

  test.each([
    [{ type: 'MandateActivated', mandate_id }, 'active'],
    [{ type: 'MandateFailed', mandate_id }, 'failed'],
    [{ type: 'MandateCancelled', mandate_id, end: 'revoked' }, 'cancelled'],
  ] as const)('after %j is %s', (event, status) => {
    expect(after(mandateMade, event).mandate).toEqual({ ...made, status, created_at: at })
  })

  test('is not changed by news of another', () => {
    const before = after(mandateMade)

    expect(after(mandateMade, { type: 'MandateFailed', mandate_id: otherMandate })).toEqual(before)
    expect(after({ type: 'MandateFailed', mandate_id: otherMandate })).toEqual(noPayments)
  })

  test('can be collected on until the banks refuse or end it', () => {
    expect(usableMandate(noPayments)).toBeNull()
    expect(usableMandate(after(mandateMade))?.mandate_id).toBe(mandate_id)
    expect(usableMandate(after(mandateMade, { type: 'MandateActivated', mandate_id }))?.status).toBe('active')
    expect(usableMandate(after(mandateMade, { type: 'MandateFailed', mandate_id }))).toBeNull()
    expect(usableMandate(after(mandateMade, { type: 'MandateCancelled', mandate_id, end: 'inactive' }))).toBeNull()
  })
})

describe('a card payment', () => {
  const unpaid = {
    payment_id,
    quote_id,
    payment_intent_id: 'pi_1',
    provider_customer_id: 'cus_1',
    amount_pence: 1250,
    currency_code: 'GBP',
    idempotency_key: 'opened-1',
    status: 'open',
    card_brand: null,
    card_last4: null,
    opened_at: at,
    paid_at: null,
    charged: false,
    policy_id: null,
    return_reason: null,
    returned_at: null,
    returned_pence: 0,
    closed_as: null,
    failure_code: null,
    failed_attempts: 0,
    is_left: false,
    failed_refunds: [],
    taken_with: null,
    note: null,
  }
  const seen = { card_brand: 'visa', card_last4: '4242', paid_at: at, taken_with: 'taken-1' }
  const declined: PaymentEvent = { type: 'CardPaymentDeclined', payment_id, failure_code: 'card_declined' }
  const all = { ...unpaid, ...seen, status: 'succeeded', charged: true }

  test('is open until it is paid, also after an attempt to pay has failed', () => {
    expect(card()).toEqual(unpaid)
    expect(card(declined)).toEqual({ ...unpaid, failure_code: 'card_declined' })
  })

  test('that succeeded has left the card', () => {
    expect(card(declined, taken('succeeded'))).toEqual(all)
  })

  test('that is authorised has not left the card before it is charged', () => {
    expect(card(taken('authorised'))).toEqual({ ...all, status: 'authorised', charged: false })
    expect(card(taken('authorised'), settlementFailed(1, at), captured)).toEqual(all)
  })

  test('that is paid while it is to be given back is still to be given back', () => {
    expect(card(owed, taken('succeeded'))).toEqual({ ...all, status: 'returning', return_reason: 'not_used' })
    expect(card(taken('authorised'), owed, captured)).toEqual({
      ...all,
      status: 'returning',
      return_reason: 'not_used',
    })
  })

  test('belongs to the policy whose first premium it is', () => {
    expect(card(taken('succeeded'), { type: 'CardPaymentUsed', payment_id, policy_id })).toEqual({ ...all, policy_id })
  })

  test('is given back with the reason, the moment and the amount', () => {
    expect(card(taken('succeeded'), owed, settlementFailed(2, at), returned)).toEqual({
      ...all,
      status: 'returned',
      return_reason: 'not_used',
      returned_at: at,
      returned_pence: 1250,
    })
  })

  test('that could not be given back is tried again, or left to the team', () => {
    const failed = { ...all, status: 'returning', return_reason: 'not_used', failure_code: 'provider_unavailable' }

    expect(card(taken('succeeded'), owed, settlementFailed(1, at))).toEqual({ ...failed, failed_attempts: 1 })
    expect(card(taken('succeeded'), owed, settlementFailed(5, null))).toEqual({
      ...failed,
      failed_attempts: 5,
      is_left: true,
    })
  })

  test('that is left to the team is tried again when they ask for it', () => {
    const again: PaymentEvent = { type: 'CardPaymentSettlementRequested', payment_id, work: 'return' }

    expect(card(taken('succeeded'), owed, settlementFailed(5, null), again)).toEqual({
      ...all,
      status: 'returning',
      return_reason: 'not_used',
      failure_code: 'provider_unavailable',
      failed_attempts: 5,
    })
  })

  test('whose refund came back to the provider is owed, and left to the team', () => {
    expect(card(taken('succeeded'), owed, returned, returnFailed)).toEqual({
      ...all,
      status: 'returning',
      return_reason: 'not_used',
      failure_code: 'lost_or_stolen_card',
      is_left: true,
      failed_refunds: ['re_1'],
    })
    expect(
      card(taken('succeeded'), owed, returned, returnFailed, { ...returnFailed, provider_refund_id: 're_2' })
        ?.failed_refunds,
    ).toEqual(['re_1', 're_2'])
  })

  test.each([
    ['paid_otherwise', 1250],
    ['not_owed', 0],
    ['taken_back', 0],
  ] as const)('whose return is closed as %s counts as %i pence given back', (how, returned_pence) => {
    expect(card(taken('succeeded'), owed, settlementFailed(5, null), closed(how))).toEqual({
      ...all,
      status: 'returned',
      return_reason: 'not_used',
      returned_at: at,
      returned_pence,
      closed_as: how,
      failure_code: 'provider_unavailable',
      failed_attempts: 5,
    })
  })

  test('is not changed by news of another', () => {
    const { cards } = after(opened(), opened(otherPayment, otherQuote), taken('succeeded', otherPayment))

    expect(cards).toMatchObject([
      { payment_id, status: 'open', paid_at: null },
      { payment_id: otherPayment, status: 'succeeded', paid_at: at },
    ])
  })

  test('pays the first premium of its own quote, once it is paid or authorised', () => {
    const of = (...events: readonly PaymentEvent[]) => cardPaymentOf(after(...events), quote_id)?.payment_id

    expect(of(opened())).toBeUndefined()
    expect(of(opened(), taken('authorised'))).toBe(payment_id)
    expect(of(opened(), taken('succeeded'))).toBe(payment_id)
    expect(of(opened(), taken('succeeded'), owed)).toBeUndefined()
    expect(of(opened(), taken('succeeded'), owed, returned)).toBeUndefined()
    expect(of(opened(payment_id, otherQuote), taken('succeeded'))).toBeUndefined()
    expect(of(opened(payment_id, otherQuote), taken('authorised'))).toBeUndefined()
    expect(of(opened(), taken('succeeded'), owed, opened(otherPayment), taken('succeeded', otherPayment))).toBe(
      otherPayment,
    )
  })
})

test('a payment that no policy has followed is given back 24 hours after it was paid', () => {
  expect(unusedAt('2026-06-01T09:00:00.000Z')).toBe('2026-06-02T09:00:00.000Z')
})
