import { MandateId } from '#domain/payments/events.ts'
import { policyEvents, type PolicyEvent } from '#domain/policies/events.ts'
import type { SettlePremium } from '#domain/policies/settle-premium.ts'
import { PremiumId, PremiumRefundId, type PremiumEvent } from '#domain/premiums/events.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { everyDay } from './calendars.ts'

/** The words of the scenarios about premiums: a policy, and what became of its first premium. */

/** Starts on 2 February 2026; £28.75 is collected on the 15th of each month, in London. */
export const bound = sampleEvent(policyEvents, 'PolicyBound')
export const activated: PolicyEvent = { type: 'PolicyActivated', start_date: '2026-02-02' }
export const active: readonly PolicyEvent[] = [bound, activated]
export const customer_id = 'c0000000-0000-4000-8000-000000000001' as never
export const idOf = (number: number) => PremiumId.parse(`b1000000-0000-5000-8000-00000000000${number}`)
export const premium_id = idOf(1)
export const refund_id = PremiumRefundId.parse(premium_id)
/** Of what is given back when it was paid twice. */
export const twice_id = PremiumRefundId.parse('b2000000-0000-5000-8000-000000000009')
export const first = { premium_id, number: 1, amount_pence: 2875, due_on: '2026-02-15' }
export const due = {
  type: 'PremiumDue',
  ...first,
  covers_from: '2026-02-02',
  method: 'direct_debit',
  next_due_on: '2026-03-15',
  next_due_at: '2026-03-15T00:00:00.000Z',
} satisfies PremiumEvent
export const requested = {
  type: 'PremiumRequested',
  ...first,
  attempt: 1,
  payment_intent_id: 'pi_1',
  check_at: '2026-02-23T00:00:00.000Z',
} satisfies PremiumEvent
export const collected = {
  type: 'PremiumCollected',
  ...first,
  attempt: 1,
  method: 'direct_debit',
  payment_intent_id: 'pi_1',
  collected_at: '2026-02-19T09:00:00.000Z',
} satisfies PremiumEvent
/** The first premium where it is paid by card. */
export const card_payment_id = 'd0000000-0000-5000-8000-000000000001'
export const activeByCard: readonly PolicyEvent[] = [{ ...bound, card_payment_id }, activated]
export const dueByCard = { ...due, method: 'card' } satisfies PremiumEvent
export const collectedByCard = { ...collected, method: 'card', payment_intent_id: null } satisfies PremiumEvent
export const failed = (attempt = 1, retry_at: string | null = '2026-03-01T00:00:00.000Z'): PremiumEvent => ({
  type: 'PremiumFailed',
  ...first,
  customer_id,
  attempt,
  failure_code: 'insufficient_funds',
  retry_at,
  disputed_on: null,
})
export const retried = (attempt: number): PremiumEvent => ({ type: 'PremiumRetried', ...first, attempt })
/** The mandate from the bank details that were sent. */
export const mandateMade: PolicyEvent = {
  type: 'PolicyMandateRecorded',
  mandate_id: MandateId.parse('b0000000-0000-5000-8000-000000000021'),
  provider_customer_id: 'cus_1',
  provider_payment_method_id: 'pm_1',
  provider_mandate_id: 'mandate_1',
  account_number_last4: '4958',
  status: 'active',
}
export const arrears = (check_at: string): PolicyEvent => ({
  type: 'ArrearsChanged',
  since: '2026-02-15',
  overdue_pence: 2875,
  check_at,
})
export const noArrears = { type: 'ArrearsChanged', since: null, overdue_pence: 0, check_at: null } satisfies PolicyEvent
export const now = '2026-02-19T09:00:00.000Z'
export const settle = (result: 'collected' | 'failed', attempt = 1): SettlePremium => ({
  type: 'SettlePremium',
  premium_id,
  attempt,
  now,
  result:
    result === 'collected'
      ? { outcome: 'collected', payment_intent_id: 'pi_1', collected_at: now, refundId: () => twice_id }
      : { outcome: 'failed', failure_code: 'insufficient_funds', calendar: everyDay },
})
/** What was collected is taken back by the payer's bank. */
export const dispute = (attempt = 1): SettlePremium => ({
  type: 'SettlePremium',
  premium_id,
  attempt,
  now,
  result: { outcome: 'disputed', refundId: () => twice_id },
})
export const disputed = {
  type: 'PremiumFailed',
  ...first,
  customer_id,
  attempt: 1,
  failure_code: 'disputed',
  retry_at: null,
  disputed_on: '2026-02-19',
} satisfies PremiumEvent
/** The firm has won the dispute. */
export const wins = (attempt = 1, otherwise = twice_id): SettlePremium => ({
  ...dispute(attempt),
  result: { outcome: 'reinstated', payment_intent_id: `pi_${attempt}`, collected_at: now, refundId: () => otherwise },
})
export const win = wins()
/** The premium is asked for anew, and collected. */
export const requestedAnew = { ...requested, attempt: 2, payment_intent_id: 'pi_2' }
export const askedAnew = [retried(2), requestedAnew]
export const collectedAnew = { ...collected, attempt: 2, payment_intent_id: 'pi_2' }
export const arrives = (attempt: number, otherwise = twice_id): SettlePremium => ({
  ...dispute(attempt),
  result: { outcome: 'collected', payment_intent_id: `pi_${attempt}`, collected_at: now, refundId: () => otherwise },
})
/** The payment of an attempt is the firm's, beside that of another. */
export const stands = (attempt: number, otherwise = twice_id) =>
  ({
    type: 'PremiumReinstated',
    ...first,
    attempt,
    method: 'direct_debit',
    payment_intent_id: `pi_${attempt}`,
    reinstated_at: now,
    refund_id: otherwise,
  }) satisfies PremiumEvent
export const inArrears = [...active, due, requested, failed(), arrears('2026-03-17T00:00:00.000Z')]
export const suspended = { type: 'PolicySuspended', reason: 'arrears', overdue_pence: 2875 } satisfies PolicyEvent
export const inSuspense = [...inArrears, suspended, arrears('2026-04-16T23:00:00.000Z')]
export const reinstated = {
  type: 'PolicyReinstated',
  from: 'suspended',
  next_collection_on: '2026-03-15',
  next_collection_at: '2026-03-15T00:00:00.000Z',
  end_at: '2051-02-02T00:00:00.000Z',
  review_at: null,
  indexation_at: null,
} satisfies PolicyEvent
export const writtenOff = {
  type: 'PremiumWrittenOff',
  ...first,
  attempt: 1,
  reason: 'policy_ended',
} satisfies PremiumEvent

export const owed = (reason: 'cooling_off' | 'operator' | 'policy_ended', of_card: string | null = null) => {
  const card = { application_id: 'a0000000-0000-4000-8000-000000000001' as never, card_payment_id: of_card }
  return { type: 'PremiumRefundOwed', ...first, refund_id, ...card, refund_pence: 2875, reason } as const
}

export const twice = (otherwise = twice_id): PremiumEvent => ({
  ...owed('operator'),
  refund_id: otherwise,
  reason: 'paid_twice',
})

export const givenBack = {
  type: 'PremiumRefunded',
  ...first,
  attempt: 1,
  refund_id,
  refund_pence: 2875,
  reason: 'operator',
} satisfies PremiumEvent
export const refundFailure = { failure_code: 'expired_or_canceled_card', provider_refund_id: 're_1' }
export const refundFailed = {
  type: 'PremiumRefundFailed',
  ...first,
  refund_id,
  attempt: 1,
  refund_pence: 2875,
  ...refundFailure,
} satisfies PremiumEvent

type Cancelled = Extract<PolicyEvent, { type: 'PolicyCancelled' }>

export const cancelled = (changes: Partial<Cancelled> = {}): Cancelled => ({
  type: 'PolicyCancelled',
  application_id: 'a0000000-0000-4000-8000-000000000001' as never,
  card_payment_id: null,
  reason: 'cooling_off',
  note: null,
  effective_on: '2026-02-16',
  cooling_off: true,
  refund_pence: 0,
  ...changes,
})

export const cancelledOn = (effective_on: string): PolicyEvent => ({
  ...cancelled(),
  reason: 'customer_request',
  cooling_off: false,
  effective_on,
})

export const schedule = {
  kind: 'policy_schedule',
  document_id: 'd1000000-0000-4000-8000-000000000001',
  version_id: 'd2000000-0000-4000-8000-000000000001',
  sha256: 'a'.repeat(64),
  bytes: 10,
  key_document: null,
} as const
