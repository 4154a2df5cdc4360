import { application } from '#domain/applications/application.ts'
import { idOf } from '#domain/event.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Reaction } from '../reactions/reaction.ts'

const { QuoteReplaced, QuoteRejected, QuoteExpired, QuoteBought } = quoteEvents
const ends = { QuoteReplaced, QuoteRejected, QuoteExpired, QuoteBought }

/**
 * Gives back payments for a quote that can no longer be bought, and closes the open ones: also those opened beside the payment
 * that bought the policy.
 */
export const whenQuoteEndedClosePayments = (writer: Writer): Reaction<typeof ends> => {
  const { handle, loadFrom } = commandHandler(writer, application)

  return {
    name: 'when-quote-ended-close-payments',
    categories: ['application'],
    events: ends,
    target: (_event, { stream }) => stream,
    react: async ({ quote_id }, { stream, revision }, context) => {
      const id = idOf(stream)
      const state = await loadFrom(id, revision)
      // A payment that is opened or taken after the quote's end is given back by what records it.
      if (!state?.payments.cards.some((card) => card.quote_id === quote_id)) return
      await handle(id, { type: 'CloseQuotePayments', quote_id }, context)
    },
  }
}
