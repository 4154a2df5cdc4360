import { stringify } from 'csv-stringify/sync'
import { change, create, type Account } from './account.ts'
import { textOf, type Form } from './form.ts'
import type { StripeObject } from './objects.ts'

/** Stripe's names for what moves its balance. The category is what its reports group by. */
const kinds = {
  charge: { type: 'charge', reporting_category: 'charge', description: null },
  payment: { type: 'payment', reporting_category: 'charge', description: null },
  paymentFailure: { type: 'payment_failure_refund', reporting_category: 'charge_failure', description: null },
  refund: { type: 'refund', reporting_category: 'refund', description: 'REFUND FOR CHARGE' },
  paymentRefund: { type: 'payment_refund', reporting_category: 'refund', description: 'REFUND FOR PAYMENT' },
  refundFailure: { type: 'refund_failure', reporting_category: 'refund_failure', description: 'REFUND FAILURE' },
  dispute: { type: 'adjustment', reporting_category: 'dispute', description: 'Chargeback withdrawal' },
  reversal: { type: 'adjustment', reporting_category: 'dispute_reversal', description: 'Chargeback reversal' },
} as const

type Movement = {
  readonly amount: number
  /** Stripe's fee for it. */
  readonly fee?: number
  readonly status?: 'pending' | 'available'
}

const pendingSeconds = 7 * 86_400

/** Money that comes (or goes, below zero). It is there at once, unless the banks have not answered yet. */
export const move = (
  account: Account,
  kind: keyof typeof kinds,
  source: StripeObject,
  { amount, fee = 0, status = 'available' }: Movement,
): StripeObject => {
  const currency = source['currency']
  const part = { amount: fee, application: null, currency, description: 'Stripe processing fees', type: 'stripe_fee' }
  const moved = create(account, 'txn', 'balance_transaction', {
    amount,
    currency,
    ...kinds[kind],
    exchange_rate: null,
    fee,
    fee_details: fee === 0 ? [] : [part],
    net: amount - fee,
    source: source.id,
    status,
  })
  const available_on = Number(moved['created']) + (status === 'pending' ? pendingSeconds : 0)
  return change(account, moved, { available_on })
}

const columns = [
  'balance_transaction_id',
  'created_utc',
  'created',
  'available_on_utc',
  'available_on',
  'currency',
  'gross',
  'fee',
  'net',
  'reporting_category',
  'source_id',
  'description',
  'customer_facing_amount',
  'customer_facing_currency',
  'automatic_payout_id',
  'customer_id',
  'charge_id',
  'payment_intent_id',
  'charge_created_utc',
  'payment_method_type',
  'card_brand',
  'dispute_reason',
] as const

const referred = ({ objects }: Account, object: StripeObject | undefined, name: string): StripeObject | undefined => {
  const reference = object?.[name]
  return typeof reference === 'string' ? objects.get(reference) : undefined
}

const metadataIn = (object: StripeObject | undefined): Readonly<Record<string, string>> =>
  (object?.['metadata'] ?? {}) as Record<string, string> // as forms tell of it

const inMajorUnits = (amount: unknown, currency: unknown): string => {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: String(currency) })
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2
  return (Number(amount) / 10 ** digits).toFixed(digits)
}

const timeOf = (seconds: unknown): string =>
  new Date(Number(seconds) * 1000).toISOString().slice(0, 19).replace('T', ' ')

/** A line of the report: what moved, and what it was about. */
const lineOf = (account: Account, moved: StripeObject) => {
  const source = referred(account, moved, 'source')
  const charge = source?.object === 'charge' ? source : referred(account, source, 'charge')
  const intent = referred(account, charge, 'payment_intent')
  const method = charge?.['payment_method_details'] as { type: string; card?: { brand: string } } | undefined
  const { currency, created, available_on } = moved
  return {
    balance_transaction_id: moved.id,
    created_utc: timeOf(created),
    created: timeOf(created),
    available_on_utc: timeOf(available_on),
    available_on: timeOf(available_on),
    currency,
    gross: inMajorUnits(moved['amount'], currency),
    fee: inMajorUnits(moved['fee'], currency),
    net: inMajorUnits(moved['net'], currency),
    reporting_category: moved['reporting_category'],
    source_id: moved['source'],
    description: moved['description'],
    customer_facing_amount: inMajorUnits(moved['amount'], currency),
    customer_facing_currency: currency,
    automatic_payout_id: null,
    customer_id: intent?.['customer'],
    charge_id: charge?.id,
    payment_intent_id: intent?.id,
    charge_created_utc: charge && timeOf(charge['created']),
    payment_method_type: method?.type,
    card_brand: method?.card?.brand,
    dispute_reason: source?.object === 'dispute' ? source['reason'] : null,
    payment_metadata: metadataIn(intent),
    refund_metadata: source?.object === 'refund' ? metadataIn(source) : {},
  }
}

/**
 * Stripe's report “Itemised balance change from activity” (`balance_change_from_activity.itemized.3`) in UTC, the oldest first,
 * with a column for every name in the metadata. `interval_start` is in it, `interval_end` is not.
 */
export const balanceReport = (account: Account, form: Form): string => {
  const from = Number(textOf(form, 'interval_start') ?? 0)
  const until = Number(textOf(form, 'interval_end') ?? Infinity)
  const lines = [...account.objects.values()]
    .filter(
      ({ object, created }) => object === 'balance_transaction' && Number(created) >= from && Number(created) < until,
    )
    .map((moved) => lineOf(account, moved))
  const metadata = (['payment_metadata', 'refund_metadata'] as const).flatMap((column) =>
    [...new Set(lines.flatMap((line) => Object.keys(line[column])))].toSorted().map((name) => ({ column, name })),
  )
  const rows = lines.map((line) => [
    ...columns.map((name) => line[name]),
    ...metadata.map(({ column, name }) => line[column][name]),
  ])
  return stringify([[...columns, ...metadata.map(({ column, name }) => `${column}[${name}]`)], ...rows])
}
