import { paymentNews } from '#domain/payment-news/payment-news.ts'
import { organisation_id } from '../applications/release.ts'
import { scenariosOf } from '../scenario.ts'

const scenario = scenariosOf(paymentNews)
const told = {
  organisation_id,
  provider_event_id: 'evt_1',
  kind: 'payment_succeeded',
  application_id: null,
  policy_id: null,
  premium_id: null,
  mandate_id: null,
  payment_intent_id: 'pi_1',
  amount_pence: 1_234,
  failure_code: null,
} as const
const received = { type: 'PaymentNewsReceived', ...told } as const

scenario('what the payment provider tells is recorded', {
  given: [],
  when: { type: 'ReceivePaymentNews', ...told },
  then: [received],
})
scenario('what it tells again is recorded once', {
  given: [received],
  when: { type: 'ReceivePaymentNews', ...told, amount_pence: null },
  then: [],
})
