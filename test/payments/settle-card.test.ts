import { describe, expect, test } from 'vitest'
import { PaymentId } from '#domain/payments/events.ts'
import { payment, type Dispute, type MadeRefund, type Payment } from '#domain/payments/payment.ts'
import {
  evolvePayments,
  evolveUnsoldCard,
  noPayments,
  type CardPayment,
  type CardPaymentStatus,
} from '#domain/payments/record.ts'
import { ApplicationId, QuoteId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { settlingOf } from '../../command-api/payments/settle-card.ts'

const payment_id = PaymentId.parse(derivedId('payment', 'of a card'))
const quote_id = QuoteId.parse(derivedId('quote', '1'))
const application_id = ApplicationId.parse(derivedId('application', '1'))
const amount_pence = 2875
const paid_at = '2026-07-01T09:01:00.000Z'
const opening = { provider_customer_id: 'cus_1', amount_pence, currency_code: 'GBP', idempotency_key: null }

/** As they are when they were paid, with these changes. */
const [paidCard] = (
  [
    { type: 'CardPaymentOpened', payment_id, quote_id, payment_intent_id: 'pi_1', ...opening },
    {
      type: 'CardPaymentTaken',
      payment_id,
      status: 'succeeded',
      card_brand: null,
      card_last4: null,
      paid_at,
      idempotency_key: null,
    },
  ] as const
).reduce((payments, event) => evolvePayments(payments, event, { occurred_at: paid_at }), noPayments).cards
const cardWith = (changes: Partial<CardPayment> & { readonly status: CardPaymentStatus }): CardPayment => ({
  ...(paidCard ?? expect.fail()),
  ...changes,
})

const about = { payment_id, policy_id: null, premium_id: null }
const captured = (
  [
    {
      type: 'PaymentOpened',
      ...about,
      application_id,
      method: 'card',
      attempt: null,
      amount_pence,
      currency_code: 'GBP',
    },
    { type: 'PaymentTakenOn', ...about, payment_intent_id: 'pi_1' },
    { type: 'PaymentCaptured', ...about, captured_pence: amount_pence, captured_at: paid_at },
  ] as const
).reduce<Payment | undefined>((state, event) => payment.evolve(state, event, { occurred_at: paid_at }), undefined)
const paymentWith = (changes: Partial<Payment>): Payment => ({ ...(captured ?? expect.fail()), ...changes })

const dispute = (status: Dispute['status'], disputed_pence = amount_pence): Partial<Payment> => ({
  disputes: [{ provider_dispute_id: 'dp_1', disputed_pence, status }],
})
const refund = (has_failed: boolean, refund_pence = amount_pence): MadeRefund => ({
  provider_refund_id: 're_1',
  refund_id: null,
  refund_pence,
  has_failed,
  failure_code: has_failed ? 'expired_or_canceled_card' : null,
})
const returned = { type: 'RecordCardReturn', payment_id, how: 'refunded', amount_pence } as const
const wonBack = [
  { type: 'RecordReturnFailure', payment_id, provider_refund_id: 'dp_1', failure_code: 'dispute_won' },
  { type: 'RequestSettlement', payment_id },
] as const

describe('a card that nothing was sold for', () => {
  test.each([
    ['is kept while it is paid', 'succeeded', {}, []],
    ['has gone back once its bank has taken all of it', 'succeeded', dispute('open'), [returned]],
    ['has not gone back where its bank has taken a part', 'succeeded', dispute('open', 1000), []],
    [
      'has gone back where a part was given and the rest was taken',
      'succeeded',
      { refunds: [refund(false, 1875)], ...dispute('lost', 1000) },
      [returned],
    ],
    ['has gone back once', 'returned', dispute('open'), []],
    // Whoever records the return may have looked before the dispute was won.
    ['is owed again when the dispute was won', 'returned', dispute('won'), wonBack],
    ['is tried again when a dispute was won while it was to go back', 'returning', dispute('won'), wonBack],
    [
      'is owed again when the card did not take it',
      'returned',
      { refunds: [refund(true)] },
      [
        {
          type: 'RecordReturnFailure',
          payment_id,
          provider_refund_id: 're_1',
          failure_code: 'expired_or_canceled_card',
        },
      ],
    ],
    [
      'is tried again as before when that is found while it is to go back',
      'returning',
      { refunds: [refund(true)] },
      [],
    ],
    [
      'was let go where the payment was cancelled',
      'authorised',
      { status: 'cancelled', captured_pence: 0 },
      [{ ...returned, how: 'released', amount_pence: 0 }],
    ],
  ] as const)('%s', (_title, status, changes, acts) => {
    expect(settlingOf(paymentWith(changes), cardWith({ status }))).toEqual(acts)
  })

  test('is not owed twice for one dispute', () => {
    const card = cardWith({ status: 'returned', failed_refunds: ['dp_1'] })
    expect(settlingOf(paymentWith(dispute('won')), card)).toEqual([])
  })

  test('is tried again where whoever had found that was killed in between', () => {
    const found = { failed_refunds: ['dp_1'], is_left: true, failure_code: 'dispute_won' }
    const card = cardWith({ status: 'returning', ...found })
    expect(settlingOf(paymentWith(dispute('won')), card)).toEqual([{ type: 'RequestSettlement', payment_id }])
  })

  test('stays closed as the team has closed it', () => {
    const card = cardWith({ status: 'returned', closed_as: 'paid_otherwise' })
    expect(settlingOf(paymentWith(dispute('won')), card)).toEqual([])
  })
})

test('a card that a policy was sold for is settled with its premium, unless its application returns it', () => {
  const policy_id = derivedId('policy', '1')
  const gone = paymentWith(dispute('open'))
  expect(settlingOf(gone, cardWith({ status: 'succeeded', policy_id }))).toEqual([])
  expect(settlingOf(gone, cardWith({ status: 'returning', policy_id }))).toEqual([returned])
})

test('a part that was given back, or came back, before a policy was sold stands with the card, whatever its status', () => {
  const ofRefund = { ...about, refund_id: null, provider_refund_id: 're_1', refund_pence: 1000 }
  const made = { type: 'PaymentRefundMade', ...ofRefund } as const
  const failed = { ...made, type: 'PaymentRefundFailed', failure_code: 'expired_or_canceled_card' } as const
  const open = cardWith({ status: 'succeeded' })

  const given = evolveUnsoldCard(open, made)
  expect(given).toEqual({ ...open, returned_pence: 1000 })
  expect(evolveUnsoldCard(given, failed)).toEqual(open)
  // All of it is told by the application.
  const returned = cardWith({ status: 'returned', returned_pence: amount_pence })
  expect(evolveUnsoldCard(returned, made)).toEqual(returned)
})
