import { describe, expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import type { SearchMarket } from '#domain/applications/market.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import type { Release } from '#domain/catalogue/events.ts'
import { nothingKnown } from '#domain/customers/record.ts'
import type { MarketSearch } from '#domain/market-quotes/events.ts'
import { decided } from '../quotes/builders.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { anna, answered, bertId, covered, customerSaved, started } from './builders.ts'
import {
  applied,
  found,
  note,
  now,
  recordOf,
  request_id,
  resultOf,
  search,
  searching,
  secondId,
  select,
} from './market-builders.ts'
import { jointRelease, lifeCover, marketRelease } from './release.ts'

/** What the providers of a panel are told, what they need first, and what is kept of what they answer. */

const scenario = scenariosOf(application)

const told = (given: readonly ApplicationStreamEvent[], changes: Partial<SearchMarket> = {}): MarketSearch => {
  const [event] = decided(given, search(changes))
  if (event?.type !== 'MarketSearchRequested') throw new Error('The market was not searched.')
  return event.search
}

/** Known of the application: all but the named ones. */
const figures = covered({ cover_amount_pence: 20_000_000, term_years: 25 })
const person = customerSaved({ ...anna, dob: '1992-03-10', postal_code: 'YO1 7HH' })
const answers = answered({ smoker: false, height_cm: 170 })

describe('the providers are told', () => {
  test('what was answered, as options where the mapping says so', () => {
    const smoker = answered({ smoker: true, cigarettes: 20, brand: 'Ash', height_cm: 170 })

    const { lives, options } = told([started(), person, smoker, figures])

    expect(options).toEqual({ brand: 'Ash' })
    expect(lives[0]?.answers).toEqual({ smoker: true, height_cm: 170 })
  })

  test('whether somebody smokes as the release understands the answer', () => {
    const smoking = (values: (string | boolean)[], answer: string | boolean) =>
      told([started(), person, answered({ smoker: answer, height_cm: 170 }), figures], {
        release: { ...marketRelease, smoker: { key: 'smoker', values } },
      }).lives[0]?.answers['smoker']

    expect(smoking(['now', 'lately'], 'lately')).toBe(true)
    expect(smoking(['now', 'lately'], 'never')).toBe(false)
    expect(smoking([false], false)).toBe(true)
  })

  test('the answer itself where the release says nothing of smoking', () => {
    const release = { ...marketRelease, smoker: null }

    expect(told([started(), person, answered({ smoker: 'now', height_cm: 170 }), figures], { release }).lives).toEqual([
      { dob: '1992-03-10', postcode_area: 'YO', answers: { smoker: 'now', height_cm: 170 } },
    ])
  })

  test.each([
    ['YO1 7HH', 'YO'],
    ['m1 1ae', 'M'],
    ['BFPO 1', 'BF'],
    ['12345', null],
    [null, null],
  ])('of the postcode %s only its area: %s', (postal_code, postcode_area) => {
    const [life] = told([started(), customerSaved({ ...anna, dob: '1992-03-10', postal_code }), answers, figures]).lives

    expect(life?.postcode_area).toBe(postcode_area)
  })

  test('what is known of who has only said some early details', () => {
    const soft: ApplicationStreamEvent = {
      type: 'SoftCustomerSaved',
      soft_customer: { ...nothingKnown, dob: '1991-01-02', postal_code: 'LS1 1AA' },
      by: 'server',
    }

    expect(told([started(), soft, answers, figures]).lives).toMatchObject([{ dob: '1991-01-02', postcode_area: 'LS' }])
  })

  test('cover from tomorrow on', () => {
    expect(told(applied, { today: '2026-12-31' }).start_date).toBe('2027-01-01')
  })
})

describe('of cover for two', () => {
  const release: Release = { ...marketRelease, joint: { mode: 'always', factor_key: null, joint_values: [] } }
  const partner = (dob: string | null = '1990-05-06'): ApplicationStreamEvent => ({
    type: 'PartnerSaved',
    customer_id: bertId,
    partner: { ...nothingKnown, first_name: 'Bert', last_name: 'Ash', dob, postal_code: 'LS1 1AA', country: 'GB' },
    sent: {},
    by: 'server',
    joint: release.joint,
  })
  const theirs = (saved: Record<string, boolean | number>): ApplicationStreamEvent => ({
    type: 'PartnerAnswersSaved',
    customer_id: bertId,
    saved,
    removed: [],
  })

  test('the providers are told of both, each with their own answers', () => {
    const both = [...applied, partner(), theirs({ smoker: true, height_cm: 180 })]

    expect(told(both, { release }).lives).toEqual([
      { dob: '1992-03-10', postcode_area: 'YO', answers: { smoker: false, height_cm: 170 } },
      { dob: '1990-05-06', postcode_area: null, answers: { smoker: true, height_cm: 180 } },
    ])
  })

  test('but only of one when it is for one', () => {
    const both = [...applied, partner(), theirs({ smoker: true, height_cm: 180 })]

    expect(told(both).lives).toHaveLength(1)
  })

  scenario('what the second person has not said is named as theirs', {
    given: [...applied, partner(null), theirs({ smoker: true })],
    when: search({ release }),
    then: rejected('mapping_incomplete', { 'partner.answers.height_cm': 'required', 'partner.dob': 'required' }),
  })
  scenario('the second person is needed', {
    given: applied,
    when: search({ release }),
    then: rejected('mapping_incomplete', {
      'partner.answers.smoker': 'required',
      'partner.answers.height_cm': 'required',
      'partner.dob': 'required',
    }),
  })
  scenario('what is asked once is needed once', {
    given: [...applied, partner(), theirs({ smoker: true, height_cm: 180 })],
    when: search({
      release: {
        ...release,
        journeys: jointRelease.journeys,
        joint: { mode: 'always', factor_key: 'cover_for', joint_values: [] },
        market: { mapping: [{ field: 'options.for', key: 'cover_for' }], time_limit_seconds: 60, valid_days: 30 },
      },
    }),
    then: rejected('mapping_incomplete', { 'answers.cover_for': 'required' }),
  })
})

describe('what the providers need', () => {
  scenario('includes what is asked because of another answer', {
    given: [started(), person, answered({ smoker: true, cigarettes: 40, height_cm: 170 }), figures],
    when: search(),
    then: rejected('mapping_incomplete', { 'answers.brand': 'required' }),
  })
  scenario('includes an answer to what the journey does not ask', {
    given: applied,
    when: search({
      release: {
        ...marketRelease,
        market: { mapping: [{ field: 'eyes', key: 'eyes' }], time_limit_seconds: 60, valid_days: 30 },
      },
    }),
    then: rejected('mapping_incomplete', { 'answers.eyes': 'required' }),
  })
  scenario('includes the amount, and the term where cover has one', {
    given: [started(), person, answers],
    when: search(),
    then: rejected('mapping_incomplete', { cover_amount_pence: 'required', term_years: 'required' }),
  })
  const forLife: Release = {
    ...marketRelease,
    covers: [{ ...lifeCover, rate_table: null, term_years_min: null, term_years_max: null }],
  }
  scenario('does not include a term for cover without one', {
    given: [started(), person, answers],
    when: search({ release: forLife }),
    then: rejected('mapping_incomplete', { cover_amount_pence: 'required' }),
  })
  scenario('includes a term where one of several covers has one', {
    given: [started(), person, answers, covered({ cover_amount_pence: 20_000_000 })],
    when: search({ release: { ...forLife, covers: [...forLife.covers, lifeCover] } }),
    then: rejected('mapping_incomplete', { term_years: 'required' }, 'term_years'),
  })
})

describe('a search', () => {
  const again = (changes: Partial<SearchMarket>) => search({ request_id: secondId, ...changes })
  const requestedBy = (given: readonly ApplicationStreamEvent[], changes: Partial<SearchMarket>) =>
    decided(given, again(changes))[0]

  test('holds until it expires', () => {
    expect(requestedBy(found, { now: '2026-07-01T08:59:59.999Z' })).toBeUndefined()
    expect(requestedBy(found, { now: '2026-07-01T09:00:00.000Z' })).toMatchObject({
      request_id: secondId,
      replaces: null,
      expires_at: '2026-07-31T09:00:00.000Z',
    })
  })

  test('is the latest one of the application', () => {
    const later = decided(found, again({ now: '2026-07-01T09:00:00.000Z' }))

    expect(recordOf([...found, ...later]).market_quotes).toMatchObject({
      request_id: secondId,
      status: 'pending',
      results: [],
    })
  })

  test('ends on the clock’s time, whatever business time is, and holds in business time', () => {
    const market = { mapping: [], time_limit_seconds: 45, valid_days: 14 }

    const changes = { real_now: '2025-03-01T00:00:00.000Z', release: { ...marketRelease, market } }
    expect(decided(applied, search(changes))[0]).toMatchObject({
      deadline_at: '2025-03-01T00:00:45.000Z',
      expires_at: '2026-06-15T09:00:00.000Z',
    })
  })

  test('ends within 60 seconds and holds for 30 days where the release says nothing', () => {
    expect(decided(applied, search({ release: { ...marketRelease, market: null } }))[0]).toMatchObject({
      deadline_at: '2026-06-01T09:01:00.000Z',
      expires_at: '2026-07-01T09:00:00.000Z',
      search: { options: {} },
    })
  })
})

describe('of what the panel tells', () => {
  const results = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      ...resultOf(1),
      result_id: `91000000-0000-4000-8000-${String(from + index).padStart(12, '0')}`,
    }))
  const received = (events: readonly ApplicationStreamEvent[]) =>
    events.flatMap((event) => (event.type === 'MarketResultsReceived' ? event.results : []))

  test('100 results of a search are kept, and no more', () => {
    const first = decided(searching, note({ results: results(1, 60) }))
    const next = decided([...searching, ...first], note({ results: results(61, 60) }))

    expect(received(first)).toHaveLength(60)
    expect(received(next)).toHaveLength(40)
    expect(decided([...searching, ...first, ...next], note({ results: results(121, 1) }))).toEqual([])
  })

  test('that it has taken the search on is told once', () => {
    const accepted = decided(searching, note())

    expect(accepted).toEqual([{ type: 'MarketSearchAccepted', request_id, search_id: 'srch', provider_count: 8 }])
    expect(decided([...searching, ...accepted], note())).toEqual([])
    expect(decided(searching, note({ search_id: null }))).toEqual([])
  })

  test('that it could be reached once is known when it cannot be any more', () => {
    const accepted = [...searching, ...decided(searching, note())]

    expect(decided(accepted, note({ search_id: null, ended: 'too_late' }))).toEqual([
      { type: 'MarketSearchFailed', request_id, failure_code: 'provider_timeout' },
    ])
  })

  test('nothing is kept for an application that was never searched with', () => {
    expect(decided(applied, note({ ended: 'finished' }))).toEqual([])
  })

  const ended = (...statuses: ('success' | 'timeout' | 'error' | 'unavailable')[]) =>
    decided(
      searching,
      note({ results: statuses.map((status, index) => resultOf(index + 1, { status })), ended: 'finished' }),
    ).at(-1)

  test('no answer and an error are no answers, anything else is one', () => {
    expect(ended('timeout', 'error')).toMatchObject({ failure_code: 'all_providers_failed' })
    expect(ended('timeout', 'timeout')).toMatchObject({ failure_code: 'provider_timeout' })
    expect(ended('timeout', 'unavailable')).toEqual({ type: 'MarketSearchCompleted', request_id })
    expect(ended('error', 'success')).toEqual({ type: 'MarketSearchCompleted', request_id })
  })

  test('what came before counts at the end', () => {
    const before = [...searching, ...decided(searching, note({ results: [resultOf(1)] }))]
    const last = decided(before, note({ results: [resultOf(2, { status: 'timeout' })], ended: 'too_late' }))

    expect(last.map(({ type }) => type)).toEqual(['MarketResultsReceived', 'MarketSearchCompleted'])
  })
})

describe('a result is chosen', () => {
  scenario('of an application that was searched with', {
    given: applied,
    when: select(),
    then: rejected('validation_failed', { result_id: 'no result of the latest search' }),
  })
  test('up to the moment at which the search expires', () => {
    expect(decided(found, select({ now: '2026-07-01T08:59:59.999Z' }))).toHaveLength(2)
    expect(() => decided(found, select({ now: '2026-07-01T09:00:00.000Z' }))).toThrow('Search the market again')
  })
})

test('the search is made in the name of the application', () => {
  expect(decided(applied, search({ now }))[0]).toMatchObject({ product_id: marketRelease.product_id, request_id })
})
