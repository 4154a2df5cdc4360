import { aftermathOf, announce, change, create, find, type Account } from './account.ts'
import { move } from './balance.ts'
import { formOf, textOf, type Form } from './form.ts'
import { invalid, type StripeObject } from './objects.ts'

/** An inquiry takes nothing. */
const isInquiry = (status: unknown): boolean => String(status).startsWith('warning_')

/** True for a dispute that has taken money, which has not come back. */
export const hasTaken = ({ object, status }: StripeObject): boolean =>
  object === 'dispute' && !isInquiry(status) && status !== 'won' && status !== 'prevented'

const feeOfDispute = 2_000

/** Money goes, or comes back. */
const post = (account: Account, disputed: StripeObject, kind: 'dispute' | 'reversal'): StripeObject => {
  const amount = Number(disputed['amount'])
  const movement = kind === 'dispute' ? { amount: -amount, fee: feeOfDispute } : { amount }
  const moved = move(account, kind, disputed, movement)
  const before = disputed['balance_transactions'] as readonly StripeObject[] // as it was made below
  return change(account, disputed, { balance_transactions: [...before, moved] })
}

const amountOf = (form: Form, whole: number): number => {
  const amount = Number(textOf(form, 'amount') ?? whole)
  if (Number.isSafeInteger(amount) && amount > 0 && amount <= whole) return amount
  throw invalid('A dispute is about the whole payment or a part of it.', 'parameter_invalid_integer', {
    param: 'amount',
  })
}

/**
 * The payer has what was collected taken back, all of it or `amount`. `status` tells how that begins: by default as the card or
 * the account is known for, and of any other it is final.
 */
export const dispute = (account: Account, form: Form, id: string): StripeObject => {
  const intent = find(account, 'payment_intent', id)
  if (intent['status'] !== 'succeeded') throw invalid('This payment has not succeeded.')
  const charge = find(account, 'charge', intent['latest_charge'])
  const known = aftermathOf(account, charge).disputed
  const status = textOf(form, 'status') ?? known?.status ?? 'lost'
  const made = create(account, 'dp', 'dispute', {
    amount: amountOf(form, Number(charge['amount'])),
    balance_transactions: [],
    charge: charge.id,
    payment_intent: id,
    currency: intent['currency'],
    is_charge_refundable: isInquiry(status),
    reason: textOf(form, 'reason') ?? known?.reason ?? 'debit_not_authorized',
    status,
    metadata: {},
  })
  change(account, charge, { disputed: true })
  const disputed = hasTaken(made) ? post(account, made, 'dispute') : made
  announce(account, 'charge.dispute.created', disputed)
  if (hasTaken(disputed)) announce(account, 'charge.dispute.funds_withdrawn', disputed)
  return disputed
}

/** An inquiry becomes a dispute, which takes the money. */
export const escalate = (account: Account, _form: Form, id: string): StripeObject => {
  const inquiry = find(account, 'dispute', id)
  if (!isInquiry(inquiry['status'])) throw invalid('This is no inquiry.')
  const disputed = change(account, inquiry, { status: 'needs_response', is_charge_refundable: false })
  const taken = post(account, disputed, 'dispute')
  announce(account, 'charge.dispute.funds_withdrawn', taken)
  return taken
}

/** The firm has the money again. */
export const win = (account: Account, _form: Form, id: string): StripeObject => {
  const disputed = find(account, 'dispute', id)
  if (!hasTaken(disputed)) throw invalid('This dispute has taken nothing, or was won.')
  const won = post(account, change(account, disputed, { status: 'won' }), 'reversal')
  announce(account, 'charge.dispute.funds_reinstated', won)
  announce(account, 'charge.dispute.closed', won)
  return won
}

/** The firm wins the last dispute of a payment that took money. */
export const winDispute = (account: Account, form: Form, id: string): StripeObject => {
  const isMeant = (each: StripeObject) => each['payment_intent'] === id && hasTaken(each)
  const disputed = [...account.objects.values()].findLast(isMeant)
  if (!disputed) throw invalid('This payment is not disputed.')
  return win(account, form, disputed.id)
}

/** The firm does not object, or its evidence does not help. */
export const lose = (account: Account, _form: Form, id: string): StripeObject => {
  const disputed = find(account, 'dispute', id)
  if (/^(won|lost|prevented|warning_closed)$/.test(String(disputed['status']))) throw invalid('This dispute is closed.')
  const status = isInquiry(disputed['status']) ? 'warning_closed' : 'lost'
  const lost = change(account, disputed, { status })
  announce(account, 'charge.dispute.closed', lost)
  return lost
}

/** The firm's answer to it. As at Stripe, `winning_evidence` and `losing_evidence` decide it. */
export const answerDispute = (account: Account, form: Form, id: string): StripeObject => {
  const disputed = find(account, 'dispute', id)
  if (!String(disputed['status']).endsWith('needs_response')) throw invalid('This dispute cannot be answered now.')
  const evidence = formOf(form, 'evidence')
  const said = textOf(evidence, 'uncategorized_text')
  if (said === 'winning_evidence' && hasTaken(disputed)) return win(account, form, id)
  if (said === 'winning_evidence' || said === 'losing_evidence') return lose(account, form, id)
  const status = isInquiry(disputed['status']) ? 'warning_under_review' : 'under_review'
  const answered = change(account, disputed, { ...(evidence && { status, evidence }) })
  announce(account, 'charge.dispute.updated', answered)
  return answered
}
