import { ageLastBirthday } from './age.ts'
import { answerText, entry, isAnswered, withDerived, type Answers } from './answers.ts'
import { rateTableAnswers, rateTableOf } from './cover.ts'
import { answerFactorsOf } from './premium.ts'
import type { Life, PricingRequest, RatedRelease } from './request.ts'
import type { ChosenCover } from './selection.ts'
import type { RatedCover, RateTable } from './events.ts'

/** A life assured as it is on the start date. */
export type LifeAtStart = {
  readonly dob: string
  readonly age: number
  /** Derived answers included. */
  readonly answers: Answers
  /** Null when no answer says. */
  readonly smoker: boolean | null
}

/** Undefined while the date of birth is missing. */
export const lifeAtStart = (
  release: RatedRelease,
  { dob, answers }: Life,
  startDate: string,
): LifeAtStart | undefined => {
  if (dob === null) return undefined
  const age = ageLastBirthday(dob, startDate)
  const smoker = isSmoker(release, answers)
  return { dob, age, smoker, answers: withDerived(release.underwriting.derived, answers, age) }
}

const isSmoker = ({ smoker }: RatedRelease, answers: Answers): boolean | null => {
  if (!smoker || !isAnswered(answers, smoker.key)) return null
  const values: readonly unknown[] = smoker.values
  return values.includes(entry(answers, smoker.key))
}

/** A `per_member` cover's headcount; null where the answer is no whole number. */
export const membersOf = ({ members_factor }: RatedCover, answers: Answers): number | null => {
  const members = members_factor === null ? null : entry(answers, members_factor)
  return typeof members === 'number' && Number.isSafeInteger(members) ? members : null
}

type ChosenTable = {
  readonly key: string
  readonly variant: string | undefined
  /** Undefined when none is published under the key. */
  readonly table: RateTable | undefined
}

/** The table that a rated cover is priced from, by the first life's answers. */
export const tableOf = ({ rate_tables }: PricingRequest, cover: RatedCover, answers: Answers): ChosenTable => {
  if (cover.rate_table === null) throw new Error(`Cover ${cover.id} is rated but names no rate table.`)
  const { key, variant } = rateTableOf(cover.rate_table, (answer) => answerText(answers, answer))
  return { key, variant, table: rate_tables.get(key) }
}

type Lives = readonly (LifeAtStart | undefined)[]

/** The paths of what the chosen covers cannot be priced without, whether or not it was asked as required. */
export const missingDetails = (
  request: PricingRequest,
  chosen: readonly ChosenCover[],
  lives: Lives,
): readonly string[] => {
  const missing = chosen.flatMap(({ cover }) => {
    switch (cover.pricing_basis) {
      case 'rated':
        return missingForRates(request, cover, lives)
      case 'fixed_tiers':
        return lives[0] ? [] : ['customer.dob']
      case 'per_member':
        return membersOf(cover, request.lives[0].answers) === null ? [`answers.${cover.members_factor}`] : []
    }
  })
  return missing.length === 0 ? missing : [...new Set(missing)]
}

const missingForRates = (request: PricingRequest, cover: RatedCover, lives: Lives): readonly string[] => {
  const { release } = request
  const choosing = rateTableAnswers(cover.rate_table ?? '')
  const limiting = release.earnings && cover.benefit_basis === 'monthly_benefit' ? [release.earnings.key] : []
  const multiplying = [...answerFactorsOf(release.factors, cover.cover_type).map(({ key }) => key), ...limiting]

  return lives.flatMap((life, index) => {
    const isFirst = index === 0
    if (!life) return [isFirst ? 'customer.dob' : 'partner.dob']
    const needed = isFirst ? [...choosing, ...multiplying] : multiplying
    const missing = needed.filter((key) => !isAnswered(life.answers, key)).map((key) => askedFor(release, key))
    const smoking = life.smoker === null ? smokingAnswer(request, cover, lives) : []
    return [...missing, ...smoking].map((key) => (isFirst ? `answers.${key}` : `partner.answers.${key}`))
  })
}

/** The key of the question that asks about smoking, if the table of the cover depends on it. */
const smokingAnswer = (request: PricingRequest, cover: RatedCover, [first]: Lives): readonly string[] => {
  const { table } = tableOf(request, cover, first?.answers ?? {})
  if (!table?.dimensions.includes('smoker')) return []
  if (!request.release.smoker) throw new Error(`Rates of ${table.key} depend on smoking, which the release never asks.`)
  return [request.release.smoker.key]
}

/** A derived value is missing because the answer is that it follows from. */
const askedFor = ({ underwriting }: RatedRelease, key: string): string => {
  const derived = underwriting.derived.find((value) => value.key === key)
  return derived?.kind === 'mapped' ? derived.from : key
}
