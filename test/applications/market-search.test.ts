import { describe, expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import type { MarketOffer } from '#domain/market-quotes/events.ts'
import { decided } from '../quotes/builders.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { answered, declined, save, started } from './builders.ts'
import {
  applied,
  chosen,
  found,
  note,
  recordOf,
  request_id,
  requested,
  resultOf,
  search,
  searching,
  secondId,
  select,
  typesOf,
} from './market-builders.ts'
import { marketRelease, release } from './release.ts'

const scenario = scenariosOf(application)

describe('a search of the market', () => {
  test('tells the providers what the mapping says, and the day on which it ends', () => {
    expect(requested).toMatchObject([
      {
        type: 'MarketSearchRequested',
        request_id,
        search: {
          product_type: 'term',
          cover_amount_pence: 20_000_000,
          term_years: 25,
          start_date: '2026-06-02',
          lives: [{ dob: '1992-03-10', postcode_area: 'YO', answers: { smoker: false, height_cm: 170 } }],
          options: {},
        },
        replaces: null,
        expires_at: '2026-07-01T09:00:00.000Z',
        deadline_at: '2026-06-01T09:01:00.000Z',
      },
    ])
    expect(recordOf(searching).market_quotes).toMatchObject({ request_id, status: 'pending', results: [] })
  })

  test('asked for again with the same answers is the same search, also once it has ended', () => {
    expect(decided(searching, search({ request_id: secondId }))).toEqual([])
    expect(decided(found, search({ request_id: secondId }))).toEqual([])
  })

  test('is made again with other answers, in place of the one under way', () => {
    const changed = [...searching, answered({ smoker: true })]
    expect(decided(changed, search({ request_id: secondId }))).toMatchObject([{ replaces: request_id }])
  })

  test('is made again when the former has failed, or no longer holds', () => {
    const failed = [...searching, ...decided(searching, note({ search_id: null, ended: 'too_late' }))]
    expect(typesOf(decided(failed, search({ request_id: secondId })))).toEqual(['MarketSearchRequested'])
    const later = search({ request_id: secondId, now: '2026-07-01T09:00:00.000Z' })
    expect(typesOf(decided(found, later))).toEqual(['MarketSearchRequested'])
  })
})

scenario('a product priced by its own rates has no market', {
  given: applied,
  when: search({ release }),
  then: rejected('not_market_product'),
})
scenario('what the providers need and nobody has said is named', {
  given: [started()],
  when: search(),
  then: rejected('mapping_incomplete', {
    'answers.smoker': 'required',
    'answers.height_cm': 'required',
    'customer.dob': 'required',
    cover_amount_pence: 'required',
    term_years: 'required',
  }),
})
scenario('an application that has ended shows its last search unchanged', {
  given: [...found, declined],
  when: search({ request_id: secondId }),
  then: [],
})
scenario('and one that was never searched with cannot be any more', {
  given: [...applied, declined],
  when: search(),
  then: rejected('mapping_incomplete', undefined, 'This application has ended: declined. Start another one.'),
})

describe('what the panel tells', () => {
  test('is stored as it arrives', () => {
    const first = decided(searching, note({ results: [resultOf(1)] }))
    expect(typesOf(first)).toEqual(['MarketSearchAccepted', 'MarketResultsReceived'])
    const partial = [...searching, ...first]
    expect(recordOf(partial).market_quotes).toMatchObject({
      status: 'fetching',
      provider_count: 8,
      results: [{ ordinal: 1, premium_pence: 1234, premium_monthly: '£12.34', expiry_date: '2026-07-01' }],
    })
    expect(typesOf(decided(partial, note({ results: [resultOf(1), resultOf(2)] })))).toEqual(['MarketResultsReceived'])
    expect(decided(partial, note({ results: [resultOf(1)] }))).toEqual([])
  })

  test('one provider has one result, also where the panel tells two at once: the first', () => {
    const told = [resultOf(1), resultOf(1, { product_name: 'Albion Term Plus' }), resultOf(2)]

    const given = [...searching, ...decided(searching, note({ results: told }))]

    expect(recordOf(given).market_search?.results.map(({ ordinal, product_name }) => [ordinal, product_name])).toEqual([
      [1, 'Albion Term'],
      [2, 'Albion Term'],
    ])
  })

  test('comes to nothing once the search has ended, or another has taken its place', () => {
    expect(decided(found, note({ results: [resultOf(3)] }))).toEqual([])
    expect(decided(searching, note({ request_id: secondId, ended: 'finished' }))).toEqual([])
  })

  const bad = (status: MarketOffer['status']) => [resultOf(1, { status }), resultOf(2, { status })]
  test.each([
    [{ search_id: null, ended: 'too_late' }, 'panel_unreachable'],
    [{ ended: 'finished' }, 'no_results'],
    [{ ended: 'too_late' }, 'provider_timeout'],
    [{ results: bad('timeout'), ended: 'finished' }, 'provider_timeout'],
    [{ results: bad('error'), ended: 'finished' }, 'all_providers_failed'],
  ] as const)('%j ends the search: %s', (told, failure_code) => {
    expect(decided(searching, note(told)).at(-1)).toEqual({ type: 'MarketSearchFailed', request_id, failure_code })
  })

  test('a provider that declines is an answer: the search is complete', () => {
    expect(typesOf(decided(searching, note({ results: bad('declined'), ended: 'finished' }))).at(-1)).toBe(
      'MarketSearchCompleted',
    )
  })

  test('a result without a price shows none, and holds as long as the search', () => {
    const events = decided(
      searching,
      note({ results: [resultOf(1, { status: 'referred', expiry_date: '2026-06-09' })] }),
    )
    expect(recordOf([...searching, ...events]).market_quotes?.results).toMatchObject([
      { status: 'referred', premium_pence: 0, premium_monthly: '', expiry_date: '2026-07-01' },
    ])
  })
})

describe('market quotes are stale', () => {
  const smokes = decided(found, save({ release: marketRelease, answers: { smoker: true, cigarettes: 5 } }))

  test('once an answer has changed', () => {
    expect(recordOf(found).market_quotes?.stale).toBe(false)
    expect(typesOf(smokes)).toEqual(['AnswersSaved', 'MarketQuotesOutdated'])
    expect(recordOf([...found, ...smokes]).market_quotes?.stale).toBe(true)
  })
  test('until it is as it was', () => {
    const back = decided([...found, ...smokes], save({ release: marketRelease, answers: { smoker: false } }))
    expect(recordOf([...found, ...smokes, ...back]).market_quotes?.stale).toBe(false)
  })
})

scenario('a result that is chosen is handed off', { given: found, when: select(), then: chosen })
scenario('choosing it again changes nothing', { given: [...found, ...chosen], when: select(), then: [] })
test('the application is then handed off, and the result selected', () => {
  const record = recordOf([...found, ...chosen])
  expect(record.status).toBe('handed_off')
  expect(record.market_quotes).toMatchObject({
    selected_result_id: resultOf(2).result_id,
    results: [{ selected: false }, { selected: true }],
  })
})
scenario('another result of an application that was handed off is refused', {
  given: [...found, ...chosen],
  when: select({ result_id: resultOf(1).result_id }),
  then: rejected('application_closed'),
})
scenario('none is chosen of an application that was given up for inactivity, before something is saved on it', {
  given: [...found, { type: 'ApplicationAbandoned', reason: 'inactive', superseded_by: null }],
  when: select(),
  then: rejected(
    'application_closed',
    undefined,
    'This application was given up for inactivity. Save something on it to open it again.',
  ),
})
scenario('a result of no search is refused', {
  given: found,
  when: select({ result_id: secondId }),
  then: rejected('validation_failed', { result_id: 'no result' }),
})
scenario('a result without a price is refused', {
  given: [
    ...searching,
    ...decided(searching, note({ results: [resultOf(2, { status: 'declined' })], ended: 'finished' })),
  ],
  when: select(),
  then: rejected('validation_failed', { result_id: 'declined' }),
})
scenario('a result of stale quotes is refused', {
  given: [...found, { type: 'MarketQuotesOutdated', request_id, stale: true }],
  when: select(),
  then: rejected('market_quotes_stale'),
})
scenario('a result of quotes that have expired is refused', {
  given: found,
  when: select({ now: '2026-07-01T09:00:00.000Z' }),
  then: rejected('market_quotes_stale'),
})
describe('a result that its provider holds for less long than the search holds', () => {
  const held = [
    ...searching,
    ...decided(
      searching,
      note({ results: [resultOf(1), resultOf(2, { expiry_date: '2026-06-05' })], ended: 'finished' }),
    ),
  ]
  const later = { today: '2026-06-06', now: '2026-06-06T09:00:00.000Z' }
  scenario('can be chosen on its last day', {
    given: held,
    when: select({ today: '2026-06-05', now: '2026-06-05T09:00:00.000Z' }),
    then: chosen,
  })
  scenario('is refused from the day after (expired: search again)', {
    given: held,
    when: select(later),
    then: rejected('market_quotes_stale'),
  })
  scenario('does not keep another one from being chosen', {
    given: held,
    when: select({ ...later, result_id: resultOf(1).result_id }),
    then: [
      { type: 'MarketResultSelected', request_id, result_id: resultOf(1).result_id },
      { type: 'ApplicationHandedOff', request_id, result_id: resultOf(1).result_id },
    ],
  })
  test('is then asked for again, although the search still holds', () => {
    const again = (on: typeof later) => typesOf(decided(held, search({ request_id: secondId, ...on })))
    expect(again({ today: '2026-06-05', now: '2026-06-05T09:00:00.000Z' })).toEqual([])
    expect(again(later)).toEqual(['MarketSearchRequested'])
  })
})
scenario('a product priced by its own rates has no results to choose', {
  given: found,
  when: select({ release }),
  then: rejected('not_market_product'),
})
