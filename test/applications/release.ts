import type { Checkout } from '#domain/checkout/events.ts'
import { ReleaseQuestion, type ReleaseCover, Release, type ReleaseJourney } from '#domain/catalogue/events.ts'
import type { Presentation, Stage } from '#domain/catalogue/record.ts'
import { standardFactors } from '#domain/rating/factors.ts'
import { standardUnderwriting } from '#domain/rating/underwriting.ts'
import { CoverId, JourneyId, OrganisationId, PresentationId, ProductId, ReleaseId } from '#domain/values.ts'
import { lifeTerms } from '../rating/cover.ts'

/** A product to apply for, of everything that an application meets: each kind of question, two covers, three journeys. */

export const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
export const product_id = ProductId.parse('10000000-0000-4000-8000-000000000001')
const release_id = ReleaseId.parse('20000000-0000-4000-8000-000000000001')
const journeyIds = ['full', 'trial', 'retired', 'plain'].map((_, index) =>
  JourneyId.parse(`30000000-0000-4000-8000-00000000000${index + 1}`),
)
const uuid = (kind: number, index: number) => `${kind}0000000-0000-4000-8000-${String(index).padStart(12, '0')}`

const coverOf = (cover_index: number, changes: Partial<ReleaseCover>): ReleaseCover => {
  const id = CoverId.parse(uuid(4, cover_index + 1))
  return { id, display_id: `cov_${id}`, cover_index, ...lifeTerms, ...changes }
}

export const lifeCover = coverOf(0, {})
export const illnessCover = coverOf(1, {
  cover_type: 'critical_illness',
  rate_table: 'ci.standalone',
  sum_assured_max_pence: 20_000_000,
  term_years_max: 30,
})
export const planCover = coverOf(2, {
  cover_type: 'healthcare',
  pricing_basis: 'per_member',
  sum_assured_min_pence: 0,
  sum_assured_max_pence: 0,
  term_years_min: null,
  term_years_max: null,
  rate_table: null,
  member_premium_pence: 1150,
  members_factor: 'employees',
})

type QuestionInput = Pick<ReleaseQuestion, 'key' | 'question_type'> &
  Partial<Omit<ReleaseQuestion, 'answer_options'>> & {
    readonly options?: readonly (readonly [value: string, outcome?: 'decline' | 'refer' | 'postpone'])[]
  }

const questions = (...inputs: readonly QuestionInput[]): ReleaseQuestion[] =>
  inputs.map(({ options = [], ...input }, position) =>
    ReleaseQuestion.parse({
      id: uuid(5, position + 1),
      display_id: `qst_${uuid(5, position + 1)}`,
      label: input.key,
      help_text: null,
      position,
      required: false,
      validation: {},
      group_key: null,
      group_label: null,
      lookup_source: null,
      suggestions: [],
      derivation: null,
      ...input,
      answer_options: options.map(([value, terminal_outcome], index) => ({
        id: uuid(6, position * 100 + index),
        value,
        label: value,
        position: index,
        terminal_outcome,
        terminal_reason_code: terminal_outcome ? `${value}_${terminal_outcome}` : null,
        terminal_reason_message: terminal_outcome ? `A ${value} is a reason to ${terminal_outcome}.` : null,
      })),
    }),
  )

const allQuestions = questions(
  { key: 'smoker', question_type: 'boolean' },
  {
    key: 'cigarettes',
    question_type: 'integer',
    validation: { min: 1, max: 100 },
    ask_if: { key: 'smoker', equals: true },
  },
  { key: 'brand', question_type: 'string', ask_if: { key: 'cigarettes', equals: [20, 40] } },
  { key: 'born_on', question_type: 'date', validation: { min: '1900-01-01', max: '2025-12-31' } },
  { key: 'age', question_type: 'derived', derivation: { kind: 'age', key: 'born_on' } },
  { key: 'height_cm', question_type: 'integer' },
  { key: 'weight_kg', question_type: 'number', validation: { min: 30.5, max: 300 } },
  { key: 'bmi', question_type: 'derived', derivation: { kind: 'bmi', height_cm: 'height_cm', weight_kg: 'weight_kg' } },
  { key: 'salary', question_type: 'number' },
  { key: 'bonus', question_type: 'number' },
  { key: 'earnings', question_type: 'derived', derivation: { kind: 'sum', keys: ['salary', 'bonus'] } },
  { key: 'wine', question_type: 'boolean' },
  { key: 'beer', question_type: 'boolean' },
  { key: 'drinks', question_type: 'derived', derivation: { kind: 'any', keys: ['wine', 'beer'] } },
  { key: 'reference', question_type: 'string', validation: { min_length: 3, max_length: 8, pattern: '^[A-Z]+$' } },
  {
    key: 'work',
    question_type: 'enum',
    options: [['clerk'], ['stuntman', 'decline'], ['pilot', 'postpone'], ['miner', 'refer']],
  },
  {
    key: 'conditions',
    question_type: 'multi_select',
    validation: { max_length: 2 },
    options: [['asthma'], ['gout'], ['cancer', 'refer'], ['stroke', 'decline']],
  },
  { key: 'inhaler', question_type: 'boolean', ask_if: { key: 'conditions', equals: 'asthma' } },
  { key: 'adult_note', question_type: 'string', ask_if: { key: 'drinks', equals: true } },
)

const presentationOf = (index: number, slug: string, is_default: boolean, config: Stage['config']): Presentation => {
  const id = PresentationId.parse(uuid(7, index))
  return {
    id,
    display_id: `prs_${id}`,
    slug,
    name: slug,
    template_key: 'standard',
    is_default,
    stages: [
      {
        id: `stg_${id}_1`,
        key: 'details',
        position: 1,
        stage_type: 'personal_details',
        title: 'About you',
        cta_label: null,
        config,
      },
    ],
  }
}

const boxes = ['no_email', 'no_partners'].map((key) => ({
  key,
  label: key,
  purpose: 'first_party_marketing',
  channels: ['email'],
  basis: 'soft_opt_in',
}))

export const standardPresentation = presentationOf(1, 'standard', true, {
  fields: ['first_name', 'last_name', 'email'],
  required_fields: [],
  address_lookup: false,
  phone_check: { enabled: true, reject_switched_off: false },
  consent_opt_outs: boxes,
  marketing_question: { label: 'May we write to you?', channels: ['email', 'sms'], style: 'opt_in' },
})

export const shortPresentation = presentationOf(2, 'short', false, {
  fields: ['email'],
  required_fields: [],
  address_lookup: false,
  phone_check: { enabled: true, reject_switched_off: false },
  consent_opt_outs: [],
  marketing_question: null,
})

/** With stages that pass nothing on but a choice. */
export const guidedPresentation: Presentation = {
  ...presentationOf(3, 'guided', false, {}),
  stages: ['fork', 'end'].map((key, index) => ({
    id: `stg_${uuid(7, 3)}_${index + 1}`,
    key,
    position: index + 1,
    stage_type: 'interstitial',
    title: key,
    cta_label: null,
    config: {
      heading: key,
      body: '',
      image_url: null,
      choices: ['go', 'call'].map((choice) => ({ key: `${key}_${choice}`, label: choice, goto_stage_key: null })),
      auto_advance_seconds: null,
    },
  })),
}

const journeyOf = (index: number, slug: string, changes: Partial<ReleaseJourney>): ReleaseJourney => {
  const id = JourneyId.parse(journeyIds[index])
  return {
    id,
    display_id: `jrn_${id}`,
    slug,
    name: slug,
    description: null,
    journey_loading: '1.00',
    position: index,
    lifecycle_state: 'production',
    questions: allQuestions,
    presentations: [standardPresentation, shortPresentation, guidedPresentation],
    ...changes,
  }
}

export const fullJourney = journeyOf(0, 'full', {})
export const plainJourney = journeyOf(3, 'plain', { presentations: [], questions: [] })

/** Nothing has to be shown before buying. */
export const plainCheckout: Checkout = {
  inline_bacs_mandate: false,
  direct_debit_first: true,
  stripe_test_mode: null,
  policy_number_prefix: 'POL',
  collection_days: [1, 7, 14, 21, 28],
  demands_and_needs: { required: false, statement: null },
  key_documents: [],
  cancellation: null,
  confirmation: null,
}

export const release: Release = {
  id: release_id,
  product_id,
  organisation_id,
  number: 1,
  slug: 'life',
  name: 'Life',
  product_type: 'bundled',
  currency_code: 'GBP',
  cooldown_days: 30,
  inclusions: [],
  exclusions: [],
  covers: [lifeCover, illnessCover, planCover],
  journeys: [
    fullJourney,
    journeyOf(1, 'trial', { lifecycle_state: 'sandbox' }),
    journeyOf(2, 'retired', { lifecycle_state: 'archived' }),
    plainJourney,
  ],
  whole_of_market: false,
  joint: { mode: 'never', factor_key: null, joint_values: [] },
  rate_tables: {},
  underwriting: standardUnderwriting,
  factors: standardFactors,
  smoker: { key: 'smoker', values: [true] },
  policy_fee_pence: 150,
  quote_valid_days: 30,
  inactive_after_days: 30,
  market: null,
  earnings: null,
  checkout: { ...plainCheckout, inline_bacs_mandate: true, direct_debit_first: false },
}

/** The same for one person or two, by an answer; `both_note` is asked of each when it is for two. */
export const jointJourney: ReleaseJourney = {
  ...fullJourney,
  questions: [
    ...fullJourney.questions.map((each) => ({ ...each, required: each.key === 'smoker' || each.key === 'cigarettes' })),
    ...questions(
      { key: 'cover_for', question_type: 'enum', options: [['single'], ['joint']] },
      { key: 'both_note', question_type: 'string', ask_if: { key: 'cover_for', equals: 'joint' } },
    ).map((each, index) => ({ ...each, id: uuid(5, 101 + index), position: 100 + index })),
  ],
}

export const jointRelease: Release = {
  ...release,
  product_type: 'term',
  covers: [lifeCover],
  journeys: [jointJourney],
  rate_tables: { 'life.level': 3 },
  joint: { mode: 'by_answer', factor_key: 'cover_for', joint_values: ['joint'] },
}

/** Priced by the providers of a panel. */
export const marketRelease: Release = {
  ...release,
  product_type: 'term',
  covers: [{ ...lifeCover, rate_table: null }],
  rate_tables: {},
  whole_of_market: true,
  market: {
    mapping: [
      { field: 'smoker', key: 'smoker' },
      { field: 'height_cm', key: 'height_cm' },
      { field: 'options.brand', key: 'brand' },
    ],
    time_limit_seconds: 60,
    valid_days: 30,
  },
}
