import { h, input } from './elements.ts'
import type { OpenedPayment, OpenedSession } from './records.ts'
import { textIn } from './visit.ts'

/**
 * The forms of the payment provider, on which a visitor types the number of a card, and bank details where
 * `inline_bacs_mandate` is true. Your page never has those numbers: it loads Stripe.js and mounts Stripe's own form, for a
 * card with what `payment_intent` answered:
 *
 *     const stripe = Stripe(opened.publishable_key, { stripeAccount: opened.stripe_account })
 *     const elements = stripe.elements({ clientSecret: opened.payment_intent.client_secret })
 *     elements.create('payment').mount('#card')
 *     const { error } = await stripe.confirmPayment({ elements, redirect: 'if_required' })
 *
 * and for a Direct Debit with what `bacs_setup_intent` answered:
 *
 *     const fetchClientSecret = async () => opened.session.client_secret
 *     const form = await stripe.initEmbeddedCheckout({ fetchClientSecret, onComplete: () => … bacs_mandate … })
 *     form.mount('#mandate')
 *
 * The demo reaches no Stripe but a stand-in on this machine, and so has forms in their place, for test numbers only.
 */
type Form = {
  readonly names: readonly string[]
  readonly element: HTMLElement
}

const form = (hint: string, ...fields: readonly HTMLElement[]): HTMLElement =>
  h(
    'div',
    { class: 'form-of-provider' },
    h('p', { class: 'quiet' }, `Here the payment provider’s own form stands. In this demonstration, ${hint}`),
    ...fields,
  )

const card = 'card_number'

export const cardForm = (): Form => ({
  names: [card],
  element: form(
    'use a test card.',
    input({
      name: card,
      label: 'Card number',
      hint: '4242 4242 4242 4242 is accepted, 4000 0000 0000 0002 is declined.',
      inputmode: 'numeric',
    }),
  ),
})

const account = ['sort_code', 'account_number'] as const

export const mandateForm = (): Form => ({
  names: account,
  element: form(
    'use a test account.',
    input({
      name: 'sort_code',
      label: 'Sort code',
      hint: '10-88-00 is that of the test accounts.',
      inputmode: 'numeric',
      className: 'short',
    }),
    input({
      name: 'account_number',
      label: 'Account number',
      hint: '00012345 is accepted, 00044444 is not.',
      inputmode: 'numeric',
      className: 'short',
    }),
  ),
})

const digitsIn = (given: FormData, name: string): string => textIn(given, name).replaceAll(/\D/g, '')

const fillIn = (path: string, typed: Readonly<Record<string, string>>): Promise<Response> =>
  fetch(`/stand-in/${path}`, { method: 'POST', body: new URLSearchParams(typed) })

/** The faults that the visitor can correct, by the input; empty when the card was charged, or was charged before. */
export const payOnProvidersForm = async (
  { payment_intent: { id } }: OpenedPayment,
  given: FormData,
): Promise<Readonly<Record<string, string>>> => {
  const answer = await fillIn(`payment_intents/${id}/confirm`, { payment_method: digitsIn(given, card) })
  if (answer.ok) return {}
  return {
    [card]: answer.status === 402 ? 'your card was declined: try another one' : 'check the number of your card',
  }
}

/** The faults that the visitor can correct, by the input; empty when the Direct Debit is set up. */
export const setUpOnProvidersForm = async (
  { session: { id } }: OpenedSession,
  given: FormData,
): Promise<Readonly<Record<string, string>>> => {
  const typed = Object.fromEntries(account.map((name) => [name, digitsIn(given, name)]))
  const answer = await fillIn(`checkout/sessions/${id}/complete`, typed)
  const reason = 'this account cannot be used: check the sort code and the account number'
  return answer.ok ? {} : Object.fromEntries(account.map((name) => [name, reason]))
}
