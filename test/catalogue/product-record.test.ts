import { expect, test } from 'vitest'
import type { Draft, LifecycleState } from '#domain/catalogue/events.ts'
import {
  coverBounds,
  journeyRecords,
  presentationOf,
  presentationRecord,
  productRecord,
  Question,
  questionRecords,
  unpublishedProductRecord,
} from '#domain/catalogue/record.ts'
import { cover, journey, presentation, question } from './faults.ts'
import { draft } from './builders.ts'

const of = draft()
const state: LifecycleState = 'production'
const presented = (release: Draft = of) => ({ release, journey: journey(release) })

test('a product is shown with its terms and the bounds of its covers, and not with what prices it', () => {
  const { rate_table: _table, indexation_percent: _percent, tiers: _tiers, ...priced } = cover(of)
  const { members_min: _min, members_max: _max, ...shown } = priced

  expect(productRecord(of, state)).toEqual({
    id: of.product_id,
    display_id: `prod_${of.product_id}`,
    slug: 'term-life',
    name: 'Term Life',
    product_type: 'term',
    currency_code: 'GBP',
    lifecycle_state: 'production',
    cooldown_days: 30,
    inclusions: ['Death during the term'],
    exclusions: ['Suicide in the first 12 months'],
    cover_bounds: coverBounds(of.covers),
    covers: [shown],
  })
})

test('a product that was never published shows none of its terms', () => {
  const none = {
    sum_assured_min_pence: null,
    sum_assured_max_pence: null,
    age_min: null,
    age_max: null,
    term_min: null,
    term_max: null,
  }

  expect(unpublishedProductRecord(of, 'draft')).toEqual({
    ...productRecord(of, 'draft'),
    inclusions: [],
    exclusions: [],
    covers: [],
    cover_bounds: none,
  })
})

test('bounds go across all covers, and those of terms across covers of fixed term', () => {
  const whole = {
    sum_assured_min_pence: 500,
    sum_assured_max_pence: 900,
    age_at_entry_min: 20,
    age_at_entry_max: 85,
    term_years_min: null,
    term_years_max: null,
  }
  const long = { age_at_entry_min: 16, age_at_entry_max: 20, term_years_min: 30, term_years_max: 50 }

  expect(coverBounds([{ ...cover(of), ...whole }, cover(of), { ...cover(of), ...long }])).toEqual({
    sum_assured_min_pence: 500,
    sum_assured_max_pence: 100_000_000,
    age_min: 16,
    age_max: 85,
    term_min: 5,
    term_max: 50,
  })
  expect(coverBounds([{ ...cover(of), ...whole }])).toMatchObject({ age_min: 20, term_min: null, term_max: null })
})

test('journeys, questions, options and stages are shown in the order of their positions, with nothing that is not shown', () => {
  const { questions, presentations, ...standard } = journey(of)
  const { questions: _questions, presentations: _presentations, ...broker } = journey(of, 1)
  const heart = question(of, 'heart')
  const { derivation: _derivation, ...plain } = heart

  expect(journeyRecords([journey(of, 1), journey(of)])).toEqual([standard, broker])
  const reversed = questions.map((each) => ({ ...each, answer_options: each.answer_options.toReversed() })).toReversed()
  expect(questionRecords(reversed).map(({ key }) => key)).toEqual(questions.map(({ key }) => key))
  expect(questionRecords(reversed)[2]).toEqual(plain)
  expect(Question.safeParse({ ...plain, answer_options: [{}] }).success).toBe(false)
  const [web] = presentations
  expect(web && presentationRecord({ ...web, stages: web.stages.toReversed() }, presented())).toEqual(web)
})

test('a stage is shown with all keys of its config', () => {
  const web = presentation(of)
  const stages = web.stages.map((stage) => (stage.stage_type === 'payment' ? { ...stage, config: {} } : stage))

  expect(presentationRecord({ ...web, stages }, presented())).toEqual(web)
})

test('the stage of the second person names what they are asked, and the answer by which there is one', () => {
  const [web] = journey(of).presentations
  if (!web) throw new Error('The journey has no presentation.')
  const partner = { stage_type: 'partner_details', config: { fields: ['dob'] } } as const
  const stages = web.stages.map((stage) => ({ ...stage, ...partner }))
  const configOf = (release: Draft) => presentationRecord({ ...web, stages }, presented(release)).stages[0]?.config
  const declared = { fields: ['dob'], required_fields: [], same_address: false }
  const joint = { mode: 'by_answer', factor_key: 'heart', joint_values: ['none'] } as const

  expect(configOf(draft({ joint: { mode: 'always' } }))).toEqual({
    ...declared,
    question_keys: ['smoker', 'smoking_amount', 'heart', 'height_cm', 'weight_kg', 'occupation'],
    ask_if: null,
  })
  expect(configOf({ ...of, joint: { ...joint, joint_values: ['none'] } })).toEqual({
    ...declared,
    question_keys: ['smoker', 'smoking_amount', 'height_cm', 'weight_kg', 'occupation'],
    ask_if: { key: 'heart', equals: ['none'] },
  })
})

test('a presentation is found by its slug; otherwise it is the default one, if there is one', () => {
  const [web, soft] = journey(of).presentations
  const last = { presentations: [soft, web].flatMap((each) => each ?? []) }

  expect(presentationOf(last, 'soft')).toBe(soft)
  expect(presentationOf(last, 'unknown')).toBe(web)
  expect(presentationOf(last, undefined)).toBe(web)
  expect(presentationOf({ presentations: soft ? [soft] : [] }, 'unknown')).toBeNull()
  expect(presentationOf({ presentations: [] }, undefined)).toBeNull()
})
