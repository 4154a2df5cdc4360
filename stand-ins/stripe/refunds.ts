import { aftermathOf, announce, change, create, find, metadataOf, required, type Account } from './account.ts'
import { move } from './balance.ts'
import { hasTaken } from './disputes.ts'
import { textOf, type Form } from './form.ts'
import { invalid, type StripeObject } from './objects.ts'

const isByDebit = ({ id }: StripeObject): boolean => id.startsWith('py_')

const amountOf = (form: Form, left: number): number => {
  const amount = Number(textOf(form, 'amount') ?? left)
  if (left === 0) throw invalid('Charge has already been refunded.', 'charge_already_refunded')
  if (amount > left) throw invalid('Refund amount is greater than unrefunded amount on charge.')
  if (Number.isSafeInteger(amount) && amount > 0) return amount
  throw invalid('Invalid positive integer', 'parameter_invalid_integer', { param: 'amount' })
}

export const createRefund = (account: Account, form: Form): StripeObject => {
  const intent = find(account, 'payment_intent', required(form, 'payment_intent'))
  if (intent['status'] !== 'succeeded') throw invalid('This PaymentIntent has no successful charge to refund.')
  const charge = find(account, 'charge', intent['latest_charge'])
  const isOf = (each: StripeObject) => each['charge'] === charge.id && hasTaken(each)
  const isTakenBack = charge['disputed'] === true && [...account.objects.values()].some(isOf)
  if (isTakenBack) throw invalid(`Charge ${charge.id} has been charged back; cannot issue a refund.`, 'charge_disputed')
  const amount = amountOf(form, Number(charge['amount']) - Number(charge['amount_refunded']))
  const refunded = Number(charge['amount_refunded']) + amount
  const after = change(account, charge, { amount_refunded: refunded, refunded: refunded === charge['amount'] })
  announce(account, 'charge.refunded', after)
  const made = create(account, 're', 'refund', {
    amount,
    charge: charge.id,
    payment_intent: intent.id,
    currency: charge['currency'],
    reason: textOf(form, 'reason') ?? null,
    status: aftermathOf(account, charge).refunds === 'pending' ? 'pending' : 'succeeded',
    failure_balance_transaction: null,
    metadata: metadataOf(form),
  })
  const moved = move(account, isByDebit(charge) ? 'paymentRefund' : 'refund', made, { amount: -amount })
  const refund = change(account, made, { balance_transaction: moved.id })
  announce(account, 'refund.created', refund)
  return refund
}

/** The refund has arrived. */
export const settleRefund = (account: Account, _form: Form, id: string): StripeObject => {
  const refund = find(account, 'refund', id)
  if (refund['status'] !== 'pending') throw invalid('This refund is not under way.')
  const done = change(account, refund, { status: 'succeeded' })
  for (const type of ['refund.updated', 'charge.refund.updated']) announce(account, type, done)
  return done
}

/** The bank or the card does not take what was given back, which the provider learns days later. */
export const failRefund = (account: Account, form: Form, id: string): StripeObject => {
  const refund = find(account, 'refund', id)
  if (refund['status'] === 'failed') throw invalid('This refund has failed.')
  const charge = find(account, 'charge', refund['charge'])
  const amount_refunded = Number(charge['amount_refunded']) - Number(refund['amount'])
  change(account, charge, { amount_refunded, refunded: false })
  const moved = move(account, 'refundFailure', refund, { amount: Number(refund['amount']) })
  const failure_reason = textOf(form, 'failure_reason') ?? 'expired_or_canceled_card'
  const failed = change(account, refund, { status: 'failed', failure_reason, failure_balance_transaction: moved.id })
  for (const type of ['refund.updated', 'charge.refund.updated', 'refund.failed']) announce(account, type, failed)
  return failed
}
