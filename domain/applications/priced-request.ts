import type { Release, ReleaseJourney } from '../catalogue/events.ts'
import { lifeKeysOf } from '../catalogue/record.ts'
import type { QuoteEvent } from '../quotes/events.ts'
import type { RateTable } from '../rating/events.ts'
import type { Life, Priced, PricingRequest } from '../rating/request.ts'
import { answersOfPartner } from './joint.ts'
import { dobOf, isJoint } from './record.ts'
import { pricedInputs, type ApplicationState, type Digest } from './state.ts'

/** The release and the rate tables by which an application is priced. */
export type PricedBy = {
  readonly release: Release
  readonly journey: ReleaseJourney
  readonly rate_tables: ReadonlyMap<string, RateTable>
}

const pricingRequest = (
  { release, journey, rate_tables }: PricedBy,
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
  given: PricedBy & { readonly digest: Digest },
  state: ApplicationState,
  start_date: string,
): PricingRequest => requestOn(given.digest(pricedInputs(state)), given, state, start_date)

export const requestOn = (
  inputs_digest: string,
  given: PricedBy,
  state: ApplicationState,
  start_date: string,
): PricingRequest => {
  const { accepted_terms } = state
  const holds = accepted_terms?.inputs_digest === inputs_digest
  return { ...pricingRequest(given, state, start_date), ...(accepted_terms && holds && { accepted_terms }) }
}

type Issued = Extract<QuoteEvent, { type: 'QuoteIssued' }>
type IssuedTerms = Omit<Issued, 'type' | 'quote_id' | 'organisation_id' | 'application_id' | 'expires_at'>

/** The part of a quote that says its price, and from what that was made. */
export const quotedTerms = (
  release: Pick<Release, 'currency_code'>,
  { record }: Pick<ApplicationState, 'record'>,
  { request, result, inputs_digest }: { request: PricingRequest; result: Priced; inputs_digest: string },
): IssuedTerms => ({
  product_id: record.product_id,
  journey_id: record.journey_id,
  product_release_id: record.release_id,
  inputs_digest,
  decision: result.decision,
  currency_code: release.currency_code,
  premium_pence: result.premium_pence,
  annual_premium_pence: result.annual_premium_pence,
  total_premium_pence: result.total_premium_pence,
  policy_fee_pence: result.policy_fee_pence,
  cover_amount_pence: request.cover_amount_pence,
  term_years: request.term_years,
  joint: result.joint,
  members: result.members,
  start_date: request.start_date,
  components: [...result.components],
  excluded_covers: [...result.excluded_covers],
  journey_loading: result.journey_loading,
  loadings: [...result.loadings],
  rate_tables: [...result.rate_tables],
})
