import { find, type Account } from './account.ts'
import { dispute, winDispute } from './disputes.ts'
import type { Form } from './form.ts'
import { answerMandate, completeSession, createCustomer, createSession, createSetupIntent } from './mandates.ts'
import type { StripeObject } from './objects.ts'
import { cancelIntent, captureIntent, confirmIntent, createIntent, listIntents, settle } from './payments.ts'
import { createRefund, failRefund, listRefunds } from './refunds.ts'

type Operation = {
  readonly method: 'GET' | 'POST'
  /** The first group is the id. */
  readonly path: RegExp
  readonly act: (account: Account, form: Form, id: string) => StripeObject
}

/** What somebody outside will say of this by itself, and has not said yet. */
export const awaited = (
  account: Account,
  id: string,
): ((failure_code: string | undefined) => StripeObject) | undefined => {
  const { object, status }: Partial<StripeObject> = account.objects.get(id) ?? {}
  if (object === 'mandate' && status === 'pending') return () => answerMandate(account, {}, id)
  if (object === 'payment_intent' && status === 'processing')
    return (failure_code) => settle(account, { failure_code }, id)
  return undefined
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
