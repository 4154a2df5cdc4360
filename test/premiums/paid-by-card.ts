import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import { PaymentId } from '#domain/payments/events.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import { PremiumId } from '#domain/premiums/events.ts'
import { ApplicationId, type QuoteId } from '#domain/values.ts'

/** The words of the tests about a first premium that was paid by card. */

export const application_id = ApplicationId.parse('a0000000-0000-4000-8000-000000000001')
export const payment_id = PaymentId.parse('f0000000-0000-4000-8000-000000000001')
export const paid_at = '2026-07-01T09:00:00.000Z'

export const firstPremium = {
  premium_id: PremiumId.parse('b1000000-0000-5000-8000-000000000001'),
  number: 1,
  amount_pence: 2875,
  due_on: '2026-07-01',
}
export const dueByCard = {
  type: 'PremiumDue',
  ...firstPremium,
  covers_from: '2026-07-02',
  method: 'card',
  next_due_on: '2026-08-15',
  next_due_at: '2026-08-14T23:00:00.000Z',
} as const satisfies PolicyStreamEvent
export const collectedByCard = {
  type: 'PremiumCollected',
  ...firstPremium,
  attempt: 1,
  method: 'card',
  payment_intent_id: 'pi_1',
  collected_at: paid_at,
} as const satisfies PolicyStreamEvent

type Paid = { readonly quote_id: QuoteId; readonly amount_pence: number; readonly paid_at: string }

/** What the application tells of a card that was charged. */
export const cardPaid = (
  { quote_id, amount_pence, paid_at: at }: Paid,
  id: PaymentId = payment_id,
): readonly ApplicationStreamEvent[] => [
  {
    type: 'CardPaymentOpened',
    payment_id: id,
    quote_id,
    payment_intent_id: 'pi_1',
    provider_customer_id: 'cus_1',
    amount_pence,
    currency_code: 'GBP',
    idempotency_key: null,
  },
  {
    type: 'CardPaymentTaken',
    payment_id: id,
    status: 'succeeded',
    card_brand: 'visa',
    card_last4: '4242',
    paid_at: at,
    idempotency_key: null,
  },
]
