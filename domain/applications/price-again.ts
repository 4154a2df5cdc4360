import { changesOf, type Change } from '../changes.ts'
import type { Release } from '../catalogue/events.ts'
import type { Recorded } from '../decider.ts'
import { quoteEvents, type QuoteEvent } from '../quotes/events.ts'
import type { RateTable } from '../rating/events.ts'
import { workOut, type WorkedComponent } from '../rating/explain.ts'
import { price } from '../rating/price.ts'
import type { PricingRequest, PricingResult } from '../rating/request.ts'
import { quotedTerms, requestOn } from './priced-request.ts'
import type { ApplicationStreamEvent } from './record.ts'
import { evolve, pricedInputs, type ApplicationState, type Digest } from './state.ts'

export type QuoteIssued = Extract<QuoteEvent, { type: 'QuoteIssued' }>

/** An application as it was after some events of its stream. */
export const applicationAfter = (
  told: readonly { readonly event: ApplicationStreamEvent; readonly recorded: { readonly metadata: Recorded } }[],
): ApplicationState | undefined =>
  told.reduce<ApplicationState | undefined>(
    (state, { event, recorded }) => evolve(state, event, recorded.metadata),
    undefined,
  )

type Given = {
  readonly issued: QuoteIssued
  /** The application just before the quote was issued. */
  readonly state: ApplicationState
  readonly release: Release
  readonly rate_tables: ReadonlyMap<string, RateTable>
  readonly digest: Digest
}

/** The request that a price is made from, without the release and its rate tables. */
export type PriceInputs = Omit<PricingRequest, 'release' | 'rate_tables'>

/** A quote as it is when it is priced again. */
export type PriceAgain = {
  readonly inputs: PriceInputs | null
  /** The quote as it would be issued now; undefined: from what there is, no price follows. */
  readonly again: QuoteIssued | undefined
  readonly components: readonly WorkedComponent[]
  /** Each value that is not as it was stored. */
  readonly differences: readonly Change[]
  /** Why no price follows. */
  readonly without: Exclude<PricingResult['outcome'], 'priced'> | 'no_journey' | undefined
  /** Answers, details or rates that there should be, and are not. */
  readonly lacking: readonly string[]
}

/** Works a quote out again, by the arithmetic by which quotes are issued, and compares it with what was stored. */
export const priceAgain = ({ issued, state, release, rate_tables, digest }: Given): PriceAgain => {
  const journey = release.journeys.find(({ id }) => id === state.record.journey_id)
  if (!journey) return noPrice(null, 'no_journey', [`journeys.${state.record.journey_id}`])
  const inputs_digest = digest(pricedInputs(state))
  const request = requestOn(inputs_digest, { release, journey, rate_tables }, state, issued.start_date)
  const { release: _release, rate_tables: _tables, ...inputs } = request
  const result = price(request)
  if (result.outcome !== 'priced') return noPrice(inputs, result.outcome, lackingIn(result))
  const terms = quotedTerms(release, state, { request, result, inputs_digest })
  const again: QuoteIssued = { type: issued.type, ...quoteEvents.QuoteIssued.schema.parse({ ...issued, ...terms }) }
  const differences = changesOf(issued, again)
  return { inputs, again, components: workOut(request)?.components ?? [], differences, without: undefined, lacking: [] }
}

const noPrice = (
  inputs: PriceInputs | null,
  without: NonNullable<PriceAgain['without']>,
  lacking: readonly string[],
): PriceAgain => ({ inputs, again: undefined, components: [], differences: [], without, lacking })

const lackingIn = (result: PricingResult): readonly string[] => {
  switch (result.outcome) {
    case 'details_missing':
    case 'cover_missing':
      return result.fields
    case 'rate_unavailable':
      return [
        ...new Set(
          result.missing_rates.map(({ rate_table, answer_key }) =>
            answer_key === null ? `rate_tables.${rate_table}` : `factors.by_answer.${answer_key}`,
          ),
        ),
      ]
    case 'not_accepted':
    case 'no_quotable_cover':
    case 'priced':
      return []
  }
}
