import { expect, test } from 'vitest'
import { marketQuoteEvents } from '#domain/market-quotes/events.ts'
import { marketSearches } from '../../projections/market-quotes/projection.ts'
import { sampleEvent, sampleOf } from '../stored-events/samples.ts'

test('a search that another one replaces is shown as replaced, beside the new one', () => {
  const sample = sampleOf('MarketSearchRequested')
  const first = sampleEvent(marketQuoteEvents, 'MarketSearchRequested')
  const request_id = 'e7000000-0000-4000-8000-00000000000f' as typeof first.request_id
  const second = { ...first, request_id, replaces: first.request_id }
  const shown = new Map<unknown, ReturnType<typeof marketSearches.project>>()
  for (const event of [first, second])
    for (const key of marketSearches.keys(event, sample))
      shown.set(key['id'], marketSearches.project(shown.get(key['id']), event, sample, key))

  expect([...shown].map(([id, row]) => [id, row?.document.replaced])).toEqual([
    [first.request_id, true],
    [request_id, false],
  ])
})
