import type { QuoteEvent } from '../quotes/events.ts'
import { hasRunOut } from '../quotes/record.ts'
import { birthdayThatChangesPrice } from '../rating/price.ts'
import type { PricingRequest } from '../rating/request.ts'
import type { QuoteId } from '../values.ts'
import { latestQuote, type ApplicationState } from './state.ts'

const dayMs = 86_400_000

/** When a quote expires: never past the next birthday of a life assured, if cover starting then would cost something else. */
export const expiryOf = (request: PricingRequest, now: string, validDays: number): string => {
  const latest = new Date(Date.parse(now) + validDays * dayMs).toISOString()
  const birthday = birthdayThatChangesPrice(request, latest.slice(0, 10))
  const midnight = birthday === null ? latest : `${birthday}T00:00:00.000Z`
  return midnight > now && midnight < latest ? midnight : latest
}

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
