import { describe, expect, test } from 'vitest'
import { outcomeModel, type DeclareOutcomeModel } from '#domain/outcomes/model.ts'
import type { OutcomeEvent, OutcomeType, Report } from '#domain/outcomes/events.ts'
import { outcomeIn, outcomes, type RecordOutcome, type ReverseOutcome } from '#domain/outcomes/outcomes.ts'
import { outcomeModelsOf, seededModel, shownModel } from '#domain/outcomes/record.ts'
import { ApiApplicationId, CurrencyCode, CustomerId, OrganisationId } from '#domain/values.ts'
import { organisation_id } from '../applications/release.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'

/** What became of one person: sales, their cancellations, and what that means for the lead. */

const scenario = scenariosOf(outcomes)
const contact_id = CustomerId.parse('c0000000-0000-4000-8000-000000000001')
const sender = ApiApplicationId.parse('d0000000-0000-4000-8000-000000000001')
const other = ApiApplicationId.parse('d0000000-0000-4000-8000-000000000002')
const idOf = (number: number) => `0c000000-0000-4000-8000-00000000000${number}`
const by = { type: 'api', name: 'Website' } as const
const happened_at = '2026-01-16T08:00:00.000Z'

const typeOf = (key: string): OutcomeType => {
  const found = seededModel.types.find((type) => type.key === key)
  if (!found) throw new Error(`There is no outcome type ${key}.`)
  return found
}
const values = { premium: 1250, commission: 30_000 }

const report = (type: string, changes: Partial<Report> = {}): Report => ({
  type,
  occurred_at: happened_at,
  deal_ref: 'D-1',
  product: null,
  reason: null,
  note: null,
  currency: 'GBP',
  values: type === 'sold' ? values : {},
  ...changes,
})
const origin = (number: number, seen_by: readonly ApiApplicationId[] = [sender]) => ({
  organisation_id,
  outcome_id: idOf(number),
  api_application_id: sender,
  source: 'api' as const,
  event_id: `E-${number}`,
  by,
  seen_by: [...seen_by],
})
const record = (
  number: number,
  type: string,
  changes: Partial<Report> = {},
  seen_by?: readonly ApiApplicationId[],
): RecordOutcome => ({
  type: 'RecordOutcome',
  ...origin(number, seen_by),
  contact_id,
  report: report(type, changes),
  outcome_type: typeOf(type),
  model: seededModel,
})

type Recorded = Extract<OutcomeEvent, { type: 'OutcomeRecorded' }>
const recorded = (number: number, type: string, changes: Partial<Recorded> = {}): Recorded => ({
  type: 'OutcomeRecorded',
  ...origin(number),
  contact_id,
  outcome_type: type,
  happened_at,
  deal_ref: 'D-1',
  product: null,
  reason: null,
  note: null,
  currency: CurrencyCode.parse('GBP'),
  values: type === 'sold' ? { ...values, annual_premium: 15_000 } : {},
  missing_values: [],
  effect: typeOf(type).effect,
  repeatable: typeOf(type).repeatable,
  cancels: null,
  lead_status: type === 'sold' ? 'won' : null,
  lead_stage: null,
  ...changes,
})
const reverse = (number: number): ReverseOutcome => ({
  type: 'ReverseOutcome',
  outcome_id: idOf(number),
  reversal_id: idOf(9),
  note: 'Typed wrongly.',
  api_application_id: sender,
  source: 'api',
  by,
  now: '2026-01-17T08:00:00.000Z',
})
const reversed = ({ outcome_type, values: of, lead_status, outcome_id }: Recorded): OutcomeEvent => ({
  type: 'OutcomeReversed',
  ...origin(9),
  event_id: null,
  contact_id,
  outcome_type,
  deal_ref: 'D-1',
  product: null,
  currency: CurrencyCode.parse('GBP'),
  values: of,
  missing_values: [],
  happened_at: '2026-01-17T08:00:00.000Z',
  reversal_of: outcome_id,
  note: 'Typed wrongly.',
  closed_lead: lead_status !== null,
})
const sold = recorded(1, 'sold')

describe('an outcome', () => {
  scenario('of a sale wins the lead', { given: [], when: record(1, 'sold'), then: [sold] })
  scenario('of another effect moves the lead to no stage, whatever stage its type names', {
    given: [],
    when: { ...record(1, 'sold'), outcome_type: { ...typeOf('sold'), stage: 'quoted' } },
    then: [sold],
  })
  scenario('is recorded once', { given: [sold], when: record(1, 'sold'), then: [] })
  scenario('keeps what was said about it', {
    given: [],
    when: record(1, 'sold', { deal_ref: null, product: 'term-life', reason: 'price', note: 'by phone' }),
    then: [{ ...sold, deal_ref: null, product: 'term-life', reason: 'price', note: 'by phone' }],
  })
  scenario('of a quote moves the lead to its stage', {
    given: [],
    when: record(1, 'quoted'),
    then: [recorded(1, 'quoted', { missing_values: ['premium'], lead_stage: 'quoted' })],
  })
  scenario('of a lost lead loses it', {
    given: [],
    when: record(1, 'lost'),
    then: [recorded(1, 'lost', { lead_status: 'lost' })],
  })
  scenario('of another deal that is lost leaves the lead won while a sale stands', {
    given: [sold],
    when: record(2, 'lost', { deal_ref: 'D-2' }),
    then: [recorded(2, 'lost', { deal_ref: 'D-2' })],
  })
  scenario('of a lost lead loses one whose only sale was reversed', {
    given: [sold, reversed(sold)],
    when: record(2, 'lost'),
    then: [recorded(2, 'lost', { lead_status: 'lost' })],
  })
  scenario('of a commission means nothing for the lead', {
    given: [],
    when: record(1, 'commission_paid', { values: { commission: 1 } }),
    then: [recorded(1, 'commission_paid', { values: { commission: 1 } })],
  })
})

describe('a cancellation', () => {
  const cancelled = (number: number, changes: Partial<Recorded> = {}) => recorded(number, 'cancelled', changes)
  scenario('of the only sale loses the lead', {
    given: [sold],
    when: record(2, 'cancelled'),
    then: [cancelled(2, { cancels: idOf(1), lead_status: 'lost' })],
  })
  const second = recorded(2, 'sold', { deal_ref: 'D-2' })
  scenario('of one of two sales loses nothing', {
    given: [sold, second],
    when: record(3, 'cancelled'),
    then: [cancelled(3, { cancels: idOf(1) })],
  })
  scenario('without a deal is of the latest sale', {
    given: [sold, second],
    when: record(3, 'cancelled', { deal_ref: null }),
    then: [cancelled(3, { deal_ref: null, cancels: idOf(2) })],
  })
  scenario('of a deal that was sold twice is of the later sale', {
    given: [sold, recorded(2, 'sold'), recorded(3, 'sold', { deal_ref: 'D-3' })],
    when: record(4, 'cancelled'),
    then: [cancelled(4, { cancels: idOf(2) })],
  })
  scenario('without a deal is not of a sale that was cancelled before', {
    given: [sold, second, cancelled(3, { deal_ref: 'D-2', cancels: idOf(2) })],
    when: record(4, 'cancelled', { deal_ref: null }),
    then: [cancelled(4, { deal_ref: null, cancels: idOf(1), lead_status: 'lost' })],
  })
  scenario('is of a sale whose former cancellation was reversed', {
    given: [
      sold,
      cancelled(2, { cancels: idOf(1), lead_status: 'lost' }),
      reversed(cancelled(2, { cancels: idOf(1), lead_status: 'lost' })),
    ],
    when: record(3, 'cancelled'),
    then: [cancelled(3, { cancels: idOf(1), lead_status: 'lost' })],
  })
  scenario('is not of a sale that was reversed', {
    given: [sold, reversed(sold)],
    when: record(2, 'cancelled'),
    then: [cancelled(2)],
  })
  scenario('is not of what is no sale', {
    given: [recorded(1, 'lost', { lead_status: 'lost' })],
    when: record(2, 'cancelled'),
    then: [cancelled(2)],
  })
  scenario('of another deal cancels nothing', {
    given: [second],
    when: record(3, 'cancelled'),
    then: [cancelled(3)],
  })
  scenario('409 not_repeatable: the deal is cancelled already', {
    given: [sold, cancelled(2, { cancels: idOf(1) })],
    when: record(3, 'cancelled'),
    then: rejected('not_repeatable', undefined, 'cancelled'),
  })
  scenario('of another deal is another', {
    given: [sold, second, cancelled(3, { cancels: idOf(1) })],
    when: record(4, 'cancelled', { deal_ref: 'D-2' }),
    then: [cancelled(4, { deal_ref: 'D-2', cancels: idOf(2), lead_status: 'lost' })],
  })
})

describe('a reversal', () => {
  scenario('takes an outcome back, and says that it had closed the lead', {
    given: [sold],
    when: reverse(1),
    then: [reversed(sold)],
  })
  const quoted = recorded(1, 'quoted', { lead_stage: 'quoted' })
  scenario('of what had not closed the lead says so', { given: [quoted], when: reverse(1), then: [reversed(quoted)] })
  scenario('409 already_reversed: it was reversed', {
    given: [sold, reversed(sold)],
    when: reverse(1),
    then: rejected('already_reversed', undefined, 'reversed already'),
  })
  scenario('409 already_reversed: it is a reversal', {
    given: [sold, reversed(sold)],
    when: reverse(9),
    then: rejected('already_reversed', undefined, 'is a reversal'),
  })
  scenario('404 not_found: there is no such outcome', {
    given: [sold],
    when: reverse(2),
    then: rejected('not_found', undefined, 'no outcome with this id'),
  })
  test('marks what it reverses, and nothing else', () => {
    const state = stateOf(outcomes, [sold, recorded(2, 'sold'), reversed(sold)])

    expect([1, 2, 9].map((number) => outcomeIn(state, idOf(number)))).toMatchObject([
      { reversed: true, reversal_of: null },
      { reversed: false, reversal_of: null },
      { reversed: false, reversal_of: idOf(1) },
    ])
    expect(outcomeIn(state, idOf(3))).toBeUndefined()
  })
})

describe('applications see outcomes', () => {
  const show = (...to: readonly ApiApplicationId[]) =>
    ({ type: 'ShowOutcomes', organisation_id, contact_id, to }) as const
  const shown = (number: number) => ({ outcome_id: idOf(number), outcome_type: 'sold', deal_ref: 'D-1' })

  scenario('from when they have sent the person in, those before too', {
    given: [sold],
    when: show(other),
    then: [{ type: 'OutcomesShown', organisation_id, contact_id, seen_by: [other], outcomes: [shown(1)] }],
  })
  scenario('only those who did not see them yet', {
    given: [sold],
    when: show(sender, other),
    then: [{ type: 'OutcomesShown', organisation_id, contact_id, seen_by: [other], outcomes: [shown(1)] }],
  })
  scenario('once', {
    given: [sold, { type: 'OutcomesShown', organisation_id, contact_id, seen_by: [other], outcomes: [shown(1)] }],
    when: show(other),
    then: [],
  })
  scenario('where there are none yet', { given: [], when: show(other), then: [] })
  scenario('of another’s report, and those before', {
    given: [sold],
    when: record(2, 'sold', {}, [other]),
    then: [
      { type: 'OutcomesShown', organisation_id, contact_id, seen_by: [other], outcomes: [shown(1)] },
      recorded(2, 'sold', { seen_by: [sender, other] }),
    ],
  })
  test.each([
    [500, [500]],
    [501, [500, 1]],
    [1000, [500, 500]],
  ])('%i are told of in events of %o', (count, sizes) => {
    const many = Array.from({ length: count }, (_, index) =>
      recorded(1, 'sold', { outcome_id: `0c000000-0000-4000-8000-${String(index).padStart(12, '0')}` }),
    )
    const told = outcomes.decide(
      show(other),
      many.reduce((state, event) => outcomes.evolve(state, event, { occurred_at: happened_at }), outcomes.initialState),
    )
    const pages = told.flatMap((event) => (event.type === 'OutcomesShown' ? [event.outcomes] : []))

    expect(pages.map(({ length }) => length)).toEqual(sizes)
    expect(pages.flat().map(({ outcome_id }) => outcome_id)).toEqual(many.map(({ outcome_id }) => outcome_id))
  })
})

describe('the outcome model', () => {
  const scenarioOfModel = scenariosOf(outcomeModel)
  const products = [{ key: 'term-life', name: 'Term life', aliases: [] }]
  const declare = (declared: DeclareOutcomeModel['declared']) =>
    ({ type: 'DeclareOutcomeModel', organisation_id, declared }) as const
  const declared = { type: 'OutcomeModelDeclared', organisation_id, model: { ...seededModel, products } } as const

  scenarioOfModel('is declared in part, and keeps the rest', {
    given: [],
    when: declare({ products }),
    then: [declared],
  })
  scenarioOfModel('once', { given: [declared], when: declare({ products }), then: [] })
  scenarioOfModel('as it is without any', { given: [], when: declare({ types: seededModel.types }), then: [] })
  scenarioOfModel('again keeps what was declared before', {
    given: [declared],
    when: declare({ measures: [] }),
    then: [{ ...declared, model: { ...seededModel, products, measures: [] } }],
  })

  test('is the one that the service begins with until another is declared', () => {
    const models = outcomeModelsOf(new Map([[organisation_id, declared.model]]))

    expect(models(organisation_id)).toBe(declared.model)
    expect(models(OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e60'))).toBe(seededModel)
  })

  test('shows what can be sent, and what is worked out', () => {
    const { types, measures, products: shownProducts } = shownModel(declared.model)

    expect(measures).toEqual(seededModel.measures)
    expect(shownProducts).toEqual(products)
    expect(types.map(({ key, label, repeatable, product }) => [key, label, repeatable, product])).toEqual([
      ['quoted', 'Quoted', true, 'optional'],
      ['sold', 'Sold', true, 'required'],
      ['cancelled', 'Cancelled', false, 'optional'],
      ['commission_paid', 'Commission paid', true, 'optional'],
      ['lost', 'Lost', true, 'none'],
    ])
    const value = (key: string, required: boolean, calculated = false) => ({ key, required, calculated })
    expect(types.map((type) => type.values)).toEqual([
      [value('premium', true), value('cover_amount', false)],
      [
        value('premium', true),
        value('commission', true),
        value('commission_rate', false),
        value('cover_amount', false),
        value('policies', false),
        value('annual_premium', false, true),
      ],
      [value('clawback', false)],
      [value('commission', true), value('commission_rate', false)],
      [],
    ])
    expect(measures.map(({ key, label, unit }) => [key, label, unit])).toEqual([
      ['premium', 'Monthly premium', 'money'],
      ['annual_premium', 'Annual premium', 'money'],
      ['commission', 'Commission', 'money'],
      ['clawback', 'Clawback', 'money'],
      ['cover_amount', 'Cover amount', 'money'],
      ['commission_rate', 'Commission rate', 'percent'],
      ['policies', 'Policies', 'count'],
    ])
    expect(seededModel.products).toEqual([])
  })
})
