import { nothingToDeclare } from './answers.ts'

/** A sale of the demo, and the price that the rating model works out for it. */
export type Sale = {
  readonly product_type: string
  readonly slug: string
  readonly what: string
  readonly age: number
  readonly answers: object
  readonly cover: object
  readonly premium_pence: number
  readonly paysByCard?: true
}

const nonSmoker = { smoker: 'no' }

/** One of each product type; each price is a worked one, which the tests of the rating check to the penny. */
export const sales: readonly Sale[] = [
  {
    product_type: 'term',
    slug: 'term-life',
    what: '£250,000 at 34 for 25 years',
    age: 34,
    answers: nothingToDeclare,
    cover: { cover_amount_pence: 25_000_000, term_years: 25 },
    premium_pence: 1250,
  },
  {
    product_type: 'decreasing_term',
    slug: 'mortgage-life',
    what: '£200,000 at 30 for 25 years',
    age: 30,
    answers: nothingToDeclare,
    cover: { cover_amount_pence: 20_000_000, term_years: 25 },
    premium_pence: 602,
  },
  {
    product_type: 'whole_of_life',
    slug: 'whole-of-life',
    what: '£100,000 at 40',
    age: 40,
    answers: nonSmoker,
    cover: { cover_amount_pence: 10_000_000 },
    premium_pence: 6350,
  },
  {
    product_type: 'critical_illness',
    slug: 'critical-illness',
    what: '£100,000, life included, at 30 for 25 years',
    age: 30,
    answers: nonSmoker,
    cover: { cover_amount_pence: 10_000_000, term_years: 25 },
    premium_pence: 1973,
  },
  {
    product_type: 'income_protection',
    slug: 'income-cover',
    what: '£1,500 a month to 65 at 30, after 13 weeks',
    age: 30,
    answers: { ...nonSmoker, annual_income: 40_000, deferred_weeks: '13', occupation_kind: 'office' },
    cover: { cover_amount_pence: 1_800_000 },
    premium_pence: 2208,
  },
  {
    product_type: 'bundled',
    slug: 'family-protection',
    what: 'life £200,000 and critical illness £50,000 at 34',
    age: 34,
    answers: nonSmoker,
    cover: {
      cover_amount_pence: 20_000_000,
      term_years: 25,
      components: [{ cover_index: 1, cover_amount_pence: 5_000_000 }],
    },
    premium_pence: 2282,
  },
  {
    product_type: 'child_cover',
    slug: 'child-cover',
    what: '£20,000, paid by card first',
    age: 34,
    answers: {},
    cover: { cover_amount_pence: 2_000_000 },
    premium_pence: 245,
    paysByCard: true,
  },
  {
    product_type: 'healthcare',
    slug: 'team-health',
    what: '12 people at the level Plus, with dental',
    age: 34,
    answers: { employee_count: 12, wants_dental: true },
    cover: { components: [{ cover_index: 1, selected: true }] },
    premium_pence: 12 * (2450 + 790),
  },
]
