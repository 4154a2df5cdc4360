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
  { ...route('get', '/tiles/:level/:path'), takesRest: true },
])

test.each([
  ['GET', '/quotes', '/quotes', {}],
  ['GET', '/quotes/7', '/quotes/:id', { id: '7' }],
  ['GET', '/quotes/7/history', '/quotes/:id/history', { id: '7' }],
  ['GET', '/quotes/7/history/2026', '/quotes/:quote_id/history/:year', { quote_id: '7', year: '2026' }],
  ['GET', '/quotes/a%2Fb%20c', '/quotes/:id', { id: 'a/b c' }],
  ['GET', '/quotes/latest/cover', '/quotes/latest/:part', { part: 'cover' }],
  ['GET', '/quotes/', '/quotes', {}],
  ['GET', '/quotes/7/', '/quotes/:id', { id: '7' }],
  ['HEAD', '/quotes', '/quotes', {}],
  ['HEAD', '/quotes/latest', '/quotes/:id', { id: 'latest' }],
  ['GET', '/tiles/0/001', '/tiles/:level/:path', { level: '0', path: '001' }],
  ['GET', '/tiles/0/x001/002.p/5', '/tiles/:level/:path', { level: '0', path: 'x001/002.p/5' }],
  ['GET', '/tiles/0/001.p%2F5', '/tiles/:level/:path', { level: '0', path: '001.p/5' }],
])('%s %s is for %s', (method, path, address, params) => {
  const found = find(method, path)
  expect([found?.route.address, found?.params()]).toEqual([address, params])
})

test('what is named literally goes before a parameter, where there is something for the method', () => {
  expect(find('POST', '/quotes/latest')?.route.address).toBe('/quotes/latest')
  expect(find('GET', '/quotes/latest')?.route.address).toBe('/quotes/:id')
  expect(find('GET', '/quotes/latest/history')?.route.address).toBe('/quotes/latest/:part')
})

test.each([
  ['GET', '/'],
  ['GET', '/quotes//'],
  ['GET', '/quotes//history'],
  ['GET', '/quotes/7//'],
  ['GET', '/Quotes'],
  ['GET', '/%71uotes'],
  ['GET', '/quotes/:id/more'],
  ['GET', '/tiles/0'],
  ['GET', '/tiles/0//1'],
  ['GET', '/tiles/0/1//2'],
  ['OPTIONS', '/quotes'],
  ['DELETE', '/quotes/7'],
])('nothing is at %s %s', (method, path) => {
  expect(find(method, path)).toBeUndefined()
})

test('what cannot be decoded is at an address, and names nothing there', () => {
  const found = find('GET', '/quotes/%E0%A4%A')

  expect(found?.route.address).toBe('/quotes/:id')
  expect(found?.params).toThrow(URIError)
})
