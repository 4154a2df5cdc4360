import type { Decider } from '../decider.ts'
import { paymentNewsEvents, type PaymentNewsEvent } from './events.ts'

export type ReceivePaymentNews = { readonly type: 'ReceivePaymentNews' } & Omit<PaymentNewsEvent, 'type'>

type State = { readonly received: true } | undefined

/** The provider says everything more than once. */
export const paymentNews: Decider<ReceivePaymentNews, typeof paymentNewsEvents, State> = {
  category: 'payment_news',
  events: paymentNewsEvents,
  initialState: undefined,
  decide: ({ type: _type, ...news }, state) => (state ? [] : [{ type: 'PaymentNewsReceived', ...news }]),
  evolve: () => ({ received: true }),
}
