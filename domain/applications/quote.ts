import type { QuoteEvent } from '../quotes/events.ts'
import { daysAfter } from '../dates.ts'
import { hasRunOut } from '../quotes/record.ts'
import { costsTheSame, price } from '../rating/price.ts'
import type { Priced, PricingRequest } from '../rating/request.ts'
import { Rejection, type Fields } from '../rejection.ts'
import type { QuoteId } from '../values.ts'
import { terminalOf } from './answers.ts'
import { endedBy } from './endings.ts'
import type { ApplicationEvent } from './events.ts'
import { missingForQuote, required } from './missing-answers.ts'
import { quotedTerms, requestOn, type PricedBy } from './priced-request.ts'
import { expiryOf } from './quote-expiry.ts'
import { closed } from './refusals.ts'
import { isOpen, latestQuote, pricedInputs, type ApplicationState, type Digest } from './state.ts'
import type { ExcludedCover } from '../rating/events.ts'

export type QuoteApplication = PricedBy & {
  readonly type: 'QuoteApplication'
  /** The id that the quote gets if a new one is issued. */
  readonly quote_id: QuoteId
  /** `YYYY-MM-DD`; null: tomorrow. */
  readonly start_date: string | null
  readonly now: string
  /** The date now, where the organisation is. */
  readonly today: string
  readonly digest: Digest
}

type Decision = readonly (ApplicationEvent | QuoteEvent)[]

const dayMs = 86_400_000
export const latestStartDays = 90
const reusableForMs = dayMs

/**
 * Prices the application. No events: the current quote still holds. An underwriting decision against the application is
 * an event, not a refusal: it has happened, and is part of the answer.
 */
export const quoteApplication = (command: QuoteApplication, state: ApplicationState): Decision => {
  const { release, today, digest } = command
  const { record } = state
  if (!isOpen(record)) throw new Rejection('quote_failed', closed(record), { application: record.status })
  if (release.whole_of_market) throw new Rejection('quote_failed', 'Ask for market quotes instead.')

  const start_date = command.start_date ?? daysAfter(today, 1)
  refuseStartDate(start_date, today)
  const inputs_digest = digest(pricedInputs(state))
  const request = requestOn(inputs_digest, command, state, start_date)
  const missing = missingForQuote(command, state)
  if (Object.keys(missing).length > 0) throw detailsMissing({ ...missing, ...missingForPrice(request) })

  if (isStillGood(command, state, { request, inputs_digest })) return []

  const ending = (event: ApplicationEvent): Decision => [...withdrawn(state, 'application_closed', command.now), event]
  const terminal = request.accepted_terms ? undefined : heldTerminal(command, state)
  if (terminal) return ending(endedBy('answer', terminal.outcome, terminal))

  const result = price(request)
  switch (result.outcome) {
    case 'details_missing':
      throw detailsMissing(required(result.fields))
    case 'cover_missing':
      throw new Rejection(
        'cover_missing',
        `Save ${result.fields.join(', ')} on the application, then quote again.`,
        required(result.fields),
      )
    case 'not_accepted':
      return ending(endedBy('underwriting', result.decision, reasonOf(result.reason)))
    case 'no_quotable_cover':
      throw new Rejection('no_quotable_cover', noCover(result.excluded_covers))
    case 'rate_unavailable':
      throw new Rejection(
        'rate_unavailable',
        'There is no price for these details. Change the cover or the term, or ask us.',
      )
    case 'priced':
      return issue(command, state, { request, result, inputs_digest })
  }
}

const reasonOf = ({ code, message }: { readonly code: string; readonly message: string }) => ({
  reason_code: code,
  reason_message: message,
})

/**
 * An answer that ends an application is among those held only after the team has opened it again: unless the answer has
 * been changed, it ends the application once more.
 */
const heldTerminal = ({ journey }: QuoteApplication, { record, partner_answers }: ApplicationState) =>
  terminalOf(journey.questions, {}, record.risk_factors) ??
  (record.joint_customer ? terminalOf(journey.questions, {}, partner_answers) : undefined)

const refuseStartDate = (start_date: string, today: string): void => {
  const latest = daysAfter(today, latestStartDays)
  if (start_date >= today && start_date <= latest) return
  const reason = `must be from ${today} to ${latest}`
  throw new Rejection('validation_failed', `The start date ${reason}.`, { start_date: reason })
}

const detailsMissing = (fields: Fields) =>
  new Rejection(
    'quote_failed',
    `Answers or details are missing. Save ${Object.keys(fields).join(', ')} on the application, then quote again.`,
    fields,
  )

/** Dates of birth above all, so that everything that is missing is named at once. */
const missingForPrice = (request: PricingRequest): Fields => {
  const result = price(request)
  return result.outcome === 'details_missing' ? required(result.fields) : {}
}

/** A new quote is issued only when something that it depends on has changed, or when the quote soon expires. */
const isStillGood = (
  command: QuoteApplication,
  state: ApplicationState,
  { request, inputs_digest }: { readonly request: PricingRequest; readonly inputs_digest: string },
): boolean => {
  const latest = latestQuote(state)
  if (latest?.quote.status !== 'current' || latest.inputs_digest !== inputs_digest) return false
  const { start_date, expires_at } = latest.quote
  if (Date.parse(expires_at) - Date.parse(command.now) <= reusableForMs) return false
  if (command.start_date !== null) return start_date === command.start_date
  // Cover would start tomorrow then, as it does when the quote is bought.
  if (start_date >= command.today) return true
  return costsTheSame(price(requestOn(inputs_digest, command, state, start_date)), price(request))
}

const issue = (
  { quote_id, release, now }: QuoteApplication,
  state: ApplicationState,
  priced: { request: PricingRequest; result: Priced; inputs_digest: string },
): Decision => {
  const { record } = state
  return [
    ...settled(state, now, (former) => ({ type: 'QuoteReplaced', quote_id: former, replaced_by: quote_id })),
    {
      type: 'QuoteIssued',
      quote_id,
      organisation_id: record.organisation_id,
      application_id: record.id,
      ...quotedTerms(release, state, priced),
      expires_at: expiryOf(priced.request, now, release.quote_valid_days),
    },
  ]
}

/** Ends the current quote: one past its expiry time expires, any other is replaced. */
const settled = (
  state: ApplicationState,
  now: string,
  otherwise: (quote_id: QuoteId) => QuoteEvent,
): readonly QuoteEvent[] => {
  const latest = latestQuote(state)?.quote
  if (latest?.status !== 'current') return []
  return [hasRunOut(latest, now) ? { type: 'QuoteExpired', quote_id: latest.id } : otherwise(latest.id)]
}

const noCover = (excluded: readonly ExcludedCover[]): string => {
  const reasons = excluded.filter(({ reason }) => reason !== 'not_selected').map(({ message }) => message)
  return reasons.length > 0
    ? `No cover can be priced. ${reasons.join(' ')}`
    : 'No cover was chosen. Choose at least one.'
}

/** Rejects the current quote of an application that ends: it cannot be bought any more. */
export const withdrawn = (state: ApplicationState, reason: string, now: string): readonly QuoteEvent[] =>
  settled(state, now, (quote_id) => ({ type: 'QuoteRejected', quote_id, reason }))
