import type { Draft, ProductEvent, Release, LifecycleState } from '#domain/catalogue/events.ts'
import type { FindTable } from '#domain/catalogue/draft-faults.ts'
import { OrganisationId, ReleaseId } from '#domain/values.ts'
import { DeclaredProduct, draftOf } from '../../command-api/catalogue/declared-product.ts'

export const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
export const releaseIds = [
  ReleaseId.parse('11111111-1111-4111-8111-111111111111'),
  ReleaseId.parse('22222222-2222-4222-8222-222222222222'),
] as const

/** A term product as a set-up file declares it: one rated cover, two journeys, two presentations. */
export const termLife = {
  slug: 'term-life',
  name: 'Term Life',
  product_type: 'term',
  cooldown_days: 30,
  inclusions: ['Death during the term'],
  exclusions: ['Suicide in the first 12 months'],
  policy_fee_pence: 150,
  rate_tables: { 'life.level': 1 },
  smoker: { key: 'smoker', values: [true] },
  covers: [
    {
      cover_type: 'life',
      sum_assured_min_pence: 1_000_000,
      sum_assured_max_pence: 100_000_000,
      age_at_entry_min: 18,
      age_at_entry_max: 70,
      term_years_min: 5,
      term_years_max: 40,
      max_age_at_expiry: 80,
      minimum_premium_pence: 500,
      rate_table: 'life.level',
    },
  ],
  journeys: [
    {
      slug: 'standard',
      name: 'Standard',
      questions: [
        { key: 'smoker', label: 'Do you smoke?', question_type: 'boolean', group_key: 'you', group_label: 'You' },
        {
          key: 'smoking_amount',
          label: 'How many a day?',
          question_type: 'integer',
          validation: { min: 1, max: 200 },
          ask_if: { key: 'smoker', equals: true },
          group_key: 'you',
        },
        {
          key: 'heart',
          label: 'Have you had any of these?',
          question_type: 'enum',
          answer_options: {
            none: 'None of these',
            attack: {
              label: 'A heart attack',
              terminal_outcome: 'decline',
              terminal_reason_code: 'heart',
              terminal_reason_message: 'We cannot offer cover after a heart attack.',
            },
          },
        },
        { key: 'height_cm', label: 'How tall are you?', question_type: 'number' },
        { key: 'weight_kg', label: 'What do you weigh?', question_type: 'number' },
        {
          key: 'bmi',
          label: 'Body mass index',
          question_type: 'derived',
          derivation: { kind: 'bmi', height_cm: 'height_cm', weight_kg: 'weight_kg' },
        },
        {
          key: 'occupation',
          label: 'What do you do?',
          question_type: 'string',
          lookup_source: 'occupations',
          suggestions: ['Nurse', { label: 'Teacher', search: 'teacher school' }],
        },
      ],
      presentations: [
        {
          slug: 'web',
          name: 'Web',
          stages: [
            { stage_type: 'questions', title: 'About you', config: { all_remaining: true } },
            { stage_type: 'quote', title: 'Your price', config: { label: 'A month' } },
            { stage_type: 'payment', title: 'Payment' },
          ],
        },
        {
          slug: 'soft',
          name: 'Soft',
          stages: [
            { stage_type: 'soft_identity', title: 'Hello', config: { fields: ['first_name', 'postcode'] } },
            { stage_type: 'questions', title: 'You', config: { group_keys: ['you'] }, consent_notice: 'We keep it.' },
          ],
        },
      ],
    },
    {
      slug: 'broker',
      name: 'Broker',
      description: 'For brokers',
      journey_loading: '1.10',
      lifecycle_state: 'sandbox',
      questions: [
        { key: 'smoker', label: 'Smoker', question_type: 'boolean' },
        { key: 'height_cm', label: 'Height', question_type: 'number' },
      ],
    },
  ],
}

/** The draft of a declared product, `termLife` unless it says otherwise. */
export const draft = (changes: Record<string, unknown> = {}): Draft =>
  draftOf(DeclaredProduct.parse({ ...termLife, ...changes }), {
    organisation_id,
    currency_code: 'GBP',
    findFile: () => undefined,
  })

export const levelTable: FindTable = (key, version) =>
  key === 'life.level' && version === 1 ? { dimensions: ['age', 'term', 'smoker'], currency_code: 'GBP' } : undefined

export const release = (number: 1 | 2 = 1, of: Draft = draft()): Release => ({
  id: releaseIds[number - 1] ?? releaseIds[0],
  number,
  ...of,
})

export const drafted = (of: Draft = draft()): ProductEvent => ({ type: 'ProductDrafted', draft: of })
export const published = (number: 1 | 2 = 1, of: Draft = draft()): ProductEvent => ({
  type: 'ReleasePublished',
  release: release(number, of),
})
export const became = (lifecycle_state: LifecycleState): ProductEvent => ({
  type: 'ProductLifecycleChanged',
  organisation_id,
  lifecycle_state,
})
