import { faultless, faulty, journey, option, question } from './faults.ts'

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
    answer_options.push({ ...option(of) })
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
faulty('a terminal reason needs a terminal outcome', (of) => Object.assign(option(of), { terminal_reason_code: 'x' }), {
  'journeys[0].questions[2].answer_options[0].terminal_outcome': 'needs it',
})
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
faulty('a question has a label', (of) => Object.assign(question(of, 'occupation'), { label: ' ' }), {
  'journeys[0].questions[6].label': 'must not be empty',
})
faultless('a key may have 64 characters', (of) =>
  Object.assign(question(of, 'occupation'), { key: `a${'b'.repeat(63)}` }),
)
faulty(
  'a key begins with a letter and ends with none other',
  (of) => {
    Object.assign(question(of, 'occupation'), { key: '1a' })
    Object.assign(question(of, 'heart'), { key: 'heart!' })
  },
  {
    'journeys[0].questions[2].key': 'use up to 64 lower-case letters, digits and underscores, beginning with a letter',
    'journeys[0].questions[6].key': 'use up to 64',
  },
)
faultless('several options may be chosen', (of) =>
  Object.assign(question(of, 'heart'), { question_type: 'multi_select' }),
)
faulty('an option has a value', (of) => Object.assign(option(of), { value: ' ' }), {
  'journeys[0].questions[2].answer_options[0].value': 'must not be empty',
})
faulty(
  'a terminal message needs a terminal outcome',
  (of) => Object.assign(option(of), { terminal_reason_message: 'x' }),
  { 'journeys[0].questions[2].answer_options[0].terminal_outcome': 'an option with a terminal reason needs it' },
)

const validated =
  (key: string, validation: object, changes: object = {}) =>
  (of: Parameters<typeof question>[0]) =>
    Object.assign(question(of, key), { validation, ...changes })
const date = { question_type: 'date' }
faultless('a number may have one value only', validated('height_cm', { min: 5, max: 5 }))
faultless(
  'a date may have limits',
  validated('occupation', { min: '2020-01-01', max: '2020-01-01' }, { ...date, lookup_source: null, suggestions: [] }),
)
faultless('a whole number may have limits', validated('smoking_amount', { min: 1 }))
faultless('a text may have one length only', validated('occupation', { min_length: 5, max_length: 5 }))
faultless('a text may have one character', validated('occupation', { min_length: 0, max_length: 1 }))
faultless(
  'a selection may have a length',
  validated('heart', { min_length: 1, max_length: 2 }, { question_type: 'multi_select' }),
)
faultless(
  'a text with a pattern may have 1000 characters',
  validated('occupation', { pattern: '^a', max_length: 1000 }),
)
for (const [title, key, validation, changes, expected] of [
  [
    'a date is limited by dates',
    'occupation',
    { min: 1, max: 2 },
    { ...date, lookup_source: null, suggestions: [] },
    { 'validation.min': 'must be a date', 'validation.max': 'must be a date' },
  ],
  [
    'a whole number is limited by numbers',
    'smoking_amount',
    { max: '2020-01-01' },
    {},
    { 'validation.max': 'must be a number' },
  ],
  [
    'a text has no least value',
    'occupation',
    { min: 1, max: 2 },
    {},
    {
      'validation.min': 'a question of type string has no such limit',
      'validation.max': 'a question of type string has no such limit',
    },
  ],
  [
    'a number has no length',
    'height_cm',
    { min_length: 1 },
    {},
    { 'validation.min_length': 'only texts and selections have a length' },
  ],
  [
    'no length is below nothing',
    'occupation',
    { min_length: -1 },
    {},
    { 'validation.min_length': 'must not be below 0' },
  ],
  ['no text has no characters', 'occupation', { max_length: 0 }, {}, { 'validation.max_length': 'leaves no answer' }],
  [
    'the greatest length is not below the least',
    'occupation',
    { min_length: 3, max_length: 2 },
    {},
    { 'validation.max_length': 'leaves no answer' },
  ],
  [
    'the last date is not before the first',
    'occupation',
    { min: '2020-01-02', max: '2020-01-01' },
    { ...date, lookup_source: null, suggestions: [] },
    { 'validation.max': 'is below min' },
  ],
  [
    'a number has no pattern',
    'height_cm',
    { pattern: '^a$' },
    {},
    { 'validation.pattern': 'only texts have a pattern' },
  ],
  [
    'what is suggested is looked up',
    'occupation',
    {},
    { lookup_source: null },
    { suggestions: 'only with a lookup_source' },
  ],
] as const)
  faulty(
    title,
    validated(key, validation, changes),
    Object.fromEntries(
      Object.entries(expected).map(([path, reason]) => [
        `journeys[0].questions[${['smoker', 'smoking_amount', 'heart', 'height_cm', 'weight_kg', 'bmi', 'occupation'].indexOf(key)}].${path}`,
        reason,
      ]),
    ),
  )
faultless('what is looked up need have no suggestions', (of) =>
  Object.assign(question(of, 'occupation'), { suggestions: [] }),
)

const asking = (key: string, equals: unknown) => (of: Parameters<typeof question>[0]) =>
  Object.assign(question(of, 'occupation'), { ask_if: { key, equals } })
faultless('a question may be asked on one of several answers', asking('heart', ['none', 'attack']))
faultless('a question may be asked on what is derived', asking('bmi', 30))
faulty('a question is asked on at least one answer', asking('heart', []), {
  'journeys[0].questions[6].ask_if.equals': 'must name at least one value',
})
faulty('what is derived from numbers is a number', asking('bmi', 'high'), {
  'journeys[0].questions[6].ask_if.equals': 'the answer to bmi is never "high"',
})
faulty('a number is not a word', asking('height_cm', 'tall'), {
  'journeys[0].questions[6].ask_if.equals': 'the answer to height_cm is never "tall"',
})
faulty('a whole number is not a word', asking('smoking_amount', 'many'), {
  'journeys[0].questions[6].ask_if.equals': 'the answer to smoking_amount is never "many"',
})
faulty('a question is asked on a question of its journey', asking('nothing', true), {
  'journeys[0].questions[6].ask_if.key': 'no earlier question has the key nothing',
})
faulty(
  'a text is not a number',
  (of) => {
    Object.assign(question(of, 'occupation'), { position: 0, ask_if: undefined })
    Object.assign(question(of, 'smoker'), { position: 6, ask_if: { key: 'occupation', equals: 5 } })
    Object.assign(question(of, 'smoking_amount'), { ask_if: undefined })
  },
  { 'journeys[0].questions[0].ask_if.equals': 'the answer to occupation is never 5' },
)
faultless('a question may be asked on a text, a date or whether any is so', (of) => {
  Object.assign(question(of, 'occupation'), { position: 0 })
  Object.assign(question(of, 'smoker'), { position: 6, ask_if: { key: 'occupation', equals: 'Nurse' } })
  Object.assign(question(of, 'smoking_amount'), { ask_if: undefined })
  Object.assign(question(of, 'bmi'), { position: 7, derivation: { kind: 'any', keys: ['smoker'] } })
  Object.assign(question(of, 'heart'), { position: 8, ask_if: { key: 'bmi', equals: true } })
  Object.assign(question(of, 'height_cm'), { question_type: 'date', position: 9 })
  Object.assign(question(of, 'weight_kg'), { position: 10, ask_if: { key: 'height_cm', equals: '2020-01-01' } })
  Object.assign(of.underwriting, { derived: [], rules: [] })
})

const deriving =
  (derivation: object, changes: object = {}) =>
  (of: Parameters<typeof question>[0]) =>
    Object.assign(question(of, 'bmi'), { derivation, ...changes })
faultless(
  'a derived answer may be a sum of numbers, whole ones among them',
  deriving({ kind: 'sum', keys: ['height_cm', 'smoking_amount'] }),
)
faultless('a derived answer may be whether any is so', deriving({ kind: 'any', keys: ['smoker'] }))
faultless('a derived answer may be an age', (of) => {
  deriving({ kind: 'age', key: 'height_cm' })(of)
  Object.assign(question(of, 'height_cm'), { question_type: 'date' })
  Object.assign(of.underwriting, { derived: [], rules: [] })
})
faulty('a sum is of numbers', deriving({ kind: 'sum', keys: ['height_cm', 'smoker', 'nothing'] }), {
  'journeys[0].questions[5].derivation.keys[1]': 'smoker is not a number',
  'journeys[0].questions[5].derivation.keys[2]': 'there is no question with the key nothing',
})
faulty('whether any is so is of yes or no', deriving({ kind: 'any', keys: ['smoker', 'heart'] }), {
  'journeys[0].questions[5].derivation.keys[1]': 'heart is not a yes or no',
})
faulty('a derived answer is never required', deriving({ kind: 'any', keys: ['smoker'] }, { required: true }), {
  'journeys[0].questions[5].required': 'a derived question is never asked, so never required',
})
const more = (of: Parameters<typeof question>[0], key: string, position: number, derivation: object) =>
  journey(of).questions.push({
    ...question(of, 'bmi'),
    id: crypto.randomUUID(),
    key,
    position,
    derivation: derivation as never,
  })
faultless('what is derived may follow from what is derived before', (of) => {
  more(of, 'double', 7, { kind: 'sum', keys: ['bmi'] })
})
faulty(
  'what is derived does not follow from itself, nor from what is derived later',
  (of) => {
    more(of, 'double', 7, { kind: 'sum', keys: ['double', 'triple'] })
    more(of, 'triple', 8, { kind: 'sum', keys: ['height_cm'] })
  },
  {
    'journeys[0].questions[7].derivation.keys[0]': 'double is derived later',
    'journeys[0].questions[7].derivation.keys[1]': 'triple is derived later',
  },
)
faulty('the name of a group needs a group', (of) => Object.assign(question(of, 'heart'), { group_label: 'You' }), {
  'journeys[0].questions[2].group_key': 'a group_label needs it',
})
faultless('the name of a group may be given again', (of) =>
  Object.assign(question(of, 'heart'), { group_key: 'you', group_label: 'You' }),
)
