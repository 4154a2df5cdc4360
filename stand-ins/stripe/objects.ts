import { randomBytes } from 'node:crypto'
import { testAccounts, testSortCode } from '#infra/stripe/test-accounts.ts'

/** An object that Stripe keeps for an account, as its API shows it. */
export type StripeObject = { readonly id: string; readonly object: string } & Record<string, unknown>

export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number
  readonly error: Readonly<Record<string, unknown>>

  constructor(status: number, error: Readonly<Record<string, unknown>>) {
    super(String(error['message']))
    this.status = status
    this.error = error
  }
}

export const invalid = (message: string, code?: string, more: object = {}) =>
  new Refused(400, { type: 'invalid_request_error', message, ...(code !== undefined && { code }), ...more })

export const makeId = (prefix: string): string => `${prefix}_${randomBytes(12).toString('hex')}`

export const secondsNow = (): number => Math.floor(Date.now() / 1000)

/** The later events of a payment, which come by themselves. */
type Aftermath = {
  /** The payer has it taken back: how the dispute begins. */
  readonly disputed?: { readonly reason: string; readonly status: string }
  /** Its refunds are on their way for a while, or come back. */
  readonly refunds?: 'pending' | 'fail'
}
type Card = Aftermath & { readonly brand: string; readonly last4: string; readonly declines?: string }

/** Cards by the names that Stripe gives its test cards, and by their numbers. Any other card is not known. */
const cards: Readonly<Record<string, Card>> = {
  pm_card_visa: { brand: 'visa', last4: '4242' },
  pm_card_mastercard: { brand: 'mastercard', last4: '4444' },
  pm_card_chargeDeclined: { brand: 'visa', last4: '0002', declines: 'generic_decline' },
  pm_card_chargeDeclinedInsufficientFunds: { brand: 'visa', last4: '9995', declines: 'insufficient_funds' },
  pm_card_createDispute: {
    brand: 'visa',
    last4: '0259',
    disputed: { reason: 'fraudulent', status: 'needs_response' },
  },
  pm_card_createDisputeProductNotReceived: {
    brand: 'visa',
    last4: '2685',
    disputed: { reason: 'product_not_received', status: 'needs_response' },
  },
  pm_card_createDisputeInquiry: {
    brand: 'visa',
    last4: '1976',
    disputed: { reason: 'fraudulent', status: 'warning_needs_response' },
  },
  pm_card_pendingRefund: { brand: 'visa', last4: '7726', refunds: 'pending' },
  pm_card_refundFail: { brand: 'visa', last4: '5126', refunds: 'fail' },
}
const numbers: Readonly<Record<string, string>> = {
  '4242424242424242': 'pm_card_visa',
  '5555555555554444': 'pm_card_mastercard',
  '4000000000000002': 'pm_card_chargeDeclined',
  '4000000000009995': 'pm_card_chargeDeclinedInsufficientFunds',
  '4000000000000259': 'pm_card_createDispute',
  '4000000000002685': 'pm_card_createDisputeProductNotReceived',
  '4000000000001976': 'pm_card_createDisputeInquiry',
  '4000000000007726': 'pm_card_pendingRefund',
  '4000000000005126': 'pm_card_refundFail',
}

export const cardOf = (given: string): (Card & { readonly name: string }) | undefined => {
  const name = numbers[given.replaceAll(' ', '')] ?? given
  const card = cards[name]
  return card && { name, ...card }
}

type BacsBehaviour = Aftermath & {
  /** The banks' answer about the mandate. */
  readonly network_status: 'accepted' | 'refused'
  /** The reason why a debit fails; undefined when it succeeds. */
  readonly fails?: string
}

const behaviours: Readonly<Record<string, BacsBehaviour>> = {
  [testAccounts.debitNotAuthorised]: { network_status: 'accepted', fails: 'debit_not_authorized' },
  [testAccounts.debitNotAuthorisedLater]: { network_status: 'accepted', fails: 'debit_not_authorized' },
  [testAccounts.insufficientFunds]: { network_status: 'accepted', fails: 'insufficient_funds' },
  [testAccounts.insufficientFundsLater]: { network_status: 'accepted', fails: 'insufficient_funds' },
  [testAccounts.disputed]: {
    network_status: 'accepted',
    disputed: { reason: 'debit_not_authorized', status: 'lost' },
  },
  [testAccounts.mandateRefused]: { network_status: 'refused', fails: 'debit_not_authorized' },
  [testAccounts.aboveWeeklyLimit]: { network_status: 'accepted', fails: 'charge_exceeds_source_limit' },
  [testAccounts.aboveLimit]: { network_status: 'accepted', fails: 'charge_exceeds_transaction_limit' },
}

/** Accounts at any other sort code behave as the one that succeeds. */
export const bacsBehaviour = (account: string): BacsBehaviour => behaviours[account] ?? { network_status: 'accepted' }

export const refuseBankAccount = (sort_code: string, account_number: string): void => {
  const isWhole = /^\d{6}$/.test(sort_code) && /^\d{8}$/.test(account_number)
  if (isWhole && !(sort_code === testSortCode && account_number === testAccounts.setupFails)) return
  throw invalid('The bank account number provided is invalid.', 'bank_account_unusable')
}
