import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Claim } from '#domain/claims/record.ts'
import { policyEvents } from '#domain/policies/events.ts'
import type { Policy } from '#domain/policies/record.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { policies } from '../../delivery-worker/lifecycle/policies.ts'
import { claims } from '../../projections/claims/projection.ts'
import { claimListRoute } from '../../query-api/claims/routes.ts'
import { organisation_id } from '../applications/release.ts'
import { fillReadModel } from '../read-model.ts'
import { serve, serverCaller } from '../serve.ts'
import { sampleEvent, sampleOf, samples } from '../stored-events/samples.ts'
import { openSales, type Sales } from './fixture.ts'

const sample = sampleOf('PolicyBound')

/** £28.75 a month for £250,000 from 2 February 2026; £27.25 of it is the cover’s, the rest is the fee. */
const bound = sampleEvent(policyEvents, 'PolicyBound')

test('policies, premiums and claims are told of by their published names', () => {
  const facts = policies.remember(undefined, sample) ?? {}
  const told = samples
    .filter(({ event }) => event.stream.startsWith('policy-') && policies.events.includes(event.type))
    .flatMap(({ event }) => policies.happening(facts, event) ?? [])
  const types = new Set(told.map(({ type }) => type))

  for (const type of ['premium.due', 'premium.collected', 'premium.failed', 'premium.retried', 'premium.refunded'])
    expect(types).toContain(type)
  for (const type of ['premium.written_off', 'policy.suspended', 'policy.reinstated', 'policy.lapsed', 'claim.paid'])
    expect(types).toContain(type)
  for (const type of ['policy.amended', 'policy.indexed', 'policy.reviewed', 'claim.approved'])
    expect(types).toContain(type)
  expect(told.find(({ type }) => type === 'premium.failed')?.payload).toEqual({
    policy_id: bound.policy_id,
    premium_id: 'b1000000-0000-5000-8000-000000000001',
    amount_pence: 2875,
    due_on: '2026-08-15',
    attempt: 1,
    failure_code: 'insufficient_funds',
  })
  // What the team has written, and who it is about, stays here.
  expect(JSON.stringify(told)).not.toContain('customer_id')
  expect(JSON.stringify(told)).not.toContain('telephone')
})

describe('over HTTP', () => {
  let sales: Sales
  beforeAll(async () => {
    sales = await openSales()
  })
  afterAll(async () => sales[Symbol.asyncDispose]())

  const act = async <Data>(id: string, path: string, body: object, headers?: Record<string, string>) => {
    const answer = await sales.post(`/admin/v1/organisations/${organisation_id}/policies/${id}/${path}`, body, headers)
    return { ...answer, body: answer.body as { data: Data; error: { code: string } } }
  }

  test('the operator amends a policy, and decides a claim to its end, which can be listed', async () => {
    const { quote_id } = await sales.ready()
    const { id, premium_pence } = (await sales.bind(quote_id, { start_date: '2026-06-01' })).body.data
    const key = { 'idempotency-key': 'claim-1' }
    const body = { claim_type: 'life', happened_on: '2026-06-01', amount_pence: 100, note: 'Told by the family.' }

    const change = { cover_index: 0, premium_pence: 9_999 }
    const amended = await act<Policy>(id, 'amendment', { components: [change], note: 'As agreed.' })
    const opened = await act<Claim>(id, 'claims', body, key)
    const again = await act<Claim>(id, 'claims', body, key)
    const { claim_id } = opened.body.data
    for (const decision of ['request_evidence', 'approve', 'pay', 'close'])
      expect((await act(id, `claims/${claim_id}/decisions`, { decision, note: `So: ${decision}.` })).status).toBe(200)
    const refused = await act(id, `claims/${claim_id}/decisions`, { decision: 'approve' })

    expect(amended.body.data.premium_pence).toBeGreaterThan(premium_pence)
    const otherDay = await act(id, 'amendment', { collection_day: 2 })
    expect([otherDay.status, otherDay.body.error]).toMatchObject([
      422,
      { fields: { collection_day: 'must be one of 1, 7, 14, 21, 28' } },
    ])
    expect((await act<Policy>(id, 'amendment', { collection_day: 28 })).body.data.collection_day).toBe(28)
    expect([opened.status, again.body.data.claim_id]).toEqual([201, claim_id])
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
    await fillReadModel(sales.pool, [claims], await sales.log.read(`policy-${id}`))
    await using lists = await serve([claimListRoute({ pool: sales.pool })], () => serverCaller({ organisation_id }))
    const listed = await lists.get(`/admin/v1/claims?organisation_id=${organisation_id}&status=closed`)
    expect(listed.body).toMatchObject({ data: [{ claim_id, policy_id: id, amount_pence: 100 }], next_cursor: null })
    expect((await act('00000000-0000-4000-8000-000000000000', 'amendment', {})).status).toBe(404)
  })
})

test('every event of a policy’s stream is stored', () => {
  expect(Object.keys(storedEvents)).toEqual(expect.arrayContaining(['ClaimOpened', 'PremiumDue', 'PolicyIndexed']))
})
