import { expect, test } from 'vitest'
import { draftFaults } from '#domain/catalogue/draft-faults.ts'
import type { Draft, ReleaseCover, ReleaseJourney, ReleaseQuestion } from '#domain/catalogue/events.ts'
import type { Presentation } from '#domain/catalogue/record.ts'
import { inputPath } from '#infra/http/problem.ts'
import { draft, levelTable } from './builders.ts'

const faultsOf = (of: Draft) =>
  Object.fromEntries(draftFaults(of, levelTable).map(({ path, reason }) => [inputPath(path), reason]))

/** What is wrong with the usual draft after a change, by path, each reason containing the given text. */
const faulty = (title: string, change: (of: Draft) => void, expected: Record<string, string>) =>
  test(title, () => {
    const changed = structuredClone(draft())
    change(changed)

    const reasons = Object.entries(expected).map(
      ([path, part]) => [path, expect.stringContaining(part) as unknown] as const,
    )
    expect(faultsOf(changed)).toEqual(Object.fromEntries(reasons))
  })

const found = <Item>(item: Item | undefined): Item => {
  if (item === undefined) throw new Error('The usual draft has changed.')
  return item
}
const cover = (of: Draft): ReleaseCover => found(of.covers[0])
const journey = (of: Draft): ReleaseJourney => found(of.journeys[0])
const question = (of: Draft, key: string): ReleaseQuestion =>
  found(journey(of).questions.find((each) => each.key === key))
const presentation = (of: Draft, index = 0): Presentation => found(journey(of).presentations[index])
const stage = (of: Draft, type: string) =>
  found(
    journey(of)
      .presentations.flatMap(({ stages }) => stages)
      .find(({ stage_type }) => stage_type === type),
  )

test('the usual draft has no faults', () => {
  expect(faultsOf(draft())).toEqual({})
})

faulty('covers stand in the order of their indexes', (of) => Object.assign(cover(of), { cover_index: 3 }), {
  'covers[0].cover_index': 'must be 0',
})
faulty(
  'limits of a cover are the right way round',
  (of) => Object.assign(cover(of), { sum_assured_min_pence: 200_000_000, age_at_entry_min: 75, term_years_min: 50 }),
  {
    'covers[0].sum_assured_max_pence': 'must not be below',
    'covers[0].age_at_entry_max': 'must not be below',
    'covers[0].term_years_max': 'must not be below',
  },
)
faulty('cover ends after it can start', (of) => Object.assign(cover(of), { max_age_at_expiry: 18 }), {
  'covers[0].max_age_at_expiry': 'must be above age_at_entry_min',
})
faulty('a rated cover names a rate table', (of) => Object.assign(cover(of), { rate_table: null }), {
  'covers[0].rate_table': 'needs it',
})
faulty('a rated cover’s table has a version', (of) => Object.assign(cover(of), { rate_table: 'life.wol' }), {
  'covers[0].rate_table': 'rate_tables names no version of life.wol',
})
faulty(
  'the answers that choose a table are asked for',
  (of) => Object.assign(cover(of), { rate_table: 'ip.d{weeks}' }),
  {
    'covers[0].rate_table': 'no question with the key weeks',
  },
)
faulty(
  'each option that chooses a table has one',
  (of) => {
    for (const each of of.journeys)
      each.questions.push({ ...question(of, 'heart'), id: crypto.randomUUID(), key: 'level', position: 99 })
    Object.assign(cover(of), { rate_table: 'life.{level}' })
  },
  { 'covers[0].rate_table': 'rate_tables names no version of life.attack' },
)
faulty(
  'rates by term need a cover with a term',
  (of) => Object.assign(cover(of), { term_years_min: null, term_years_max: null }),
  {
    'covers[0].term_years_min': 'depend on the term',
  },
)
faulty('a table that is pinned is published', (of) => Object.assign(of.rate_tables, { 'life.wol': 2 }), {
  'rate_tables.life.wol': 'version 2 of life.wol is not published',
})
faulty('a product is priced in its own currency', (of) => Object.assign(of, { currency_code: 'EUR' }), {
  'rate_tables.life.level': 'life.level is in GBP, the product in EUR',
})
faulty('rates by smoker need to know who smokes', (of) => Object.assign(of, { smoker: null }), {
  smoker: 'depend on smoking',
})
faulty(
  'who smokes is told by an answer that can be given',
  (of) => Object.assign(of, { smoker: { key: 'smoker', values: ['yes'] } }),
  {
    'smoker.values[0]': 'never "yes"',
  },
)

const perMember = {
  pricing_basis: 'per_member',
  rate_table: null,
  member_premium_pence: 1150,
  members_factor: 'heart',
} as const

faulty('a per_member cover has no amounts and no term, and a headcount', (of) => Object.assign(cover(of), perMember), {
  'covers[0].sum_assured_min_pence': 'is 0',
  'covers[0].sum_assured_max_pence': 'is 0',
  'covers[0].term_years_min': 'no term',
  'covers[0].members_factor': 'no question with the key heart',
})
faulty(
  'a per_member cover has a price and a headcount',
  (of) =>
    Object.assign(cover(of), {
      ...perMember,
      member_premium_pence: null,
      members_factor: null,
      sum_assured_min_pence: 0,
      sum_assured_max_pence: 0,
      term_years_min: null,
      term_years_max: null,
    }),
  {
    'covers[0].member_premium_pence': 'needs it',
    'covers[0].members_factor': 'needs it',
  },
)
faulty('only a per_member cover has a headcount', (of) => Object.assign(cover(of), { members_factor: 'height_cm' }), {
  'covers[0].members_factor': 'only for a per_member cover',
})
faulty(
  'a cover of fixed tiers has tiers',
  (of) => Object.assign(cover(of), { pricing_basis: 'fixed_tiers', rate_table: null }),
  {
    'covers[0].tiers': 'needs at least one',
  },
)
faulty(
  'tiers stand within the limits, each once',
  (of) => {
    const tiers = [100, 2_000_000, 2_000_000].map((cover_amount_pence) => ({ cover_amount_pence, premium_pence: 135 }))
    Object.assign(cover(of), { pricing_basis: 'fixed_tiers', rate_table: null, tiers })
  },
  {
    'covers[0].tiers[0].cover_amount_pence': 'is not within',
    'covers[0].tiers[2].cover_amount_pence': 'is the same as that of tiers[1]',
  },
)
faulty('covers are told apart', (of) => of.covers.push({ ...cover(of), cover_index: 1 }), {
  'covers[1].id': 'is the same as that of covers[0]',
})

faulty(
  'joint by answer names the answer',
  (of) => Object.assign(of, { joint: { mode: 'by_answer', factor_key: null, joint_values: [] } }),
  {
    'joint.factor_key': 'needs it',
  },
)
faulty(
  'joint by answer names a question of every journey',
  (of) => Object.assign(of, { joint: { mode: 'by_answer', factor_key: 'heart', joint_values: ['both'] } }),
  {
    'joint.joint_values[0]': '"both" is not an option of heart',
    'joint.factor_key': 'the journey broker has no question',
  },
)
faulty(
  'underwriting rules are about questions',
  (of) =>
    of.underwriting.rules.push({ code: 'x', label: 'X', when: { key: 'nothing', equals: true }, extra_percent: 5 }),
  {
    [`underwriting.rules[3].when.key`]: 'no journey has a question with the key nothing',
  },
)

faulty('journeys are told apart', (of) => of.journeys.push({ ...journey(of) }), {
  'journeys[2].id': 'journeys[0]',
  'journeys[2].slug': 'journeys[0]',
  'journeys[2].position': 'journeys[0]',
})
for (const journey_loading of ['0', '0.00', '-1', '1.12345', '1,1', 'one'])
  faulty(
    `a journey’s loading is a decimal above nothing, not ${journey_loading}`,
    (of) => Object.assign(journey(of), { journey_loading }),
    {
      'journeys[0].journey_loading': '',
    },
  )

faulty('questions are told apart', (of) => journey(of).questions.push({ ...question(of, 'smoker') }), {
  'journeys[0].questions[7].id': 'questions[0]',
  'journeys[0].questions[7].key': 'questions[0]',
  'journeys[0].questions[7].position': 'questions[0]',
})
for (const key of ['', 'Smoker', '__proto__', 'constructor', 'a-b', `a${'b'.repeat(64)}`])
  faulty(`answers cannot be saved under the key ${key}`, (of) => Object.assign(question(of, 'occupation'), { key }), {
    'journeys[0].questions[6].key': 'lower-case letters',
  })
faulty('a question to choose from has options', (of) => Object.assign(question(of, 'heart'), { answer_options: [] }), {
  'journeys[0].questions[2].answer_options': 'needs at least one',
})
faulty(
  'options are told apart',
  (of) => {
    const { answer_options } = question(of, 'heart')
    answer_options.push({ ...found(answer_options[0]) })
  },
  {
    'journeys[0].questions[2].answer_options[2].id': 'answer_options[0]',
    'journeys[0].questions[2].answer_options[2].value': 'answer_options[0]',
    'journeys[0].questions[2].answer_options[2].position': 'answer_options[0]',
  },
)
faulty(
  'only a question to choose from has options',
  (of) => Object.assign(question(of, 'smoker'), { answer_options: question(of, 'heart').answer_options }),
  {
    'journeys[0].questions[0].answer_options': 'has none',
  },
)
faulty(
  'a terminal reason needs a terminal outcome',
  (of) => Object.assign(found(question(of, 'heart').answer_options[0]), { terminal_reason_code: 'x' }),
  {
    'journeys[0].questions[2].answer_options[0].terminal_outcome': 'needs it',
  },
)
faulty(
  'a question is asked on an earlier answer',
  (of) => Object.assign(question(of, 'smoker'), { ask_if: { key: 'heart', equals: 'none' } }),
  {
    'journeys[0].questions[0].ask_if.key': 'no earlier question has the key heart',
  },
)
faulty(
  'a question is not asked on its own answer',
  (of) => Object.assign(question(of, 'smoker'), { ask_if: { key: 'smoker', equals: true } }),
  {
    'journeys[0].questions[0].ask_if.key': 'no earlier question',
  },
)
faulty(
  'a question is asked on answers that can be given',
  (of) => Object.assign(question(of, 'height_cm'), { ask_if: { key: 'heart', equals: ['none', 'stroke'] } }),
  {
    'journeys[0].questions[3].ask_if.equals[1]': '"stroke" is not an option of heart',
  },
)
faulty(
  'a yes or no is not a word',
  (of) => Object.assign(question(of, 'smoking_amount'), { ask_if: { key: 'smoker', equals: 'yes' } }),
  {
    'journeys[0].questions[1].ask_if.equals': 'never "yes"',
  },
)
faulty(
  'a derived question is never asked',
  (of) => Object.assign(question(of, 'bmi'), { required: true, ask_if: { key: 'smoker', equals: true } }),
  {
    'journeys[0].questions[5].required': 'never asked',
    'journeys[0].questions[5].ask_if': 'never asked',
  },
)
faulty('a derived question says how', (of) => Object.assign(question(of, 'bmi'), { derivation: null }), {
  'journeys[0].questions[5].derivation': 'needs it',
})
faulty(
  'only a derived question is derived',
  (of) => Object.assign(question(of, 'smoker'), { derivation: { kind: 'any', keys: ['heart'] } }),
  {
    'journeys[0].questions[0].derivation': 'is asked, not derived',
  },
)
faulty(
  'a derivation is of questions of the journey, of the right type',
  (of) => Object.assign(question(of, 'bmi'), { derivation: { kind: 'bmi', height_cm: 'height', weight_kg: 'heart' } }),
  {
    'journeys[0].questions[5].derivation.height_cm': 'no question with the key height',
    'journeys[0].questions[5].derivation.weight_kg': 'heart is not a number',
  },
)
faulty(
  'an age is derived from a date',
  (of) => Object.assign(question(of, 'bmi'), { derivation: { kind: 'age', key: 'occupation' } }),
  {
    'journeys[0].questions[5].derivation.key': 'occupation is not a date',
  },
)
faulty(
  'limits fit the type of the question',
  (of) => {
    Object.assign(question(of, 'height_cm'), { validation: { min: '2020-01-01', max_length: 3 } })
    Object.assign(question(of, 'smoker'), { validation: { min: 1 } })
    Object.assign(question(of, 'weight_kg'), { validation: { min: 20, max: 10 } })
  },
  {
    'journeys[0].questions[0].validation.min': 'no such limit',
    'journeys[0].questions[3].validation.min': 'must be a number',
    'journeys[0].questions[3].validation.max_length': 'only texts',
    'journeys[0].questions[4].validation.max': 'is below min',
  },
)
faulty(
  'a pattern is for a text of limited length',
  (of) => {
    Object.assign(question(of, 'height_cm'), { validation: { pattern: '^a$', max_length: 10 } })
    Object.assign(question(of, 'occupation'), { validation: { pattern: '^a$' } })
  },
  {
    'journeys[0].questions[3].validation.max_length': 'only texts',
    'journeys[0].questions[3].validation.pattern': 'only texts',
    'journeys[0].questions[6].validation.max_length': 'needs it',
  },
)
faulty(
  'a pattern is one that RE2 knows',
  (of) => Object.assign(question(of, 'occupation'), { validation: { pattern: '^(?=a)', max_length: 1000 } }),
  { 'journeys[0].questions[6].validation.pattern': 'has `(?=`, which RE2 does not know' },
)
faulty(
  'a text with a pattern has at most 1000 characters',
  (of) => Object.assign(question(of, 'occupation'), { validation: { pattern: '^a', max_length: 1001 } }),
  { 'journeys[0].questions[6].validation.max_length': 'at most 1000' },
)
faulty('only free text is looked up', (of) => Object.assign(question(of, 'smoker'), { lookup_source: 'occupations' }), {
  'journeys[0].questions[0].lookup_source': 'only free text',
})
faulty('a group has one name', (of) => Object.assign(question(of, 'smoking_amount'), { group_label: 'Smoking' }), {
  'journeys[0].questions[1].group_label': 'is called "You" before',
})

faulty(
  'exactly one presentation is the default: not none',
  (of) => Object.assign(presentation(of), { is_default: false }),
  {
    'journeys[0].presentations': 'exactly one must have is_default true, not 0',
  },
)
faulty(
  'exactly one presentation is the default: not two',
  (of) => Object.assign(presentation(of, 1), { is_default: true }),
  {
    'journeys[0].presentations': 'not 2',
  },
)
faulty('stages count from 1, and their ids say so', (of) => Object.assign(stage(of, 'payment'), { position: 9 }), {
  'journeys[0].presentations[0].stages[2].position': 'must be 3',
  'journeys[0].presentations[0].stages[2].id': 'made of the presentation and the position',
})
faulty('stages are told apart', (of) => Object.assign(stage(of, 'payment'), { key: 'quote' }), {
  'journeys[0].presentations[0].stages[2].key': 'stages[1]',
})
faulty(
  'a stage has the config of its type',
  (of) => Object.assign(stage(of, 'quote'), { config: { compare_terms: ['ten'] } }),
  {
    'journeys[0].presentations[0].stages[1].config.label': 'required',
    'journeys[0].presentations[0].stages[1].config.compare_terms[0]': 'must be a whole number',
  },
)
faulty(
  'a questions stage shows questions in one way',
  (of) => Object.assign(stage(of, 'questions'), { config: { all_remaining: true, group_keys: ['you'] } }),
  {
    'journeys[0].presentations[0].stages[0].config': 'name one of',
  },
)
faulty(
  'a questions stage shows questions that are asked',
  (of) => Object.assign(stage(of, 'questions'), { config: { question_keys: ['bmi', 'nothing', 'smoker'] } }),
  {
    'journeys[0].presentations[0].stages[0].config.question_keys[0]': 'no question that is asked',
    'journeys[0].presentations[0].stages[0].config.question_keys[1]': 'no question that is asked',
  },
)
faulty(
  'required fields are fields',
  (of) => Object.assign(stage(of, 'soft_identity'), { config: { fields: ['email'], required_fields: ['phone'] } }),
  {
    'journeys[0].presentations[1].stages[0].config.required_fields[0]': 'phone is not one of the fields',
  },
)
faulty(
  'an interstitial goes to a stage that there is',
  (of) => {
    const choices = [
      { key: 'a', label: 'A', goto_stage_key: 'nowhere' },
      { key: 'a', label: 'B' },
    ]
    Object.assign(stage(of, 'payment'), { stage_type: 'interstitial', config: { heading: 'H', choices } })
  },
  {
    'journeys[0].presentations[0].stages[2].config.choices[0].goto_stage_key': 'no stage nowhere',
    'journeys[0].presentations[0].stages[2].config.choices[1].key': 'choices[0]',
  },
)
faulty(
  'cover is captured within sensible limits',
  (of) =>
    Object.assign(stage(of, 'payment'), {
      stage_type: 'cover_capture',
      config: {
        mode: 'amount_term',
        amount: { min_pence: 10, max_pence: 20, step_pence: 1, presets_pence: [15, 30] },
        term: { min: 5, max: 10, default: 11 },
      },
    }),
  {
    'journeys[0].presentations[0].stages[2].config.amount.presets_pence[1]': 'is not within',
    'journeys[0].presentations[0].stages[2].config.term.default': 'is not within',
  },
)
faulty(
  'consent boxes are told apart',
  (of) => {
    const box = { key: 'ours', label: 'No thanks', purpose: 'first_party_marketing', channels: ['email'] }
    Object.assign(stage(of, 'payment'), {
      stage_type: 'personal_details',
      config: { fields: ['email'], consent_opt_outs: [box, box] },
    })
  },
  {
    'journeys[0].presentations[0].stages[2].config.consent_opt_outs[1].key': 'consent_opt_outs[0]',
  },
)
faulty(
  'a second person’s stage is for a product that can be joint',
  (of) => Object.assign(stage(of, 'payment'), { stage_type: 'partner_details', config: { fields: ['email'] } }),
  {
    'journeys[0].presentations[0].stages[2].stage_type': 'never for two people',
  },
)
faulty(
  'market quotes are for a whole-of-market product',
  (of) => Object.assign(stage(of, 'payment'), { stage_type: 'market_quotes', config: { label: 'Quotes' } }),
  {
    'journeys[0].presentations[0].stages[2].stage_type': 'only a whole_of_market product',
  },
)
