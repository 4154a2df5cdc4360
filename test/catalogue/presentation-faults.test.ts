import type { Draft } from '#domain/catalogue/events.ts'
import { faultless, faulty, journey, presentation, stage, wholeOfMarket } from './faults.ts'

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

faulty('presentations are told apart', (of) => journey(of).presentations.push({ ...presentation(of, 1) }), {
  'journeys[0].presentations[2].id': 'presentations[1]',
  'journeys[0].presentations[2].slug': 'presentations[1]',
})
faultless('a journey may have no presentation', (of) => journey(of).presentations.splice(0))
faulty('a stage has a title', (of) => Object.assign(stage(of, 'quote'), { title: ' ' }), {
  'journeys[0].presentations[0].stages[1].title': 'must not be empty',
})
faulty(
  'one stage only takes all remaining questions',
  (of) => Object.assign(stage(of, 'payment'), { stage_type: 'questions', config: { all_remaining: true } }),
  { 'journeys[0].presentations[0].stages': 'only one stage can take all remaining questions' },
)

/** The last stage of the first presentation, as a stage of another type. */
const staged = (stage_type: string, config: object) => (of: Draft) =>
  Object.assign(stage(of, 'payment'), { stage_type, config })
const last = 'journeys[0].presentations[0].stages[2]'
const broken = (title: string, stage_type: string, config: object, expected: Record<string, string>) =>
  faulty(
    title,
    staged(stage_type, config),
    Object.fromEntries(Object.entries(expected).map(([path, reason]) => [`${last}.config${path}`, reason])),
  )

faultless('a second person’s stage is for a product that is always for two', (of) => {
  staged('partner_details', { fields: ['email'], required_fields: ['email'] })(of)
  Object.assign(of, { joint: { mode: 'always', factor_key: null, joint_values: [] } })
})
faulty(
  'required fields of a second person are fields',
  (of) => {
    staged('partner_details', { fields: ['email'], required_fields: ['dob'] })(of)
    Object.assign(of, { joint: { mode: 'always', factor_key: null, joint_values: [] } })
  },
  { [`${last}.config.required_fields[0]`]: 'dob is not one of the fields' },
)
faultless('a whole-of-market product shows market quotes', (of) => {
  staged('market_quotes', { label: 'Quotes' })(of)
  Object.assign(of, wholeOfMarket)
})
faultless(
  'an address may be looked up where it is asked for',
  staged('personal_details', { fields: ['address'], address_lookup: true }),
)
broken(
  'an address is looked up where it is asked for',
  'personal_details',
  { fields: ['email'], required_fields: ['dob'], address_lookup: true },
  {
    '.address_lookup': 'address is not one of the fields',
    '.required_fields[0]': 'dob is not one of the fields',
  },
)

const amount = { min_pence: 10, max_pence: 20, step_pence: 1 }
broken(
  'an amount and a term need their limits',
  'cover_capture',
  { mode: 'amount_term' },
  { '.amount': 'the mode amount_term needs it' },
)
broken('tiers need at least one', 'cover_capture', { mode: 'tiers' }, { '.tiers': 'the mode tiers needs at least one' })
broken(
  'tiers are told apart',
  'cover_capture',
  {
    mode: 'tiers',
    tiers: [
      { cover_amount_pence: 5, label: 'A' },
      { cover_amount_pence: 5, label: 'B' },
    ],
  },
  { '.tiers[1].cover_amount_pence': 'is the same as that of tiers[0]' },
)
broken(
  'limits of what is captured are the right way round',
  'cover_capture',
  {
    mode: 'amount_term',
    amount: { ...amount, max_pence: 9, default_pence: 5, presets_pence: [30] },
    term: { min: 5, max: 4 },
  },
  {
    '.amount.max_pence': 'is below min_pence',
    '.amount.default_pence': 'is not within min_pence and max_pence',
    '.amount.presets_pence[0]': 'is not within min_pence and max_pence',
    '.term.max': 'is below min',
  },
)
broken(
  'what is captured is within its limits',
  'cover_capture',
  {
    mode: 'amount_term',
    amount: { ...amount, default_pence: 9, presets_pence: [9, 21] },
    term: { min: 5, max: 10, default: 4 },
  },
  {
    '.amount.default_pence': 'is not within',
    '.amount.presets_pence[0]': 'is not within',
    '.amount.presets_pence[1]': 'is not within',
    '.term.default': 'is not within min and max',
  },
)
for (const [first, lastOne] of [
  [10, 20],
  [20, 10],
] as const)
  faultless(
    `what is captured may be at its limits: ${first}`,
    staged('cover_capture', {
      mode: 'amount_term',
      amount: { ...amount, default_pence: first, presets_pence: [10, 20] },
      term: { min: 10, max: 20, default: lastOne },
    }),
  )
faultless(
  'an amount and a term may be captured at one value only',
  staged('cover_capture', {
    mode: 'amount_term',
    amount: { ...amount, max_pence: 10 },
    term: { min: 10, max: 10 },
  }),
)
faultless('what is captured may be members or components', staged('cover_capture', { mode: 'members' }))
faultless(
  'tiers may be captured',
  staged('cover_capture', { mode: 'tiers', tiers: [{ cover_amount_pence: 5, label: 'A' }] }),
)

broken(
  'a questions stage shows questions',
  'questions',
  {},
  { '': 'name one of all_remaining, group_keys and question_keys' },
)
broken(
  'a questions stage shows groups that there are',
  'questions',
  { group_keys: ['you', 'them'] },
  { '.group_keys[1]': 'there is no group them' },
)
broken(
  'a unit belongs to a question that is asked for a number',
  'questions',
  { group_keys: ['you'], units: { smoker: 'cm', nothing: 'kg' } },
  {
    '.units.smoker': 'no question that is asked for a number has the key smoker',
    '.units.nothing': 'no question that is asked for a number has the key nothing',
  },
)
faultless('a questions stage may show questions by their keys', staged('questions', { question_keys: ['smoker'] }))
faultless(
  'an interstitial may go on, or to a stage that there is',
  staged('interstitial', {
    heading: 'H',
    choices: [
      { key: 'a', label: 'A' },
      { key: 'b', label: 'B', goto_stage_key: 'quote' },
    ],
  }),
)
for (const [stage_type, config, wrong] of [
  ['before_you_buy', {}, { heading: '' }],
  ['confirmation', { heading: 'H' }, { heading: '' }],
  ['handoff', { heading: 'H' }, { heading: '' }],
  ['interstitial', { heading: 'H' }, { heading: '' }],
] as const) {
  faultless(`a stage of the type ${stage_type} has its config`, staged(stage_type, config))
  broken(`a stage of the type ${stage_type} has no other config`, stage_type, wrong, {
    '.heading': 'must not be empty',
  })
}
broken(
  'a stage of the type payment names days of a month',
  'payment',
  { collection_days: [29] },
  { '.collection_days[0]': 'must be at most 28' },
)
