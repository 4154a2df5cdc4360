import { hasRunOut } from '../quotes/record.ts'
import { notFound, Rejection } from '../rejection.ts'
import type { QuoteId } from '../values.ts'
import { closed } from './refusals.ts'
import {
  isGivenUp,
  isOpen,
  isWhole,
  pricedInputs,
  type ApplicationState,
  type Digest,
  type IssuedQuote,
} from './state.ts'

/** Inputs of the check that a quote can be bought, alike for every checkout step. */
export type BindableAt = {
  /** Business time. */
  readonly now: string
  readonly digest: Digest
}

const quoteAgain = 'Quote the application again and go on with the new quote.'

/**
 * The quote, which must be current, in time, and priced on the answers as they are: otherwise `quote_not_bindable`, or
 * `quote_expired` when only its time is over.
 */
export const requireBindable = (
  state: ApplicationState,
  quote_id: QuoteId,
  { now, digest }: BindableAt,
): IssuedQuote => {
  const issued = state.quotes.find(({ quote }) => quote.id === quote_id)
  if (!issued) throw notFound('quote')
  const { quote, inputs_digest } = issued
  const refused = (why: string) => new Rejection('quote_not_bindable', `${why} ${quoteAgain}`)

  if (quote.status === 'bought')
    throw new Rejection(
      'quote_not_bindable',
      'This quote was already bought. Read the policy that its policy_id names.',
    )
  const isExpired = quote.status === 'expired' || !isWhole(issued) || hasRunOut(issued.quote, now)
  const isOnlyLate = isExpired && isGivenUp(state.record)
  if (!isOpen(state.record) && !isOnlyLate) throw new Rejection('quote_not_bindable', closed(state.record))
  if (quote.status === 'replaced') throw refused('This quote was replaced by a newer one.')
  if (quote.status === 'rejected') throw refused('This quote was rejected.')
  if (inputs_digest !== digest(pricedInputs(state)))
    throw refused('The answers have changed since this quote was priced.')
  if (isExpired)
    throw new Rejection('quote_expired', `This quote has expired. ${isOnlyLate ? closed(state.record) : quoteAgain}`)
  return issued
}
