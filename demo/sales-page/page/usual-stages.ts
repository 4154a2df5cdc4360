import type { Product, Stage } from './records.ts'

const stage = (stage_type: string, title: string, config: Stage['config'] = {}): Stage => ({
  key: stage_type,
  stage_type,
  title,
  cta_label: null,
  config,
})

const required_fields = ['first_name', 'last_name', 'dob', 'email', 'address']

/** A price for each person of a group depends on the level that is chosen for all of them. */
const levelOf = (covers: Product['covers']): readonly Stage[] => {
  const levels = covers
    .filter(({ opt_in_factor }) => opt_in_factor === null)
    .map(({ cover_index, title, member_premium_pence }) => ({ cover_index, label: title, member_premium_pence }))
  return levels.length > 1 ? [stage('cover_capture', 'Which cover would you like?', { mode: 'members', levels })] : []
}

/** The stages for the amount and the term. */
const coverOf = ({ covers, cover_bounds }: Product): readonly Stage[] => {
  const { sum_assured_min_pence, sum_assured_max_pence, term_min, term_max } = cover_bounds
  if (covers.every(({ pricing_basis }) => pricing_basis === 'per_member')) return levelOf(covers)
  const isMonthly = covers.some(({ benefit_basis }) => benefit_basis === 'monthly_benefit')
  const config = {
    mode: 'amount_term',
    amount: { min_pence: sum_assured_min_pence, max_pence: sum_assured_max_pence },
    term: term_min === null ? null : { min: term_min, max: term_max },
    benefit_label: isMonthly ? 'How much should we pay out in a year?' : null,
  }
  return [stage('cover_capture', 'How much cover would you like?', config)]
}

/** The stages of a journey without a presentation: all that is asked of somebody who buys for one person. */
export const usualStages = (product: Product): readonly Stage[] => [
  ...coverOf(product),
  stage('questions', 'About you', { all_remaining: true }),
  stage('personal_details', 'Your details', {
    fields: ['first_name', 'last_name', 'dob', 'email', 'address'],
    required_fields,
    address_lookup: true,
  }),
  stage('quote', 'Your price'),
  stage('before_you_buy', 'Please read this first'),
  stage('payment', 'Your payments'),
  stage('confirmation', 'You are covered'),
]
