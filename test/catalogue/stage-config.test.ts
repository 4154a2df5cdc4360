import { expect, test } from 'vitest'
import { stageConfigs } from '#domain/catalogue/stage-config.ts'

type Type = keyof typeof stageConfigs
const check = { enabled: true, reject_switched_off: false }
const box = { key: 'no_email', label: 'No', purpose: 'first_party_marketing', channels: ['email'] }

test.each<[type: Type, declared: object, config: object]>([
  ['soft_identity', { fields: ['dob'] }, { fields: ['dob'], required_fields: [], intro: null }],
  [
    'personal_details',
    { fields: ['address'] },
    {
      fields: ['address'],
      required_fields: [],
      address_lookup: false,
      phone_check: check,
      consent_opt_outs: [],
      marketing_question: null,
    },
  ],
  [
    'personal_details',
    {
      fields: ['first_name', 'last_name', 'email', 'phone', 'dob', 'address'],
      required_fields: ['email'],
      address_lookup: true,
      phone_check: {},
      consent_opt_outs: [box, { ...box, purpose: 'third_party_marketing' }],
      marketing_question: { label: 'May we?', channels: ['sms'] },
    },
    {
      fields: ['first_name', 'last_name', 'email', 'phone', 'dob', 'address'],
      required_fields: ['email'],
      address_lookup: true,
      phone_check: check,
      consent_opt_outs: [
        { ...box, basis: 'soft_opt_in' },
        { ...box, purpose: 'third_party_marketing', basis: 'soft_opt_in' },
      ],
      marketing_question: { label: 'May we?', channels: ['sms'], style: 'opt_in' },
    },
  ],
  ['partner_details', { fields: ['dob'] }, { fields: ['dob'], required_fields: [], same_address: false }],
  ['cover_capture', { mode: 'members' }, { mode: 'members', amount: null, term: null, tiers: [], benefit_label: null }],
  [
    'cover_capture',
    {
      mode: 'amount_term',
      amount: { min_pence: 0, max_pence: 0, step_pence: 1 },
      term: { min: 1, max: 1 },
    },
    {
      mode: 'amount_term',
      amount: { min_pence: 0, max_pence: 0, step_pence: 1, default_pence: null, presets_pence: [] },
      term: { min: 1, max: 1, step: 1, default: null },
      tiers: [],
      benefit_label: null,
    },
  ],
  [
    'questions',
    { all_remaining: true, per_page: 1 },
    { all_remaining: true, group_keys: [], question_keys: [], per_page: 1, units: {} },
  ],
  ['questions', {}, { all_remaining: false, group_keys: [], question_keys: [], per_page: null, units: {} }],
  [
    'questions',
    { all_remaining: true, units: { height_cm: 'cm' } },
    { all_remaining: true, group_keys: [], question_keys: [], per_page: null, units: { height_cm: 'cm' } },
  ],
  [
    'interstitial',
    { heading: 'H' },
    { heading: 'H', body: '', image_url: null, choices: [], auto_advance_seconds: null },
  ],
  [
    'interstitial',
    {
      heading: 'H',
      choices: [{ key: 'a', label: 'A' }],
      auto_advance_seconds: 1,
      image_url: 'https://example.com/a.png',
    },
    {
      heading: 'H',
      body: '',
      image_url: 'https://example.com/a.png',
      choices: [{ key: 'a', label: 'A', goto_stage_key: null }],
      auto_advance_seconds: 1,
    },
  ],
  [
    'quote',
    { label: 'A month' },
    { label: 'A month', show_components: true, allow_cover_edit: true, compare_terms: [] },
  ],
  ['market_quotes', { label: 'Quotes' }, { label: 'Quotes', sort: 'premium', max_results: null }],
  [
    'market_quotes',
    { label: 'Quotes', sort: 'provider', max_results: 1 },
    { label: 'Quotes', sort: 'provider', max_results: 1 },
  ],
  ['before_you_buy', {}, { heading: null }],
  ['payment', {}, { methods: ['direct_debit'], collection_days: null, show_guarantee: true }],
  [
    'payment',
    { methods: ['card'], collection_days: [1, 28], show_guarantee: false },
    { methods: ['card'], collection_days: [1, 28], show_guarantee: false },
  ],
  ['confirmation', { heading: 'H' }, { heading: 'H', body: '', next_steps: [] }],
  ['handoff', { heading: 'H' }, { heading: 'H', body: '', phone: null, callback_form: false }],
])('the config of the type %s has all its keys: %j', (type, declared, config) => {
  expect(stageConfigs[type].parse(declared)).toEqual(config)
})

test('the fields, modes, purposes and ways to pay are these', () => {
  const { soft_identity, cover_capture, partner_details } = stageConfigs

  expect(soft_identity.shape.fields.element.options.join(' ')).toBe('first_name last_name email phone postcode dob')
  expect(partner_details.shape.fields.element.options.join(' ')).toBe('first_name last_name email phone dob address')
  expect(cover_capture.shape.mode.options.join(' ')).toBe('amount_term tiers members components')
})

const amount = { min_pence: 0, max_pence: 0, step_pence: 1 }
const term = { min: 1, max: 1 }
test.each<[type: Type, wrong: object]>([
  ['soft_identity', { fields: [] }],
  ['soft_identity', { fields: ['dob'], intro: '' }],
  ['personal_details', { fields: [] }],
  ['personal_details', { fields: ['email'], consent_opt_outs: [{ ...box, channels: [] }] }],
  ['personal_details', { fields: ['email'], consent_opt_outs: [{ ...box, label: '' }] }],
  ['personal_details', { fields: ['email'], consent_opt_outs: [{ ...box, key: '1a' }] }],
  ['personal_details', { fields: ['email'], consent_opt_outs: [{ ...box, key: 'aB' }] }],
  ['personal_details', { fields: ['email'], consent_opt_outs: [{ ...box, basis: 'other' }] }],
  ['personal_details', { fields: ['email'], marketing_question: { label: '', channels: ['sms'] } }],
  ['personal_details', { fields: ['email'], marketing_question: { label: 'x', channels: [] } }],
  ['personal_details', { fields: ['email'], marketing_question: { label: 'x', channels: ['sms'], style: 'other' } }],
  ['partner_details', { fields: [] }],
  ['cover_capture', { mode: 'members', amount: { ...amount, min_pence: -1 } }],
  ['cover_capture', { mode: 'members', amount: { ...amount, max_pence: -1 } }],
  ['cover_capture', { mode: 'members', amount: { ...amount, step_pence: 0 } }],
  ['cover_capture', { mode: 'members', term: { ...term, min: 0 } }],
  ['cover_capture', { mode: 'members', term: { ...term, step: 0 } }],
  ['cover_capture', { mode: 'members', tiers: [{}] }],
  ['questions', { per_page: 0 }],
  ['questions', { units: { height_cm: '' } }],
  ['questions', { units: { height_cm: 'x'.repeat(21) } }],
  ['interstitial', { heading: 'H', image_url: 'x' }],
  ['interstitial', { heading: 'H', auto_advance_seconds: 0 }],
  ['interstitial', { heading: 'H', choices: [{}] }],
  ['market_quotes', { label: 'Quotes', max_results: 0 }],
  ['payment', { methods: [] }],
  ['payment', { methods: ['cash'] }],
  ['payment', { collection_days: [0] }],
  ['payment', { collection_days: [29] }],
])('the config of the type %s is not %j', (type, wrong) => {
  expect(stageConfigs[type].safeParse(wrong).success).toBe(false)
})
