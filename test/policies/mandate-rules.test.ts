import { describe } from 'vitest'
import { MandateId } from '#domain/payments/events.ts'
import { policyEvents, type PolicyEvent } from '#domain/policies/events.ts'
import { rejected } from '../scenario.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { collected, debit, due, requested, scenario, settle } from '../premiums/premium-builders.ts'

const quotedAt = '2026-06-01T09:00:00.000Z'
const bound = sampleEvent(policyEvents, 'PolicyBound')
const { application_id } = bound

const mandate_id = MandateId.parse('b0000000-0000-5000-8000-000000000021')
const provider = {
  provider_customer_id: 'cus_1',
  provider_payment_method_id: 'pm_1',
  provider_mandate_id: 'mandate_1',
}
const recorded: PolicyEvent = {
  type: 'PolicyMandateRecorded',
  mandate_id,
  ...provider,
  account_number_last4: '4958',
  status: 'pending',
}
const changed = (status: 'active' | 'failed' | 'cancelled') =>
  ({ type: 'PolicyMandateChanged', mandate_id, status, application_id }) as const
const change = (status: 'active' | 'failed' | 'cancelled') => ({ type: 'ChangeMandate', mandate_id, status }) as const
const fail = (is_final = false) =>
  ({ type: 'RecordMandateFailure', failure_code: 'unanswered', is_final, mandate_requests: 0, now: quotedAt }) as const

describe('the mandate of a policy', () => {
  scenario('is recorded once', {
    given: [bound, recorded],
    when: { ...recorded, type: 'RecordMandate', status: 'pending' },
    then: [],
  })
  scenario('becomes active', { given: [bound, recorded], when: change('active'), then: [changed('active')] })
  scenario('which is told more than once', {
    given: [bound, recorded, changed('active')],
    when: change('active'),
    then: [],
  })
  for (const [status, news] of [
    ['pending', [changed('active')]],
    ['active', []],
    ['cancelled', []],
  ] as const)
    scenario(`that is ${status} is proven by a premium that was collected`, {
      given: [bound, recorded, ...(status === 'pending' ? [] : [changed(status)]), due, requested],
      when: settle(debit.paid()),
      then: [collected, ...news],
    })
  scenario('comes back when the customer’s bank has reinstated it', {
    given: [bound, recorded, changed('cancelled')],
    when: change('active'),
    then: [changed('active')],
  })
  scenario('that could not be made is tried again', {
    given: [bound],
    when: fail(),
    then: [
      { type: 'PolicyMandateDelayed', failure_code: 'unanswered', attempt: 1, retry_at: '2026-06-01T09:01:00.000Z' },
    ],
  })
  scenario('is left to the team after ten failures', {
    given: [bound, { type: 'PolicyMandateDelayed', failure_code: 'unanswered', attempt: 9, retry_at: quotedAt }],
    when: fail(),
    then: [{ type: 'PolicyMandateRefused', failure_code: 'unanswered', attempt: 10 }],
  })
  scenario('is not counted again before its next attempt, however often it is asked for', {
    given: [
      bound,
      { type: 'PolicyMandateDelayed', failure_code: 'unanswered', attempt: 1, retry_at: '2026-06-01T09:00:00.001Z' },
    ],
    when: fail(),
    then: [],
  })
  scenario('and so is one that the provider refuses', {
    given: [bound],
    when: fail(true),
    then: [{ type: 'PolicyMandateRefused', failure_code: 'unanswered', attempt: 1 }],
  })
  scenario('of which nothing is recorded once there is one', { given: [bound, recorded], when: fail(), then: [] })
  // The sale of a scenario.
  const atSale = '2026-01-15T12:00:00.000Z'
  const afterSale = '2026-01-15T12:00:00.001Z'
  const later = '2026-01-15T12:00:00.002Z'
  const requestedFrom = (bank_details_saved_at: string | null, attempt = 1): PolicyEvent => ({
    type: 'PolicyMandateRequested',
    attempt,
    bank_details_saved_at,
  })
  const requestFrom = (bank_details_saved_at: string) => ({ type: 'RequestMandate', bank_details_saved_at }) as const
  const refused: PolicyEvent = { type: 'PolicyMandateRefused', failure_code: 'unanswered', attempt: 10 }
  scenario('can be asked for again by the team', {
    given: [bound, refused],
    when: { type: 'RequestMandate' },
    then: [requestedFrom(null, 11)],
  })
  scenario('and is then made from the bank details that it was asked for from before', {
    given: [bound, requestedFrom(afterSale), refused],
    when: { type: 'RequestMandate' },
    then: [requestedFrom(afterSale, 11)],
  })
  scenario('409 conflict: one was made from the former bank details meanwhile', {
    given: [bound, recorded],
    when: requestFrom(afterSale),
    then: rejected('conflict', undefined, 'Other bank details are taken once it has failed or was cancelled'),
  })
  scenario('is not asked for once more from the bank details of the sale', {
    given: [bound],
    when: requestFrom(atSale),
    then: [],
  })
  const requested1 = requestedFrom(afterSale)
  scenario('is asked for again from other bank details, also while it is under way', {
    given: [bound],
    when: requestFrom(afterSale),
    then: [requested1],
  })
  scenario('and once from the same, however many send them', {
    given: [bound, requested1],
    when: requestFrom(afterSale),
    then: [],
  })
  scenario('and again from those that are sent after them', {
    given: [bound, requested1],
    when: requestFrom(later),
    then: [requestedFrom(later)],
  })
  scenario('which the refusal of the former ones leaves under way', {
    given: [bound, requested1],
    when: fail(true),
    then: [],
  })
  scenario('whose first failure is counted, although a former attempt would be made later', {
    given: [
      bound,
      { type: 'PolicyMandateDelayed', failure_code: 'unanswered', attempt: 1, retry_at: '2026-06-01T09:01:00.000Z' },
      requested1,
    ],
    when: { ...fail(), mandate_requests: 1 },
    then: [
      { type: 'PolicyMandateDelayed', failure_code: 'unanswered', attempt: 2, retry_at: '2026-06-01T09:05:00.000Z' },
    ],
  })
  scenario('until they are refused as well', {
    given: [bound, requested1],
    when: { ...fail(true), mandate_requests: 1 },
    then: [{ type: 'PolicyMandateRefused', failure_code: 'unanswered', attempt: 1 }],
  })
})
