import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { QuoteId } from '../values.ts'

/** Stream `application-<application id>`: an application's quotes are part of it. */
export const quoteEvents = {
  QuoteAccepted: event({ quote_id: QuoteId, via: z.enum(['accept_quote', 'bind']) }),
  QuoteExpired: event({ quote_id: QuoteId }),
}
export type QuoteEvent = EventOf<typeof quoteEvents>
