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

test('of the rules of policies', async () => {
  const file = (rules: string) => `organisations: [{ slug: keeper, name: Keeper, policy_rules: [{ ${rules} }] }]`
  await details(file('suspend_after_days: 20, lapse_after_days: 40, contact: { phone: 0113 245 0100, address: Leeds }'))
  const [, changed] = await details(file('lapse_after_days: 50, contact: { phone: null }'))
  expect(changed).toEqual(['change', 'suspended after 20 days, lapsed after 50'])
  const declared = (await api.eventLog.readAll()).findLast(({ type }) => type === 'PolicyRulesDeclared')
  expect(declared?.data).toMatchObject({ rules: { contact: { phone: null, address: 'Leeds' } } })
})

test('of deadlines of leads, and of what reading may cost', async () => {
  const file = (deadlines: string, reading: string) =>
    `organisations: [{ slug: reader, name: Reader, lead_deadlines: [{ ${deadlines} }], lead_reading: [{ ${reading} }] }]`
  await details(file('first_contact_minutes: 5, dormant_after_days: 9', 'calls_a_day: 3, tokens_a_day: 4'))
  await details(file('dormant_after_days: 10', 'tokens_a_day: 5'))
  const declared = (await api.eventLog.readAll()).findLast(({ type }) => type === 'PipelineDeclared')
  expect(declared?.data).toMatchObject({
    pipeline: {
      first_contact_minutes: 5,
      dormant_after_days: 10,
      reading: { calls_a_day: 3, tokens_a_day: 5 },
    },
  })
})
