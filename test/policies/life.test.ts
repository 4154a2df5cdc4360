import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyEvent } from '#domain/policies/events.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { policyRulesOf } from '#domain/policy-rules/record.ts'
import type { Policy } from '#domain/policies/record.ts'
import { fromStored } from '#domain/event.ts'
import { policyTimers } from '../../command-api/policies/timers.ts'
import { policyDueTimes } from '../../projections/due-times/policies.ts'
import { organisation_id } from '../applications/release.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { samples } from '../stored-events/samples.ts'
import { openSales, type Sales } from './fixture.ts'

const scenario = scenariosOf(policy)

const sample = samples.find(({ event }) => event.type === 'PolicyBound')?.event
if (!sample) throw new Error('There is no sample of PolicyBound.')

/** Starts on 2 February 2026, ends on 2 February 2051, can be cancelled with a full refund until 4 March 2026. */
const bound = fromStored({ PolicyBound: policyEvents.PolicyBound }, sample)
const paidByCard: PolicyEvent = {
  ...bound,
  first_premium: { method: 'card', status: 'succeeded', paid_at: '2026-02-01T09:00:00.000Z' },
  card_payment_id: 'f0000000-0000-4000-8000-000000000001',
}
/** A day before cover starts. */
const soldAt = '2026-02-01T09:00:00.000Z'
const activated: PolicyEvent = { type: 'PolicyActivated', start_date: '2026-02-02' }
const cancel = (reason: 'cooling_off' | 'customer_request', today: string) =>
  ({ type: 'CancelPolicy', reason, note: null, today }) as const
const cancelled = (changes: Partial<Extract<PolicyEvent, { type: 'PolicyCancelled' }>> = {}): PolicyEvent => ({
  type: 'PolicyCancelled',
  application_id: bound.application_id,
  card_payment_id: null,
  reason: 'cooling_off',
  note: null,
  effective_on: '2026-02-10',
  cooling_off: true,
  refund_pence: 0,
  ...changes,
})

describe('cover starts and ends on its day', () => {
  scenario('it is active from the day on which it starts', {
    given: [bound],
    when: { type: 'ActivatePolicy', now: '2026-02-02T00:00:00.000Z' },
    then: [activated],
  })
  scenario('not a moment before', {
    given: [bound],
    when: { type: 'ActivatePolicy', now: '2026-02-01T23:59:59.999Z' },
    then: [],
  })
  scenario('and once', {
    given: [bound, activated],
    when: { type: 'ActivatePolicy', now: '2026-02-03T00:00:00.000Z' },
    then: [],
  })
  scenario('a policy that was cancelled before does not start', {
    given: [bound, cancelled()],
    when: { type: 'ActivatePolicy', now: '2026-02-02T00:00:00.000Z' },
    then: [],
  })
  scenario('it expires on the day on which it ends', {
    given: [bound, activated],
    when: { type: 'ExpirePolicy', now: '2051-02-02T00:00:00.000Z' },
    then: [{ type: 'PolicyExpired', end_date: '2051-02-02' }],
  })
  scenario('not a moment before', {
    given: [bound, activated],
    when: { type: 'ExpirePolicy', now: '2051-02-01T23:59:59.999Z' },
    then: [],
  })
  scenario('and not before it has started', {
    given: [bound],
    when: { type: 'ExpirePolicy', now: '2051-02-02T00:00:00.000Z' },
    then: [],
  })

  test('both are due from the sale on, and no more once they have happened or the policy is cancelled', () => {
    expect(policyDueTimes(bound, soldAt)).toEqual({
      policy_start: '2026-02-02T00:00:00.000Z',
      policy_end: '2051-02-02T00:00:00.000Z',
      policy_mandate: soldAt,
      policy_premium: '2026-02-15T00:00:00.000Z',
    })
    expect(policyDueTimes({ ...bound, end_date: null }, soldAt)).not.toHaveProperty('policy_end')
    expect(policyDueTimes(activated, soldAt)).toEqual({ policy_start: null })
    expect(policyDueTimes(cancelled(), soldAt)).toMatchObject({ policy_start: null, policy_end: null })
  })
})

describe('days begin at midnight where the organisation is', () => {
  const inSummer = { ...bound, start_date: '2026-06-02', end_date: '2051-06-02' }

  test('so cover starts and ends then', () => {
    expect(policyDueTimes(inSummer, soldAt)).toMatchObject({
      policy_start: '2026-06-01T23:00:00.000Z',
      policy_end: '2051-06-01T23:00:00.000Z',
    })
  })
  scenario('and not before', {
    given: [inSummer],
    when: { type: 'ActivatePolicy', now: '2026-06-01T22:59:59.999Z' },
    then: [],
  })
  scenario('but at that moment', {
    given: [inSummer],
    when: { type: 'ActivatePolicy', now: '2026-06-01T23:00:00.000Z' },
    then: [{ type: 'PolicyActivated', start_date: '2026-06-02' }],
  })
})

describe('a policy is cancelled', () => {
  scenario('on the last day to cool off, and the first premium is to be given back', {
    given: [paidByCard, activated],
    when: cancel('cooling_off', '2026-03-04'),
    then: [
      cancelled({
        effective_on: '2026-03-04',
        refund_pence: bound.premium_pence,
        card_payment_id: 'f0000000-0000-4000-8000-000000000001',
      }),
    ],
  })
  scenario('a day later it is too late to cool off', {
    given: [paidByCard, activated],
    when: cancel('cooling_off', '2026-03-05'),
    then: rejected('validation_failed', { reason: 'was possible until 2026-03-04' }),
  })
  scenario('for another reason at any time, without a refund', {
    given: [bound, activated],
    when: cancel('customer_request', '2030-01-01'),
    then: [cancelled({ reason: 'customer_request', effective_on: '2030-01-01', cooling_off: false })],
  })
  scenario('before it starts, as of its start', {
    given: [bound],
    when: cancel('cooling_off', '2026-02-01'),
    then: [cancelled({ effective_on: '2026-02-02' })],
  })
  scenario('again for the same reason changes nothing', {
    given: [bound, cancelled()],
    when: cancel('cooling_off', '2026-02-11'),
    then: [],
  })
  scenario('409 conflict: it has expired', {
    given: [bound, activated, { type: 'PolicyExpired', end_date: '2051-02-02' }],
    when: cancel('customer_request', '2051-02-03'),
    then: rejected('conflict'),
  })
})

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
    expect((await cancelling(id, { reason: 'cooling_off' })).body).toEqual(body)
    expect(await cancelling(id, { reason: 'fraud' })).toMatchObject({ status: 409 })
    expect(
      JSON.stringify((await sales.get(`/admin/v1/policies/${id}/timeline?organisation_id=${organisation_id}`)).body),
    ).not.toContain('By telephone.')
  })

  test('404 for another organisation, 422 for a reason that there is not', async () => {
    const { quote_id } = await sales.ready()
    const { id } = (await sales.bind(quote_id)).body.data

    expect((await cancelling(id, { reason: 'fraud' }, '99999999-0000-4000-8000-000000000001')).status).toBe(404)
    expect((await cancelling(id, { reason: 'boredom' })).status).toBe(422)
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
