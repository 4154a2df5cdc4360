import { answerText, entry, type Answers } from './answers.ts'
import { decimalUnits, roundHalfUp } from './decimal.ts'
import type { CoverType } from '../values.ts'
import type { RatedCover, RatingFactors } from './events.ts'

/** The exact arithmetic of a price: whole numbers throughout, and one rounding at the end. */

const journeyPlaces = 4
const journeyScale = 10n ** BigInt(journeyPlaces)

export const journeyUnits = (journeyLoading: string): bigint => decimalUnits(journeyLoading, journeyPlaces)

/** A price from a list, with the journey's loading. */
export const listedPremium = (pence: number, journey: bigint): number =>
  journey === journeyScale ? pence : roundHalfUp(BigInt(pence) * journey, journeyScale)

/** One life's rate for a cover, with what its answers make of it. */
export type LifeRate = {
  readonly rateE4: number
  readonly extraPercent: number
  readonly extraPerMillePence: number
  /** Thousandths, as many for each life. */
  readonly answerFactors: readonly number[]
}

/** A rate is in ten-thousandths of a penny a month, for each 100,000 pence of benefit. */
const rateScale = 10_000n * 100_000n
/** An extra per mille is in pence a year, for each 100,000 pence of benefit. */
const perMilleScale = 12n * 100_000n

/**
 * A monthly premium from rates for each £1,000 of benefit.
 * An extra percentage raises the rate of the life that it belongs to. An extra per mille is charged as it is shown to
 * the customer: of the factors only the journey's loading is applied to it.
 */
export const ratedPremium = (
  lives: readonly LifeRate[],
  benefitPence: number,
  factors: readonly number[],
  journey: bigint,
): number => {
  let rate = 0n
  let perMille = 0n
  let scale = rateScale * 100n
  for (const { rateE4, extraPercent, extraPerMillePence, answerFactors } of lives) {
    rate += product(BigInt(rateE4) * BigInt(100 + extraPercent), answerFactors)
    perMille += BigInt(extraPerMillePence)
  }
  rate = product(rate, factors)
  scale *= 1000n ** BigInt(factors.length + (lives[0]?.answerFactors.length ?? 0))
  if (perMille > 0n) {
    rate = rate * perMilleScale + perMille * scale
    scale *= perMilleScale
  }
  return roundHalfUp(rate * BigInt(benefitPence) * journey, scale * journeyScale)
}

const product = (start: bigint, factors: readonly number[]): bigint =>
  factors.reduce((result, factor) => result * BigInt(factor), start)

/** The lives' extra percentages together, weighted by their rates. */
export const effectivePercent = (lives: readonly LifeRate[]): number => {
  const rates = lives.reduce((sum, { rateE4 }) => sum + BigInt(rateE4), 0n)
  const extras = lives.reduce((sum, { rateE4, extraPercent }) => sum + BigInt(rateE4) * BigInt(extraPercent), 0n)
  return roundHalfUp(extras, rates)
}

export const sizeFactor = ({ size_bands }: RatingFactors, cover: RatedCover, amountPence: number): number => {
  if (cover.benefit_basis === 'monthly_benefit') return 1000
  return size_bands.find(({ below_pence }) => below_pence === null || amountPence < below_pence)?.factor ?? 1000
}

export const indexationFactor = ({ indexation }: RatingFactors, cover: RatedCover): number =>
  cover.indexation_method === 'fixed_percent'
    ? 1000 + indexation.fixed_percent_each * (cover.indexation_percent ?? 0)
    : indexation[cover.indexation_method]

/** The factors by answer that apply to a cover. */
export const answerFactorsOf = ({ by_answer }: RatingFactors, coverType: CoverType) =>
  by_answer.filter(({ cover_types }) => cover_types.includes(coverType))

/** The factor of an answer; undefined for a value that has none. */
export const answerFactor = (
  { key, values }: RatingFactors['by_answer'][number],
  answers: Answers,
): number | undefined => {
  const answer = answerText(answers, key)
  return answer === undefined ? undefined : entry(values, answer)
}
