import type { QuoteEvent } from '../quotes/events.ts'
import { hasRunOut, type Quote } from '../quotes/record.ts'
import { Rejection } from '../rejection.ts'
import type { QuoteId } from '../values.ts'
import { closed } from './refusals.ts'
import { isOpen, isWhole, pricedInputs, type ApplicationState, type Digest } from './state.ts'

export type AcceptQuote = {
  readonly type: 'AcceptQuote'
  /** Null: the current quote. */
  readonly quote_id: QuoteId | null
  readonly now: string
  readonly digest: Digest
}

const refused = (message: string, field?: string) =>
  new Rejection('accept_failed', message, field === undefined ? undefined : { [field]: message })

const quoteAgain = 'Quote the application again and accept the new quote.'

/** Accepting what is already accepted is fine, and changes nothing. */
export const acceptQuote = ({ quote_id, now, digest }: AcceptQuote, state: ApplicationState): readonly QuoteEvent[] => {
  const { record, quotes } = state
  if (!isOpen(record)) throw refused(closed(record))

  const issued = quote_id === null ? quotes.at(-1) : quotes.find(({ quote }) => quote.id === quote_id)
  if (!issued && quote_id !== null)
    throw refused('This application has no such quote. Leave it out to accept the current one.', 'quote_id')
  if (!issued) throw refused('There is no quote yet. Quote the application first.')

  const { quote } = issued
  const status = isWhole(issued) && hasRunOut(issued.quote, now) ? 'expired' : quote.status
  if (status !== 'current') throw refused(`${whyNot(status)} ${quoteAgain}`)
  if (issued.inputs_digest !== digest(pricedInputs(state)))
    throw refused(`The answers have changed since this quote was priced. ${quoteAgain}`)

  const isAccepted = record.status === 'quoted' && isWhole(issued) && issued.quote.accepted_at !== null
  return isAccepted ? [] : [{ type: 'QuoteAccepted', quote_id: quote.id, via: 'accept_quote' }]
}

const whyNot = (status: Quote['status']): string => {
  switch (status) {
    case 'replaced':
      return 'This quote was replaced by a newer one.'
    case 'expired':
      return 'This quote has expired.'
    case 'rejected':
      return 'This quote was rejected.'
    case 'bought':
      return 'This quote was already bought.'
    case 'current':
      return ''
  }
}
