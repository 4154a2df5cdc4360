import type { QuoteEvent } from '../quotes/events.ts'
import { hasRunOut } from '../quotes/record.ts'
import type { QuoteId } from '../values.ts'
import type { ApplicationState } from './state.ts'

/** Sent when a quote is due to expire. */
export type ExpireQuote = {
  readonly type: 'ExpireQuote'
  readonly quote_id: QuoteId
  /** Business time. */
  readonly now: string
}

/** Only a current quote expires: one that was replaced, rejected or bought in the meantime stays what it is. */
export const expireQuote = ({ quote_id, now }: ExpireQuote, { quotes }: ApplicationState): readonly QuoteEvent[] => {
  const quote = quotes.find((issued) => issued.quote.id === quote_id)?.quote
  return quote && hasRunOut(quote, now) ? [{ type: 'QuoteExpired', quote_id }] : []
}
