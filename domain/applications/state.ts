import { canonicalJson } from '../canonical-json.ts'
import type { Recorded } from '../decider.ts'
import { paymentEvents, type PaymentEvent, type PaymentId } from '../payments/events.ts'
import { evolvePayments, noPayments, type Payments } from '../payments/record.ts'
import { quoteEvents, type QuoteBought, type QuoteEvent } from '../quotes/events.ts'
import { evolveQuote, type Quote } from '../quotes/record.ts'
import type { Provenance } from '../values.ts'
import type { Answers, ComponentChoice, TeamLoading } from './events.ts'
import { dobOf, evolveRecord, type ApplicationRecord, type ApplicationStreamEvent } from './record.ts'

/** A short text for a long one: equal texts have equal digests, others do not. */
export type Digest = (text: string) => string

/** A quote, and the digest of what it was priced on. */
export type IssuedQuote = { readonly quote: Quote; readonly inputs_digest: string }

/** Of a quote after which another was issued, what rules still ask: its digest only when it has expired. */
export type FormerQuote = {
  readonly quote: Pick<Quote, 'id' | 'status'>
  readonly inputs_digest: string | null
}

/** The terms on which the team accepts an application as long as its inputs have this digest. */
export type AcceptedTerms = { readonly inputs_digest: string; readonly loadings: readonly TeamLoading[] }

/** An application as the command side knows it: what is shown, and what only decisions need. */
export type ApplicationState = {
  readonly record: ApplicationRecord
  readonly asked_for: Extract<ApplicationStreamEvent, { type: 'ApplicationStarted' }>['asked_for']
  /** The second person's own answers: never shown, never sent. */
  readonly partner_answers: Answers
  readonly components: readonly ComponentChoice[]
  readonly provenance: Provenance | null
  readonly consent_answers: Readonly<Record<string, false>>
  readonly marketing_answers: Readonly<Record<string, boolean>>
  /** The customer has seen the opt-out boxes, whether or not they ticked any. */
  readonly boxes_shown: boolean
  /** The email address that was saved first: a start that is repeated names this one, whatever it is now. */
  readonly first_email: string | null
  /** When the details of the customer were last saved, and those of the second person. */
  readonly customer_saved_at: string | null
  readonly partner_saved_at: string | null
  /** A visitor of a web page has had a hand in it, so it holds only what was typed into it. */
  readonly open_to_visitors: boolean
  /** The inputs of the last market search. */
  readonly searched_inputs: string | null
  /** The team's accepted terms, with their inputs. */
  readonly accepted_terms: AcceptedTerms | null
  /** In the order of issue: at most the last one is current, and only that is whole. */
  readonly quotes: readonly (FormerQuote | IssuedQuote)[]
  readonly payments: Payments
  /** The time of the next try to settle each card payment. */
  readonly settlement_retry_at: Readonly<Record<PaymentId, string | null>>
  /** Set once one of the quotes was bought. */
  readonly sale: QuoteBought | null
}

export const evolve = (
  state: ApplicationState | undefined,
  event: ApplicationStreamEvent,
  recorded: Recorded,
): ApplicationState | undefined => {
  const record = evolveRecord(state?.record, event, recorded)
  if (!record) return undefined
  if (event.type === 'ApplicationStarted')
    return {
      record,
      asked_for: event.asked_for,
      partner_answers: {},
      components: [],
      provenance: event.provenance,
      consent_answers: {},
      marketing_answers: {},
      boxes_shown: false,
      first_email: null,
      customer_saved_at: null,
      partner_saved_at: null,
      open_to_visitors: event.started_by === 'browser',
      accepted_terms: null,
      searched_inputs: null,
      quotes: [],
      payments: noPayments,
      settlement_retry_at: {},
      sale: null,
    }
  if (!state) return undefined
  if (isPaymentEvent(event)) {
    const payments = evolvePayments(state.payments, event, recorded)
    return { ...state, payments, settlement_retry_at: settlementRetryAt(state, event), record }
  }
  return {
    ...state,
    ...hiddenChange(state, event, recorded),
    quotes: evolveQuotes(state.quotes, event, recorded),
    record,
  }
}

/** A return owed instead, or a settlement asked for by the team, is tried at once: its timer fires as of then. */
const settlementRetryAt = (
  { settlement_retry_at: before }: ApplicationState,
  event: PaymentEvent,
): ApplicationState['settlement_retry_at'] => {
  if (event.type === 'CardPaymentSettlementFailed') return { ...before, [event.payment_id]: event.retry_at }
  const isAtOnce = event.type === 'CardPaymentReturnOwed' || event.type === 'CardPaymentSettlementRequested'
  return isAtOnce ? { ...before, [event.payment_id]: null } : before
}

const isPaymentEvent = (event: ApplicationStreamEvent): event is PaymentEvent => event.type in paymentEvents

const isQuoteEvent = (event: ApplicationStreamEvent): event is QuoteEvent => event.type in quoteEvents

const evolveQuotes = (
  quotes: ApplicationState['quotes'],
  event: ApplicationStreamEvent,
  recorded: { readonly occurred_at: string },
): ApplicationState['quotes'] => {
  if (!isQuoteEvent(event)) return quotes
  if (event.type === 'QuoteIssued') {
    const quote = evolveQuote(undefined, event, recorded)
    if (!quote) return quotes
    const latest = quotes.at(-1)
    const former = latest ? [...quotes.slice(0, -1), formerOf(latest)] : []
    return [...former, { quote, inputs_digest: event.inputs_digest }]
  }
  return quotes.map((issued) =>
    isWhole(issued) && issued.quote.id === event.quote_id
      ? { ...issued, quote: evolveQuote(issued.quote, event, recorded) ?? issued.quote }
      : issued,
  )
}

export const isWhole = (issued: FormerQuote | IssuedQuote): issued is IssuedQuote => 'components' in issued.quote

/** The quote that was issued last, whatever became of it. */
export const latestQuote = ({ quotes }: Pick<ApplicationState, 'quotes'>): IssuedQuote | undefined => {
  const latest = quotes.at(-1)
  return latest && isWhole(latest) ? latest : undefined
}

const formerOf = ({ quote: { id, status }, inputs_digest }: FormerQuote | IssuedQuote): FormerQuote => ({
  quote: { id, status },
  inputs_digest: status === 'expired' ? inputs_digest : null,
})

const hiddenChange = (
  state: ApplicationState,
  event: ApplicationStreamEvent,
  { occurred_at }: { readonly occurred_at: string },
): Partial<ApplicationState> => {
  if (event.type === 'QuoteBought') return { sale: event }
  if (event.type === 'CoverSaved') return { components: event.components }
  if (event.type === 'MarketSearchRequested') return { searched_inputs: pricedInputs(state) }
  if (event.type === 'ApplicationAccepted')
    return { accepted_terms: { inputs_digest: event.inputs_digest, loadings: event.loadings } }
  if (event.type === 'ProvenanceSaved') return { provenance: event.provenance }
  if (event.type === 'PartnerSaved' || event.type === 'SoftCustomerSaved')
    return {
      open_to_visitors: state.open_to_visitors || event.by === 'browser',
      ...(event.type === 'PartnerSaved' && { partner_saved_at: occurred_at }),
    }
  if (event.type === 'PartnerAnswersSaved') {
    const kept = Object.entries(state.partner_answers).filter(([key]) => !event.removed.includes(key))
    return { partner_answers: { ...Object.fromEntries(kept), ...event.saved } }
  }
  if (event.type !== 'CustomerSaved') return {}
  return {
    consent_answers: { ...state.consent_answers, ...event.consent_answers },
    boxes_shown: state.boxes_shown || event.consent_answers !== null,
    first_email: state.record.customer ? state.first_email : event.customer.email,
    customer_saved_at: occurred_at,
    marketing_answers: { ...state.marketing_answers, ...event.marketing_answers },
    open_to_visitors: state.open_to_visitors || event.by === 'browser',
  }
}

/** All that a price depends on, as canonical JSON. Two states with the same text have the same price. */
export const pricedInputs = ({ record, components, partner_answers }: ApplicationState): string =>
  canonicalJson({
    product_release_id: record.release_id,
    journey_id: record.journey_id,
    risk_factors: record.risk_factors,
    cover_amount_pence: record.cover_amount_pence,
    term_years: record.term_years,
    components,
    dob: dobOf(record),
    partner_dob: record.joint_customer?.dob ?? null,
    // Only where there are any: the digests of quotes for one person are as they always were.
    ...(record.joint_customer && Object.keys(partner_answers).length > 0 && { partner_answers }),
  })

/** It can still be worked on: neither ended nor with the team. */
export const isOpen = ({ status }: ApplicationRecord): boolean =>
  status === 'started' || status === 'anonymous' || status === 'in_capture' || status === 'quoted'

/** For inactivity: a save opens it again. */
export const isGivenUp = ({ status, abandoned_reason }: ApplicationRecord): boolean =>
  status === 'abandoned' && abandoned_reason === 'inactive'
