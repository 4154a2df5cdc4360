import { announce, change, create, find, metadataOf, refuseOldParameters, required, type Account } from './account.ts'
import { formOf, textOf, type Form } from './form.ts'
import { bacsBehaviour, invalid, makeId, refuseBankAccount, type StripeObject } from './objects.ts'

/** Payers, and the mandates that they give for Direct Debits. */

export const createCustomer = (account: Account, form: Form): StripeObject =>
  create(account, 'cus', 'customer', {
    email: textOf(form, 'email') ?? null,
    name: textOf(form, 'name') ?? null,
    address: formOf(form, 'address') ?? null,
    metadata: metadataOf(form),
  })

export const createSession = (account: Account, form: Form): StripeObject => {
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

/** The customer's entries on the form. */
export const completeSession = (account: Account, form: Form, id: string): StripeObject => {
  const session = find(account, 'checkout.session', id)
  if (session['status'] !== 'open') throw invalid('This session is not open.')
  const intent = find(account, 'setup_intent', session['setup_intent'])
  succeed(account, intent, { sort_code: required(form, 'sort_code'), account_number: required(form, 'account_number') })
  const completed = change(account, session, { status: 'complete' })
  announce(account, 'checkout.session.completed', completed)
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
  const done = change(account, intent, { status: 'succeeded', payment_method: method.id, mandate: mandate.id })
  announce(account, 'setup_intent.succeeded', done)
  return done
}

export const createSetupIntent = (account: Account, form: Form): StripeObject => {
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

/** The banks' answer about a mandate: `accepted`, `refused` or `revoked`; by default that for which its account is known. */
export const answerMandate = (account: Account, form: Form, id: string): StripeObject => {
  const mandate = find(account, 'mandate', id)
  const byDefault = bacsBehaviour(String(mandate['account_number'])).network_status
  const network_status = textOf(form, 'network_status') ?? byDefault
  const details = mandate['payment_method_details'] as { readonly bacs_debit: object }
  const answered = change(account, mandate, {
    status: network_status === 'accepted' ? 'active' : 'inactive',
    payment_method_details: { ...details, bacs_debit: { ...details.bacs_debit, network_status } },
  })
  announce(account, 'mandate.updated', answered)
  return answered
}
