import { announce, change, create, find, type Account } from './account.ts'
import { textOf, type Form } from './form.ts'
import { invalid, type StripeObject } from './objects.ts'

/** The payer has what was collected taken back, which is final unless `status` says otherwise. */
export const dispute = (account: Account, form: Form, id: string): StripeObject => {
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
  announce(account, 'charge.dispute.created', disputed)
  return disputed
}

/** The firm wins the dispute of a payment: it has the money again. */
export const winDispute = (account: Account, _form: Form, id: string): StripeObject => {
  const disputed = [...account.objects.values()].find(
    (each) => each.object === 'dispute' && each['payment_intent'] === id,
  )
  if (!disputed) throw invalid('This payment is not disputed.')
  const won = change(account, disputed, { status: 'won' })
  announce(account, 'charge.dispute.funds_reinstated', won)
  return won
}
