import { expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import {
  answered,
  because,
  covered,
  customerSaved,
  declined,
  referred,
  save,
  started,
} from '../applications/builders.ts'
import { illnessCover, lifeCover } from '../applications/release.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { after, applied, born, decided, firstId, journeyWith, quote, termRelease } from './builders.ts'

const scenario = scenariosOf(application)
const bothCovers = { ...termRelease, covers: [lifeCover, illnessCover] }

scenario('an application that is with the team is not priced', {
  given: [...applied(), referred],
  when: quote(),
  then: rejected('quote_failed', undefined, 'This application is with our team. Wait for what they decide.'),
})
scenario('an application that has ended is not priced, and the refusal says how it ended and what to do', {
  given: [...applied(), declined],
  when: quote(),
  then: rejected('quote_failed', undefined, 'This application has ended: declined. Start another one.'),
})
scenario('an application that was given up for inactivity is not priced before something is saved on it', {
  given: [...applied(), { type: 'ApplicationAbandoned', reason: 'inactive', superseded_by: null }],
  when: quote(),
  then: rejected(
    'quote_failed',
    undefined,
    'This application was given up for inactivity. Save something on it to open it again.',
  ),
})
scenario('a whole-of-market product is priced by market quotes', {
  given: applied(),
  when: quote({ release: { ...termRelease, whole_of_market: true } }),
  then: rejected('quote_failed', undefined, 'Ask for market quotes instead.'),
})

for (const start_date of ['2026-05-31', '2026-08-31'])
  scenario(`a start date of ${start_date} is refused with the dates that are possible`, {
    given: applied(),
    when: quote({ start_date }),
    then: rejected(
      'validation_failed',
      { start_date: 'must be from 2026-06-01 to 2026-08-30' },
      'The start date must be from 2026-06-01 to 2026-08-30.',
    ),
  })

scenario('every answer and date that is missing is named in one refusal', {
  given: [started()],
  when: quote({ journey: journeyWith('smoker', 'wine') }),
  then: rejected(
    'quote_failed',
    { 'answers.smoker': 'required', 'answers.wine': 'required', 'customer.dob': 'required' },
    'Answers or details are missing. Save answers.smoker, answers.wine, customer.dob on the application, then quote again.',
  ),
})
scenario('a derived answer that is required is never asked for', {
  given: [...applied().slice(0, 2), answered({ smoker: false })],
  when: quote({ journey: journeyWith('smoker', 'bmi') }),
  then: rejected('cover_missing', { cover_amount_pence: 'required', term_years: 'required' }),
})
scenario('an amount and a term that were not saved are named', {
  given: applied().slice(0, 3),
  when: quote(),
  then: rejected(
    'cover_missing',
    { cover_amount_pence: 'required', term_years: 'required' },
    'Save cover_amount_pence, term_years on the application, then quote again.',
  ),
})
scenario('what no rate table prices is refused with what to do', {
  given: applied(),
  when: quote({ rate_tables: new Map() }),
  then: rejected('rate_unavailable', undefined, 'There is no price for these details. Change the cover or the term'),
})
scenario('when no cover can be had, the refusal says why of each that was chosen', {
  given: [...applied('1940-01-01')],
  when: quote({ release: bothCovers }),
  then: rejected(
    'no_quotable_cover',
    undefined,
    'No cover can be priced. Life cover starts at ages 18 to 70; the age would be 86. Critical illness cover starts',
  ),
})
scenario('a cover that was not chosen is not among the reasons', {
  given: [
    ...applied('1940-01-01'),
    covered({
      cover_amount_pence: 25_000_000,
      term_years: 25,
      components: [{ cover_id: lifeCover.id, cover_amount_pence: null, term_years: null, selected: false }],
    }),
  ],
  when: quote({ release: bothCovers }),
  then: rejected('no_quotable_cover', undefined, 'No cover can be priced. Critical illness cover starts'),
})
scenario('when no cover was chosen, the refusal says that', {
  given: [
    ...applied(),
    covered({
      cover_amount_pence: 25_000_000,
      term_years: 25,
      components: [{ cover_id: lifeCover.id, cover_amount_pence: null, term_years: null, selected: false }],
    }),
  ],
  when: quote(),
  then: rejected('no_quotable_cover', undefined, 'No cover was chosen. Choose at least one.'),
})

const bmi45 = { height_cm: 160, weight_kg: 116 }

test('an underwriting decision ends the application and rejects the quote that was current', () => {
  const given = [...after(applied(), quote()), answered({ smoker: false, ...bmi45 })]

  expect(decided(given, quote())).toEqual([
    { type: 'QuoteRejected', quote_id: firstId, reason: 'application_closed' },
    {
      type: 'ApplicationReferred',
      cause: 'underwriting',
      reason_code: 'bmi_40',
      reason_message: 'Our underwriters need to look at your height and weight first.',
    },
  ])
})

for (const [decision, type] of [
  ['decline', 'ApplicationDeclined'],
  ['postpone', 'ApplicationPostponed'],
] as const)
  test(`an underwriting rule that says ${decision} leads to ${type}`, () => {
    const rule = { code: 'wine', label: 'Wine', when: { key: 'wine', equals: true }, decision }
    const underwriting = { ...termRelease.underwriting, rules: [rule] }

    const events = decided(applied(born.dob, { wine: true }), quote({ release: { ...termRelease, underwriting } }))

    expect(events).toMatchObject([{ type, cause: 'underwriting', reason_code: 'wine', reason_message: 'Wine' }])
  })

test('an answer that ends the application rejects the quote that was current', () => {
  const given = after(applied(), quote())

  expect(decided(given, save({ answers: { work: 'stuntman' } }))).toEqual([
    { type: 'AnswersSaved', saved: { work: 'stuntman' }, removed: [] },
    { type: 'QuoteRejected', quote_id: firstId, reason: 'application_closed' },
    { type: 'ApplicationDeclined', ...because('stuntman', 'decline') },
  ])
})

test('an underwriting decision rejects no quote that is no longer current', () => {
  const replaced = { type: 'QuoteReplaced', quote_id: firstId, replaced_by: firstId } as const
  const given = [...after(applied(), quote()), replaced, answered(bmi45), customerSaved(born)]

  expect(decided(given, quote())).toMatchObject([{ type: 'ApplicationReferred' }])
})
