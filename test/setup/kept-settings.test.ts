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
  if (status !== 200) expect(body).toBe('a plan that was applied')
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

/** Any text, in what `toMatchObject` expects. */
const isText: unknown = expect.stringMatching(/./)

/** What stands in the last event of a type. */
const lastOf = async (type: string): Promise<unknown> =>
  (await api.eventLog.readAll()).findLast((event) => event.type === type)?.data

/** Applies a first file, then another with less in it. */
const afterBoth = async (slug: string, key: string, first: string, second: string): Promise<void> => {
  const file = (item: string) => `organisations: [{ slug: ${slug}, name: Keeper, ${key}: [${item}] }]`
  await details(file(first))
  await details(file(second))
}

test('of an application: the pages that may use it', async () => {
  const grant = 'name: Pages, scopes: [read, write]'
  const origins = "allowed_origins: ['https://shop.example']"
  await afterBoth('pages', 'api_applications', `{ ${grant}, ${origins} }`, '{ name: Pages, scopes: [read] }')
  expect(await lastOf('ApiApplicationChanged')).toMatchObject({
    scopes: ['read'],
    allowed_origins: ['https://shop.example'],
  })
})

test('of accounts: address, account and the secret that news is signed with', async () => {
  await afterBoth(
    'accounts',
    'provider_accounts',
    "{ provider: message_gateway, base_url: 'https://sms.example', account: Keeper, secret: one, webhook_secret: a-secret-for-all-news }",
    '{ provider: message_gateway, secret: two }',
  )
  expect(await lastOf('ProviderAccountSet')).toMatchObject({
    base_url: 'https://sms.example',
    account: 'Keeper',
    sealed_webhook_secret: isText,
  })
  await afterBoth(
    'accounts',
    'payment_accounts',
    '{ mode: test, publishable_key: pk_test_1, secret_key: sk_test_1, webhook_secret: whsec_1, stripe_account: acct_12345678, capture: manual }',
    '{ mode: test, secret_key: sk_test_2 }',
  )
  expect(await lastOf('PaymentAccountSet')).toMatchObject({
    publishable_key: 'pk_test_1',
    stripe_account: 'acct_12345678',
    capture: 'manual',
    sealed_webhook_secret: isText,
  })
  const { body } = await api.apply(
    'organisations: [{ slug: accounts, name: Keeper, payment_accounts: [{ mode: test, secret_key: sk_test_2 }] }]',
  )
  expect(body).toMatchObject({
    data: { steps: [{ change: 'none' }, { what: 'payment account test', change: 'none' }] },
  })
})

test('of a loyalty programme, also of each of its tiers', async () => {
  await afterBoth(
    'club',
    'loyalty_programmes',
    `{ slug: club, name: Club, cycle: { months: 6, starts: 04-06 },
       tiers: [{ key: silver, name: Silver, threshold: 100 }, { key: gold, name: Gold, threshold: 200 }] }`,
    '{ slug: club, name: The Club, tiers: [{ key: gold, name: Golden }] }',
  )
  expect(await lastOf('ProgrammeChanged')).toMatchObject({
    name: 'The Club',
    cycle: { months: 6, starts: '04-06' },
    tiers: [{ key: 'gold', name: 'Golden', threshold: 200 }],
  })
})

test('of a campaign: what it demands, and that it is not active', async () => {
  await afterBoth(
    'advert',
    'campaigns',
    '{ key: spring, name: Spring, state: paused, rules: [{ rule: required, field: phone }], field_names: { smoker: Smokes } }',
    '{ key: spring, name: Spring 2027 }',
  )
  expect(await lastOf('CampaignChanged')).toMatchObject({
    name: 'Spring 2027',
    state: 'paused',
    rules: [{ rule: 'required', field: 'phone' }],
    field_names: { smoker: 'Smokes' },
  })
})

test('of an outreach stream', async () => {
  const always = 'slug: hello, kind: mailshot, name: Hello, purpose: service'
  await afterBoth(
    'writer',
    'outreach_streams',
    `{ ${always}, channels: [sms], auto_send: true, pace_per_hour: 50, texts: [{ body: Hello }] }`,
    `{ ${always}, texts: [{ body: Good morning }] }`,
  )
  expect(await lastOf('OutreachStreamChanged')).toMatchObject({
    choices: { channels: ['sms'], auto_send: true, pace_per_hour: 50, texts: [{ body: 'Good morning' }] },
  })
})

test('of lifecycle actions and workflows: that they are not active', async () => {
  const file = (product: string, more: string, events: string) => `
organisations:
  - slug: worker
    name: Worker
    endpoint_connections: [{ name: CRM, base_url: 'https://crm.example/hook' }]
    products: [{ slug: life, name: Life, product_type: term, publish: false }]
    lifecycle_actions: [{ name: Sales, endpoint_connection: CRM, event_types: [${events}]${product} }]
    workflows: [{ name: Leads, trigger: { event_type: lead.created }, actions: [{ kind: webhook, endpoint_connection: CRM }]${more} }]`
  await details(file(', product: life, active: false', ', state: archived', 'policy.bound'))
  const steps = await details(file('', '', 'policy.lapsed'))
  expect(steps.slice(-2)).toEqual([['change', 'sends policy.lapsed of its product to CRM', 'not active'], ['none']])
  expect(await lastOf('LifecycleActionChanged')).toMatchObject({
    active: false,
    product_id: isText,
  })
})

test('of a custom integration: how it is signed and what it calls', async () => {
  const reads =
    'event_type_path: event.name, outcome_event_types: [sale], outcome_mapping: { lead: { external_id: who }, occurred_at: when, type: cancelled }'
  await afterBoth(
    'listener',
    'custom_integrations',
    `{ name: Dialler, inbound: { ${reads}, signature_header: X-Dialler, signing_secret: hook } }`,
    '{ name: Dialler, inbound: { event_type_path: event.type } }',
  )
  expect(await lastOf('CustomIntegrationChanged')).toMatchObject({
    inbound: {
      event_type_path: 'event.type',
      signature_header: 'X-Dialler',
      signing_secret: 'hook',
      outcome_mapping: { type: 'cancelled' },
    },
  })
  const outbound = (more: string, endpoint: string) =>
    `{ name: CRM, outbound: { base_url: 'https://crm.example', endpoints: [{ key: person, ${endpoint} }]${more} } }`
  await afterBoth(
    'caller',
    'custom_integrations',
    outbound(', credential: { type: bearer, secret: token }', 'method: PUT, path: /people'),
    outbound('', 'path: /persons'),
  )
  expect(await lastOf('CustomIntegrationChanged')).toMatchObject({
    outbound: {
      credential: { type: 'bearer', secret: 'token' },
      endpoints: [{ key: 'person', method: 'PUT', path: '/persons' }],
    },
  })
})

test('of types and products of outcomes, which are named by their keys', async () => {
  await afterBoth(
    'closer',
    'outcome_types',
    '{ key: sale, label: Sale, repeatable: false, product: required, values: [{ key: premium }], effect: won }',
    '{ key: sale, label: Sold }',
  )
  await afterBoth(
    'closer',
    'outcome_products',
    '{ key: life, name: Life, aliases: [LIFE-1] }',
    '{ key: life, name: Life cover }',
  )
  expect(await lastOf('OutcomeModelDeclared')).toMatchObject({
    model: {
      types: [
        {
          key: 'sale',
          label: 'Sold',
          repeatable: false,
          product: 'required',
          values: [{ key: 'premium' }],
          effect: 'won',
        },
      ],
      products: [{ key: 'life', name: 'Life cover', aliases: ['LIFE-1'] }],
    },
  })
})

test('what every organisation begins with is not kept where the file names a list of its own', async () => {
  await details('organisations: [{ slug: starter, name: Starter, outcome_products: [{ key: life, name: Life }] }]')
  await details(
    'organisations: [{ slug: starter, name: Starter, outcome_types: [{ key: sold, label: Sold, effect: won }] }]',
  )
  expect(await lastOf('OutcomeModelDeclared')).toMatchObject({
    model: { types: [{ key: 'sold', product: 'none', values: [] }] },
  })
})

test('of stages, fields and members of the team, which are named by key or email', async () => {
  await afterBoth(
    'team',
    'team_members',
    '{ id: 0d9f6a4e-0000-4000-8000-000000000001, full_name: Ann, email: ann@team.example, active: false }',
    '{ full_name: Ann Brown, email: Ann@team.example }, { full_name: Bob, email: bob@team.example }',
  )
  await afterBoth(
    'team',
    'custom_fields',
    '{ key: pet, label: Pet, type: choice, options: [cat, dog] }, { key: gone, label: Gone }',
    '{ key: pet, label: Which pet? }',
  )
  const stages = (more: string) =>
    `{ key: new, label: New }, { key: won, label: Won, kind: won${more} }, { key: lost, label: Lost, kind: lost }`
  await afterBoth('team', 'stages', stages(', probability: 90'), stages(''))
  expect(await lastOf('PipelineDeclared')).toMatchObject({
    pipeline: {
      team_members: [
        { id: '0d9f6a4e-0000-4000-8000-000000000001', full_name: 'Ann Brown', active: false },
        { full_name: 'Bob', active: true },
      ],
      custom_fields: [{ key: 'pet', label: 'Which pet?', type: 'choice', options: ['cat', 'dog'] }],
    },
  })
})

test('of a product, its checkout and its journeys; what it names counts as a whole', async () => {
  const questions = (keys: readonly string[]) =>
    `questions: [${keys.map((key) => `{ key: ${key}, label: ${key}?, question_type: boolean, required: false }`).join(', ')}]`
  await afterBoth(
    'insurer',
    'products',
    `{ slug: life, name: Life, product_type: term, cooldown_days: 14, policy_fee_pence: 99, exclusions: [War],
       checkout: { stripe_test_mode: true, policy_number_prefix: LIF },
       journeys: [{ slug: web, name: Web, lifecycle_state: sandbox, journey_loading: '1.10', ${questions(['smoker', 'diver'])} },
                  { slug: shop, name: Shop }] }`,
    `{ slug: life, name: Life cover, product_type: term, checkout: { direct_debit_first: false },
       journeys: [{ slug: web, name: Online, ${questions(['smoker'])} }] }`,
  )
  expect(await lastOf('ProductDrafted')).toMatchObject({
    draft: {
      name: 'Life cover',
      cooldown_days: 14,
      policy_fee_pence: 99,
      exclusions: ['War'],
      checkout: { stripe_test_mode: true, policy_number_prefix: 'LIF', direct_debit_first: false },
      journeys: [
        {
          slug: 'web',
          name: 'Online',
          lifecycle_state: 'sandbox',
          journey_loading: '1.10',
          questions: [{ key: 'smoker' }],
        },
      ],
    },
  })
})
