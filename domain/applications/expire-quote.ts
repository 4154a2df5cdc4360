import type { QuoteEvent } from '../quotes/events.ts'
import { hasRunOut } from '../quotes/record.ts'
import type { QuoteId } from '../values.ts'
import { latestQuote, type ApplicationState } from './state.ts'

/** Sent when a quote is due to expire. */
export type ExpireQuote = {
  readonly type: 'ExpireQuote'
  readonly quote_id: QuoteId
  /** Business time. */
  readonly now: string
}

/** Only a current quote expires: one that was replaced, rejected or bought in the meantime stays what it is. */
export const expireQuote = ({ quote_id, now }: ExpireQuote, state: ApplicationState): readonly QuoteEvent[] => {
  const quote = latestQuote(state)?.quote
  return quote?.id === quote_id && hasRunOut(quote, now) ? [{ type: 'QuoteExpired', quote_id }] : []
}
