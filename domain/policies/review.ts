import type { RatedCover } from '../rating/events.ts'
import { explain } from '../rating/explain.ts'
import { price } from '../rating/price.ts'
import type { PricingRequest } from '../rating/request.ts'
import { dateIn } from '../time-zone.ts'
import { hasEnded } from './ended.ts'
import type { PolicyEvent, UnpricedReason } from './events.ts'
import type { PolicyComponent } from './record.ts'
import type { PolicyState } from './state.ts'
import { reviewAfter, reviewPeriods, termsWith } from './terms.ts'

type Unpriced = { readonly reason: UnpricedReason }

/** The sale's pricing request, with the rate tables of today; or why there is none. */
export type ReviewBasis = { readonly sold: PricingRequest } | Unpriced

/** Sent when the day has come on which premiums are reviewed. */
export type CallReview = { readonly type: 'CallReview'; readonly now: string; readonly basis: ReviewBasis }

/** The review that has come on that day and was neither concluded nor left to the team; null: there is none. */
export const reviewDue = (policy: PolicyState, now: string): string | null => {
  const { next_review_on: review_on, time_zone, review_called_on, end_date } = policy
  if (hasEnded(policy) || review_on === null || review_called_on === review_on) return null
  if (end_date !== null && end_date <= review_on) return null
  return review_on <= dateIn(time_zone, now) ? review_on : null
}

/** Reviewable covers cost what the tables of the day say; where these say nothing, the team is told why. */
export const callReview = ({ now, basis }: CallReview, policy: PolicyState): readonly PolicyEvent[] => {
  const review_on = reviewDue(policy, now)
  if (review_on === null) return []
  const found = 'reason' in basis ? basis : pricedReview(basis.sold, policy, review_on)
  if ('reason' in found) return [{ type: 'PolicyReviewDue', review_on, reason: found.reason }]
  const { changes, rate_tables, explained } = found
  const people = [policy.customer, ...(policy.joint_customer ? [policy.joint_customer] : [])]
  return [
    { type: 'PolicyReviewed', ...termsWith(policy, changes), ...reviewAfter(policy, review_on) },
    ...people.map(({ id }, index): PolicyEvent => {
      const isFirst = index === 0
      const components = explained.map(({ steps, ...component }) => ({
        ...component,
        steps: steps.filter(({ life }) => (life !== 2) === isFirst),
      }))
      const of = { customer_id: id, life: isFirst ? 1 : 2, review_on } as const
      return { type: 'PolicyReviewPriced', ...of, rate_tables: [...rate_tables], components }
    }),
  ]
}

const pricedReview = (sold: PricingRequest, policy: PolicyState, review_on: string) => {
  const held = policy.components.filter(
    ({ status, expires_on }) => status !== 'ended' && (expires_on === null || expires_on > review_on),
  )
  const due = reviewedOn(held, policy, review_on)
  // What is left to pay of a falling cover is not recorded, and a list has no price of today.
  const hasTablePrice = ({ pricing_basis, indexation_method }: PolicyComponent) =>
    pricing_basis === 'rated' && indexation_method !== 'decreasing'
  if (!due.every(hasTablePrice)) return { reason: 'no_table_price' } as const

  const request = reviewRequest(sold, held, { start_date: policy.start_date, review_on })
  const result = price(request)
  if (result.outcome !== 'priced') return { reason: reasons[result.outcome] }
  const priced = due.flatMap(({ cover_index }) =>
    result.components.filter((component) => component.cover_index === cover_index),
  )
  if (priced.length < due.length) return { reason: 'not_offered' } as const
  const steps = explain(request)?.components ?? []
  return {
    changes: priced.map(({ cover_index, premium_pence }) => ({ cover_index, cover_amount_pence: null, premium_pence })),
    rate_tables: result.rate_tables,
    explained: priced.map(({ cover_index, term_years }) => ({
      cover_index,
      term_years,
      steps: steps.find((component) => component.cover_index === cover_index)?.steps ?? [],
    })),
  }
}

const reasons = {
  details_missing: 'no_answers',
  cover_missing: 'no_answers',
  not_accepted: 'not_offered',
  no_quotable_cover: 'not_offered',
  rate_unavailable: 'no_rate',
} as const

/** Reviews are on anniversaries of the start. */
const yearsBetween = (start_date: string, review_on: string): number =>
  Number(review_on.slice(0, 4)) - Number(start_date.slice(0, 4))

/** The covers whose own period has ended since the review before this one: a premium holds for the whole of its period. */
const reviewedOn = (held: readonly PolicyComponent[], policy: PolicyState, review_on: string) => {
  const years = yearsBetween(policy.start_date, review_on)
  const before = years - Math.min(...reviewPeriods(policy))
  return held.filter(({ premium_basis, review_period_years: period }) =>
    premium_basis === 'reviewable' && period !== null
      ? Math.floor(years / period) > Math.floor(before / period)
      : false,
  )
}

/**
 * The sale, priced as of the day of the review: for the amounts of now, the years that are left and the ages attained. Nobody
 * is accepted again, so the limits at entry do not hold and underwriting ends nothing.
 */
export const reviewRequest = (
  sold: PricingRequest,
  held: readonly PolicyComponent[],
  { start_date, review_on }: { readonly start_date: string; readonly review_on: string },
): PricingRequest => {
  const years = yearsBetween(start_date, review_on)
  return {
    ...sold,
    start_date: review_on,
    release: { ...sold.release, earnings: null, covers: sold.release.covers.map(withoutLimits) },
    cover_amount_pence: null,
    term_years: null,
    components: sold.release.covers.map(({ id: cover_id, cover_index }) => {
      const component = held.find((each) => each.cover_index === cover_index)
      if (!component) return { cover_id, selected: false }
      const { cover_amount_pence, term_years } = component
      return {
        cover_id,
        cover_amount_pence,
        term_years: term_years === null ? null : term_years - years,
        selected: true,
      }
    }),
    accepted_terms: sold.accepted_terms ?? { loadings: [] },
  }
}

const withoutLimits = (cover: RatedCover): RatedCover => ({
  ...cover,
  age_at_entry_min: 0,
  age_at_entry_max: Infinity,
  sum_assured_min_pence: 0,
  sum_assured_max_pence: Infinity,
  // Whether there is a term at all is said by these.
  term_years_min: cover.term_years_min === null ? null : 0,
  term_years_max: cover.term_years_max === null ? null : Infinity,
  max_age_at_expiry: null,
  members_min: null,
  members_max: null,
})
