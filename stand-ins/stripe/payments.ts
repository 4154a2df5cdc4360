import { announce, change, create, find, metadataOf, refuseOldParameters, required, type Account } from './account.ts'
import { textOf, type Form } from './form.ts'
import { bacsBehaviour, cardOf, invalid, makeId, Refused, type StripeObject } from './objects.ts'

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

/** Money taken by Direct Debit: under way until the banks have answered. */
const debit = (account: Account, intent: StripeObject, form: Form): StripeObject => {
  const method = find(account, 'payment_method', required(form, 'payment_method'))
  const mandate = textOf(form, 'mandate')
  if (mandate !== undefined && find(account, 'mandate', mandate)['status'] === 'inactive')
    throw new Refused(402, {
      type: 'card_error',
      code: 'payment_intent_mandate_invalid',
      message: 'The mandate for this payment method is inactive.',
    })
  const processing = change(account, intent, { status: 'processing', payment_method: method.id, mandate })
  announce(account, 'payment_intent.processing', processing)
  return processing
}

/** What became of a Direct Debit: by default what its account is known for; `failure_code` makes it fail. */
export const settle = (account: Account, form: Form, id: string): StripeObject => {
  const intent = find(account, 'payment_intent', id)
  if (intent['status'] !== 'processing') throw invalid('This payment is not under way.')
  const mandate = account.objects.get(String(intent['mandate']))
  const failure = textOf(form, 'failure_code') ?? bacsBehaviour(String(mandate?.['account_number'])).fails
  if (failure === undefined) return paid(account, intent, { type: 'bacs_debit' }, 'succeeded')
  return declined(account, intent, failure)
}

const paid = (account: Account, intent: StripeObject, details: object, status: string): StripeObject => {
  const charge = create(account, 'ch', 'charge', {
    amount: intent['amount'],
    amount_refunded: 0,
    currency: intent['currency'],
    captured: status === 'succeeded',
    payment_intent: intent.id,
    payment_method_details: details,
    metadata: intent['metadata'],
    refunded: false,
  })
  const done = change(account, intent, { status, latest_charge: charge.id, last_payment_error: null })
  announce(
    account,
    status === 'succeeded' ? 'payment_intent.succeeded' : 'payment_intent.amount_capturable_updated',
    done,
  )
  return done
}

const declined = (account: Account, intent: StripeObject, code: string): StripeObject => {
  const last_payment_error = { type: 'card_error', code: 'card_declined', decline_code: code, message: 'Declined.' }
  const failed = change(account, intent, { status: 'requires_payment_method', last_payment_error })
  announce(account, 'payment_intent.payment_failed', failed)
  return failed
}

/** What the cardholder does on the page: `payment_method` is a test card, by name or number. */
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
  const { brand, last4 } = card
  const status = intent['capture_method'] === 'manual' ? 'requires_capture' : 'succeeded'
  return paid(account, intent, { type: 'card', card: { brand, last4 } }, status)
}

const unexpected = (intent: StripeObject, act: string) =>
  invalid(
    `This PaymentIntent could not be ${act} because it has a status of ${String(intent['status'])}.`,
    'payment_intent_unexpected_state',
  )

export const captureIntent = (account: Account, _form: Form, id: string): StripeObject => {
  const intent = find(account, 'payment_intent', id)
  if (intent['status'] !== 'requires_capture') throw unexpected(intent, 'captured')
  change(account, find(account, 'charge', String(intent['latest_charge'])), { captured: true })
  const done = change(account, intent, { status: 'succeeded' })
  announce(account, 'payment_intent.succeeded', done)
  return done
}

export const cancelIntent = (account: Account, _form: Form, id: string): StripeObject => {
  const intent = find(account, 'payment_intent', id)
  if (['succeeded', 'canceled', 'processing'].includes(String(intent['status']))) throw unexpected(intent, 'canceled')
  const cancelled = change(account, intent, { status: 'canceled' })
  announce(account, 'payment_intent.canceled', cancelled)
  return cancelled
}

/** The payments of a customer, the last one first. */
export const listIntents = ({ objects }: Account, form: Form): StripeObject => {
  const customer = required(form, 'customer')
  const isTheirs = (each: StripeObject) => each.object === 'payment_intent' && each['customer'] === customer
  const data = [...objects.values()]
    .filter(isTheirs)
    .toReversed()
    .slice(0, Number(textOf(form, 'limit') ?? 10))
  return { id: 'list', object: 'list', url: '/v1/payment_intents', has_more: false, data }
}
