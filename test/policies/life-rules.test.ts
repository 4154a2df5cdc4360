import { describe, expect, test } from 'vitest'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyEvent } from '#domain/policies/events.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { policyDueTimes } from '../../projections/due-times/policies.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { cancelled as cancelledWith } from '../premiums/premium-builders.ts'

const scenario = scenariosOf(policy)

/** Starts on 2 February 2026, ends on 2 February 2051, can be cancelled with a full refund until 4 March 2026. */
const bound = sampleEvent(policyEvents, 'PolicyBound')
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
const cancelled = (changes: Parameters<typeof cancelledWith>[0] = {}) =>
  cancelledWith({ effective_on: '2026-02-10', ...changes })

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
