import type { Release, ReleaseJourney } from '../catalogue/events.ts'
import { lifeKeysOf } from '../catalogue/record.ts'
import type { QuoteEvent } from '../quotes/events.ts'
import { daysAfter } from '../dates.ts'
import { hasRunOut } from '../quotes/record.ts'
import { costsTheSame, price } from '../rating/price.ts'
import type { Life, Priced, PricingRequest } from '../rating/request.ts'
import { Rejection, type Fields } from '../rejection.ts'
import type { QuoteId } from '../values.ts'
import { terminalOf } from './answers.ts'
import { endedBy } from './endings.ts'
import type { ApplicationEvent } from './events.ts'
import { answersOfPartner } from './joint.ts'
import { missingForQuote, required } from './missing-answers.ts'
import { dobOf, isJoint } from './record.ts'
import { expiryOf } from './quote-expiry.ts'
import { closed } from './refusals.ts'
import { isOpen, latestQuote, pricedInputs, type ApplicationState, type Digest } from './state.ts'
import type { RateTable, ExcludedCover } from '../rating/events.ts'

export type QuoteApplication = {
  readonly type: 'QuoteApplication'
  /** The id that the quote gets if a new one is issued. */
  readonly quote_id: QuoteId
  /** `YYYY-MM-DD`; null: tomorrow. */
  readonly start_date: string | null
  readonly now: string
  /** The date now, where the organisation is. */
  readonly today: string
  readonly release: Release
  readonly journey: ReleaseJourney
  readonly rate_tables: ReadonlyMap<string, RateTable>
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

type Given = Pick<QuoteApplication, 'release' | 'journey' | 'rate_tables'>

const pricingRequest = (
  { release, journey, rate_tables }: Given,
  { record, components, partner_answers }: ApplicationState,
  start_date: string,
): PricingRequest => {
  const first: Life = { dob: dobOf(record), answers: record.risk_factors }
  const both = { first: record.risk_factors, partner: partner_answers }
  const second = (): Life => ({
    dob: record.joint_customer?.dob ?? null,
    answers: answersOfPartner(lifeKeysOf(release, journey), both),
  })
  return {
    release,
    rate_tables,
    journey_loading: journey.journey_loading,
    start_date,
    lives: isJoint(release.joint, record.risk_factors) ? [first, second()] : [first],
    cover_amount_pence: record.cover_amount_pence,
    term_years: record.term_years,
    components: components.map(({ cover_id, cover_amount_pence, term_years, selected }) => ({
      cover_id,
      cover_amount_pence,
      term_years,
      ...(selected !== null && { selected }),
    })),
  }
}

/** The pricing request of a quote, with the terms on which the team accepted these answers. */
export const requestOfQuote = (
  given: Given & Pick<QuoteApplication, 'digest'>,
  state: ApplicationState,
  start_date: string,
): PricingRequest => requestOn(given.digest(pricedInputs(state)), given, state, start_date)

const requestOn = (
  inputs_digest: string,
  given: Given,
  state: ApplicationState,
  start_date: string,
): PricingRequest => {
  const { accepted_terms } = state
  const holds = accepted_terms?.inputs_digest === inputs_digest
  return { ...pricingRequest(given, state, start_date), ...(accepted_terms && holds && { accepted_terms }) }
}

const issue = (
  { quote_id, release, now }: QuoteApplication,
  state: ApplicationState,
  { request, result, inputs_digest }: { request: PricingRequest; result: Priced; inputs_digest: string },
): Decision => {
  const { record } = state
  const { decision, premium_pence, annual_premium_pence, total_premium_pence, policy_fee_pence } = result
  const { components, excluded_covers, loadings, rate_tables, joint, members, journey_loading } = result
  return [
    ...settled(state, now, (former) => ({ type: 'QuoteReplaced', quote_id: former, replaced_by: quote_id })),
    {
      type: 'QuoteIssued',
      quote_id,
      organisation_id: record.organisation_id,
      application_id: record.id,
      product_id: record.product_id,
      journey_id: record.journey_id,
      product_release_id: record.release_id,
      inputs_digest,
      decision,
      currency_code: release.currency_code,
      premium_pence,
      annual_premium_pence,
      total_premium_pence,
      policy_fee_pence,
      cover_amount_pence: request.cover_amount_pence,
      term_years: request.term_years,
      joint,
      members,
      start_date: request.start_date,
      components: [...components],
      excluded_covers: [...excluded_covers],
      journey_loading,
      loadings: [...loadings],
      rate_tables: [...rate_tables],
      expires_at: expiryOf(request, now, release.quote_valid_days),
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
