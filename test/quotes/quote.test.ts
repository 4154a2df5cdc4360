import { expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import type { QuoteApplication } from '#domain/applications/quote.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import { latestQuote } from '#domain/applications/state.ts'
import type { ReleaseJourney } from '#domain/catalogue/events.ts'
import { QuoteId } from '#domain/values.ts'
import { fullJourney, lifeCover, release } from '../applications/release.ts'
import { anna, answered, covered, customerSaved, declined, referred, started } from '../applications/builders.ts'
import { tables } from '../rating/request.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'

const scenario = scenariosOf(application)

const required = new Set(['smoker', 'cigarettes'])
const journey: ReleaseJourney = {
  ...fullJourney,
  questions: fullJourney.questions.map((question) => ({ ...question, required: required.has(question.key) })),
}
const term = { ...release, product_type: 'term', covers: [lifeCover], rate_tables: { 'life.level': 3 } } as const

const firstId = QuoteId.parse('d0000000-0000-4000-8000-000000000001')
const secondId = QuoteId.parse('d0000000-0000-4000-8000-000000000002')
const unknownId = QuoteId.parse('d0000000-0000-4000-8000-000000000009')
const now = '2026-06-01T09:00:00.000Z'
const digest = (text: string) => `digest of ${text}`

const quote = (changes: Partial<QuoteApplication> = {}): QuoteApplication => ({
  type: 'QuoteApplication',
  quote_id: firstId,
  start_date: null,
  now,
  today: '2026-06-01',
  release: { ...term, covers: [...term.covers] },
  journey,
  rate_tables: tables,
  digest,
  ...changes,
})

const accept = (quote_id: QuoteId | null = null, at = now) =>
  ({ type: 'AcceptQuote', quote_id, now: at, digest }) as const

/** Thirty-four on 2 June 2026, and until 10 March 2027. */
const born = { ...anna, dob: '1992-03-10' }
const complete: ApplicationStreamEvent[] = [
  started(),
  customerSaved(born),
  answered({ smoker: false }),
  covered({ cover_amount_pence: 25_000_000, term_years: 25 }),
]

const decided = (given: readonly ApplicationStreamEvent[], command: QuoteApplication | ReturnType<typeof accept>) => [
  ...given,
  ...application.decide(command, stateOf(application, given, now)),
]
const quoted = decided(complete, quote())
const latest = (given: readonly ApplicationStreamEvent[]) => {
  const state = stateOf(application, given, now)
  return state && latestQuote(state)?.quote
}
const quotedOn = (details: typeof born, changes: Partial<QuoteApplication> = {}) =>
  latest(decided([started(), customerSaved(details), ...complete.slice(2)], quote(changes)))

test('the price is that of the published table: £250,000 at 34 for 25 years is £12.50 a month', () => {
  expect(stateOf(application, quoted, now)?.quotes).toMatchObject([
    {
      quote: {
        id: firstId,
        status: 'current',
        decision: 'standard',
        premium_pence: 1250,
        policy_fee_pence: 150,
        annual_premium_pence: 15_000,
        total_premium_pence: 375_000,
        start_date: '2026-06-02',
        rate_tables: [{ key: 'life.level', version: 3 }],
        components: [{ premium_pence: 1100, expires_on: '2051-06-02' }],
        accepted_at: null,
      },
    },
  ])
})

test('a quote holds for 30 days', () => {
  expect(quotedOn(born)?.expires_at).toBe('2026-07-01T09:00:00.000Z')
})

test('a quote never holds past the next birthday of a life assured if that changes the price', () => {
  expect(quotedOn({ ...born, dob: '1992-06-20' })?.expires_at).toBe('2026-06-20T00:00:00.000Z')
})

const expire = (at: string, quote_id: QuoteId = firstId) => ({ type: 'ExpireQuote', quote_id, now: at }) as const
const justBefore = '2026-07-01T08:59:59.999Z'
const runOut = '2026-07-01T09:00:00.000Z'
const expired = { type: 'QuoteExpired', quote_id: firstId } as const

scenario('a quote expires at the moment its time runs out', {
  given: quoted,
  at: now,
  when: expire(runOut),
  then: [expired],
})
scenario('and not a moment before', { given: quoted, at: now, when: expire(justBefore), then: [] })
scenario('it expires once', { given: [...quoted, expired], at: now, when: expire(runOut), then: [] })
scenario('a quote that there is not does not expire', {
  given: quoted,
  at: now,
  when: expire(runOut, unknownId),
  then: [],
})
scenario('an accepted quote expires too', {
  given: decided(quoted, accept()),
  at: now,
  when: expire(runOut),
  then: [expired],
})
scenario('a replaced quote stays replaced', {
  given: [...quoted, { type: 'QuoteReplaced', quote_id: firstId, replaced_by: secondId }],
  at: now,
  when: expire(runOut),
  then: [],
})

const late = { now: runOut, today: '2026-07-01', quote_id: secondId }

test('an expired quote stays expired when the application is quoted again', () => {
  const again = decided([...quoted, expired], quote(late)).slice(quoted.length + 1)
  expect(again).toMatchObject([{ type: 'QuoteIssued', quote_id: secondId }])
})

test('a quote whose time has run out, and of which that is not recorded yet, expires and is not replaced', () => {
  const again = decided(quoted, quote(late)).slice(quoted.length)
  expect(again).toMatchObject([expired, { type: 'QuoteIssued', quote_id: secondId }])
})

test('a moment earlier it is replaced', () => {
  const again = decided(quoted, quote({ ...late, now: justBefore })).slice(quoted.length)
  expect(again).toMatchObject([
    { type: 'QuoteReplaced', quote_id: firstId, replaced_by: secondId },
    { type: 'QuoteIssued', quote_id: secondId },
  ])
})

scenario('when nothing that matters has changed, the existing quote stays', {
  given: quoted,
  at: now,
  when: quote({ quote_id: secondId }),
  then: [],
})
scenario('a name or a phone number does not change a price', {
  given: [...quoted, customerSaved({ ...born, last_name: 'Birch', phone_number: '+441632960001' })],
  at: now,
  when: quote({ quote_id: secondId }),
  then: [],
})

for (const [change, events] of [
  ['an answer', [answered({ wine: true })]],
  ['the amount', [covered({ cover_amount_pence: 20_000_000, term_years: 25 })]],
  ['the term', [covered({ cover_amount_pence: 25_000_000, term_years: 20 })]],
  ['the date of birth', [customerSaved({ ...born, dob: '1985-03-10' })]],
] as const)
  test(`after a change of ${change}, the new quote replaces the former`, () => {
    const all = decided([...quoted, ...events], quote({ quote_id: secondId }))
    expect(all).toContainEqual({ type: 'QuoteReplaced', quote_id: firstId, replaced_by: secondId })
    expect(stateOf(application, all, now)?.quotes).toMatchObject([
      { quote: { id: firstId, status: 'replaced' } },
      { quote: { id: secondId, status: 'current' } },
    ])
  })

test('another start date is another quote', () => {
  const again = decided(quoted, quote({ quote_id: secondId, start_date: '2026-06-10' }))
  expect(stateOf(application, again, now)?.quotes[1]).toMatchObject({ quote: { start_date: '2026-06-10' } })
})

test('a quote with less than 24 hours to run is issued again', () => {
  const soon = { now: '2026-06-30T09:00:00.001Z', today: '2026-06-30', quote_id: secondId }
  expect(decided(quoted, quote(soon))).toHaveLength(quoted.length + 2)
})

for (const date of ['2026-05-31', '2026-08-31'])
  scenario(`cover starts from today to 90 days on, not on ${date}`, {
    given: complete,
    when: quote({ start_date: date }),
    then: rejected('validation_failed', { start_date: 'from 2026-06-01 to 2026-08-30' }),
  })

scenario('answers and dates that are missing are named', {
  given: [started()],
  when: quote(),
  then: rejected('quote_failed', { 'answers.smoker': 'required', 'customer.dob': 'required' }),
})
scenario('a date of birth that is missing is named', {
  given: [started(), answered({ smoker: false }), covered({ cover_amount_pence: 25_000_000, term_years: 25 })],
  when: quote(),
  then: rejected('quote_failed', { 'customer.dob': 'required' }),
})
scenario('a question is required only when it is asked', {
  given: [...complete.slice(0, 2), answered({ smoker: true })],
  when: quote(),
  then: rejected('quote_failed', { 'answers.cigarettes': 'required' }),
})
scenario('cover amount and term that are unsaved are named', {
  given: complete.slice(0, 3),
  when: quote(),
  then: rejected('cover_missing', { cover_amount_pence: 'required', term_years: 'required' }),
})
scenario('no cover can be priced for somebody too old', {
  given: [...complete, customerSaved({ ...born, dob: '1940-01-01' })],
  when: quote(),
  then: rejected('no_quotable_cover'),
})
scenario('the details are acceptable but no price exists', {
  given: complete,
  when: quote({ rate_tables: new Map() }),
  then: rejected('rate_unavailable'),
})
scenario('a whole-of-market product is priced by the market', {
  given: complete,
  when: quote({ release: { ...term, covers: [...term.covers], whole_of_market: true } }),
  then: rejected('quote_failed'),
})
for (const end of [declined, referred])
  scenario(`an application that is over (${end.type}) is not priced`, {
    given: [...complete, end],
    when: quote(),
    then: rejected('quote_failed'),
  })

test('an underwriting decision to refer is recorded, and ends the quote that was there', () => {
  const heavy = [...quoted, answered({ height_cm: 160, weight_kg: 120, bmi: 46.8 })]
  const events = decided(heavy, quote({ quote_id: secondId })).slice(heavy.length)
  expect(events).toMatchObject([
    { type: 'QuoteRejected', quote_id: firstId },
    { type: 'ApplicationReferred', cause: 'underwriting', reason_code: 'bmi_40' },
  ])
})

scenario('accepting the current quote', {
  given: quoted,
  at: now,
  when: accept(),
  then: [{ type: 'QuoteAccepted', quote_id: firstId, via: 'accept_quote' }],
})
scenario('accepting again is fine', { given: decided(quoted, accept()), at: now, when: accept(firstId), then: [] })
scenario('no quote yet', { given: complete, when: accept(), then: rejected('accept_failed') })
scenario('a quote of another application', {
  given: quoted,
  at: now,
  when: accept(unknownId),
  then: rejected('accept_failed', { quote_id: 'no such quote' }),
})
scenario('a quote that was replaced', {
  given: decided([...quoted, answered({ wine: true })], quote({ quote_id: secondId })),
  at: now,
  when: accept(firstId),
  then: rejected('accept_failed'),
})
scenario('a quote that expired', {
  given: quoted,
  at: now,
  when: accept(firstId, '2026-07-01T09:00:00.000Z'),
  then: rejected('accept_failed'),
})
scenario('answers changed since pricing', {
  given: [...quoted, answered({ wine: true })],
  at: now,
  when: accept(),
  then: rejected('accept_failed'),
})
scenario('an application that has ended', {
  given: [...quoted, declined],
  at: now,
  when: accept(),
  then: rejected('accept_failed'),
})

test('accepting shows the application as quoted', () => {
  const state = stateOf(application, decided(quoted, accept()), now)
  expect(state?.record.status).toBe('quoted')
  expect(state && latestQuote(state)?.quote.accepted_at).toBe(now)
})
