import { yearsAfter } from '../dates.ts'
import { birthday } from './age.ts'
import type { AcceptedCover } from './acceptance.ts'
import { membersOf, type LifeAtStart } from './lives.ts'
import { effectivePercent, indexationFactor, journeyUnits, listedPremium, ratedPremium, sizeFactor } from './premium.ts'
import type { CoverRates } from './rates.ts'
import type { PricingRequest } from './request.ts'
import type { RatedCover, QuoteComponent } from './events.ts'

/** A cover that can be quoted, with its rates where it is rated. */
export type QuotableCover = AcceptedCover & { readonly rates: CoverRates | null }

/** A factor on a rate, in thousandths. */
export type NamedFactor = { readonly name: string; readonly thousandths: number }

/** The basis of a component's premium. */
type Working =
  | { readonly by: 'list'; readonly pence: number }
  | { readonly by: 'life_cover' }
  | {
      readonly by: 'rates'
      readonly rates: CoverRates
      readonly benefitPence: number
      readonly factors: readonly NamedFactor[]
    }

export type PricedComponent = {
  readonly quotable: QuotableCover
  readonly component: QuoteComponent
  readonly working: Working
}

type PricedComponents = { readonly priced: readonly PricedComponent[]; readonly policyFeePence: number }

/**
 * A rated component costs `max(minimum premium, rounded premium + policy fee)`. The fee is charged once, with the first
 * rated component that has something to price, so the minimum is held against premium and fee together. It is shown
 * apart from them: a component's premium is what remains without the fee, so that components and fee add up.
 * A life of £25,000 costs 36 + 150, less than its minimum of 500, and is shown as 350 and a fee of 150.
 */
export const priceComponents = (
  request: PricingRequest,
  covers: readonly QuotableCover[],
  lives: readonly LifeAtStart[],
): PricedComponents => {
  const journey = journeyUnits(request.journey_loading)
  const { policy_fee_pence, product_type, factors } = request.release
  const accelerated = acceleratedAmount(covers)
  let ratedSoFar = 0

  const priced = covers.map((quotable): PricedComponent => {
    const { cover, amount, rates } = quotable
    const madeOf = (working: Working, premium: number, beforeMinimum: number): PricedComponent => ({
      quotable,
      component: component(request, quotable, lives, premium, beforeMinimum),
      working,
    })
    if (!rates) {
      const pence = listedPence(quotable, request)
      const listed = listedPremium(pence, journey)
      return madeOf({ by: 'list', pence }, Math.max(listed, cover.minimum_premium_pence), listed)
    }
    const benefitPence = Math.max(0, (amount ?? 0) - (cover.cover_type === 'life' ? accelerated : 0))
    // A life cover that is paid out in full on a critical illness is priced with that: nothing of it remains.
    if (benefitPence === 0) return madeOf({ by: 'life_cover' }, 0, 0)

    const fee = ratedSoFar === 0 ? policy_fee_pence : 0
    const named: readonly NamedFactor[] = [
      { name: 'size', thousandths: sizeFactor(factors, cover, amount ?? 0) },
      { name: 'premium_basis', thousandths: factors.premium_basis[cover.premium_basis] },
      { name: 'indexation', thousandths: indexationFactor(factors, cover) },
      { name: 'joint_first_event', thousandths: lives.length > 1 ? factors.joint_first_event : 1000 },
      { name: 'multi_cover', thousandths: product_type === 'bundled' && ratedSoFar > 0 ? factors.multi_cover : 1000 },
    ]
    const thousandths = named.map((factor) => factor.thousandths)
    const premium = ratedPremium(rates.lives, benefitPence, thousandths, journey)
    ratedSoFar += 1
    const working = { by: 'rates', rates, benefitPence, factors: named } as const
    return madeOf(working, Math.max(premium, cover.minimum_premium_pence - fee), premium)
  })
  return { priced, policyFeePence: ratedSoFar > 0 ? policy_fee_pence : 0 }
}

/** The part of the life cover that the accelerated critical illness covers of the same quote pay out early. */
const acceleratedAmount = (covers: readonly QuotableCover[]): number =>
  covers.reduce((sum, { cover, amount }) => (isAccelerated(cover) ? sum + (amount ?? 0) : sum), 0)

export const isAccelerated = ({ cover_type, ci_payout_basis, pricing_basis }: RatedCover): boolean =>
  pricing_basis === 'rated' && cover_type === 'critical_illness' && ci_payout_basis === 'accelerated'

/** The list price before the journey's loading. */
const listedPence = ({ cover, amount }: QuotableCover, { lives }: PricingRequest): number =>
  cover.pricing_basis === 'per_member'
    ? (cover.member_premium_pence ?? 0) * (membersOf(cover, lives[0].answers) ?? 0)
    : (cover.tiers.find(({ cover_amount_pence }) => cover_amount_pence === amount)?.premium_pence ?? 0)

const component = (
  request: PricingRequest,
  { cover, amount, term, rates }: QuotableCover,
  lives: readonly LifeAtStart[],
  premium: number,
  beforeMinimum: number,
): QuoteComponent => ({
  cover_id: cover.id,
  cover_index: cover.cover_index,
  cover_type: cover.cover_type,
  title: cover.title,
  pricing_basis: cover.pricing_basis,
  benefit_basis: cover.benefit_basis,
  cover_amount_pence: amount,
  monthly_benefit_pence: cover.benefit_basis === 'monthly_benefit' && amount !== null ? wholeTwelfth(amount) : null,
  term_years: term,
  expires_on: expiresOn(request, cover, term, lives),
  premium_pence: premium,
  premium_basis: cover.premium_basis,
  review_period_years: cover.review_period_years,
  indexation_method: cover.indexation_method,
  ci_payout_basis: cover.ci_payout_basis,
  members: cover.pricing_basis === 'per_member' ? membersOf(cover, request.lives[0].answers) : null,
  member_premium_pence: cover.member_premium_pence,
  minimum_premium_applied: premium > beforeMinimum,
  loading_percent: rates ? effectivePercent(rates.lives) : 0,
})

const wholeTwelfth = (pence: number): number => (pence - (pence % 12)) / 12

/** The end of the term; without one, the day on which the first of the lives is too old; null: the cover has no end. */
const expiresOn = (
  { start_date }: PricingRequest,
  { max_age_at_expiry, pricing_basis }: RatedCover,
  term: number | null,
  lives: readonly LifeAtStart[],
): string | null => {
  if (term !== null) return yearsAfter(start_date, term)
  if (max_age_at_expiry === null || pricing_basis === 'per_member') return null
  return lives.map(({ dob }) => birthday(dob, max_age_at_expiry)).toSorted()[0] ?? null
}
