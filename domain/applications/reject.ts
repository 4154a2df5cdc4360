import type { QuoteEvent } from '../quotes/events.ts'
import { hasRunOut } from '../quotes/record.ts'
import { notFound, Rejection } from '../rejection.ts'
import type { QuoteId } from '../values.ts'
import { isOpen, isWhole, type ApplicationState } from './state.ts'

export type RejectQuote = {
  readonly type: 'RejectQuote'
  readonly quote_id: QuoteId
  readonly reason: string | null
  readonly now: string
}

/** The customer does not want it. The application stays as it is, and can be quoted again. */
export const rejectQuote = ({ quote_id, reason, now }: RejectQuote, state: ApplicationState): readonly QuoteEvent[] => {
  const issued = state.quotes.find(({ quote }) => quote.id === quote_id)
  if (!issued) throw notFound('quote')
  const { status } = issued.quote
  const hasEnded = status !== 'current' || !isWhole(issued) || hasRunOut(issued.quote, now)
  if (hasEnded || !isOpen(state.record))
    throw new Rejection(
      'quote_not_bindable',
      `This quote is not current any more (${status === 'current' ? 'expired' : status}): only a current one can be rejected.`,
    )
  return [{ type: 'QuoteRejected', quote_id, reason }]
}
