import { formOf, textOf, type Form } from './form.ts'
import {
  bacsBehaviour,
  cardOf,
  invalid,
  makeId,
  Refused,
  refuseBankAccount,
  secondsNow,
  type StripeObject,
} from './objects.ts'

export type Account = {
  readonly objects: Map<string, StripeObject>
  readonly announce: (type: string, object: StripeObject) => void
  /** The banks were given something, and will answer. */
  readonly given: (object: StripeObject) => void
}

type Operation = {
  readonly method: 'GET' | 'POST'
  /** The first group is the id. */
  readonly path: RegExp
  readonly act: (account: Account, form: Form, id: string) => StripeObject
}

const keep = ({ objects }: Account, object: StripeObject): StripeObject => {
  objects.set(object.id, object)
  return object
}

const change = (account: Account, object: StripeObject, changes: object): StripeObject =>
  keep(account, { ...object, ...changes })

const find = ({ objects }: Account, type: string, id: string): StripeObject => {
  const object = objects.get(id)
  if (object?.object === type) return object
  throw new Refused(404, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such ${type}: '${id}'`,
  })
}

const create = (account: Account, prefix: string, object: string, fields: object): StripeObject =>
  keep(account, { id: makeId(prefix), object, created: secondsNow(), livemode: false, ...fields })

const required = (form: Form, name: string): string => {
  const value = textOf(form, name)
  if (value === undefined) throw invalid(`Missing required param: ${name}.`, 'parameter_missing', { param: name })
  return value
}

const refuseOldParameters = (form: Form): void => {
  if (form['payment_method_types'] !== undefined)
    throw invalid('Received unknown parameter: payment_method_types', 'parameter_unknown')
}

const metadataOf = (form: Form) => formOf(form, 'metadata') ?? {}

const createCustomer = (account: Account, form: Form): StripeObject =>
  create(account, 'cus', 'customer', {
    email: textOf(form, 'email') ?? null,
    name: textOf(form, 'name') ?? null,
    address: formOf(form, 'address') ?? null,
    metadata: metadataOf(form),
  })

const createSession = (account: Account, form: Form): StripeObject => {
  refuseOldParameters(form)
  if (required(form, 'mode') !== 'setup') throw invalid('This stand-in opens sessions in setup mode only.')
  find(account, 'customer', required(form, 'customer'))
  const intent = create(account, 'seti', 'setup_intent', {
    status: 'requires_payment_method',
    customer: required(form, 'customer'),
    payment_method: null,
    mandate: null,
    metadata: metadataOf(formOf(form, 'setup_intent_data') ?? {}),
  })
  const session = create(account, 'cs_test', 'checkout.session', {
    mode: 'setup',
    ui_mode: required(form, 'ui_mode'),
    status: 'open',
    customer: required(form, 'customer'),
    currency: textOf(form, 'currency') ?? null,
    setup_intent: intent.id,
    metadata: metadataOf(form),
  })
  return change(account, session, { client_secret: `${session.id}_secret_${makeId('x')}` })
}

/** What the customer does on the form. */
const completeSession = (account: Account, form: Form, id: string): StripeObject => {
  const session = find(account, 'checkout.session', id)
  if (session['status'] !== 'open') throw invalid('This session is not open.')
  const intent = find(account, 'setup_intent', String(session['setup_intent']))
  succeed(account, intent, { sort_code: required(form, 'sort_code'), account_number: required(form, 'account_number') })
  const completed = change(account, session, { status: 'complete' })
  account.announce('checkout.session.completed', completed)
  return completed
}

type BankAccount = { readonly sort_code: string; readonly account_number: string }

/** Ends a set-up with a mandate, which the banks have not answered yet. */
const succeed = (account: Account, intent: StripeObject, { sort_code, account_number }: BankAccount): StripeObject => {
  refuseBankAccount(sort_code, account_number)
  const method = create(account, 'pm', 'payment_method', {
    type: 'bacs_debit',
    customer: intent['customer'],
    bacs_debit: { last4: account_number.slice(-4), sort_code, fingerprint: null },
  })
  const mandate = create(account, 'mandate', 'mandate', {
    status: 'pending',
    type: 'multi_use',
    payment_method: method.id,
    payment_method_details: {
      type: 'bacs_debit',
      bacs_debit: { network_status: 'pending', reference: makeId('ref'), url: '' },
    },
    account_number,
  })
  account.given(mandate)
  const done = change(account, intent, { status: 'succeeded', payment_method: method.id, mandate: mandate.id })
  account.announce('setup_intent.succeeded', done)
  return done
}

const createSetupIntent = (account: Account, form: Form): StripeObject => {
  refuseOldParameters(form)
  find(account, 'customer', required(form, 'customer'))
  const bank = formOf(formOf(form, 'payment_method_data'), 'bacs_debit') ?? {}
  const intent = create(account, 'seti', 'setup_intent', {
    status: 'requires_confirmation',
    customer: required(form, 'customer'),
    payment_method: null,
    mandate: null,
    metadata: metadataOf(form),
  })
  if (textOf(form, 'confirm') !== 'true') return intent
  return succeed(account, intent, {
    sort_code: required(bank, 'sort_code'),
    account_number: required(bank, 'account_number'),
  })
}

/** What the banks say of a mandate: `accepted`, `refused` or `revoked`; by default what its account is known for. */
const answerMandate = (account: Account, form: Form, id: string): StripeObject => {
  const mandate = find(account, 'mandate', id)
  const byDefault = bacsBehaviour(String(mandate['account_number'])).network_status
  const network_status = textOf(form, 'network_status') ?? byDefault
  const details = mandate['payment_method_details'] as { readonly bacs_debit: object }
  const answered = change(account, mandate, {
    status: network_status === 'accepted' ? 'active' : 'inactive',
    payment_method_details: { ...details, bacs_debit: { ...details.bacs_debit, network_status } },
  })
  account.announce('mandate.updated', answered)
  return answered
}

const createIntent = (account: Account, form: Form): StripeObject => {
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
  account.announce('payment_intent.processing', processing)
  account.given(processing)
  return processing
}

/** What became of a Direct Debit: by default what its account is known for; `failure_code` makes it fail. */
const settle = (account: Account, form: Form, id: string): StripeObject => {
  const intent = find(account, 'payment_intent', id)
  if (intent['status'] !== 'processing') throw invalid('This payment is not under way.')
  const mandate = account.objects.get(String(intent['mandate']))
  const failure = textOf(form, 'failure_code') ?? bacsBehaviour(String(mandate?.['account_number'])).fails
  if (failure === undefined) return paid(account, intent, { type: 'bacs_debit' }, 'succeeded')
  return declined(account, intent, failure)
}

/** The payer has what was collected taken back, which is final unless `status` says otherwise. */
const dispute = (account: Account, form: Form, id: string): StripeObject => {
  const intent = find(account, 'payment_intent', id)
  if (intent['status'] !== 'succeeded') throw invalid('This payment has not succeeded.')
  const disputed = create(account, 'du', 'dispute', {
    amount: intent['amount'],
    charge: intent['latest_charge'],
    payment_intent: id,
    currency: intent['currency'],
    reason: 'debit_not_authorized',
    status: textOf(form, 'status') ?? 'lost',
    metadata: {},
  })
  account.announce('charge.dispute.created', disputed)
  return disputed
}

/** The firm wins the dispute of a payment: it has the money again. */
const winDispute = (account: Account, _form: Form, id: string): StripeObject => {
  const disputed = [...account.objects.values()].find(
    (each) => each.object === 'dispute' && each['payment_intent'] === id,
  )
  if (!disputed) throw invalid('This payment is not disputed.')
  const won = change(account, disputed, { status: 'won' })
  account.announce('charge.dispute.funds_reinstated', won)
  return won
}

/** What the banks say of what they were given, unless somebody has said it for them meanwhile. */
export const answerAsBanks = (
  account: Account,
  { id, object }: StripeObject,
  failure_code: string | undefined,
): void => {
  const status = account.objects.get(id)?.['status']
  if (object === 'mandate' && status === 'pending') answerMandate(account, {}, id)
  if (object === 'payment_intent' && status === 'processing') settle(account, { failure_code }, id)
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
  account.announce(
    status === 'succeeded' ? 'payment_intent.succeeded' : 'payment_intent.amount_capturable_updated',
    done,
  )
  return done
}

const declined = (account: Account, intent: StripeObject, code: string): StripeObject => {
  const last_payment_error = { type: 'card_error', code: 'card_declined', decline_code: code, message: 'Declined.' }
  const failed = change(account, intent, { status: 'requires_payment_method', last_payment_error })
  account.announce('payment_intent.payment_failed', failed)
  return failed
}

/** What the cardholder does on the page: `payment_method` is a test card, by name or number. */
const confirmIntent = (account: Account, form: Form, id: string): StripeObject => {
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

const captureIntent = (account: Account, _form: Form, id: string): StripeObject => {
  const intent = find(account, 'payment_intent', id)
  if (intent['status'] !== 'requires_capture') throw unexpected(intent, 'captured')
  change(account, find(account, 'charge', String(intent['latest_charge'])), { captured: true })
  const done = change(account, intent, { status: 'succeeded' })
  account.announce('payment_intent.succeeded', done)
  return done
}

const cancelIntent = (account: Account, _form: Form, id: string): StripeObject => {
  const intent = find(account, 'payment_intent', id)
  if (['succeeded', 'canceled', 'processing'].includes(String(intent['status']))) throw unexpected(intent, 'canceled')
  const cancelled = change(account, intent, { status: 'canceled' })
  account.announce('payment_intent.canceled', cancelled)
  return cancelled
}

const createRefund = (account: Account, form: Form): StripeObject => {
  const intent = find(account, 'payment_intent', required(form, 'payment_intent'))
  if (intent['status'] !== 'succeeded') throw invalid('This PaymentIntent has no successful charge to refund.')
  const charge = find(account, 'charge', String(intent['latest_charge']))
  const left = Number(charge['amount']) - Number(charge['amount_refunded'])
  const amount = Number(textOf(form, 'amount') ?? left)
  if (left === 0) throw invalid('Charge has already been refunded.', 'charge_already_refunded')
  if (amount > left) throw invalid('Refund amount is greater than unrefunded amount on charge.')
  const refunded = Number(charge['amount_refunded']) + amount
  const after = change(account, charge, { amount_refunded: refunded, refunded: refunded === charge['amount'] })
  account.announce('charge.refunded', after)
  const about = { charge: charge.id, payment_intent: intent.id, currency: charge['currency'] }
  return create(account, 're', 'refund', { amount, ...about, status: 'succeeded', metadata: metadataOf(form) })
}

/** The bank or the card does not take what was given back, which the provider learns days later. */
const failRefund = (account: Account, form: Form, id: string): StripeObject => {
  const refund = find(account, 'refund', id)
  if (refund['status'] === 'failed') throw invalid('This refund has failed.')
  const charge = find(account, 'charge', String(refund['charge']))
  const amount_refunded = Number(charge['amount_refunded']) - Number(refund['amount'])
  change(account, charge, { amount_refunded, refunded: false })
  const failure_reason = textOf(form, 'failure_reason') ?? 'expired_or_canceled_card'
  const failed = change(account, refund, { status: 'failed', failure_reason })
  for (const type of ['refund.updated', 'charge.refund.updated', 'refund.failed']) account.announce(type, failed)
  return failed
}

/** The refunds of a payment, the last one first. */
const listRefunds = ({ objects }: Account, form: Form): StripeObject => {
  const payment_intent = required(form, 'payment_intent')
  const data = [...objects.values()]
    .filter((each) => each.object === 'refund' && each['payment_intent'] === payment_intent)
    .toReversed()
    .slice(0, Number(textOf(form, 'limit') ?? 10))
  return { id: 'list', object: 'list', url: '/v1/refunds', has_more: false, data }
}

/** The payments of a customer, the last one first. */
const listIntents = ({ objects }: Account, form: Form): StripeObject => {
  const customer = required(form, 'customer')
  const isTheirs = (each: StripeObject) => each.object === 'payment_intent' && each['customer'] === customer
  const data = [...objects.values()]
    .filter(isTheirs)
    .toReversed()
    .slice(0, Number(textOf(form, 'limit') ?? 10))
  return { id: 'list', object: 'list', url: '/v1/payment_intents', has_more: false, data }
}

const read =
  (type: string): Operation['act'] =>
  (account, _form, id) =>
    find(account, type, id)

export const operations: readonly Operation[] = [
  { method: 'POST', path: /^\/v1\/customers$/, act: createCustomer },
  { method: 'GET', path: /^\/v1\/customers\/(\w+)$/, act: read('customer') },
  { method: 'POST', path: /^\/v1\/checkout\/sessions$/, act: createSession },
  { method: 'GET', path: /^\/v1\/checkout\/sessions\/(\w+)$/, act: read('checkout.session') },
  { method: 'POST', path: /^\/v1\/setup_intents$/, act: createSetupIntent },
  { method: 'GET', path: /^\/v1\/setup_intents\/(\w+)$/, act: read('setup_intent') },
  { method: 'GET', path: /^\/v1\/mandates\/(\w+)$/, act: read('mandate') },
  { method: 'POST', path: /^\/v1\/payment_intents$/, act: createIntent },
  { method: 'GET', path: /^\/v1\/payment_intents$/, act: listIntents },
  { method: 'GET', path: /^\/v1\/payment_intents\/(\w+)$/, act: read('payment_intent') },
  { method: 'POST', path: /^\/v1\/payment_intents\/(\w+)\/confirm$/, act: confirmIntent },
  { method: 'POST', path: /^\/v1\/payment_intents\/(\w+)\/capture$/, act: captureIntent },
  { method: 'POST', path: /^\/v1\/payment_intents\/(\w+)\/cancel$/, act: cancelIntent },
  { method: 'POST', path: /^\/v1\/refunds$/, act: createRefund },
  { method: 'GET', path: /^\/v1\/refunds$/, act: listRefunds },
  { method: 'GET', path: /^\/v1\/disputes\/(\w+)$/, act: read('dispute') },
  { method: 'POST', path: /^\/stand-in\/checkout\/sessions\/(\w+)\/complete$/, act: completeSession },
  { method: 'POST', path: /^\/stand-in\/payment_intents\/(\w+)\/confirm$/, act: confirmIntent },
  { method: 'POST', path: /^\/stand-in\/payment_intents\/(\w+)\/settle$/, act: settle },
  { method: 'POST', path: /^\/stand-in\/payment_intents\/(\w+)\/dispute$/, act: dispute },
  { method: 'POST', path: /^\/stand-in\/payment_intents\/(\w+)\/dispute\/win$/, act: winDispute },
  { method: 'POST', path: /^\/stand-in\/refunds\/(\w+)\/fail$/, act: failRefund },
  { method: 'POST', path: /^\/stand-in\/mandates\/(\w+)$/, act: answerMandate },
]
