import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { policyRulesOf } from '#domain/policy-rules/record.ts'
import type { Policy } from '#domain/policies/record.ts'
import { policyTimers } from '../../command-api/policies/timers.ts'
import { organisation_id } from '../applications/release.ts'
import { openSales, type Sales } from './fixture.ts'
import { england } from './calendars.ts'

describe('over HTTP', () => {
  let sales: Sales
  beforeAll(async () => {
    sales = await openSales()
  })
  afterAll(async () => sales[Symbol.asyncDispose]())

  const cancelling = async (id: string, body: object, organisation: string = organisation_id) => {
    const answer = await sales.post(`/admin/v1/organisations/${organisation}/policies/${id}/cancellation`, body)
    return {
      ...answer,
      body: answer.body as { data: { policy: Policy; refund_pence: number }; error: { code: string } },
    }
  }

  test('the operator cancels a policy, which then shows it', async () => {
    const { quote_id } = await sales.ready()
    const { id } = (await sales.bind(quote_id)).body.data

    const { status, body } = await cancelling(id, { reason: 'cooling_off', note: 'By telephone.' })

    expect(status).toBe(200)
    expect(body.data.policy).toMatchObject({
      status: 'cancelled',
      cancelled_on: '2026-06-02',
      cancellation_reason: 'cooling_off',
      next_collection_on: null,
      components: [{ status: 'ended', ends_on: '2026-06-02' }],
    })
    expect((await sales.get(`/api/v1/policies/${id}`)).body).toEqual({ data: body.data.policy })
    expect((await cancelling(id, { reason: 'cooling_off', note: 'Once more.' })).body).toEqual(body)
    expect(await cancelling(id, { reason: 'fraud', note: 'A forged signature.' })).toMatchObject({ status: 409 })
    expect(
      JSON.stringify((await sales.get(`/admin/v1/policies/${id}/timeline?organisation_id=${organisation_id}`)).body),
    ).not.toContain('By telephone.')
  })

  test('404 for another organisation, 422 for a reason that there is not', async () => {
    const { quote_id } = await sales.ready()
    const { id } = (await sales.bind(quote_id)).body.data

    expect(
      (await cancelling(id, { reason: 'fraud', note: 'A forged signature.' }, '99999999-0000-4000-8000-000000000001'))
        .status,
    ).toBe(404)
    expect(await cancelling(id, { reason: 'boredom', note: 'By telephone.' })).toMatchObject({
      status: 422,
      body: {
        error: { code: 'validation_failed', fields: { reason: expect.stringContaining('cooling_off') as string } },
      },
    })
  })

  test('timers start and end cover as of the moment when it is due', async () => {
    const { quote_id } = await sales.ready()
    const { id } = (await sales.bind(quote_id)).body.data
    const fire = async (kind: string, due_at: string) => {
      const context = {
        organisation_id,
        actor: { type: 'system', id: null } as const,
        correlation_id: 'test',
        now: due_at,
      }
      const timer = policyTimers({
        calendar: england,
        writer: sales.writer,
        catalogue: sales.catalogue,
        rulesOf: policyRulesOf(new Map()),
        reviewBasis: async () => ({ reason: 'by_the_team' }),
      }).find((each) => each.kind === kind)
      await timer?.fire({ organisation_id, kind, id, stream: `policy-${id}`, due_at }, context)
      return ((await sales.get(`/api/v1/policies/${id}`)).body as { data: Policy }).data.status
    }

    expect(await fire('policy_start', '2026-06-02T00:00:00.000Z')).toBe('active')
    expect(await fire('policy_end', '2051-06-02T00:00:00.000Z')).toBe('expired')
  })
})
