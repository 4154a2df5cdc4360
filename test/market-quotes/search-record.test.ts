import { describe, expect, test } from 'vitest'
import { fromStored } from '#domain/event.ts'
import { marketQuoteEvents, type MarketQuoteEvent, type ReceivedResult } from '#domain/market-quotes/events.ts'
import {
  evolveMarketSearch,
  isUnderWay,
  shownMarketQuotes,
  type MarketSearchRecord,
} from '#domain/market-quotes/record.ts'
import { samples } from '../stored-events/samples.ts'

const at = '2026-01-15T12:00:00.000Z'
const sampleOf = <Type extends MarketQuoteEvent['type']>(type: Type) => {
  const sample = samples.find(({ event }) => event.type === type)
  if (!sample) throw new Error(`There is no sample of ${type}.`)
  return fromStored(marketQuoteEvents, sample.event) as Extract<MarketQuoteEvent, { type: Type }>
}

const requested = sampleOf('MarketSearchRequested')
const { request_id } = requested
const another = 'e7000000-0000-4000-8000-00000000000f' as typeof request_id
const accepted: MarketQuoteEvent = { type: 'MarketSearchAccepted', request_id, search_id: 's-1', provider_count: 2 }
const [priced] = sampleOf('MarketResultsReceived').results
if (!priced) throw new Error('The sample has no result.')
const resultOf = (last: number, offer: object): ReceivedResult => ({
  ...priced,
  result_id: `e8000000-0000-4000-8000-00000000000${last}`,
  offer: { ...priced.offer, ...offer },
})
const received = (...results: ReceivedResult[]): MarketQuoteEvent => ({
  type: 'MarketResultsReceived',
  request_id,
  results,
})

const searchOf = (...events: readonly MarketQuoteEvent[]): MarketSearchRecord => {
  const search = events.reduce<MarketSearchRecord | undefined>(
    (before, event) => evolveMarketSearch(before, event, { occurred_at: at }),
    undefined,
  )
  if (!search) throw new Error('There is no search.')
  return search
}

describe('a market search', () => {
  const completed: MarketQuoteEvent = { type: 'MarketSearchCompleted', request_id }
  const failed: MarketQuoteEvent = { type: 'MarketSearchFailed', request_id, failure_code: 'panel_unreachable' }
  const again: MarketQuoteEvent = { ...requested, request_id: another }

  test('is under way until it has completed or failed', () => {
    expect(isUnderWay(searchOf(requested))).toBe(true)
    expect(isUnderWay(searchOf(requested, accepted))).toBe(true)
    expect(isUnderWay(searchOf(requested, accepted, completed))).toBe(false)
    expect(isUnderWay(searchOf(requested, failed))).toBe(false)
  })

  test('is under way no more once another one is made, and is otherwise as it was', () => {
    const replaced = searchOf(requested, accepted, again)

    expect(isUnderWay(replaced)).toBe(false)
    expect(replaced).toEqual({ ...searchOf(requested, accepted), replaced: true })
  })

  test('that is asked for again with the same answers begins again', () => {
    expect(searchOf(requested, requested)).toEqual(searchOf(requested))
  })

  test('is told nothing by what another one finds', () => {
    const other = { ...failed, request_id: another }

    expect(searchOf(requested, accepted, other)).toEqual(searchOf(requested, accepted))
    expect(evolveMarketSearch(undefined, accepted, { occurred_at: at })).toBeUndefined()
  })
})

test('market quotes and their results are shown with these fields, in this order', () => {
  const shown = shownMarketQuotes(searchOf(requested, accepted, received(resultOf(1, {}))))
  const [result] = shown.results

  expect(Object.keys(shown).join(' ')).toBe(
    'request_id status fetched_at expires_at stale provider_count failure_code selected_result_id results',
  )
  expect(Object.keys(result ?? {}).join(' ')).toBe(
    'ordinal result_id provider_name logo_url product_name premium_pence premium_monthly plan_fee_pence status ' +
      'status_reason variations features evidence_required further_underwriting standard_or_underwritten expiry_date ' +
      'selected',
  )
})

describe('the results of a market search', () => {
  const price = { status: 'success', premium_pence: 1_250, expiry_date: '2026-02-01', status_reason: null }
  const first = resultOf(1, price)
  const second = resultOf(2, { ...price, premium_pence: 2_500 })
  const third = resultOf(3, { ...price, status: 'referred', premium_pence: 1_250 })

  test('are numbered in the order in which they arrive', () => {
    const { results, provider_count } = searchOf(requested, accepted, received(first, second), received(third))

    expect(results.map(({ ordinal, result_id }) => [ordinal, result_id])).toEqual([
      [1, first.result_id],
      [2, second.result_id],
      [3, third.result_id],
    ])
    expect(provider_count).toBe(3)
  })

  test('have a price for display in the currency of the product', () => {
    const [shown] = searchOf(requested, received(first)).results

    expect(shown).toMatchObject({ premium_pence: 1_250, premium_monthly: '£12.50', expiry_date: '2026-02-01' })
  })

  test.each(['referred', 'declined', 'unavailable', 'error', 'timeout'])(
    'that are %s have premium_pence 0, premium_monthly empty and the expiry date of the search',
    (status) => {
      const search = searchOf(requested, received(resultOf(1, { ...price, status })))

      expect(search.results[0]).toMatchObject({
        status,
        premium_pence: 0,
        premium_monthly: '',
        expiry_date: search.expires_at.slice(0, 10),
      })
    },
  )

  test('hold one that is selected, and the one that was before is not', () => {
    const select = ({ result_id }: ReceivedResult): MarketQuoteEvent => ({
      ...sampleOf('MarketResultSelected'),
      request_id,
      result_id,
    })
    const search = searchOf(requested, received(first, second), select(first), select(second))

    expect(search.selected_result_id).toBe(second.result_id)
    expect(search.results.map(({ selected }) => selected)).toEqual([false, true])
  })
})
