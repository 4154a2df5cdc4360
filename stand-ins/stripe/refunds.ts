import { announce, change, create, find, metadataOf, required, type Account } from './account.ts'
import { textOf, type Form } from './form.ts'
import { invalid, type StripeObject } from './objects.ts'

export const createRefund = (account: Account, form: Form): StripeObject => {
  const intent = find(account, 'payment_intent', required(form, 'payment_intent'))
  if (intent['status'] !== 'succeeded') throw invalid('This PaymentIntent has no successful charge to refund.')
  const charge = find(account, 'charge', String(intent['latest_charge']))
  const left = Number(charge['amount']) - Number(charge['amount_refunded'])
  const amount = Number(textOf(form, 'amount') ?? left)
  if (left === 0) throw invalid('Charge has already been refunded.', 'charge_already_refunded')
  if (amount > left) throw invalid('Refund amount is greater than unrefunded amount on charge.')
  const refunded = Number(charge['amount_refunded']) + amount
  const after = change(account, charge, { amount_refunded: refunded, refunded: refunded === charge['amount'] })
  announce(account, 'charge.refunded', after)
  const about = { charge: charge.id, payment_intent: intent.id, currency: charge['currency'] }
  return create(account, 're', 'refund', { amount, ...about, status: 'succeeded', metadata: metadataOf(form) })
}

/** The bank or the card does not take what was given back, which the provider learns days later. */
export const failRefund = (account: Account, form: Form, id: string): StripeObject => {
  const refund = find(account, 'refund', id)
  if (refund['status'] === 'failed') throw invalid('This refund has failed.')
  const charge = find(account, 'charge', String(refund['charge']))
  const amount_refunded = Number(charge['amount_refunded']) - Number(refund['amount'])
  change(account, charge, { amount_refunded, refunded: false })
  const failure_reason = textOf(form, 'failure_reason') ?? 'expired_or_canceled_card'
  const failed = change(account, refund, { status: 'failed', failure_reason })
  for (const type of ['refund.updated', 'charge.refund.updated', 'refund.failed']) announce(account, type, failed)
  return failed
}

/** The refunds of a payment, the last one first. */
export const listRefunds = ({ objects }: Account, form: Form): StripeObject => {
  const payment_intent = required(form, 'payment_intent')
  const data = [...objects.values()]
    .filter((each) => each.object === 'refund' && each['payment_intent'] === payment_intent)
    .toReversed()
    .slice(0, Number(textOf(form, 'limit') ?? 10))
  return { id: 'list', object: 'list', url: '/v1/refunds', has_more: false, data }
}
