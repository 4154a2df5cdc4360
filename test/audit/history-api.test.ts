import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiApplication } from '#domain/access/record.ts'
import { claimEvents } from '#domain/claims/events.ts'
import { customerEvents } from '#domain/customers/events.ts'
import type { RecordedEvent } from '#domain/event.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { policyStreamEvents } from '#domain/policies/record.ts'
import { premiumEvents } from '#domain/premiums/events.ts'
import { claims } from '../../projections/claims/projection.ts'
import { auditHistoryRoute } from '../../query-api/audit/history-route.ts'
import { readModel } from '../read-model.ts'
import { recorded } from '../recorded.ts'
import { serve } from '../serve.ts'
import { sampleEvent } from '../stored-events/samples.ts'

const organisation_id = randomUUID()
const stranger = randomUUID()
const policy_id = randomUUID()
const [claim_id, other_claim, customer_id, client_id] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
const stream = `policy-${policy_id}`

const opened = {
  ...sampleEvent(claimEvents, 'ClaimOpened'),
  claim_id,
  amount_pence: 250_000,
  happened_on: '2026-05-01',
}
const due = sampleEvent(premiumEvents, 'PremiumDue')
type Story = readonly (readonly [
  event: Parameters<typeof recorded<typeof policyStreamEvents>>[2][number],
  actor: RecordedEvent['metadata']['actor'],
])[]
const story: Story = [
  [sampleEvent(policyEvents, 'PolicyBound', 2), { type: 'api', id: client_id }],
  [due, { type: 'system', id: 'timer premium_due' }],
  [
    { ...opened, note: 'Called on Monday.' },
    { type: 'operator', id: 'anna' },
  ],
  [
    { ...opened, claim_id: other_claim, note: 'Of another claim.' },
    { type: 'operator', id: 'anna' },
  ],
  [
    {
      ...sampleEvent(claimEvents, 'ClaimEvidenceRequested'),
      claim_id,
      amount_pence: 250_000,
      note: 'A letter of the doctor.',
    },
    { type: 'operator', id: 'bert' },
  ],
  [
    { ...sampleEvent(claimEvents, 'ClaimApproved'), claim_id, amount_pence: 200_000, note: 'Less the excess.' },
    { type: 'operator', id: 'anna' },
  ],
] as Story // as the samples are of these types
const events = story.flatMap(([event, actor], from) =>
  recorded(policyStreamEvents, stream, [event], { organisation_id, actor, from }),
)
const person = recorded(
  customerEvents,
  `customer-${customer_id}`,
  [
    { ...sampleEvent(customerEvents, 'CustomerCreated'), details: details('Ada') },
    { ...sampleEvent(customerEvents, 'CustomerUpdated'), changed: { first_name: 'Grace' } },
  ] as Parameters<typeof recorded<typeof customerEvents>>[2], // as the samples are
  { organisation_id },
)

function details(first_name: string) {
  return { ...sampleEvent(customerEvents, 'CustomerCreated').details, first_name }
}

const log = {
  read: async (name: string, { from = 0, limit = 1_000 } = {}) =>
    [...events, ...person].filter((each) => each.stream === name && each.revision >= from).slice(0, limit),
}

let tables: Awaited<ReturnType<typeof readModel>>
let api: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  tables = await readModel(claims)
  await tables.apply(events)
  api = await serve([
    auditHistoryRoute({
      db: tables.pool,
      eventLog: log,
      applications: new Map([[client_id, { name: 'The web shop' } as ApiApplication]]), // only its name is shown
      organisations: new Map(),
    }),
  ])
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await tables[Symbol.asyncDispose]()
})

type Entry = {
  readonly type: string
  readonly sentence: string
  readonly who: { readonly as: string; readonly name: string | null }
  readonly basis: readonly { readonly name: string; readonly value: unknown }[]
  readonly changes:
    | readonly { readonly path: string; readonly before: unknown; readonly after: unknown; readonly masked: boolean }[]
    | null
  readonly personal: string
}
type Page = { readonly data: readonly Entry[]; readonly next_cursor: string | null }

const look = (path: string, organisation = organisation_id) =>
  api.get(`/audit/v1/organisations/${organisation}/records/${path}`)
const history = async (path: string): Promise<Page> => {
  const { status, body } = await look(path)
  expect({ status, body }).toMatchObject({ status: 200 })
  return body as Page
}

test('a policy’s history says who did what, and as what they did it', async () => {
  const { data } = await history(`policy/${policy_id}/history`)

  expect(data.map(({ who }) => [who.as, who.name])).toEqual([
    ['api_application', 'The web shop'],
    ['timer', 'premium_due'],
    ['operator', 'anna'],
    ['operator', 'anna'],
    ['operator', 'bert'],
    ['operator', 'anna'],
  ])
  expect(data.map(({ sentence }) => sentence)).toMatchObject([
    expect.stringMatching(/^The policy .* was set up from /),
    expect.stringMatching(/^A premium of £.* fell due on /),
    'A claim of £2,500.00 was opened for what happened on 2026-05-01.',
    'A claim of £2,500.00 was opened for what happened on 2026-05-01.',
    'Evidence for the claim was asked for.',
    'The claim was approved: £2,000.00.',
  ])
})

test('a claim’s history keeps its earlier notes, and holds nothing of another claim', async () => {
  const { data } = await history(`claim/${claim_id}/history?personal=opened`)

  expect(data.map(({ type, basis }) => [type, basis])).toEqual([
    ['ClaimOpened', [{ name: 'note', value: 'Called on Monday.' }]],
    ['ClaimEvidenceRequested', [{ name: 'note', value: 'A letter of the doctor.' }]],
    ['ClaimApproved', [{ name: 'note', value: 'Less the excess.' }]],
  ])
})

test('an event is shown with the values before and after it', async () => {
  const { data } = await history(`claim/${claim_id}/history?personal=opened`)
  const changes = data.at(-1)?.changes ?? []

  expect(changes).toContainEqual({
    path: `claims.${claim_id}.amount_pence`,
    before: 250_000,
    after: 200_000,
    masked: false,
  })
  expect(changes.find(({ path }) => path.endsWith('.status'))).toMatchObject({ after: 'approved' })
  expect(changes.find(({ path }) => path.endsWith('.note'))).toMatchObject({ before: 'A letter of the doctor.' })
})

test('what may identify a person is left out, and its place is told', async () => {
  const masked = await history(`claim/${claim_id}/history`)
  expect(masked.data.map(({ personal }) => personal)).toEqual(['masked', 'masked', 'masked'])
  expect(JSON.stringify(masked)).not.toMatch(/Monday|doctor|excess/)
  expect(masked.data.at(-1)?.changes).toContainEqual({
    path: `claims.${claim_id}.note`,
    before: null,
    after: null,
    masked: true,
  })

  const renamed = await history(`customer/${customer_id}/history`)
  expect(JSON.stringify(renamed)).not.toMatch(/Ada|Grace/)
  const opened = await history(`customer/${customer_id}/history?personal=opened`)
  expect(opened.data.at(-1)?.changes).toContainEqual({
    path: 'first_name',
    before: 'Ada',
    after: 'Grace',
    masked: false,
  })
})

test('pages of a history hold each event once', async () => {
  const first = await history(`claim/${claim_id}/history?limit=2`)
  const second = await history(`claim/${claim_id}/history?limit=2&cursor=${first.next_cursor}`)

  expect([...first.data, ...second.data].map(({ type }) => type)).toEqual([
    'ClaimOpened',
    'ClaimEvidenceRequested',
    'ClaimApproved',
  ])
  expect(second.next_cursor).toBeNull()
})

test.each([
  [`policy/${policy_id}/history`, stranger],
  [`claim/${claim_id}/history`, stranger],
  [`policy/${randomUUID()}/history`, organisation_id],
  [`claim/${randomUUID()}/history`, organisation_id],
])('404: %s, asked for in %s', async (path, organisation) => {
  expect((await look(path, organisation)).status).toBe(404)
})
