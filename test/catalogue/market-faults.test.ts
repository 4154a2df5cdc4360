import { expect, test } from 'vitest'
import type { Draft } from '#domain/catalogue/events.ts'
import { draft } from './builders.ts'
import { faultsOf as allFaultsOf } from './faults.ts'

const faultsOf = (changes: Partial<Draft>) => Object.fromEntries(allFaultsOf({ ...draft(), ...changes }))

const market = { mapping: [{ field: 'smoker', key: 'smoker' }], time_limit_seconds: 60, valid_days: 30 }
const unpriced = () => draft().covers.map((cover) => ({ ...cover, rate_table: null }))

test('a whole-of-market product names what the providers are told, and needs no rates', () => {
  expect(faultsOf({ whole_of_market: true, market, covers: unpriced(), rate_tables: {} })).toEqual({})
})

test('a whole-of-market product without a mapping, or a mapping without a market, is refused', () => {
  expect(faultsOf({ whole_of_market: true })).toEqual({ market: expect.stringContaining('needs it') as string })
  expect(faultsOf({ market })).toEqual({ market: expect.stringContaining('only for') as string })
})

test('a mapping names questions of every journey, and each field once', () => {
  const mapping = [...market.mapping, { field: 'smoker', key: 'nobody_asks' }]
  expect(faultsOf({ whole_of_market: true, market: { ...market, mapping } })).toEqual({
    'market.mapping[1].field': expect.stringContaining('mapping[0]') as string,
    'market.mapping[1].key': expect.stringContaining('nobody_asks') as string,
  })
})

test('earnings are an answer of every journey', () => {
  expect(faultsOf({ earnings: { key: 'nobody_asks', percent: 60 } })).toEqual({
    'earnings.key': expect.stringContaining('nobody_asks') as string,
  })
})
