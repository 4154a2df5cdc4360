import { expect, test } from 'vitest'
import { routeFinder } from '#infra/http/find-route.ts'

const route = (method: string, address: string) => ({ method, address })
const find = routeFinder([
  route('get', '/quotes'),
  route('get', '/quotes/:id'),
  route('post', '/quotes/latest'),
  route('get', '/quotes/:id/history'),
  route('get', '/quotes/:quote_id/history/:year'),
  route('get', '/quotes/latest/:part'),
  route('get', '/quotes/:other'),
])

test.each([
  ['GET', '/quotes', '/quotes', {}],
  ['GET', '/quotes/7', '/quotes/:id', { id: '7' }],
  ['GET', '/quotes/7/history', '/quotes/:id/history', { id: '7' }],
  ['GET', '/quotes/7/history/2026', '/quotes/:quote_id/history/:year', { quote_id: '7', year: '2026' }],
  ['GET', '/quotes/a%2Fb%20c', '/quotes/:id', { id: 'a/b c' }],
  ['GET', '/quotes/latest/cover', '/quotes/latest/:part', { part: 'cover' }],
])('%s %s is for %s', (method, path, address, params) => {
  expect(find(method, path)).toMatchObject({ route: { address }, params })
})

test('what is named literally goes before a parameter, where there is something for the method', () => {
  expect(find('POST', '/quotes/latest')?.route.address).toBe('/quotes/latest')
  expect(find('GET', '/quotes/latest')).toMatchObject({ route: { address: '/quotes/:id' }, params: { id: 'latest' } })
  expect(find('GET', '/quotes/latest/history')?.route.address).toBe('/quotes/latest/:part')
})

test.each([
  ['GET', '/'],
  ['GET', '/quotes/'],
  ['GET', '/quotes//history'],
  ['GET', '/quotes/7/'],
  ['GET', '/Quotes'],
  ['GET', '/quotes/%E0%A4%A'],
  ['GET', '/quotes/:id/more'],
  ['HEAD', '/quotes'],
  ['DELETE', '/quotes/7'],
])('%s %s is left to Express', (method, path) => {
  expect(find(method, path)).toBeUndefined()
})
