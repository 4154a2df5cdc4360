import { announce, change, create, find, metadataOf, refuseOldParameters, required, type Account } from './account.ts'
import { move } from './balance.ts'
import { textOf, type Form } from './form.ts'
import { bacsBehaviour, cardOf, invalid, makeId, Refused, secondsNow, type StripeObject } from './objects.ts'

export const createIntent = (account: Account, form: Form): StripeObject => {
  refuseOldParameters(form)
  const amount = Number(required(form, 'amount'))
  if (!Number.isSafeInteger(amount) || amount < 30)
    throw invalid('Amount must be at least £0.30 gbp', 'amount_too_small', { param: 'amount' })
  if (textOf(form, 'customer') !== undefined) find(account, 'customer', required(form, 'customer'))
  const intent = create(account, 'pi', 'payment_intent', {
    amount,
    currency: required(form, 'currency'),
    customer: textOf(form, 'customer') ?? null,
    capture_method: textOf(form, 'capture_method') ?? 'automatic',
    status: 'requires_payment_method',
    latest_charge: null,
    last_payment_error: null,
    metadata: metadataOf(form),
  })
  const opened = change(account, intent, { client_secret: `${intent.id}_secret_${makeId('x')}` })
  return textOf(form, 'confirm') === 'true' ? debit(account, opened, form) : opened
}

/** Money taken by Direct Debit: under way until the banks have answered, and in the balance as pending meanwhile. */
const debit = (account: Account, intent: StripeObject, form: Form): StripeObject => {
  const method = find(account, 'payment_method', required(form, 'payment_method'))
  const mandate = textOf(form, 'mandate')
  if (mandate !== undefined && find(account, 'mandate', mandate)['status'] === 'inactive')
    throw new Refused(402, {
      type: 'card_error',
      code: 'payment_intent_mandate_invalid',
      message: 'The mandate for this payment method is inactive.',
    })
  const under = charged(account, { ...intent, payment_method: method.id }, 'py', {
    status: 'pending',
    payment_method_details: { type: 'bacs_debit', bacs_debit: method['bacs_debit'] },
  })
  const amount = Number(intent['amount'])
  const moved = move(account, 'payment', under, { amount, fee: feeOf.debit(amount), status: 'pending' })
  change(account, under, { balance_transaction: moved.id })
  const changes = { status: 'processing', payment_method: method.id, mandate, latest_charge: under.id }
  const processing = change(account, intent, changes)
  announce(account, 'payment_intent.processing', processing)
  return processing
}

/** The outcome of a Direct Debit: by default that for which its account is known; `failure_code` makes it fail. */
export const settle = (account: Account, form: Form, id: string): StripeObject => {
  const intent = find(account, 'payment_intent', id)
  if (intent['status'] !== 'processing') throw invalid('This payment is not under way.')
  const charge = find(account, 'charge', intent['latest_charge'])
  const mandate = account.objects.get(String(intent['mandate']))
  const failure = textOf(form, 'failure_code') ?? bacsBehaviour(String(mandate?.['account_number'])).fails
  const moved = find(account, 'balance_transaction', charge['balance_transaction'])
  change(account, moved, { status: 'available', available_on: secondsNow() })
  if (failure === undefined) {
    change(account, charge, { status: 'succeeded', paid: true, captured: true })
    const done = change(account, intent, { status: 'succeeded', last_payment_error: null })
    announce(account, 'payment_intent.succeeded', done)
    return done
  }
  const failed = change(account, charge, { status: 'failed', failure_code: failure })
  move(account, 'paymentFailure', failed, { amount: -Number(moved['amount']), fee: -Number(moved['fee']) })
  return declined(account, intent, failure)
}

/** The fees for a payment here: Stripe's prices differ by contract. */
const feeOf = {
  card: (amount: number): number => Math.round(amount * 0.015) + 20,
  debit: (amount: number): number => Math.min(200, Math.max(20, Math.round(amount * 0.01))),
}

const charged = (account: Account, intent: StripeObject, prefix: 'ch' | 'py', details: object): StripeObject =>
  create(account, prefix, 'charge', {
    amount: intent['amount'],
    amount_refunded: 0,
    balance_transaction: null,
    captured: false,
    currency: intent['currency'],
    customer: intent['customer'],
    disputed: false,
    metadata: intent['metadata'],
    paid: false,
    payment_intent: intent.id,
    payment_method: intent['payment_method'],
    refunded: false,
    ...details,
  })

/** The money of a card payment comes. */
const capture = (account: Account, intent: StripeObject, charge: StripeObject): StripeObject => {
  const amount = Number(intent['amount'])
  const moved = move(account, 'charge', charge, { amount, fee: feeOf.card(amount) })
  change(account, charge, { captured: true, balance_transaction: moved.id })
  const done = change(account, intent, { status: 'succeeded', latest_charge: charge.id, last_payment_error: null })
  announce(account, 'payment_intent.succeeded', done)
  return done
}

const declined = (account: Account, intent: StripeObject, code: string): StripeObject => {
  const last_payment_error = { type: 'card_error', code: 'card_declined', decline_code: code, message: 'Declined.' }
  const failed = change(account, intent, { status: 'requires_payment_method', last_payment_error })
  announce(account, 'payment_intent.payment_failed', failed)
  return failed
}

/** The cardholder's act on the page: `payment_method` is a test card, by name or number. */
export const confirmIntent = (account: Account, form: Form, id: string): StripeObject => {
  const intent = find(account, 'payment_intent', id)
  if (intent['status'] !== 'requires_payment_method')
    throw invalid(`You cannot confirm this PaymentIntent because it has a status of ${String(intent['status'])}.`)
  const card = cardOf(required(form, 'payment_method'))
  if (!card) throw invalid('No such PaymentMethod.', 'resource_missing')
  if (card.declines !== undefined) {
    declined(account, intent, card.declines)
    throw new Refused(402, {
      type: 'card_error',
      code: 'card_declined',
      decline_code: card.declines,
      message: 'Your card was declined.',
    })
  }
  const { name, brand, last4 } = card
  const charge = charged(account, { ...intent, payment_method: name }, 'ch', {
    status: 'succeeded',
    paid: true,
    payment_method_details: { type: 'card', card: { brand, last4 } },
  })
  if (intent['capture_method'] !== 'manual') return capture(account, intent, charge)
  const changes = { status: 'requires_capture', latest_charge: charge.id, last_payment_error: null }
  const authorised = change(account, intent, changes)
  announce(account, 'payment_intent.amount_capturable_updated', authorised)
  return authorised
}

const unexpected = (intent: StripeObject, act: string) =>
  invalid(
    `This PaymentIntent could not be ${act} because it has a status of ${String(intent['status'])}.`,
    'payment_intent_unexpected_state',
  )

export const captureIntent = (account: Account, _form: Form, id: string): StripeObject => {
  const intent = find(account, 'payment_intent', id)
  if (intent['status'] !== 'requires_capture') throw unexpected(intent, 'captured')
  return capture(account, intent, find(account, 'charge', intent['latest_charge']))
}

export const cancelIntent = (account: Account, _form: Form, id: string): StripeObject => {
  const intent = find(account, 'payment_intent', id)
  if (['succeeded', 'canceled', 'processing'].includes(String(intent['status']))) throw unexpected(intent, 'canceled')
  const cancelled = change(account, intent, { status: 'canceled' })
  announce(account, 'payment_intent.canceled', cancelled)
  return cancelled
}
