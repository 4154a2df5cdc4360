import type { Decider } from '../decider.ts'
import { paymentNewsEvents, type PaymentNewsEvent } from './events.ts'

export type ReceivePaymentNews = { readonly type: 'ReceivePaymentNews' } & Omit<PaymentNewsEvent, 'type'>

/** The provider says everything more than once. */
export const paymentNews: Decider<ReceivePaymentNews, typeof paymentNewsEvents, boolean> = {
  category: 'payment_news',
  events: paymentNewsEvents,
  initialState: false,
  decide: ({ type: _type, ...news }, isReceived) => (isReceived ? [] : [{ type: 'PaymentNewsReceived', ...news }]),
  evolve: () => true,
}
