import type { RatedCover } from './events.ts'

const placeholder = /\{([^}]+)\}/g

/** The keys of the answers that choose the rate table. */
export const rateTableAnswers = (template: string): readonly string[] =>
  template.includes('{') ? [...template.matchAll(placeholder)].map(([, key]) => key ?? '') : []

export const rateTableOf = (template: string, answer: (key: string) => string | undefined) => {
  const named = template.includes('{')
    ? template.replaceAll(placeholder, (_, key: string) => answer(key) ?? '')
    : template
  const [key = '', variant] = named.split(':', 2)
  return { key, variant }
}

/** Faults that keep a cover from being priced, by field. A release with such a cover should not be published. */
export const coverFaults = (cover: RatedCover): Readonly<Record<string, string>> => ({
  ...pricingFaults(cover),
  ...(cover.premium_basis === 'reviewable' && cover.review_period_years === null
    ? { review_period_years: 'reviewable premiums need it' }
    : {}),
  ...(cover.indexation_method === 'fixed_percent' && cover.indexation_percent === null
    ? { indexation_percent: 'indexation by a fixed percentage needs it' }
    : {}),
  ...(cover.sum_assured_min_pence > cover.sum_assured_max_pence
    ? { sum_assured_max_pence: 'must not be below sum_assured_min_pence' }
    : {}),
  ...(cover.age_at_entry_min > cover.age_at_entry_max
    ? { age_at_entry_max: 'must not be below age_at_entry_min' }
    : {}),
  ...termFaults(cover),
})

const pricingFaults = (cover: RatedCover): Readonly<Record<string, string>> => {
  switch (cover.pricing_basis) {
    case 'rated':
      return cover.rate_table === null ? { rate_table: 'a rated cover needs it' } : {}
    case 'fixed_tiers':
      return cover.tiers.length === 0 ? { tiers: 'a cover of fixed tiers needs at least one' } : {}
    case 'per_member':
      return {
        ...(cover.member_premium_pence === null ? { member_premium_pence: 'a cover priced per member needs it' } : {}),
        ...(cover.members_factor === null ? { members_factor: 'a cover priced per member needs it' } : {}),
      }
  }
}

const termFaults = ({ term_years_min: min, term_years_max: max }: RatedCover): Readonly<Record<string, string>> => {
  if ((min === null) !== (max === null)) return { term_years_max: 'term_years_min and term_years_max go together' }
  return min !== null && max !== null && min > max ? { term_years_max: 'must not be below term_years_min' } : {}
}
