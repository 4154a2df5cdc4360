import { afterAll, beforeAll, expect, test } from 'vitest'
import { addressOf } from '../email-addresses.ts'
import { setupApi } from './setup-api.ts'

let api: Awaited<ReturnType<typeof setupApi>>
beforeAll(async () => {
  api = await setupApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const file = (sections: string, slug: string) => `
organisations:
  - slug: ${slug}
    name: Acme
${sections
  .trim()
  .split('\n')
  .map((line) => `    ${line}`)
  .join('\n')}
`
type Body = {
  readonly data: { readonly steps: readonly { readonly what: string; readonly change: string }[] }
  readonly error: { readonly fields: Readonly<Record<string, string>> }
}
const send = async (sections: string, apply = false, slug = 'acme') => {
  const { status, body } = await api.post(`/admin/v1/setup?apply=${apply}`, file(sections, slug))
  return { status, body: body as Body }
}

const stages = `
stages:
  - { key: fresh, label: Fresh }
  - { key: done, label: Done, kind: won, probability: 100 }
  - { key: gone, label: Gone, kind: lost }
`

test('200: stages, team, fields, scores and deadlines are set up, and again change nothing', async () => {
  const sections = `${stages}
team_members: [{ full_name: Olive Owner, email: olive@example.com }]
custom_fields: [{ key: colour, label: Colour, type: choice, options: [red] }, { key: owner, label: Owner, type: boolean }]
score_rules: [{ points: 10, fact: colour, equals: red }, { points: 5, fact: owner, equals: true }, { points: 1, fact: pets, equals: 2 }]
grades: [{ a: 90, b: 70, c: 50, d: 30 }]
lead_deadlines: [{ first_contact_minutes: null }]`

  const first = await send(sections, true)
  const again = await send(sections, true)

  expect(first.status).toBe(200)
  expect(first.body.data.steps.filter(({ change }) => change === 'none')).toEqual([])
  expect(again.body.data.steps.map(({ change }) => change)).toEqual(Array(again.body.data.steps.length).fill('none'))
})

test('an outcome moves leads to one of the stages that there are, also where an earlier file declared them', async () => {
  const moving = (stage: string) => `outcome_types: [{ key: met, label: Met, effect: stage, stage: ${stage} }]`
  await send(stages, true)

  expect((await send(moving('fresh'))).status).toBe(200)
  expect((await send(moving('quoted'))).body.error.fields).toEqual({
    'organisations[0].outcome_types[0].stage': 'line 5: there is no stage quoted',
  })
})

test('200: outcomes are set up with formulas and aliases, and again change nothing', async () => {
  const sections = `${stages}
outcome_measures: [{ key: fee, label: Fee, unit: money }, { key: rate, label: Rate, unit: percent }, { key: pay, label: Pay, unit: money }]
outcome_products: [{ key: boat, name: Boat, aliases: [B1] }]
outcome_types:
  - { key: met, label: Met, effect: stage, stage: fresh }
  - key: sold
    label: Sold
    effect: won
    values: [{ key: fee, required: true }, { key: rate }, { key: pay, formula: { product: [fee, rate, 0.01] } }]`

  expect((await send(sections, true)).status).toBe(200)
  const { body } = await send(sections)

  expect(body.data.steps.map(({ change }) => change)).toEqual(Array(body.data.steps.length).fill('none'))
})

test('200: an empty list takes away what an earlier file declared, and is planned as none', async () => {
  const lists = {
    lead_rules: '[{ rule: required, field: email }]',
    blocked_sources: '[spam]',
    trap_fields: '[website]',
    team_members: '[{ full_name: Peter Page, email: peter@example.com }]',
    custom_fields: '[{ key: pets, label: Pets }]',
    score_rules: '[{ points: 10, activity: reply }]',
    outcome_products: '[{ key: raft, name: Raft }]',
  }
  await send(
    Object.entries(lists)
      .map(([key, list]) => `${key}: ${list}`)
      .join('\n'),
    true,
  )
  const emptied = Object.keys(lists)
    .map((key) => `${key}: []`)
    .join('\n')

  const { body } = await send(emptied, true)
  const again = await send(emptied)

  const planned = Object.fromEntries(body.data.steps.slice(1).map(({ what, change }) => [what, change]))
  expect(planned).toEqual(Object.fromEntries(Object.keys(lists).map((key) => [key.replace('_', ' '), 'change'])))
  expect(again.body.data.steps.filter(({ change }) => change !== 'none')).toEqual([])
})

test.each<[string, string, (email: string) => string]>([
  ['a team member', 'team_members[0].email', (email) => `team_members: [{ full_name: Long, email: ${email} }]`],
  ['the firm itself', 'policy_rules[0].contact.email', (email) => `policy_rules: [{ contact: { email: ${email} } }]`],
])('an email address of %s has 64 characters before the @ at most, and 254 in all', async (_whose, at, declare) => {
  for (const email of [addressOf(64, 100), addressOf(64, 254)])
    expect((await send(declare(email), false, 'long')).status).toBe(200)
  for (const email of [addressOf(65, 100), addressOf(64, 255), 'nobody'])
    expect(await send(declare(email), false, 'long')).toMatchObject({
      status: 422,
      body: {
        error: {
          fields: {
            [`organisations[0].${at}`]: expect.stringContaining(
              'must be an email address of at most 254 characters, 64 of them before the @',
            ) as string,
          },
        },
      },
    })
})

test('422: a measure stays as long as a type of an earlier file has it as a value', async () => {
  const measures = (keys: string) => `outcome_measures: [{ key: ${keys}, label: M, unit: money }]`
  const types = 'outcome_types: [{ key: met, label: Met, values: [{ key: fee }] }]'
  const plan = (sections: string) => send(sections, false, 'measured')
  await send(`${measures('fee')}\n${types}`, true, 'measured')

  const { status, body } = await plan(measures('pay'))

  const fields = { 'organisations[0].outcome_measures': 'line 5: must keep fee, a value of met' }
  expect([status, body.error.fields]).toEqual([422, fields])
  expect((await plan(`${measures('pay')}\n${types.replace('fee', 'pay')}`)).status).toBe(200)
})

test.each([
  [
    'outcome_products: [{ key: a, name: A, aliases: [X1] }, { key: b, name: B, aliases: [x1] }]',
    'organisations[0].outcome_products[1].aliases[0]',
  ],
  [
    'outcome_products: [{ key: a, name: A }, { key: b, name: B, aliases: [y, A] }]',
    'organisations[0].outcome_products[1].aliases[1]',
  ],
  [
    'outcome_products: [{ key: a, name: A, aliases: [B] }, { key: b, name: B }]',
    'organisations[0].outcome_products[1].key',
  ],
  ['outcome_types: []', 'organisations[0].outcome_types'],
  ['grades: []', 'organisations[0].grades'],
  ['lead_deadlines: []', 'organisations[0].lead_deadlines'],
  ['policy_rules:', 'organisations[0].policy_rules'],
  ['stages: [{ key: new, label: New }]', 'organisations[0].stages'],
  [
    'stages: [{ key: a, label: A }, { key: a, label: B, kind: won }, { key: c, label: C, kind: lost }]',
    'organisations[0].stages[1]',
  ],
  ['custom_fields: [{ key: colour, label: Colour, type: choice }]', 'organisations[0].custom_fields[0].options'],
  ['score_rules: [{ points: 10 }]', 'organisations[0].score_rules[0]'],
  [
    'custom_fields: [{ key: shade, label: S, type: choice, options: [red] }]\nscore_rules: [{ points: 1, fact: shade, equals: rde }]',
    'organisations[0].score_rules[0].equals',
  ],
  [
    'outcome_measures: [{ key: fee, label: Fee, unit: money }, { key: pay, label: Pay, unit: money }]\noutcome_types: [{ key: x, label: X, values: [{ key: fee }, { key: pay, formula: { quotient: [fee] } }] }]',
    'organisations[0].outcome_types[0].values[1].formula.quotient',
  ],
  [
    'campaigns: [{ key: c, name: C, field_names: { phone: Tel, dob: tel } }]',
    'organisations[0].campaigns[0].field_names',
  ],
  ['score_rules: [{ points: 10, activity: dance }]', 'organisations[0].score_rules[0].activity'],
  [
    'outcome_types: [{ key: x, label: X, values: [{ key: fee, formula: { product: [fee, 12] } }] }]',
    'organisations[0].outcome_types[0].values[0].formula',
  ],
  [
    'loyalty_programmes: [{ slug: p, name: P, tiers: [{ key: t, name: T }], cycle: { months: 12, starts: confirmation }, products: [nope] }]',
    'organisations[0].loyalty_programmes[0].products[0]',
  ],
  [
    'outreach_streams: [{ slug: s, kind: mailshot, name: S, purpose: service, campaigns: [nope], texts: [{ subject: S, body: B }] }]',
    'organisations[0].outreach_streams[0].campaigns[0]',
  ],
  [
    'outreach_streams: [{ slug: s, kind: newsletter, name: S, purpose: service, send_at_local_time: "09:00", schedule: { cadence: weekly, weekday: 1, starts_on: 2026-01-05, send_at: "09:00" }, texts: [{ subject: S, body: B }] }]',
    'organisations[0].outreach_streams[0].schedule.send_at',
  ],
  [
    'custom_integrations: [{ name: I, inbound: { event_type_path: t, outcome_event_types: [a], outcome_mapping: { lead: { id: i }, type: nope, occurred_at: o } } }]',
    'organisations[0].custom_integrations[0].inbound.outcome_mapping.type',
  ],
  [
    'custom_integrations: [{ name: I, inbound: { event_type_path: t, outcome_event_types: [a], outcome_mapping: { lead: { id: i }, type: sold, occurred_at: o, values: { nope: v } } } }]',
    'organisations[0].custom_integrations[0].inbound.outcome_mapping.values.nope',
  ],
  [
    `custom_integrations: [{ name: I, outbound: { base_url: 'https://example.com', endpoints: [{ key: add, path: / }] }, connections: [{ name: main }] }]
workflows: [{ name: W, trigger: { event_type: lead.created }, actions: [{ kind: integration, integration: I, endpoint: nope }] }]`,
    'organisations[0].workflows[0].actions[0].endpoint',
  ],
  ['grades: [{ a: 10, b: 20, c: 30, d: 40 }]', 'organisations[0].grades[0]'],
  [
    'outcome_types: [{ key: x, label: X, values: [{ key: boats }] }]',
    'organisations[0].outcome_types[0].values[0].key',
  ],
  ['outcome_types: [{ key: x, label: X, effect: stage }]', 'organisations[0].outcome_types[0].stage'],
  ['outcome_types: [{ key: x, label: X, effect: stage, stage: limbo }]', 'organisations[0].outcome_types[0].stage'],
  [
    'outcome_types: [{ key: x, label: X, values: [{ key: fee, formula: { sum: [boats, 1] } }] }]',
    'organisations[0].outcome_types[0].values[0].formula',
  ],
])('422: %s', async (sections, field) => {
  const { status, body } = await send(sections)

  expect([status, Object.keys(body.error.fields)]).toEqual([422, [field]])
})
