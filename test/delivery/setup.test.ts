import { expect, test } from 'vitest'
import { notEncrypted } from '#domain/web-address.ts'
import { operatorApi } from './operator-api.ts'

type Steps = {
  data: { steps: { what: string; change: string; details: string[]; secrets?: Record<string, string> }[] }
}

const firm = (rest: string) => `
organisations:
  - slug: harbour
    name: harbour
${rest}`

const declared = firm(`
    endpoint_connections:
      - name: CRM
        base_url: https://crm.example.com/hooks
      - name: Local
        base_url: http://127.0.0.1:4010/hooks
        signing_secret: a-secret-of-the-firm-itself
    lifecycle_actions:
      - name: Tell the CRM
        product: term-life
        event_types: [application.started, quote.issued, quote.accepted]
        endpoint_connection: CRM
      - name: Tell of everything
        event_types: [quote.expired]
        endpoint_connection: Local
        active: false
`)

const stepsOf = (body: unknown) =>
  (body as Steps).data.steps
    .map(({ what, change }) => `${change} ${what}`)
    .filter((step) => !step.includes('organisation'))

test('connections and actions are created; a secret is shown once where it was made', async () => {
  await using api = await operatorApi()

  const planned = await api.plan(declared)
  expect(stepsOf(planned.body)).toEqual([
    'create endpoint connection CRM',
    'create endpoint connection Local',
    'create lifecycle action Tell the CRM',
    'create lifecycle action Tell of everything',
  ])
  expect((await api.get(api.connections)).body).toEqual({ data: [], next_cursor: null })

  const { body } = await api.apply(declared)
  const secrets = (body as Steps).data.steps.flatMap(({ what, secrets: made }) => (made ? [[what, made]] : []))
  expect(secrets).toEqual([
    ['endpoint connection CRM', { signing_secret: expect.stringMatching(/^[\w-]{43}$/) as unknown }],
  ])
  expect((await api.get(api.actions)).body).toMatchObject({
    data: [
      { name: 'Tell of everything', active: false, product_id: null },
      { name: 'Tell the CRM', active: true, product_id: expect.any(String) as unknown },
    ],
  })
})

test('applied again, nothing changes', async () => {
  await using api = await operatorApi()
  await api.apply(declared)
  const before = await api.everything()

  const { body } = await api.apply(declared)

  expect(stepsOf(body).filter((step) => !step.startsWith('none '))).toEqual([])
  expect(await api.everything()).toBe(before)
})

test('what differs is changed: the address, a secret that is not the one in force, the events', async () => {
  await using api = await operatorApi()
  await api.apply(declared)

  const changed = declared
    .replace('https://crm.example.com/hooks', 'https://new.example.com/hooks')
    .replace('a-secret-of-the-firm-itself', 'another-secret-of-the-firm')
    .replace('[quote.expired]', '[quote.expired, quote.issued]')
  const { body } = await api.apply(changed)

  expect(stepsOf(body)).toEqual([
    'change endpoint connection CRM',
    'change endpoint connection Local',
    'none lifecycle action Tell the CRM',
    'change lifecycle action Tell of everything',
  ])
  const details = (body as Steps).data.steps.flatMap((step) => step.details)
  expect(details).toContain('base_url: https://crm.example.com/hooks → https://new.example.com/hooks')
  expect(details).toContain('signing_secret: replaced')
  expect(JSON.stringify(body)).not.toContain('another-secret')
  const { data } = (await api.get(api.connections)).body as { data: { id: string; name: string }[] }
  expect(await api.secretOf(data.find(({ name }) => name === 'Local')?.id ?? '')).toBe('another-secret-of-the-firm')
})

test('all that is wrong is said, at its line, and nothing is changed', async () => {
  await using api = await operatorApi()

  const { status, body } = await api.apply(
    firm(`
    endpoint_connections:
      - name: CRM
        base_url: http://crm.example.com/hooks
      - name: ERP
        base_url: https://erp.example.com/hooks
      - name: ERP
        base_url: https://erp.example.com/hooks
    lifecycle_actions:
      - name: Tell
        product: no-such-product
        event_types: [quote.issued]
        endpoint_connection: Nowhere
`),
  )

  expect(status).toBe(422)
  const at = (path: string) => `organisations[0].${path}`
  expect((body as { error: { fields: unknown } }).error.fields).toEqual({
    [at('endpoint_connections[0].base_url')]: `line 8: The base address ${notEncrypted}.`,
    [at('endpoint_connections[2].name')]: 'line 11: is that of endpoint_connections[1]',
    [at('lifecycle_actions[0].product')]: 'line 15: there is no product no-such-product',
    [at('lifecycle_actions[0].endpoint_connection')]: 'line 17: there is no endpoint connection Nowhere',
  })
  expect((await api.get(api.connections)).body).toEqual({ data: [], next_cursor: null })
})
