import type { AcceptedCover } from './acceptance.ts'
import { tableOf, type LifeAtStart } from './lives.ts'
import { answerFactor, answerFactorsOf, type LifeRate } from './premium.ts'
import { rateAt } from './rate-table.ts'
import type { MissingRate, PricingRequest } from './request.ts'
import type { RateTableUsed } from './events.ts'

export type CoverRates = { readonly lives: readonly LifeRate[]; readonly table: RateTableUsed }

/** The rates of a rated cover for each life, or the places where there is none. */
export const coverRates = (
  request: PricingRequest,
  { cover, term, underwritings }: AcceptedCover,
  lives: readonly LifeAtStart[],
): CoverRates | { readonly missing: readonly MissingRate[] } => {
  const { key, variant, table } = tableOf(request, cover, lives[0]?.answers ?? {})
  const byAnswer = answerFactorsOf(request.release.factors, cover.cover_type)
  const rates: LifeRate[] = []
  const missing: MissingRate[] = []

  lives.forEach(({ age, smoker, answers }, index) => {
    const place = { cover_id: cover.id, rate_table: key, age, term_years: term }
    const rateE4 = table && rateAt(table, { age, term, smoker, variant })
    if (rateE4 === undefined) missing.push({ ...place, answer_key: null })

    const answerFactors: number[] = []
    for (const factors of byAnswer) {
      const factor = answerFactor(factors, answers)
      if (factor === undefined) missing.push({ ...place, answer_key: factors.key })
      else answerFactors.push(factor)
    }
    const { extraPercent = 0, extraPerMillePence = 0 } = underwritings[index] ?? {}
    if (rateE4 !== undefined) rates.push({ rateE4, extraPercent, extraPerMillePence, answerFactors })
  })
  if (!table || missing.length > 0) return { missing }
  return { lives: rates, table: { key, version: table.version } }
}
