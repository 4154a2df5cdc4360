import { coverFaults, rateTableAnswers } from '../rating/cover.ts'
import { JourneyLoading } from '../rating/factors.ts'
import { plainWords } from '../reasons.ts'
import { checkoutFaults } from './checkout-faults.ts'
import type { Draft, ReleaseCover, ReleaseQuestion } from './events.ts'
import { eachOf, fault, repeats, under, when, type Fault } from './faults.ts'
import { presentationFaults } from './presentation-faults.ts'
import { answerFault, questionFaults } from './question-faults.ts'
import { rateChoices } from './rate-choices.ts'
import type { RateTable, Condition } from '../rating/events.ts'

/** A published rate table as drafts are checked against it. */
export type PublishedTable = Pick<RateTable, 'dimensions' | 'currency_code'>
export type FindTable = (key: string, version: number) => PublishedTable | undefined

/** Everything for which a draft cannot become a release, at its place. */
export const draftFaults = (draft: Draft, table: FindTable): readonly Fault[] => [
  ...when(draft.name.trim() === '', ['name'], 'must not be empty'),
  ...when(draft.cooldown_days < 0, ['cooldown_days'], 'must not be below 0'),
  ...when(draft.policy_fee_pence < 0, ['policy_fee_pence'], 'must not be below 0'),
  ...pinnedTableFaults(draft, table),
  ...repeats('covers', draft.covers, 'id'),
  ...eachOf('covers', draft.covers, (cover, index) => [
    ...when(cover.cover_index !== index, ['cover_index'], `must be ${index}: covers count from 0`),
    ...coverLimitFaults(cover, draft),
    ...pricingFaults(cover, draft, table),
  ]),
  ...jointFaults(draft),
  ...smokerFaults(draft, table),
  ...underwritingFaults(draft),
  ...checkoutFaults(draft),
  ...marketFaults(draft),
  ...when(
    draft.earnings !== null && !isAsked(draft, draft.earnings.key),
    ['earnings', 'key'],
    `a journey has no question with the key ${draft.earnings?.key}`,
  ),
  ...repeats('journeys', draft.journeys, 'id'),
  ...repeats('journeys', draft.journeys, 'slug'),
  ...repeats('journeys', draft.journeys, 'position'),
  ...eachOf('journeys', draft.journeys, ({ name, journey_loading, questions, presentations }) => [
    ...when(name.trim() === '', ['name'], 'must not be empty'),
    ...(JourneyLoading.safeParse(journey_loading, { error: plainWords }).error?.issues ?? []).map(({ message }) =>
      fault(['journey_loading'], message),
    ),
    ...questionFaults(questions),
    ...presentationFaults(presentations, { questions, joint: draft.joint, wholeOfMarket: draft.whole_of_market }),
  ]),
]

const pinnedTableFaults = ({ rate_tables, currency_code }: Draft, table: FindTable): readonly Fault[] =>
  Object.entries(rate_tables).flatMap(([key, version]) => {
    const published = table(key, version)
    if (!published) return [fault(['rate_tables', key], `version ${version} of ${key} is not published`)]
    return when(
      published.currency_code !== currency_code,
      ['rate_tables', key],
      `${key} is in ${published.currency_code}, the product in ${currency_code}`,
    )
  })

const coverLimitFaults = (cover: ReleaseCover, { whole_of_market }: Draft): readonly Fault[] => {
  const notBelow = (name: keyof ReleaseCover, value: number | null, least: number) =>
    when(value !== null && value < least, [name], `must not be below ${least}`)
  const { age_at_entry_min, age_at_entry_max, max_age_at_expiry } = cover
  return [
    ...Object.entries(coverFaults(cover)).flatMap(([name, reason]) =>
      // The providers have rates of their own.
      whole_of_market && name === 'rate_table' ? [] : [fault([name], reason)],
    ),
    ...notBelow('sum_assured_min_pence', cover.sum_assured_min_pence, 0),
    ...notBelow('age_at_entry_min', age_at_entry_min, 0),
    ...when(age_at_entry_max > 120, ['age_at_entry_max'], 'must not be above 120'),
    ...notBelow('term_years_min', cover.term_years_min, 1),
    ...notBelow('minimum_premium_pence', cover.minimum_premium_pence, 0),
    ...notBelow('survival_period_days', cover.survival_period_days, 0),
    ...notBelow('review_period_years', cover.review_period_years, 1),
    ...when(
      max_age_at_expiry !== null && max_age_at_expiry <= age_at_entry_min,
      ['max_age_at_expiry'],
      'must be above age_at_entry_min',
    ),
  ]
}

const pricingFaults = (cover: ReleaseCover, draft: Draft, table: FindTable): readonly Fault[] => {
  const { pricing_basis } = cover
  const only = (name: keyof ReleaseCover, basis: ReleaseCover['pricing_basis'], isGiven: boolean) =>
    when(isGiven && pricing_basis !== basis, [name], `only for a ${basis} cover`)
  return [
    ...only('rate_table', 'rated', cover.rate_table !== null),
    ...only('tiers', 'fixed_tiers', cover.tiers.length > 0),
    ...only('member_premium_pence', 'per_member', cover.member_premium_pence !== null),
    ...only('members_factor', 'per_member', cover.members_factor !== null),
    ...only('opt_in_factor', 'per_member', cover.opt_in_factor !== null),
    ...(pricing_basis === 'rated' ? ratedFaults(cover, draft, table) : []),
    ...(pricing_basis === 'fixed_tiers' ? tierFaults(cover) : []),
    ...(pricing_basis === 'per_member' ? memberFaults(cover, draft) : []),
  ]
}

const ratedFaults = (cover: ReleaseCover, draft: Draft, table: FindTable): readonly Fault[] => {
  if (cover.rate_table === null || draft.whole_of_market) return []
  const answers = rateTableAnswers(cover.rate_table)
  const { underwriting } = draft
  const unknown = answers.filter(
    (key) => !underwriting.derived.some((value) => value.key === key) && !isAsked(draft, key),
  )
  if (unknown.length > 0) return [fault(['rate_table'], `a journey has no question with the key ${unknown.join(', ')}`)]

  return rateChoices(draft, cover).flatMap(({ key, variant }) => {
    const version = draft.rate_tables[key]
    if (version === undefined) return [fault(['rate_table'], `rate_tables names no version of ${key}`)]
    const dimensions = table(key, version)?.dimensions ?? []
    return [
      ...when(
        dimensions.includes('term') && cover.term_years_min === null,
        ['term_years_min'],
        `the rates of ${key} depend on the term`,
      ),
      ...when(
        dimensions.includes('variant') && variant === undefined,
        ['rate_table'],
        `the rates of ${key} depend on a variant: write ${key}:{answer_key}`,
      ),
    ]
  })
}

const tierFaults = (cover: ReleaseCover): readonly Fault[] => [
  ...repeats('tiers', cover.tiers, 'cover_amount_pence'),
  ...eachOf('tiers', cover.tiers, ({ cover_amount_pence, premium_pence }) => [
    ...when(
      cover_amount_pence < cover.sum_assured_min_pence || cover_amount_pence > cover.sum_assured_max_pence,
      ['cover_amount_pence'],
      'is not within sum_assured_min_pence and sum_assured_max_pence',
    ),
    ...when(premium_pence < 0, ['premium_pence'], 'must not be below 0'),
  ]),
]

const memberFaults = (cover: ReleaseCover, draft: Draft): readonly Fault[] => {
  const { members_factor, opt_in_factor, member_premium_pence, members_min, members_max } = cover
  const zero = (name: 'sum_assured_min_pence' | 'sum_assured_max_pence') =>
    when(cover[name] !== 0, [name], 'is 0 for a per_member cover')
  return [
    ...zero('sum_assured_min_pence'),
    ...zero('sum_assured_max_pence'),
    ...when(cover.term_years_min !== null, ['term_years_min'], 'a per_member cover has no term'),
    ...when((member_premium_pence ?? 0) < 0, ['member_premium_pence'], 'must not be below 0'),
    ...when(
      members_min !== null && members_max !== null && members_min > members_max,
      ['members_max'],
      'must not be below members_min',
    ),
    ...factorFaults('members_factor', members_factor, draft, 'integer'),
    ...factorFaults('opt_in_factor', opt_in_factor, draft, 'boolean'),
  ]
}

const factorFaults = (name: string, key: string | null, draft: Draft, type: ReleaseQuestion['question_type']) =>
  key === null
    ? []
    : draft.journeys.flatMap(({ slug, questions }) => {
        const question = questions.find((each) => each.key === key)
        if (!question) return [fault([name], `the journey ${slug} has no question with the key ${key}`)]
        return when(question.question_type !== type, [name], `${key} is not a question of type ${type}`)
      })

const isAsked = ({ journeys }: Draft, key: string) =>
  journeys.every(({ questions }) => questions.some((question) => question.key === key))

/** Faults where a journey lacks the question, or could not get these answers. */
const answersFaults = (
  { journeys }: Draft,
  key: string,
  values: readonly (string | boolean)[],
  names: { readonly key: string; readonly values: string },
) =>
  journeys.flatMap(({ slug, questions }) => {
    const question = questions.find((each) => each.key === key)
    if (!question) return [fault([names.key], `the journey ${slug} has no question with the key ${key}`)]
    return values.flatMap((value, index) => {
      const reason = answerFault(question, value)
      return reason === undefined ? [] : [fault([names.values, index], reason)]
    })
  })

const marketFaults = (draft: Draft): readonly Fault[] => {
  const { market, whole_of_market } = draft
  if (!market) return when(whole_of_market, ['market'], 'a whole_of_market product needs it')
  return under(
    ['market'],
    [
      ...when(!whole_of_market, [], 'only for a whole_of_market product'),
      ...repeats('mapping', market.mapping, 'field'),
      ...eachOf('mapping', market.mapping, ({ key }) =>
        when(!isAsked(draft, key), ['key'], `a journey has no question with the key ${key}`),
      ),
    ],
  )
}

const jointFaults = (draft: Draft): readonly Fault[] => {
  const { mode, factor_key, joint_values } = draft.joint
  if (mode !== 'by_answer') return when(factor_key !== null, ['joint', 'factor_key'], 'only when mode is by_answer')
  if (factor_key === null) return [fault(['joint', 'factor_key'], 'the mode by_answer needs it')]
  return under(
    ['joint'],
    [
      ...when(joint_values.length === 0, ['joint_values'], 'must name at least one answer'),
      ...answersFaults(draft, factor_key, joint_values, { key: 'factor_key', values: 'joint_values' }),
    ],
  )
}

const smokerFaults = (draft: Draft, table: FindTable): readonly Fault[] => {
  const { smoker, rate_tables } = draft
  if (smoker)
    return under(['smoker'], answersFaults(draft, smoker.key, smoker.values, { key: 'key', values: 'values' }))
  return Object.entries(rate_tables).flatMap(([key, version]) =>
    when(
      table(key, version)?.dimensions.includes('smoker') ?? false,
      ['smoker'],
      `the rates of ${key} depend on smoking: name the question about smoking, and its answers that mean yes`,
    ),
  )
}

const underwritingFaults = ({ underwriting, factors, covers, journeys }: Draft): readonly Fault[] => {
  const asked = new Set(journeys.flatMap(({ questions }) => questions.map(({ key }) => key)))
  const known = new Set([...asked, ...underwriting.derived.map(({ key }) => key)])
  const unknown = (path: readonly (string | number)[], key: string, keys: ReadonlySet<string> = known) =>
    when(journeys.length > 0 && !keys.has(key), path, `no journey has a question with the key ${key}`)
  const ratedTypes = new Set(covers.flatMap((cover) => (cover.pricing_basis === 'rated' ? [cover.cover_type] : [])))

  return [
    ...under(
      ['underwriting'],
      [
        ...repeats('derived', underwriting.derived, 'key'),
        ...eachOf('derived', underwriting.derived, (value) => {
          switch (value.kind) {
            case 'bmi':
              return [
                ...unknown(['height_cm'], value.height_cm, asked),
                ...unknown(['weight_kg'], value.weight_kg, asked),
              ]
            case 'mapped':
              return unknown(['from'], value.from)
            case 'age':
              return []
          }
        }),
        ...repeats('rules', underwriting.rules, 'code'),
        ...eachOf('rules', underwriting.rules, ({ when: conditions }) =>
          Array.isArray(conditions)
            ? conditions.flatMap(({ key }: Condition, index) => unknown(['when', index, 'key'], key))
            : unknown(['when', 'key'], conditions.key),
        ),
        ...when(
          underwriting.decline_above_percent < underwriting.refer_above_percent,
          ['decline_above_percent'],
          'must not be below refer_above_percent',
        ),
      ],
    ),
    ...under(
      ['factors'],
      eachOf('by_answer', factors.by_answer, ({ key, cover_types }) =>
        cover_types.some((type) => ratedTypes.has(type)) ? unknown(['key'], key) : [],
      ),
    ),
  ]
}
