import { expect, test } from 'vitest'
import type { IntegrationEndpoint, Outbound } from '#domain/custom-integrations/events.ts'
import { outboundFaults } from '../../command-api/custom-integrations/outbound-faults.ts'

const faultsOf = (endpoint: Partial<IntegrationEndpoint>, outbound: Partial<Outbound> = {}) => {
  const own = { key: 'add', method: 'POST', path: '/', headers: {}, body_template: null, ...endpoint } as const
  return outboundFaults(
    { base_url: 'https://api.example.com', credential: null, endpoints: [own], ...outbound },
    () => false,
  )
}

test.each([
  'Host',
  'Content-Length',
  'Connection',
  'Transfer-Encoding',
  'Idempotency-Key',
  'Expect',
  'Keep-Alive',
  'Upgrade',
  'TE',
])('an endpoint cannot set the header %s, which the service sets or cannot send', (name) => {
  expect(faultsOf({ headers: { [name]: 'x' } })).toEqual({
    [`outbound.endpoints[0].headers.${name}`]: 'is set by the service',
  })
})

test('an endpoint cannot set the header of its credential', () => {
  const credential = { type: 'api_key', header: 'X-Key', secret: 'key' } as const

  expect(faultsOf({ headers: { 'x-key': 'x' } }, { credential })).toEqual({
    'outbound.endpoints[0].headers.x-key': 'is set by the service',
  })
  expect(faultsOf({ headers: { Authorization: 'x' } }, { credential })).toEqual({})
  expect(faultsOf({ headers: { Authorization: 'x' } })).toHaveProperty(['outbound.endpoints[0].headers.Authorization'])
})

test.each([
  ['a template that cannot be read', { body_template: '{% if %}' }, 'body_template'],
  ['a filter that there is not', { path: '/{{ contact.name | shout }}' }, 'path'],
  ['a path that does not begin with /', { path: 'contacts' }, 'path'],
  ['a header over two lines', { headers: { 'X-A': 'a\r\nb' } }, 'headers.X-A'],
  ['a body where the method has none', { method: 'GET', body_template: '{}' }, 'body_template'],
] as const)('%s is refused, and named', (_what, endpoint, input) => {
  expect(Object.keys(faultsOf(endpoint))).toEqual([`outbound.endpoints[0].${input}`])
})

test.each([
  'http://api.example.com',
  'https://user:pass@api.example.com',
  'https://api.example.com#x',
  'https://x?a=b',
  'no',
])('the base address %s is refused', (base_url) => {
  expect(Object.keys(faultsOf({}, { base_url }))).toEqual(['outbound.base_url'])
})
