import { describe, expect, test } from 'vitest'
import type { IntegrationEndpoint } from '#domain/custom-integrations/events.ts'
import { fillEndpoint } from '../../delivery-worker/custom-integrations/fill.ts'
import { integrationRequest } from '../../delivery-worker/custom-integrations/request.ts'

const envelope = {
  event_type: 'lead.created',
  contact_id: 'c-1',
  contact: { email: 'a"b\\@x.org', name: 'Anna\r\nX-Evil: 1', first_name: '../../admin', last_name: 'ö' },
  lead: { fields: { covers: ['life', 'x"y'], budget: null } },
}
const call = (changes: Partial<IntegrationEndpoint>) => {
  const own = { key: 'add', method: 'POST', path: '/contacts', headers: {}, body_template: null } as const
  const endpoint = { ...own, ...changes }
  return integrationRequest({
    outbound: { base_url: 'https://api.example.com/v1/' },
    endpoint,
    filled: fillEndpoint(endpoint, envelope),
    idempotency_key: 'the key',
    credential: { 'X-Api-Key': 'secret' },
  })
}

test('without a body template the whole envelope is sent as JSON, without a signature', () => {
  expect(call({})).toEqual({
    method: 'POST',
    url: 'https://api.example.com/v1/contacts',
    kept_url: 'https://api.example.com/v1/contacts',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'the key', 'X-Api-Key': 'secret' },
    body: JSON.stringify(envelope),
  })
})

test('a value never breaks out of its text in JSON, and json writes a whole value', () => {
  const body_template =
    '{ "email": "{{ contact.email }}", "covers": {{ lead.fields.covers | json }}, "none": {{ lead.fields.budget | json }} }'

  expect(JSON.parse(call({ body_template }).body ?? '')).toEqual({
    email: 'a"b\\@x.org',
    covers: ['life', 'x"y'],
    none: null,
  })
})

test('a body that is no JSON is not sent', () => {
  expect(() => call({ body_template: '{ "a": {{ lead.fields.nothing }} }' })).toThrow('made no JSON')
})

test('values are written as a form or as XML where the endpoint says so', () => {
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
  expect(call({ headers: form, body_template: 'email={{ contact.email }}' }).body).toBe('email=a%22b%5C%40x.org')
  expect(call({ headers: { 'content-type': 'text/xml' }, body_template: '<e>{{ contact.email }}</e>' }).body).toBe(
    '<e>a&quot;b\\@x.org</e>',
  )
})

describe('a template cannot', () => {
  test('change the host or leave the base address', () => {
    const above = (path: string) => () => call({ path })
    expect(above('/x/../../admin')).toThrow('leads out')
    expect(above('/%2e%2E/admin')).toThrow('leads out')
    expect(call({ path: '/a/{{ contact.first_name }}' }).url).toBe('https://api.example.com/v1/a/..%2F..%2Fadmin')
    expect(above('/a/{{ contact.first_name | slice: 0, 2 }}')).toThrow('leads out')
    expect(above('{{ "@evil.example" }}')).toThrow('leads out')
    expect(above('{{ "//evil.example/" | raw }}')).not.toThrow()
    expect(call({ path: '{{ "//evil.example/" | raw }}' }).url).toMatch(/^https:\/\/api\.example\.com\//)
  })

  test('inject a header', () => {
    const { headers } = call({ headers: { 'X-Name': '{{ contact.name | raw }}', 'X-Last': '{{ contact.last_name }}' } })
    expect(headers['X-Name']).toBe('Anna X-Evil: 1')
    expect(headers['X-Last']).toBe(Buffer.from('ö').toString('latin1'))
  })

  test.each([
    ['read what every object has', '{{ contact.constructor }}{{ contact.__proto__ }}', ''],
    ['read files', '{% include "/etc/passwd" %}', undefined],
    ['run for long', '{% for a in (1..900000) %}{% for b in (1..900000) %}{% endfor %}{% endfor %}', undefined],
    ['make much', '{% for a in (1..100000000) %}x{% endfor %}', undefined],
  ])('%s', (_what, body_template, made) => {
    const text = () => call({ headers: { 'Content-Type': 'text/plain' }, body_template }).body
    if (made === undefined) expect(text).toThrow('The template cannot be used')
    else expect(text()).toBe(made)
  })
})
