import type { Release, ReleaseJourney } from '../catalogue/events.ts'
import { daysAfter } from '../dates.ts'
import { cardPaymentOf, usableMandate } from '../payments/record.ts'
import type { Quote } from '../quotes/record.ts'
import { costsTheSame, price } from '../rating/price.ts'
import type { RateTable } from '../rating/events.ts'
import { notFound, Rejection, type Fields } from '../rejection.ts'
import type { ApiApplicationId, PolicyId, QuoteId } from '../values.ts'
import { requireBindable, type BindableAt } from './bindable.ts'
import { refuseStepsOwed, refuseUnsellable } from './confirm-steps.ts'
import { requestOfQuote } from './priced-request.ts'
import { latestStartDays } from './quote.ts'
import { isJoint, type ApplicationStreamEvent } from './record.ts'
import type { ApplicationState } from './state.ts'

/** Sets the policy up: the sale is decided here, in one append, and all else follows from it. */
export type BindQuote = BindableAt & {
  readonly type: 'BindQuote'
  readonly quote_id: QuoteId
  readonly release: Release
  readonly journey: ReleaseJourney
  readonly rate_tables: ReadonlyMap<string, RateTable>
  /** The date now, where the organisation is. */
  readonly today: string
  readonly asked: AskedOfBind
  readonly caller: ApiApplicationId
  readonly idempotency_key: string | null
  /** They follow from the quote: whoever binds it again names the same. */
  readonly policy_id: PolicyId
  readonly policy_number: string
  readonly is_sandbox: boolean
}

export type AskedOfBind = { readonly start_date: string | null; readonly collection_day: number | null }

/** No events: this quote was bought by the same request. Throws the first thing that stands in the way. */
export const bindQuote = (command: BindQuote, state: ApplicationState): readonly ApplicationStreamEvent[] => {
  const { quote_id, release, today, asked, policy_id, policy_number } = command
  const { record, payments } = state
  if (isRepeated(command, state)) return []
  refuseAsked(asked, release, today)

  const { quote } = requireBindable(state, quote_id, command)
  const start_date = asked.start_date ?? (quote.start_date < today ? daysAfter(today, 1) : quote.start_date)
  const expires_on = endsFrom(start_date, quote, command, state)
  refuseUnsellable(release)
  refuseStepsOwed(state, release, quote, command.digest)
  refuseIncomplete(state, release)
  refuseUnpaid(state, quote_id)

  const card = cardPaymentOf(payments, quote_id)
  return [
    ...(quote.accepted_at === null || record.status !== 'quoted'
      ? [{ type: 'QuoteAccepted', quote_id, via: 'bind' } as const]
      : []),
    {
      type: 'QuoteBought',
      quote_id,
      policy_id,
      policy_number,
      start_date,
      collection_day: asked.collection_day ?? nearestDay(release.checkout.collection_days, start_date),
      expires_on,
      bought_on: today,
      test: record.stripe_test_mode || command.is_sandbox,
      asked,
      bought_by: command.caller,
      idempotency_key: command.idempotency_key,
    },
    { type: 'ApplicationBound', policy_id, policy_number },
    ...(card ? [{ type: 'CardPaymentUsed', payment_id: card.payment_id, policy_id } as const] : []),
  ]
}

/** The quote was bought by the same key, or by the same API application with the same inputs. */
const isRepeated = ({ quote_id, asked, caller, idempotency_key }: BindQuote, { sale }: ApplicationState): boolean => {
  if (sale?.quote_id !== quote_id) return false
  if (idempotency_key !== null && sale.idempotency_key === idempotency_key) return true
  return (
    sale.bought_by === caller &&
    sale.asked.start_date === asked.start_date &&
    sale.asked.collection_day === asked.collection_day
  )
}

const refuseAsked = ({ start_date, collection_day }: AskedOfBind, { checkout }: Release, today: string): void => {
  const latest = daysAfter(today, latestStartDays)
  const days = checkout.collection_days
  const fields: Fields = {
    ...(start_date !== null &&
      (start_date < today || start_date > latest) && { start_date: `must be from ${today} to ${latest}` }),
    ...(collection_day !== null &&
      !days.includes(collection_day) && { collection_day: `must be one of ${days.join(', ')}` }),
  }
  const named = Object.keys(fields)
  if (named.length > 0)
    throw new Rejection('validation_failed', `Correct ${named.join(', ')} and send the request again.`, fields)
}

type Ends = readonly { readonly cover_index: number; readonly expires_on: string | null }[]

/** The ends of covers that start on this date. They must cost what was quoted. */
const endsFrom = (start_date: string, quote: Quote, command: BindQuote, state: ApplicationState): Ends[number][] => {
  const endsOf = (components: Quote['components']): Ends[number][] =>
    components.map(({ cover_index, expires_on }) => ({ cover_index, expires_on }))
  if (start_date === quote.start_date) return endsOf(quote.components)

  // Priced twice, by the same program: the one that made the quote may have been another.
  const before = price(requestOfQuote(command, state, quote.start_date))
  const after = price(requestOfQuote(command, state, start_date))
  if (!costsTheSame(before, after))
    throw new Rejection(
      'quote_not_bindable',
      `Cover that starts on ${start_date} has another price. Quote the application again with that start date.`,
    )
  return endsOf([...after.components])
}

const neededOfCustomer = ['first_name', 'last_name', 'email', 'dob'] as const
const neededOfAddress = ['address_line1', 'postal_code'] as const

const refuseIncomplete = ({ record, payments }: ApplicationState, release: Release): void => {
  const { customer, joint_customer, risk_factors } = record
  const account = payments.bank_details?.bank_details
  const hasAccountAddress = Boolean(account?.address_line1 && account.address_postal_code)
  const needed = [...neededOfCustomer, ...(hasAccountAddress ? [] : neededOfAddress)]
  const missing = needed.filter((name) => !customer?.[name]).map((name) => `customer.${name}`)
  if (missing.length > 0)
    throw new Rejection(
      'customer_missing',
      `Save ${missing.join(', ')} on the application first.`,
      Object.fromEntries(missing.map((name) => [name, 'required'])),
    )
  if (isJoint(release.joint, risk_factors) && !joint_customer)
    throw new Rejection('partner_missing', 'This cover is for two people. Save the second person first.')
}

const refuseUnpaid = ({ record, payments }: ApplicationState, quote_id: QuoteId): void => {
  if (!usableMandate(payments) && (record.inline_bacs_mandate || !payments.bank_details))
    throw new Rejection(
      'direct_debit_missing',
      record.inline_bacs_mandate
        ? 'There is no Direct Debit mandate. Set it up with bacs_setup_intent and bacs_mandate first.'
        : 'There are no bank details. Send direct_debit_details first.',
    )
  if (!record.direct_debit_first && !cardPaymentOf(payments, quote_id))
    throw new Rejection(
      'first_payment_missing',
      'The first premium is not paid. Take it by card with payment_intent and card_payment first.',
    )
}

/** The first day of the month allowed for collections from the day on which cover starts. */
const nearestDay = (days: readonly number[], start_date: string): number => {
  const day = Number(start_date.slice(8))
  return days.find((each) => each >= day) ?? days[0] ?? 1
}

/** The sale of a quote, by which a repeated request is known. */
export const requireSale = ({ sale }: ApplicationState, quote_id: QuoteId) => {
  if (sale?.quote_id !== quote_id) throw notFound('quote')
  return sale
}
