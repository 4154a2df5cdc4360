import { aftermathOf, find, type Account } from './account.ts'
import { answerDispute, dispute, escalate, lose, win, winDispute } from './disputes.ts'
import type { Form } from './form.ts'
import { listing } from './lists.ts'
import { answerMandate, completeSession, createCustomer, createSession, createSetupIntent } from './mandates.ts'
import type { StripeObject } from './objects.ts'
import { cancelIntent, captureIntent, confirmIntent, createIntent, settle } from './payments.ts'
import { createRefund, failRefund, settleRefund } from './refunds.ts'

type Operation = {
  readonly method: 'GET' | 'POST'
  /** The first group is the id. */
  readonly path: RegExp
  readonly act: (account: Account, form: Form, id: string) => StripeObject
}

/** The answer that somebody outside will give to this by itself, and has not given yet. */
export const awaited = (
  account: Account,
  id: string,
): ((failure_code: string | undefined) => StripeObject) | undefined => {
  const object = account.objects.get(id)
  if (!object) return undefined
  switch (`${object.object} ${String(object['status'])}`) {
    case 'mandate pending':
      return () => answerMandate(account, {}, id)
    case 'payment_intent processing':
      return (failure_code) => settle(account, { failure_code }, id)
    case 'charge succeeded': {
      const isToCome =
        object['captured'] === true && object['disputed'] === false && aftermathOf(account, object).disputed
      return isToCome ? () => dispute(account, {}, String(object['payment_intent'])) : undefined
    }
    case 'refund pending':
      return () => settleRefund(account, {}, id)
    case 'refund succeeded': {
      const charge = find(account, 'charge', object['charge'])
      return aftermathOf(account, charge).refunds === 'fail' ? () => failRefund(account, {}, id) : undefined
    }
    default:
      return undefined
  }
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
  {
    method: 'GET',
    path: /^\/v1\/payment_intents$/,
    act: listing('payment_intent', '/v1/payment_intents', ['customer']),
  },
  { method: 'GET', path: /^\/v1\/payment_intents\/(\w+)$/, act: read('payment_intent') },
  { method: 'POST', path: /^\/v1\/payment_intents\/(\w+)\/confirm$/, act: confirmIntent },
  { method: 'POST', path: /^\/v1\/payment_intents\/(\w+)\/capture$/, act: captureIntent },
  { method: 'POST', path: /^\/v1\/payment_intents\/(\w+)\/cancel$/, act: cancelIntent },
  { method: 'POST', path: /^\/v1\/refunds$/, act: createRefund },
  { method: 'GET', path: /^\/v1\/refunds$/, act: listing('refund', '/v1/refunds', ['payment_intent', 'charge']) },
  { method: 'GET', path: /^\/v1\/refunds\/(\w+)$/, act: read('refund') },
  { method: 'GET', path: /^\/v1\/charges$/, act: listing('charge', '/v1/charges', ['payment_intent', 'customer']) },
  { method: 'GET', path: /^\/v1\/charges\/(\w+)$/, act: read('charge') },
  { method: 'GET', path: /^\/v1\/disputes$/, act: listing('dispute', '/v1/disputes', ['payment_intent', 'charge']) },
  { method: 'GET', path: /^\/v1\/disputes\/(\w+)$/, act: read('dispute') },
  { method: 'POST', path: /^\/v1\/disputes\/(\w+)$/, act: answerDispute },
  { method: 'POST', path: /^\/v1\/disputes\/(\w+)\/close$/, act: lose },
  {
    method: 'GET',
    path: /^\/v1\/balance_transactions$/,
    act: listing('balance_transaction', '/v1/balance_transactions', ['currency', 'source', 'type']),
  },
  { method: 'GET', path: /^\/v1\/balance_transactions\/(\w+)$/, act: read('balance_transaction') },
  { method: 'POST', path: /^\/stand-in\/checkout\/sessions\/(\w+)\/complete$/, act: completeSession },
  { method: 'POST', path: /^\/stand-in\/payment_intents\/(\w+)\/confirm$/, act: confirmIntent },
  { method: 'POST', path: /^\/stand-in\/payment_intents\/(\w+)\/settle$/, act: settle },
  { method: 'POST', path: /^\/stand-in\/payment_intents\/(\w+)\/dispute$/, act: dispute },
  { method: 'POST', path: /^\/stand-in\/payment_intents\/(\w+)\/dispute\/win$/, act: winDispute },
  { method: 'POST', path: /^\/stand-in\/disputes\/(\w+)\/escalate$/, act: escalate },
  { method: 'POST', path: /^\/stand-in\/disputes\/(\w+)\/win$/, act: win },
  { method: 'POST', path: /^\/stand-in\/disputes\/(\w+)\/lose$/, act: lose },
  { method: 'POST', path: /^\/stand-in\/refunds\/(\w+)\/settle$/, act: settleRefund },
  { method: 'POST', path: /^\/stand-in\/refunds\/(\w+)\/fail$/, act: failRefund },
  { method: 'POST', path: /^\/stand-in\/mandates\/(\w+)$/, act: answerMandate },
]
