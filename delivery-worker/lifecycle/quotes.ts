import { quoteEvents } from '#domain/quotes/events.ts'
import type { LifecycleEventType } from '#domain/workflows/events.ts'
import { lifecycle } from './lifecycle.ts'

const names: Readonly<Record<keyof typeof quoteEvents, LifecycleEventType>> = {
  QuoteIssued: 'quote.issued',
  QuoteReplaced: 'quote.replaced',
  QuoteAccepted: 'quote.accepted',
  QuoteRejected: 'quote.rejected',
  QuoteExpired: 'quote.expired',
}

type QuoteFacts = {
  readonly application_id: string
  readonly product_id: string
  readonly premium_pence: number
  readonly expires_at: string
  readonly replaced_by: string | null
}

export const quoteLifecycle = lifecycle<typeof quoteEvents, QuoteFacts>({
  aggregate: 'quote',
  events: quoteEvents,
  idOf: ({ quote_id }) => quote_id,
  remember: (facts, event) => {
    if (event.type === 'QuoteIssued') {
      const { application_id, product_id, premium_pence, expires_at } = event
      return { application_id, product_id, premium_pence, expires_at, replaced_by: null }
    }
    return facts && event.type === 'QuoteReplaced' ? { ...facts, replaced_by: event.replaced_by } : facts
  },
  tell: ({ type, quote_id }, { premium_pence, expires_at, replaced_by }) => ({
    type: names[type],
    payload: { quote_id, premium_pence, expires_at, replaced_by },
  }),
})
