import { z } from 'zod'
import { sumOf } from '../money.ts'
import type { Premium } from '../premiums/record.ts'
import { CalendarDate, CurrencyCode, Pence, PolicyId } from '../values.ts'

/** The accounts of the ledger. Each entry takes from some what it gives to others: debits and credits are equal in every one. */
export const accounts = [
  'receivable',
  'provider_balance',
  'disputed',
  'refunds_payable',
  'write_off',
  'paid_otherwise',
  'premiums',
  'premium_refunds',
  'unsold_payments',
] as const

export const Account = z
  .enum(accounts)
  .describe(
    'receivable: premiums that customers owe. provider_balance: money at the payment provider. disputed: taken back by the ' +
      'payer’s bank, undecided. refunds_payable: owed to customers. write_off: asked for no more. paid_otherwise: given back by ' +
      'the firm itself. premiums: what was asked for. premium_refunds: what of it is owed no more, or was given. ' +
      'unsold_payments: paid by card, with no policy set up yet.',
  )
export type Account = z.infer<typeof Account>

/** The balance of each account for one premium or one payment, in pence: debits above zero, credits below. */
export type Amounts = Readonly<Partial<Record<Account, number>>>

/** The same amount from one account to another: what adds up from these alone always adds up to zero. */
const moved = (pence: number, to: Account, from: Account): Amounts => ({ [to]: pence, [from]: -pence })

export const added = (...all: readonly Amounts[]): Amounts =>
  Object.fromEntries(
    accounts.flatMap((account) => {
      const pence = sumOf(all, (each) => each[account] ?? 0)
      return pence === 0 ? [] : [[account, pence]]
    }),
  )

/** The change from one position to the next: the lines of an entry. */
export const between = (before: Amounts, after: Amounts): Amounts =>
  added(after, Object.fromEntries(Object.entries(before).map(([account, pence]) => [account, -pence])))

/** The position of a premium: the amounts owed, and by whom. Payments have positions of their own. */
export const positionOfPremium = ({ amount_pence, refunds }: Pick<Premium, 'amount_pence' | 'refunds'>): Amounts => {
  const penceOf = (isWanted: (refund: Premium['refunds'][number]) => boolean): number =>
    sumOf(refunds, (each) => (each.status !== 'waived' && isWanted(each) ? each.refund_pence : 0))
  const twice = penceOf(({ reason }) => reason === 'paid_twice')
  const lessOwed = penceOf(({ reason }) => reason !== 'paid_twice')
  return added(
    moved(amount_pence, 'receivable', 'premiums'),
    moved(twice, 'receivable', 'refunds_payable'),
    moved(lessOwed, 'premium_refunds', 'refunds_payable'),
    moved(
      penceOf((each) => each.status === 'paid_otherwise'),
      'refunds_payable',
      'paid_otherwise',
    ),
  )
}

export const writtenOffOf = (receivable: number): Amounts => moved(receivable, 'write_off', 'receivable')

/** Sums of a payment at the provider, each of which only grows. */
export type Counters = {
  readonly captured: number
  readonly refunded: number
  /** Refunds that have come back to the provider. */
  readonly refunds_failed: number
  readonly disputed: number
  /** Of the disputed amount. */
  readonly won: number
  readonly lost: number
}

export const noCounters: Counters = { captured: 0, refunded: 0, refunds_failed: 0, disputed: 0, won: 0, lost: 0 }

/** The position of a payment at the provider. A payment by card has no premium before its policy is set up. */
export const positionOfPayment = (counters: Counters, has_premium: boolean): Amounts => {
  const { captured, refunded, refunds_failed, disputed, won, lost } = counters
  const paidFor = has_premium ? 'receivable' : 'unsold_payments'
  return added(
    moved(captured, 'provider_balance', paidFor),
    moved(refunded - refunds_failed, has_premium ? 'refunds_payable' : 'unsold_payments', 'provider_balance'),
    moved(disputed - won - lost, 'disputed', 'provider_balance'),
    moved(lost, paidFor, 'provider_balance'),
  )
}

/** Card payments without a sale that were not given back on the card: paid back by the firm itself, or owed no more. */
export const positionOfClosed = ({ paid_otherwise, not_owed }: ClosedPence): Amounts =>
  added(moved(paid_otherwise, 'unsold_payments', 'paid_otherwise'), moved(not_owed, 'unsold_payments', 'write_off'))
export type ClosedPence = { readonly paid_otherwise: number; readonly not_owed: number }

export const EntryKind = z.enum([
  'premium_due',
  'refund_owed',
  'refund_reduced',
  'refund_owed_no_more',
  'paid_otherwise',
  'written_off',
  'write_off_reversed',
  'payment_received',
  'payment_used',
  'not_owed',
  'refund_made',
  'refund_failed',
  'dispute_opened',
  'dispute_won',
  'dispute_lost',
])
export type EntryKind = z.infer<typeof EntryKind>

/** An entry as it is kept: its lines are columns beside it. */
export const EntryDocument = z.object({
  id: z.uuid().describe('It follows from the id of the event: made again, the ledger has the same.'),
  kind: EntryKind,
  event_id: z.uuid().describe('What has caused it.'),
  payment_intent_id: z.string().nullable(),
  provider_refund_id: z.string().nullable(),
  provider_dispute_id: z.string().nullable(),
})
export type EntryDocument = z.infer<typeof EntryDocument>

const Sides = { debit_pence: Pence, credit_pence: Pence }

export const LedgerEntry = EntryDocument.extend({
  currency_code: CurrencyCode,
  test: z.boolean().describe('Of the provider’s test account.'),
  posted_at: z.iso.datetime(),
  posted_on: CalendarDate.describe('The day of posted_at where the organisation is.'),
  policy_id: PolicyId.nullable(),
  premium_id: z.uuid().nullable(),
  payment_id: z.uuid().nullable(),
  lines: z.array(z.object({ account: Account, ...Sides })),
}).meta({ id: 'LedgerEntry' })
export type LedgerEntry = z.infer<typeof LedgerEntry>

export const LedgerAccount = z
  .object({
    account: Account,
    currency_code: CurrencyCode,
    test: z.boolean(),
    ...Sides,
    balance_pence: z.int().describe('Debits less credits.'),
  })
  .meta({ id: 'LedgerAccount' })
export type LedgerAccount = z.infer<typeof LedgerAccount>

export const TrialBalance = z
  .object({
    currency_code: CurrencyCode,
    test: z.boolean(),
    accounts: z.array(
      z.object({ account: Account, ...Sides }).describe('The balance, on the side on which it stands.'),
    ),
    ...Sides,
    balanced: z.boolean(),
  })
  .meta({ id: 'TrialBalance' })
export type TrialBalance = z.infer<typeof TrialBalance>

/** The debits and credits posted to each account on a day, by currency and mode, such as `GBP live`. */
export type DayTotals = Readonly<
  Record<string, Readonly<Partial<Record<Account, readonly [debit: number, credit: number]>>>>
>

export const bookOf = (currency_code: string, test: boolean): string => `${currency_code} ${test ? 'test' : 'live'}`

export const bookNamed = (book: string): { readonly currency_code: string; readonly test: boolean } => ({
  currency_code: book.slice(0, 3),
  test: book.endsWith(' test'),
})
