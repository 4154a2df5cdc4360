import type { ChosenCover } from './selection.ts'
import { shortMoney, unitsIn } from '../money.ts'
import type { CoverType } from '../values.ts'
import type { RatedCover, ExcludedCover } from './events.ts'

type Exclusion = Pick<ExcludedCover, 'reason' | 'message'>

/** Why a cover cannot be had at these ages, for this amount, term or headcount; undefined when it can. */
export const exclusion = (
  { cover, amount, term }: ChosenCover,
  ages: readonly number[],
  members: number | null,
  currency: string,
): Exclusion | undefined => {
  switch (cover.pricing_basis) {
    case 'rated':
      return (
        byAge(cover, ages) ?? byAmount(cover, amount, currency) ?? byTerm(cover, term) ?? byExpiry(cover, ages, term)
      )
    case 'fixed_tiers':
      return byAge(cover, ages) ?? byTier(cover, amount, currency) ?? byTerm(cover, term) ?? byExpiry(cover, ages, term)
    case 'per_member':
      return byMembers(cover, members)
  }
}

const names: Record<CoverType, string> = {
  life: 'Life cover',
  critical_illness: 'Critical illness cover',
  income_protection: 'Income protection',
  accidental_death: 'Accidental death cover',
  child_benefit: 'Child cover',
  healthcare: 'Healthcare',
}

export const nameOf = (cover: RatedCover): string => cover.title ?? names[cover.cover_type]

const byAge = (cover: RatedCover, ages: readonly number[]): Exclusion | undefined => {
  const { age_at_entry_min: min, age_at_entry_max: max } = cover
  const age = ages.find((years) => years < min || years > max)
  if (age === undefined) return undefined
  return { reason: 'age', message: `${nameOf(cover)} starts at ages ${min} to ${max}; the age would be ${age}.` }
}

const byAmount = (cover: RatedCover, amount: number | null, currency: string): Exclusion | undefined => {
  const { sum_assured_min_pence: min, sum_assured_max_pence: max } = cover
  if (amount === null || (amount >= min && amount <= max)) return undefined
  const limits = `${shortMoney(min, currency)} to ${shortMoney(max, currency)}`
  return { reason: 'amount', message: `${nameOf(cover)} can be ${limits}${perYear(cover)}.` }
}

const perYear = ({ benefit_basis }: RatedCover): string => (benefit_basis === 'monthly_benefit' ? ' a year' : '')

const byTier = (cover: RatedCover, amount: number | null, currency: string): Exclusion | undefined => {
  if (cover.tiers.some(({ cover_amount_pence }) => cover_amount_pence === amount)) return undefined
  const levels = cover.tiers.map(({ cover_amount_pence }) => shortMoney(cover_amount_pence, currency)).join(', ')
  return { reason: 'amount', message: `${nameOf(cover)} comes in these amounts: ${levels}.` }
}

const byTerm = (cover: RatedCover, term: number | null): Exclusion | undefined => {
  const { term_years_min: min, term_years_max: max } = cover
  if (term === null || min === null || max === null || (term >= min && term <= max)) return undefined
  return { reason: 'term', message: `${nameOf(cover)} runs for ${min} to ${max} years.` }
}

/** Cover without a fixed term ends at that age, so it must start below it. */
const byExpiry = (cover: RatedCover, ages: readonly number[], term: number | null): Exclusion | undefined => {
  const { max_age_at_expiry: max } = cover
  if (max === null || ages.every((age) => (term === null ? age < max : age + term <= max))) return undefined
  return { reason: 'expiry_age', message: `${nameOf(cover)} must end by the age of ${max}.` }
}

const byMembers = (cover: RatedCover, members: number | null): Exclusion | undefined => {
  const { members_min: min, members_max: max } = cover
  if (members !== null && members >= (min ?? 1) && members <= (max ?? Infinity)) return undefined
  const limits = max === null ? `${min ?? 1} people or more` : `${min ?? 1} to ${max} people`
  return { reason: 'amount', message: `${nameOf(cover)} is for ${limits}.` }
}

/** A benefit beyond part of what a person earns would pay them more than working does. */
export const beyondEarnings = (
  { cover, amount }: ChosenCover,
  earnings: readonly unknown[],
  percent: number,
  currency: string,
): Exclusion | undefined => {
  if (cover.benefit_basis !== 'monthly_benefit' || amount === null) return undefined
  const units = unitsIn(currency)
  const least = Math.min(...earnings.map((pounds) => (typeof pounds === 'number' ? Math.round(pounds * units) : 0)))
  // Both sides in hundredths of a penny, so that nothing is rounded.
  if (amount * 100 <= least * percent) return undefined
  const most = Math.floor((least * percent) / 100)
  const message = `${nameOf(cover)} can be ${percent} % of earnings at most: ${shortMoney(most, currency)} a year.`
  return { reason: 'amount', message }
}

/**
 * An accelerated payment comes out of the life cover, so it cannot be more; and its rate holds the death benefit of its own
 * term, so that life cover which goes on for longer would be had for nothing.
 */
export const acceleratedUnlikeLife = (
  { cover, amount, term }: ChosenCover,
  life: ChosenCover,
  currency: string,
): Exclusion | undefined => {
  const paidFrom = `${nameOf(cover)} is paid from the life cover`
  if ((amount ?? 0) > (life.amount ?? Infinity))
    return {
      reason: 'amount',
      message: `${paidFrom} and cannot be more than its ${shortMoney(life.amount ?? 0, currency)}.`,
    }
  if (term === life.term) return undefined
  const itsTerm = life.term === null ? 'without a fixed term' : `for ${life.term} years`
  return { reason: 'term', message: `${paidFrom} and must run as long as that: ${itsTerm}.` }
}
