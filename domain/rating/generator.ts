import type { RateTable } from './events.ts'

/**
 * Writes rate tables from population mortality and illness rates. It runs when a version of a table is made, never when
 * something is priced, and is the one place of the rating that may use floating point.
 *
 * Mortality: mean of male and female of the National Life Tables, United Kingdom, 2017-2019 (Office for National
 * Statistics, Open Government Licence v3.0), the last free of the pandemic years. Critical illness: cancer, heart attack,
 * stroke and bypass surgery of A Critical Review (Healthcare Study Group, Staple Inn Actuarial Society, 2000). Both are
 * the mean of the sexes, since a price must not depend on sex.
 */

const knotAgeFirst = 20
const knotEvery = 5

const deathsPerMillion = [
  347, 437, 571, 822, 1_200, 1_868, 2_746, 3_967, 6_331, 10_070, 15_478, 26_561, 46_579, 84_320, 149_255, 250_710,
  375_571,
]
const fourDiseasesPerMillion = [305, 474, 760, 1_323, 2_377, 3_879, 6_421, 9_844, 14_742, 20_410, 26_870]

/** Log-linear between the knots, and flat beyond the first and the last. */
const curve =
  (knots: readonly number[]) =>
  (age: number): number => {
    const at = Math.min(Math.max((age - knotAgeFirst) / knotEvery, 0), knots.length - 1)
    const below = Math.min(Math.floor(at), knots.length - 2)
    const part = at - below
    const [from = 0, to = 0] = [knots[below], knots[below + 1]]
    return Math.exp(Math.log(from) * (1 - part) + Math.log(to) * part) / 1e6
  }

const mortality = curve(deathsPerMillion)
/** The remaining conditions add 15 %. */
const illness = curve(fourDiseasesPerMillion.map((rate) => rate * 1.15))

type Smoker = 'n' | 's'

const interest = 0.04
const discount = 1 / (1 + interest)
const improvement = 0.9875
const mortgageInterest = 0.06
const lastAge = 105
const retirementAge = 65

/** Those just accepted are healthier than others of their age. */
const lifeSelect = (year: number): number => [0.6, 0.75, 0.9][year] ?? 1
const illnessSelect = (year: number): number => [0.75, 0.9][year] ?? 1

const lapse = (year: number): number => (year < 4 ? 0.08 : 0.06)
const lapseOfWholeLife = (): number => 0.015

const death = (age: number, year: number, smoker: Smoker): number => {
  const multiplier = smoker === 's' ? 0.72 : 0.3
  return Math.min(1, mortality(age + year) * multiplier * lifeSelect(year) * improvement ** year)
}

const criticalIllness = (age: number, year: number, smoker: Smoker): number =>
  illness(age + year) * (smoker === 's' ? 1.05 : 0.6) * illnessSelect(year)

const either = (one: number, other: number): number => 1 - (1 - one) * (1 - other)

type FollowCallbacks = {
  readonly years: number
  /** Expected claims in a year of those still insured, for each pound of benefit. */
  readonly claims: (year: number) => number
  /** The share leaving by death or claim. */
  readonly exits: (year: number) => number
  readonly lapses: (year: number) => number
  /** The part of the premium that goes on expenses, commission and profit. */
  readonly expenses: number
}

/** Claims in the middle of the year over premiums paid monthly, both discounted to the start. */
const rateOf = ({ years, claims, exits, lapses, expenses }: FollowCallbacks): number => {
  let remaining = 1
  let paidOut = 0
  let paidIn = 0
  for (let year = 0; year < years; year++) {
    paidOut += remaining * claims(year) * discount ** (year + 0.5)
    paidIn += remaining * discount ** year * (1 - (0.5 * (1 - discount) * 11) / 12)
    remaining *= (1 - exits(year)) * (1 - lapses(year))
  }
  return Math.round((((paidOut / paidIn) * 1000 * 100) / 12 / (1 - expenses)) * 10_000)
}

type RateFormula = (age: number, term: number, smoker: Smoker) => number

const levelLife: RateFormula = (age, term, smoker) => {
  const deaths = (year: number) => death(age, year, smoker)
  return rateOf({ years: term, claims: deaths, exits: deaths, lapses: lapse, expenses: 0.3 })
}

/** The benefit is what a repayment mortgage still owes in the middle of the year. */
const decreasingLife: RateFormula = (age, term, smoker) => {
  const deaths = (year: number) => death(age, year, smoker)
  const outstanding = (year: number) =>
    (1 - (1 + mortgageInterest) ** -(term - year - 0.5)) / (1 - (1 + mortgageInterest) ** -term)
  return rateOf({
    years: term,
    claims: (year) => deaths(year) * outstanding(year),
    exits: deaths,
    lapses: lapse,
    expenses: 0.3,
  })
}

/** Acceptance wears off with age, so the multiplier moves towards the population's; mortality does not improve. */
const wholeLife: RateFormula = (age, _term, smoker) => {
  const years = lastAge - age
  const multiplier = (at: number) => {
    const part = Math.min(1, Math.max(0, (at - 65) / 30))
    return smoker === 's' ? 0.95 + 0.05 * part : 0.45 + 0.4 * part
  }
  const deaths = (year: number) =>
    year === years - 1 ? 1 : Math.min(1, mortality(age + year) * multiplier(age + year) * lifeSelect(year))
  return rateOf({ years, claims: deaths, exits: deaths, lapses: lapseOfWholeLife, expenses: 0.22 })
}

/** Of a hundred who fall ill, four do not survive the fourteen days. */
const standaloneIllness: RateFormula = (age, term, smoker) =>
  rateOf({
    years: term,
    claims: (year) => 0.96 * criticalIllness(age, year, smoker),
    exits: (year) => either(criticalIllness(age, year, smoker), death(age, year, smoker)),
    lapses: lapse,
    expenses: 0.3,
  })

/** About a third of deaths come without a claim for critical illness before them. */
const acceleratedIllness: RateFormula = (age, term, smoker) => {
  const claims = (year: number) => criticalIllness(age, year, smoker) + 0.35 * death(age, year, smoker)
  return rateOf({ years: term, claims, exits: claims, lapses: lapse, expenses: 0.3 })
}

type Deferred = { readonly weeks: number; readonly inceptionAt30: number; readonly recovery: number }

/** A claim pays from the end of the deferred period until recovery or retirement. */
const incomeProtection =
  ({ weeks, inceptionAt30, recovery }: Deferred): RateFormula =>
  (age, _term, smoker) => {
    const force = Math.log(1 + interest)
    const claims = (year: number) => {
      const since30 = age + year - 30
      const inceptions = inceptionAt30 * Math.exp(0.042 * since30) * (smoker === 's' ? 1.25 : 1)
      const ending = recovery * Math.exp(-0.03 * since30) + force
      const yearsLeft = Math.max(0, retirementAge - age - year - 0.5 - weeks / 52)
      return ((inceptions * (1 - Math.exp(-ending * yearsLeft))) / ending) * discount ** (weeks / 52)
    }
    return rateOf({
      years: retirementAge - age,
      claims,
      exits: (year) => death(age, year, smoker),
      lapses: lapse,
      expenses: 0.3,
    })
  }

export type TableDesign = {
  readonly key: string
  readonly ages: { readonly min: number; readonly max: number }
  /** Null where cover has no fixed term. */
  readonly terms: { readonly min: number; readonly max: number; readonly ageAtExpiryMax: number } | null
  readonly rate: RateFormula
}

const lifeTerms = { ages: { min: 18, max: 70 }, terms: { min: 5, max: 40, ageAtExpiryMax: 80 } }
/** Illness rates are known up to 70. */
const illnessTerms = { ages: { min: 18, max: 65 }, terms: { min: 5, max: 40, ageAtExpiryMax: 70 } }
const toRetirement = { ages: { min: 18, max: 60 }, terms: null }

export const tableDesigns: readonly TableDesign[] = [
  { key: 'life.level', ...lifeTerms, rate: levelLife },
  { key: 'life.decreasing.6pct', ...lifeTerms, rate: decreasingLife },
  { key: 'life.wol', ages: { min: 18, max: 80 }, terms: null, rate: wholeLife },
  { key: 'ci.standalone', ...illnessTerms, rate: standaloneIllness },
  { key: 'ci.accelerated', ...illnessTerms, rate: acceleratedIllness },
  ...[
    { weeks: 4, inceptionAt30: 0.006, recovery: 0.9 },
    { weeks: 13, inceptionAt30: 0.0026, recovery: 0.48 },
    { weeks: 26, inceptionAt30: 0.0016, recovery: 0.34 },
    { weeks: 52, inceptionAt30: 0.0011, recovery: 0.26 },
  ].map((deferred) => ({ key: `ip.to65.d${deferred.weeks}`, ...toRetirement, rate: incomeProtection(deferred) })),
]

export type GeneratedTable = Pick<RateTable, 'key' | 'dimensions' | 'cells'>

/** Generates a table one age after another, and reports each. */
export const generateTable = (
  { key, ages, terms, rate }: TableDesign,
  onAge?: (age: number) => void,
): GeneratedTable => {
  const cells: Record<string, number> = {}
  for (let age = ages.min; age <= ages.max; age++) {
    for (const smoker of ['n', 's'] as const) {
      if (!terms) cells[`${age}|${smoker}`] = rate(age, 0, smoker)
      else
        for (let term = terms.min; term <= Math.min(terms.max, terms.ageAtExpiryMax - age); term++)
          cells[`${age}|${term}|${smoker}`] = rate(age, term, smoker)
    }
    onAge?.(age)
  }
  return { key, dimensions: terms ? ['age', 'term', 'smoker'] : ['age', 'smoker'], cells }
}
