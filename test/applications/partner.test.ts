import { describe, expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import type { ApplicationEvent } from '#domain/applications/events.ts'
import type { QuoteApplication } from '#domain/applications/quote.ts'
import { renderApplication, type ApplicationStreamEvent } from '#domain/applications/record.ts'
import type { SavePartner } from '#domain/applications/save-partner.ts'
import type { Release } from '#domain/catalogue/events.ts'
import type { CustomerDetails } from '#domain/customers/events.ts'
import { nothingKnown } from '#domain/customers/record.ts'
import { CustomerId, QuoteId } from '#domain/values.ts'
import { tables } from '../rating/request.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import {
  anna,
  answered,
  application_id,
  because,
  bertId,
  covered,
  customerSaved,
  declined,
  given,
  referred,
  save,
  saveCustomer,
  started,
} from './builders.ts'
import { jointJourney, jointRelease, lifeCover, planCover } from './release.ts'

const scenario = scenariosOf(application)
const newId = CustomerId.parse('c0000000-0000-4000-8000-000000000009')
const bert: Partial<CustomerDetails> = { first_name: 'Bert', last_name: 'Ash', dob: '1990-03-10' }
const forTwo = answered({ cover_for: 'joint' })

const savePartner = (partner = given(bert), changes: Partial<SavePartner> = {}): SavePartner => ({
  type: 'SavePartner',
  caller: 'server',
  release: jointRelease,
  partner,
  new_person_id: newId,
  answers: undefined,
  today: '2026-06-01',
  now: '2026-06-01T09:00:00.000Z',
  ...changes,
})

type Saved = Extract<ApplicationEvent, { type: 'PartnerSaved' }>

const partnerSaved = (details: Partial<CustomerDetails> = bert, changes: Partial<Saved> = {}): Saved => ({
  type: 'PartnerSaved',
  customer_id: newId,
  partner: { ...nothingKnown, country: 'GB', ...details },
  sent: details,
  by: 'server',
  joint: jointRelease.joint,
  ...changes,
})
const partnerAnswered = (saved: Record<string, string | number | boolean>, ...removed: string[]) =>
  ({ type: 'PartnerAnswersSaved', customer_id: newId, saved, removed }) satisfies ApplicationEvent

describe('who the second person is', () => {
  scenario('they have a person’s id, and need no email address', {
    given: [started(), forTwo],
    when: savePartner(),
    then: [partnerSaved()],
  })
  scenario('after the second person was erased, who is saved is another', {
    given: [started(), forTwo, partnerSaved({ first_name: null, last_name: null, dob: null })],
    when: savePartner(given(bert), { new_person_id: bertId }),
    then: [partnerSaved(bert, { customer_id: bertId })],
  })
  scenario('they keep the id when they are saved again', {
    given: [started(), forTwo, partnerSaved()],
    when: savePartner(given({ city: 'York' }), { new_person_id: bertId }),
    then: [partnerSaved({ ...bert, city: 'York' }, { sent: { city: 'York' } })],
  })
  scenario('the same details again change nothing', {
    given: [started(), forTwo, partnerSaved()],
    when: savePartner(),
    then: [],
  })
  scenario('an email address says who they are', {
    given: [started(), forTwo],
    when: savePartner(given({ ...bert, email: 'bert@example.org' })),
    then: [partnerSaved({ ...bert, email: 'bert@example.org' }, { customer_id: bertId })],
  })
  scenario('a server is shown what is known of them, a web page is not', {
    given: [started(), forTwo],
    when: savePartner(given(bert, { known: { ...nothingKnown, city: 'York' } }), { caller: 'browser' }),
    then: [partnerSaved(bert, { by: 'browser' })],
  })
  const york = { ...nothingKnown, city: 'York' }
  scenario('to a server of its own application what is known is shown', {
    given: [started(), forTwo],
    when: savePartner(given(bert, { known: york })),
    then: [partnerSaved({ ...bert, city: 'York' }, { sent: bert })],
  })
  scenario('in an application that a web page has a hand in it is not', {
    given: [started({ started_by: 'browser' }), forTwo],
    when: savePartner(given(bert, { known: york })),
    then: [partnerSaved()],
  })
  scenario('their record is told again when it says something else', {
    given: [started(), forTwo, partnerSaved({ ...bert, city: 'York' })],
    when: savePartner(given({ city: 'York' }, { known: { ...york, city: 'Leeds' } })),
    then: [partnerSaved({ ...bert, city: 'York' }, { sent: { city: 'York' } })],
  })
  scenario('their record is not told again when it says the same', {
    given: [started(), forTwo, partnerSaved({ ...bert, city: 'York' })],
    when: savePartner(given({ city: 'York' }, { known: york })),
    then: [],
  })
  scenario('first name, last name and date of birth are needed', {
    given: [started(), forTwo],
    when: savePartner(given({ city: 'York' })),
    then: rejected('partner_invalid', {
      'partner.first_name': 'is needed',
      'partner.last_name': 'is needed',
      'partner.dob': 'is needed',
    }),
  })
  scenario('details that cannot be used are named', {
    given: [started(), forTwo],
    when: savePartner(given({ first_name: 'Bert', last_name: 'Ash' }, { refused: { dob: 'must be in the past' } })),
    then: rejected('partner_invalid', { 'partner.dob': 'must be in the past' }),
  })
  scenario('two people have two email addresses', {
    given: [started(), forTwo, customerSaved()],
    when: savePartner(given({ ...bert, email: 'anna@example.org' })),
    then: rejected('partner_invalid', { 'partner.email': 'first person' }),
  })
  scenario('nor does the first person take that of the second', {
    given: [started(), forTwo, partnerSaved({ ...bert, email: 'anna@example.org' })],
    when: saveCustomer(given(), { release: jointRelease }),
    then: rejected('customer_invalid', { 'customer.email': 'second person' }),
  })
})

describe('the age of the second person', () => {
  // Cover starts at ages 18 to 70, from today (1 June 2026) to 30 August.
  test.each([
    ['2008-08-30', true],
    ['2008-08-31', false],
    ['1955-06-02', true],
    ['1955-06-01', false],
  ])('born on %s can be covered: %s', (dob, isAllowed) => {
    const state = stateOf(application, [started(), forTwo])
    const decide = () => application.decide(savePartner(given({ ...bert, dob })), state)
    if (isAllowed) expect(decide()).toHaveLength(1)
    else
      expect(decide).toThrow(
        expect.objectContaining({ code: 'partner_invalid', fields: { 'partner.dob': expect.any(String) as unknown } }),
      )
  })
  const tooOld = { dob: '1955-06-02' }
  scenario('is what their date of birth is refused for', {
    given: [started(), forTwo],
    when: savePartner(given({ ...bert, dob: '2008-08-31' })),
    then: rejected('partner_invalid', { 'partner.dob': 'is outside the ages at which any of the covers can start' }),
  })
  scenario('is not told beside a date of birth that cannot be used', {
    given: [started(), forTwo, partnerSaved({ ...bert, ...tooOld })],
    when: savePartner(given({}, { refused: { dob: 'must be a date' } }), { today: '2027-06-01' }),
    then: rejected('partner_invalid', { 'partner.dob': 'must be a date' }),
  })
  scenario('need fit one of the covers only', {
    given: [started(), forTwo],
    when: savePartner(given({ ...bert, dob: '1966-03-10' }), {
      release: { ...jointRelease, covers: [{ ...lifeCover, age_at_entry_max: 30 }, lifeCover] },
    }),
    then: [partnerSaved({ ...bert, dob: '1966-03-10' })],
  })
  const plans = { ...jointRelease, covers: [planCover] }
  scenario('is not looked at where no cover is priced by it', {
    given: [started(), forTwo],
    when: savePartner(given({ ...bert, dob: '2020-01-01' }), { release: plans }),
    then: [partnerSaved({ ...bert, dob: '2020-01-01' })],
  })
})

describe('whether there is a second person', () => {
  scenario('an application for one has none', {
    given: [started(), answered({ cover_for: 'single' })],
    when: savePartner(),
    then: rejected('not_joint_basis', undefined, 'This application is for one person. Save the answer'),
  })
  scenario('nor has one whose release is never for two', {
    given: [started(), forTwo],
    when: savePartner(given(bert), { release: { ...jointRelease, joint: { ...jointRelease.joint, mode: 'never' } } }),
    then: rejected('not_joint_basis'),
  })
  const always: Release['joint'] = { mode: 'always', factor_key: null, joint_values: [] }
  scenario('one that is always for two asks nothing', {
    given: [started()],
    when: savePartner(given(bert), { release: { ...jointRelease, joint: always } }),
    then: [partnerSaved(bert, { joint: always })],
  })
  for (const end of [declined, referred])
    scenario(`${end.type}: nothing is saved any more`, {
      given: [started(), forTwo, end],
      when: savePartner(),
      then: rejected('application_closed'),
    })

  test('they are kept but not shown while the answer is for one, and shown again when it is for two', () => {
    const shown = (...events: readonly ApplicationEvent[]) =>
      stateOf(application, [started(), forTwo, partnerSaved(), ...events])?.record.joint_customer
    expect(shown()).toMatchObject({ ...bert, id: newId })
    expect(shown(answered({ cover_for: 'single' }))).toBeNull()
    expect(shown(answered({}, 'cover_for'))).toBeNull()
    expect(shown(answered({ cover_for: 'single' }), forTwo)).toMatchObject({ ...bert, id: newId })
  })
})

describe('the answers of the second person', () => {
  scenario('are saved apart, derived ones with them', {
    given: [started(), forTwo, answered({ smoker: false, wine: true })],
    when: savePartner(given(bert), { answers: { smoker: true, cigarettes: 20, wine: false, beer: false } }),
    then: [partnerSaved(), partnerAnswered({ smoker: true, cigarettes: 20, wine: false, beer: false, drinks: false })],
  })
  scenario('are merged, and null removes one', {
    given: [started(), forTwo, partnerSaved(), partnerAnswered({ smoker: true, cigarettes: 20, wine: true })],
    when: savePartner(given({}), { answers: { smoker: null } }),
    then: [partnerAnswered({}, 'smoker', 'cigarettes')],
  })
  scenario('are checked like the first person’s', {
    given: [started(), forTwo],
    when: savePartner(given(bert), { answers: { smoker: 'yes', cigarettes: 1, shoe_size: 42, age: 30 } }),
    then: rejected('validation_failed', {
      'answers.smoker': 'true or false',
      'answers.shoe_size': 'not a question',
      'answers.age': 'worked out',
    }),
  })
  scenario('are none to a question that is not asked of them, whatever the first person answered', {
    given: [started(), answered({ cover_for: 'joint', smoker: true })],
    when: savePartner(given(bert), { answers: { smoker: false, cigarettes: 5 } }),
    then: rejected('validation_failed', { 'answers.cigarettes': 'not asked' }),
  })
  scenario('are none to what is asked once, and that changes nothing of what they are asked', {
    given: [started(), forTwo],
    when: savePartner(given(bert), { answers: { cover_for: 'single', both_note: 'x' } }),
    then: rejected('validation_failed', { 'answers.cover_for': 'asked once' }),
  })
  scenario('are none to what is asked once', {
    given: [started(), forTwo],
    when: savePartner(given(bert), { answers: { cover_for: 'single' } }),
    then: rejected('validation_failed', { 'answers.cover_for': 'asked once' }),
  })
  scenario('may end the application', {
    given: [started(), forTwo],
    when: savePartner(given(bert), { answers: { work: 'stuntman' } }),
    then: [
      partnerSaved(),
      partnerAnswered({ work: 'stuntman' }),
      { type: 'ApplicationDeclined', ...because('stuntman', 'decline') },
    ],
  })
  scenario('are dropped when the application’s answers no longer ask for them', {
    given: [started(), forTwo, partnerSaved(), partnerAnswered({ both_note: 'x', wine: true })],
    when: save({ release: jointRelease, answers: { cover_for: 'single' } }),
    then: [answered({ cover_for: 'single' }), partnerAnswered({}, 'both_note')],
  })
  scenario('are dropped when the answer that they hang on is removed', {
    given: [started(), forTwo, partnerSaved(), partnerAnswered({ both_note: 'x', wine: true })],
    when: save({ release: jointRelease, answers: { cover_for: null } }),
    then: [answered({}, 'cover_for'), partnerAnswered({}, 'both_note')],
  })
  scenario('are dropped when one answer is changed and another removed', {
    given: [
      started(),
      answered({ cover_for: 'joint', beer: true }),
      partnerSaved(),
      partnerAnswered({ both_note: 'x' }),
    ],
    when: save({ release: jointRelease, answers: { cover_for: 'single', beer: null } }),
    then: [answered({ cover_for: 'single' }, 'beer'), partnerAnswered({}, 'both_note')],
  })
  scenario('of earlier versions are nobody’s once the second person was erased, and can be dropped', {
    given: [
      started(),
      forTwo,
      partnerSaved({ first_name: null, last_name: null, dob: null }),
      { ...partnerAnswered({ both_note: 'x' }), customer_id: null },
    ],
    when: save({ release: jointRelease, answers: { cover_for: 'single' } }),
    then: [answered({ cover_for: 'single' }), { ...partnerAnswered({}, 'both_note'), customer_id: null }],
  })
  scenario('stay while what they hang on stays', {
    given: [started(), forTwo, partnerSaved(), partnerAnswered({ both_note: 'x' })],
    when: save({ release: jointRelease, answers: { wine: true } }),
    then: [answered({ wine: true })],
  })
  scenario('do not change when no answer does, not even an age that has gone up since', {
    given: [started(), forTwo, partnerSaved(), partnerAnswered({ born_on: '1990-01-16', age: 35 })],
    when: save({ release: jointRelease, term_years: 20, answers: { cover_for: 'joint' }, today: '2026-02-01' }),
    then: [covered({ term_years: 20 })],
  })
  scenario('stay when the first person changes an answer of their own', {
    given: [started(), forTwo, partnerSaved(), partnerAnswered({ smoker: true, cigarettes: 5 })],
    when: save({ release: jointRelease, answers: { smoker: false } }),
    then: [answered({ smoker: false })],
  })

  test('are in no record, so neither shown nor sent', () => {
    const history = [started(), forTwo, partnerSaved(), partnerAnswered({ brand: 'a secret' })]
    const record = stateOf(application, history)?.record
    expect(JSON.stringify(record)).not.toContain('secret')
    expect(record && JSON.stringify(renderApplication(record, null))).not.toContain('secret')
    expect(record?.risk_factors).toEqual({ cover_for: 'joint' })
  })
})

describe('the price of joint cover', () => {
  const digest = (text: string) => `digest of ${text}`
  const quote: QuoteApplication = {
    type: 'QuoteApplication',
    quote_id: QuoteId.parse('d0000000-0000-4000-8000-000000000001'),
    start_date: null,
    now: '2026-06-01T09:00:00.000Z',
    today: '2026-06-01',
    release: jointRelease,
    journey: jointJourney,
    rate_tables: tables,
    digest,
  }
  const single: ApplicationStreamEvent[] = [
    started(),
    customerSaved({ ...anna, dob: '1992-03-10' }),
    answered({ cover_for: 'joint', smoker: false }),
    covered({ cover_amount_pence: 25_000_000, term_years: 25 }),
  ]
  const smoking = partnerAnswered({ smoker: true, cigarettes: 20 })
  const complete = [...single, partnerSaved(), smoking]
  const quoted = [...complete, ...application.decide(quote, stateOf(application, complete))]

  test('depends on each person’s own answers: 34 and no smoker with 36 and a smoker is £42.17 (B.4)', () => {
    const [issued] = stateOf(application, quoted)?.quotes ?? []
    expect(issued?.quote).toMatchObject({ joint: true, premium_pence: 4217 })
  })
  scenario('needs the second person and their required answers, named as theirs', {
    given: single,
    when: quote,
    then: rejected('quote_failed', { 'partner.dob': 'required', 'partner.answers.smoker': 'required' }),
  })
  const byWine = { ...jointRelease, covers: [{ ...lifeCover, rate_table: 'life.{wine}' }] }
  const askingWine = jointJourney.questions.map((each) => (each.key === 'wine' ? { ...each, required: true } : each))
  scenario('needs once what is asked for both, such as what chooses the rate table', {
    given: complete,
    when: { ...quote, release: byWine, journey: { ...jointJourney, questions: askingWine } },
    then: rejected('quote_failed', { 'answers.wine': 'required' }),
  })
  scenario('needs what is asked of them alone', {
    given: [...single, partnerSaved(), partnerAnswered({ smoker: true })],
    when: quote,
    then: rejected('quote_failed', { 'partner.answers.cigarettes': 'required' }),
  })
  const givenBack: ApplicationEvent = { type: 'ApplicationGivenBack', reason_message: null, inactive_after_days: 30 }
  scenario('ends again by an answer of theirs that the team has given back, and that they have not changed', {
    given: [...single, partnerSaved(), partnerAnswered({ smoker: false, work: 'miner' }), referred, givenBack],
    when: quote,
    then: [{ type: 'ApplicationReferred', ...because('miner', 'refer') }],
  })
  scenario('needs nothing of a second person while cover is for one', {
    given: [...single, answered({ cover_for: 'single' })],
    when: { ...quote, digest: () => 'same' },
    then: application.decide(
      { ...quote, digest: () => 'same' },
      stateOf(application, [...single, answered({ cover_for: 'single' })]),
    ),
  })

  const accepted = [...quoted, { type: 'QuoteAccepted', quote_id: quote.quote_id, via: 'accept_quote' } as const]
  const voided = { type: 'QuoteAcceptanceVoided', quote_id: quote.quote_id } as const
  scenario('is outdated by another answer of theirs', {
    given: accepted,
    when: savePartner(given({}), { answers: { cigarettes: 10 } }),
    then: [partnerAnswered({ cigarettes: 10 }), { type: 'AcceptanceOutdated', application_id }, voided],
  })
  scenario('is outdated by another date of birth', {
    given: accepted,
    when: savePartner(given({ dob: '1991-03-10' })),
    then: [
      partnerSaved({ ...bert, dob: '1991-03-10' }, { sent: { dob: '1991-03-10' } }),
      { type: 'AcceptanceOutdated', application_id },
      voided,
    ],
  })
  scenario('is not outdated by another name or address', {
    given: accepted,
    when: savePartner(given({ city: 'York' })),
    then: [partnerSaved({ ...bert, city: 'York' }, { sent: { city: 'York' } })],
  })
})
