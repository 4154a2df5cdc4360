import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { routesByApi } from '../scripts/openapi.ts'
import { withReadAddresses } from '../scripts/proxy-addresses.ts'
import { isRead } from './proxy-routing.ts'

const { query, command } = routesByApi()
const requestsOf = (routes: readonly (typeof query)[number][]) =>
  routes.map(({ spec: { method, address } }) => [method.toUpperCase(), address.replaceAll(/:\w+/g, 'x')] as const)

test('every request goes to the API that serves it', () => {
  expect(requestsOf(query).filter(([method, url]) => !isRead(method, url))).toEqual([])
  expect(requestsOf(command).filter(([method, url]) => isRead(method, url))).toEqual([])
})

test('parameters and HEAD go where the address goes, and longer names do not', () => {
  expect(isRead('GET', '/admin/v1/deliveries?limit=5')).toBe(true)
  expect(isRead('HEAD', '/api/v1/products')).toBe(true)
  expect(isRead('GET', '/admin/v1/deliveries_of_others')).toBe(false)
  expect(isRead('GET', '/api/v10')).toBe(false)
})

test('the reverse proxy has the addresses that the routes have now', async () => {
  const proxy = await readFile(new URL('../deploy/nginx.conf', import.meta.url), 'utf8')
  expect(withReadAddresses(proxy)).toBe(proxy)
})
