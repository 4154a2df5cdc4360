import { expect, test } from 'vitest'
import type { Draft } from '#domain/catalogue/events.ts'
import { draft } from './builders.ts'
import { cover, faultless, faultsOf, faulty, journey, question, wholeOfMarket } from './faults.ts'

test('the usual draft has no faults', () => {
  expect(faultsOf(draft())).toEqual([])
})
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
    'underwriting.rules[0].when.key': 'no journey has a question with the key nothing',
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
faulty(
  'a product has a name, and no days or fee below nothing',
  (of) => Object.assign(of, { name: ' ', cooldown_days: -1, policy_fee_pence: -1 }),
  {
    name: 'must not be empty',
    cooldown_days: 'must not be below 0',
    policy_fee_pence: 'must not be below 0',
  },
)
faultless('days and fee may be nothing', (of) => Object.assign(of, { cooldown_days: 0, policy_fee_pence: 0 }))
faulty('a journey has a name', (of) => Object.assign(journey(of, 1), { name: ' ' }), {
  'journeys[1].name': 'must not be empty',
})
const bothHeart = (of: Draft) => journey(of, 1).questions.push({ ...question(of, 'heart'), position: 99 })
const byAnswer = (joint_values: string[], factor_key: string | null = 'heart') => ({
  joint: { mode: 'by_answer', factor_key, joint_values },
})
faultless('joint by answer names answers that can be given', (of) => {
  bothHeart(of)
  Object.assign(of, byAnswer(['none', 'attack']))
})
faulty(
  'joint by answer names at least one',
  (of) => {
    bothHeart(of)
    Object.assign(of, byAnswer([]))
  },
  { 'joint.joint_values': 'must name at least one answer' },
)
faulty(
  'only joint by answer names a question',
  (of) => Object.assign(of, { joint: { mode: 'always', factor_key: 'heart', joint_values: [] } }),
  {
    'joint.factor_key': 'only when mode is by_answer',
  },
)
faultless('joint need not be by answer', (of) =>
  Object.assign(of, { joint: { mode: 'always', factor_key: null, joint_values: [] } }),
)
faulty(
  'who smokes is asked in every journey',
  (of) => Object.assign(of, { smoker: { key: 'heart', values: ['attack'] } }),
  {
    'smoker.key': 'the journey broker has no question with the key heart',
  },
)
faultless('who smokes may be told by several answers', (of) => {
  bothHeart(of)
  Object.assign(of, { smoker: { key: 'heart', values: ['none', 'attack'] } })
})
faultless(
  'who smokes need not be known where no rates depend on it',
  (of) => Object.assign(of, { smoker: null }),
  () => ({ dimensions: ['age'], currency_code: 'GBP' }),
)
const rule = { code: 'x', label: 'X', extra_percent: 5 }
faulty(
  'every condition of a rule is about a question, and rules are told apart',
  (of) =>
    of.underwriting.rules.push(
      {
        ...rule,
        when: [
          { key: 'smoker', equals: true },
          { key: 'nothing', equals: true },
        ],
      },
      { ...rule, when: { key: 'smoker', equals: true } },
    ),
  {
    'underwriting.rules[0].when[1].key': 'no journey has a question with the key nothing',
    'underwriting.rules[1].code': 'is the same as that of rules[0]',
  },
)
faulty(
  'what is derived follows from questions, or from what is derived itself, and is told apart',
  (of) =>
    of.underwriting.derived.push(
      { key: 'other', kind: 'bmi', height_cm: 'tall', weight_kg: 'heavy' },
      { key: 'other', kind: 'age' },
      { key: 'class', kind: 'mapped', from: 'nothing', values: {} },
      { key: 'class_of_class', kind: 'mapped', from: 'class', values: {} },
      { key: 'another', kind: 'bmi', height_cm: 'class', weight_kg: 'weight_kg' },
    ),
  {
    'underwriting.derived[0].height_cm': 'no journey has a question with the key tall',
    'underwriting.derived[0].weight_kg': 'no journey has a question with the key heavy',
    'underwriting.derived[1].key': 'is the same as that of derived[0]',
    'underwriting.derived[2].from': 'no journey has a question with the key nothing',
    'underwriting.derived[4].height_cm': 'no journey has a question with the key class',
  },
)
faulty(
  'nobody is declined before being referred',
  (of) => Object.assign(of.underwriting, { refer_above_percent: 100, decline_above_percent: 99 }),
  {
    'underwriting.decline_above_percent': 'must not be below refer_above_percent',
  },
)
faultless('nobody need be referred', (of) =>
  Object.assign(of.underwriting, { refer_above_percent: 100, decline_above_percent: 100 }),
)
const factor = (cover_types: ('life' | 'healthcare')[], key = 'nothing') => ({ key, cover_types, values: {} })
faulty(
  'what multiplies the price of a cover is an answer',
  (of) => of.factors.by_answer.push(factor(['healthcare', 'life'])),
  {
    'factors.by_answer[0].key': 'no journey has a question with the key nothing',
  },
)
faultless('what multiplies the price of covers that are not sold is not looked at', (of) =>
  of.factors.by_answer.push(factor(['healthcare'])),
)
faultless('what multiplies the price of covers that are not rated is not looked at', (of) => {
  Object.assign(cover(of), {
    pricing_basis: 'fixed_tiers',
    rate_table: null,
    tiers: [{ cover_amount_pence: 1_000_000, premium_pence: 1 }],
  })
  of.factors.by_answer.push(factor(['life']))
})
faultless('without a journey no question is missed', (of) => {
  of.journeys.splice(0)
  of.factors.by_answer.push(factor(['life']))
})

const searching = (...mapping: NonNullable<Draft['market']>['mapping']) => ({
  market: { mapping, time_limit_seconds: 30, valid_days: 30 },
})
faultless('a whole-of-market product says how the market is searched', (of) => Object.assign(of, wholeOfMarket))
faulty('a whole-of-market product needs to', (of) => Object.assign(of, { whole_of_market: true }), {
  market: 'a whole_of_market product needs it',
})
faulty('another product does not', (of) => Object.assign(of, searching({ field: 'smoker', key: 'smoker' })), {
  market: 'only for a whole_of_market product',
})
faulty(
  'a search is filled with answers of every journey, each field once',
  (of) =>
    Object.assign(
      of,
      wholeOfMarket,
      searching(
        { field: 'smoker', key: 'smoker' },
        { field: 'smoker', key: 'smoker' },
        { field: 'occupation', key: 'heart' },
      ),
    ),
  {
    'market.mapping[1].field': 'is the same as that of mapping[0]',
    'market.mapping[2].key': 'a journey has no question with the key heart',
  },
)
faulty('earnings are asked in every journey', (of) => Object.assign(of, { earnings: { key: 'heart', percent: 50 } }), {
  'earnings.key': 'a journey has no question with the key heart',
})
faultless('earnings may be asked', (of) => Object.assign(of, { earnings: { key: 'height_cm', percent: 50 } }))
