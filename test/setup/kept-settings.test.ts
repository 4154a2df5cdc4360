import { afterAll, beforeAll, expect, test } from 'vitest'
import { organisationEvents } from '#domain/access/events.ts'
import { fromStored } from '#domain/event.ts'
import { setupApi } from './setup-api.ts'

/** A single setting that a set-up file leaves out keeps its value. */

let api: Awaited<ReturnType<typeof setupApi>>
beforeAll(async () => {
  api = await setupApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const details = async (text: string) => {
  const { status, body } = await api.apply(text)
  expect(status).toBe(200)
  const { data } = body as {
    readonly data: { readonly steps: readonly { change: string; details: readonly string[] }[] }
  }
  return data.steps.map(({ change, details: each }) => [change, ...each])
}

test('of an organisation: also whether payments go to the test account', async () => {
  const whole = 'currency_code: EUR, time_zone: Europe/Dublin, stripe_test_mode: true'
  await details(`organisations: [{ slug: kept, name: Kept, ${whole} }]`)
  expect(await details('organisations: [{ slug: kept, name: Kept Life }]')).toEqual([
    ['change', 'name: "Kept" → "Kept Life"'],
  ])
  const changed = (await api.eventLog.readAll()).findLast(({ type }) => type === 'OrganisationChanged')
  expect(changed && fromStored(organisationEvents, changed)).toMatchObject({
    name: 'Kept Life',
    currency_code: 'EUR',
    time_zone: 'Europe/Dublin',
    stripe_test_mode: true,
  })
  expect(await details('organisations: [{ slug: kept, name: Kept Life, stripe_test_mode: false }]')).toEqual([
    ['change', 'stripe_test_mode: true → false'],
  ])
})

test('of how deliveries are sent over a connection', async () => {
  const file = (settings: string) => `
organisations:
  - slug: sender
    name: Sender
    endpoint_connections: [{ name: CRM, base_url: 'https://crm.example/hook' }]
    delivery_settings: [{ endpoint_connection: CRM, ${settings} }]`
  await details(file('per_second: 5, in_order: true, disable_after_minutes: 60'))
  const [, , settings] = await details(file('per_second: 7'))
  expect(settings).toEqual(['change', 'per_second: 5 → 7'])
  const [, , lifted] = await details(file('per_second: null'))
  expect(lifted).toEqual(['change', 'per_second: 7 → null'])
})
