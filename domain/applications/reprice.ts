import { isSameJson } from '../canonical-json.ts'
import type { Release, TerminalOutcome } from '../catalogue/events.ts'
import type { QuoteEvent } from '../quotes/events.ts'
import type { QuoteComponent, RateTable } from '../rating/events.ts'
import { price } from '../rating/price.ts'
import type { PricingResult } from '../rating/request.ts'
import { terminalOf } from './answers.ts'
import { requestOfQuote } from './priced-request.ts'
import type { ApplicationState, Digest } from './state.ts'

type Issued = Extract<QuoteEvent, { type: 'QuoteIssued' }>

type WithoutPrice =
  | Exclude<PricingResult['outcome'], 'priced' | 'not_accepted'>
  | 'journey_missing'
  | 'other_currency'
  | 'whole_of_market'

/** A quote as it would be with another release of its product. */
export type Repriced =
  | {
      readonly outcome: 'priced'
      readonly premium_pence: number
      readonly decision: Issued['decision']
      /** The same covers, each at the same premium, on the same terms. */
      readonly isSame: boolean
    }
  /** An answer, or the underwriting, ends the application. */
  | { readonly outcome: TerminalOutcome }
  | { readonly outcome: 'no_price'; readonly because: WithoutPrice }

type Given = {
  readonly release: Release
  readonly rate_tables: ReadonlyMap<string, RateTable>
  readonly digest: Digest
}

/** Prices what an application held when a quote was issued with another release, from the same start date. */
export const reprice = (
  { release, rate_tables, digest }: Given,
  state: ApplicationState,
  issued: Pick<Issued, 'currency_code' | 'start_date' | 'decision' | 'components' | 'premium_pence'>,
): Repriced => {
  const journey = release.journeys.find(({ id }) => id === state.record.journey_id)
  if (!journey) return without('journey_missing')
  if (release.whole_of_market) return without('whole_of_market')
  if (release.currency_code !== issued.currency_code) return without('other_currency')
  const request = requestOfQuote({ release, journey, rate_tables, digest }, state, issued.start_date)
  const { record, partner_answers } = state
  const terminal = request.accepted_terms
    ? undefined
    : (terminalOf(journey.questions, {}, record.risk_factors) ??
      (record.joint_customer ? terminalOf(journey.questions, {}, partner_answers) : undefined))
  if (terminal) return { outcome: terminal.outcome }
  const result = price(request)
  switch (result.outcome) {
    case 'priced': {
      const { premium_pence, decision } = result
      return { outcome: 'priced', premium_pence, decision, isSame: isSameJson(termsOf(issued), termsOf(result)) }
    }
    case 'not_accepted':
      return { outcome: result.decision }
    case 'details_missing':
    case 'cover_missing':
    case 'no_quotable_cover':
    case 'rate_unavailable':
      return without(result.outcome)
  }
}

const without = (because: WithoutPrice): Repriced => ({ outcome: 'no_price', because })

type Terms = Pick<Issued, 'decision' | 'premium_pence'> & { readonly components: readonly QuoteComponent[] }

/** The order of covers may differ between releases. */
const termsOf = ({ decision, premium_pence, components }: Terms) => ({
  decision,
  premium_pence,
  covers: Object.fromEntries(components.map((each) => [each.cover_id, each.premium_pence])),
})
