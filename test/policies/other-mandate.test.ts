import { expect, test } from 'vitest'
import { MandateId } from '#domain/payments/events.ts'
import type { MandateStatus } from '#domain/policies/events.ts'
import { requireNoMandate } from '#domain/policies/mandate.ts'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import { stateOf } from '../scenario.ts'
import { bound, cancelledOn } from '../premiums/premium-builders.ts'

/** A customer can give other bank details only where there is no mandate on the account that is known. */

const mandate_id = MandateId.parse('f1000000-0000-4000-8000-000000000001')
const provider_mandate = {
  provider_customer_id: 'cus_1',
  provider_payment_method_id: 'pm_1',
  provider_mandate_id: null,
}
const asking = (status: MandateStatus, ...events: readonly PolicyStreamEvent[]) => {
  const state = stateOf(policy, [{ ...bound, mandate_id, provider_mandate, mandate_status: status }, ...events])
  if (!state) throw new Error('There is no policy.')
  return () => requireNoMandate(state)
}

test.each(['failed', 'cancelled'] as const)('there is none once it was %s', (status) => {
  expect(asking(status)).not.toThrow()
})

test('there is none before one was made', () => {
  const state = stateOf(policy, [bound])
  if (!state) throw new Error('There is no policy.')

  expect(() => requireNoMandate(state)).not.toThrow()
})

test.each(['pending', 'active'] as const)('409 conflict: it is %s', (status) => {
  expect(asking(status)).toThrow(
    expect.objectContaining({
      code: 'conflict',
      message: `The mandate of this policy is ${status}. Other bank details are taken once it has failed or was cancelled.`,
    }),
  )
})

test('409 conflict: the policy has ended', () => {
  expect(asking('failed', cancelledOn('2026-02-20'))).toThrow(
    expect.objectContaining({ code: 'conflict', message: 'This policy has ended (cancelled).' }),
  )
})
