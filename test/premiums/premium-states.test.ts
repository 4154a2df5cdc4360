import { describe } from 'vitest'
import { type PolicyCommand } from '#domain/policies/policy.ts'
import type { PolicyEvent } from '#domain/policies/events.ts'
import type { PremiumEvent } from '#domain/premiums/events.ts'
import { rejected } from '../scenario.ts'
import { everyDay } from '../policies/calendars.ts'
import {
  activated,
  active,
  activeByCard,
  bound,
  cancelled,
  card,
  card_payment_id,
  cancelledOn,
  collected,
  debit,
  disputed,
  due,
  failed,
  idOf,
  inArrears,
  inSuspense,
  mandateMade,
  noArrears,
  now,
  owed,
  premium_id,
  requested,
  retried,
  scenario,
  schedule,
  settle,
  suspended,
  writtenOff,
  dueByCard,
  collectedByCard,
} from './premium-builders.ts'

/** Each command about a premium, in each state that the premium or its policy can be in. */

const lapsed: PolicyEvent = {
  type: 'PolicyLapsed',
  customer_id: bound.customer_id,
  lapsed_on: '2026-04-16',
  overdue_pence: 2875,
}
const ended: PolicyEvent = cancelledOn('2026-02-20')

const request = (attempt = 1) =>
  ({
    type: 'RecordPremiumRequest',
    premium_id,
    attempt,
    payment_intent_id: 'pi_1',
    check_at: requested.check_at,
  }) as const
const delay = (attempt = 1) =>
  ({ type: 'DelayPremium', premium_id, attempt, failure_code: 'provider_unavailable', now }) as const
const retry = (by: 'timer' | 'operator', at = '2026-03-01T00:00:00.000Z') =>
  ({ type: 'RetryPremium', premium_id, by, now: at }) as const
const writeOff = (reason: 'policy_ended' | 'operator') => ({ type: 'WriteOffPremium', premium_id, reason }) as const

describe('that a collection was asked for', () => {
  scenario('is recorded', { given: [...active, due], when: request(), then: [requested] })
  scenario('once', { given: [...active, due, requested], when: request(), then: [] })
  scenario('for the attempt that is under way', { given: [...active, due], when: request(2), then: [] })
})

describe('a provider that does not answer', () => {
  const delayed = (failures: number, retry_at: string): PremiumEvent => ({
    type: 'PremiumDelayed',
    premium_id,
    attempt: 1,
    failure_code: 'provider_unavailable',
    failures,
    retry_at,
  })
  const before = (times: number) => Array.from({ length: times }, (_, index) => delayed(index + 1, now))
  for (const [times, retry_at] of [
    [0, '2026-02-19T09:01:00.000Z'],
    [1, '2026-02-19T09:05:00.000Z'],
    [2, '2026-02-19T09:30:00.000Z'],
    [3, '2026-02-19T11:00:00.000Z'],
    [4, '2026-02-19T15:00:00.000Z'],
    [5, '2026-02-19T21:00:00.000Z'],
    [6, '2026-02-20T09:00:00.000Z'],
  ] as const)
    scenario(`is asked again, after ${times} failures at ${retry_at}`, {
      given: [...active, due, ...before(times)],
      when: delay(),
      then: [delayed(times + 1, retry_at)],
    })
  scenario('about what the banks have not answered is asked a day later', {
    given: [...active, due, { ...requested, check_at: now }],
    when: delay(),
    then: [delayed(1, '2026-02-20T09:00:00.000Z')],
  })
  scenario('is counted once for each attempt', {
    given: [...active, due, delayed(1, '2026-02-19T09:00:00.001Z')],
    when: delay(),
    then: [],
  })
  scenario('about another attempt changes nothing', { given: [...active, due], when: delay(2), then: [] })
  scenario('about what was collected changes nothing', { given: [...active, due, collected], when: delay(), then: [] })
})

describe('a premium that failed', () => {
  scenario('is not retried by a timer when it is left to the team', {
    given: [...active, due, requested, failed(1, null)],
    when: retry('timer'),
    then: [],
  })
  scenario('is not retried by a timer once it was collected', {
    given: [...active, due, requested, failed(), collected],
    when: retry('timer'),
    then: [],
  })
  scenario('is not retried by a timer once its policy has ended', {
    given: [...inArrears, ended, noArrears],
    when: retry('timer'),
    then: [],
  })
  scenario('409 conflict: it was written off', {
    given: [...active, due, requested, failed(), writtenOff],
    when: retry('operator'),
    then: rejected('conflict', undefined, 'written off'),
  })
  scenario('is not retried by the operator while it is being collected', {
    given: [...active, due, requested],
    when: retry('operator'),
    then: [],
  })
  scenario('409 conflict: its policy has ended', {
    given: [...inArrears, ended, noArrears],
    when: retry('operator'),
    then: rejected('conflict', undefined, 'ended (cancelled)'),
  })
  scenario('of which there is late news of success after it was written off is collected all the same', {
    given: [...active, due, requested, failed(), writtenOff],
    when: settle(debit.paid()),
    then: [collected],
  })
  scenario('fails once', { given: inArrears, when: settle(debit.refused()), then: [] })
  scenario('fails at its next attempt', {
    given: [...inArrears, retried(2)],
    when: settle(debit.refused(1), debit.refused(2)),
    then: [failed(2, '2026-03-01T00:00:00.000Z')],
  })
})

describe('a premium is written off', () => {
  scenario('after it has failed, by the operator', {
    given: inArrears,
    when: writeOff('operator'),
    then: [{ ...writtenOff, reason: 'operator' }, noArrears],
  })
  scenario('once', { given: [...active, due, requested, failed(), writtenOff], when: writeOff('operator'), then: [] })
  scenario('409 conflict: it was collected', {
    given: [...active, due, collected],
    when: writeOff('operator'),
    then: rejected('conflict', undefined, 'Refund it'),
  })
  scenario('409 conflict: it may be with the provider', {
    given: [...active, due],
    when: writeOff('operator'),
    then: rejected('conflict', undefined, 'being collected'),
  })
  const waiting = (failure_code: string): PremiumEvent => ({
    type: 'PremiumDelayed',
    premium_id,
    attempt: 1,
    failure_code,
    failures: 1,
    retry_at: '2026-03-02T00:00:00.000Z',
  })
  const byOperator = { ...writtenOff, reason: 'operator' } satisfies PremiumEvent
  for (const failure_code of ['mandate_pending', 'no_account', 'account_unusable'])
    scenario(`by the operator while it cannot be asked for (${failure_code})`, {
      given: [...active, due, waiting(failure_code)],
      when: writeOff('operator'),
      then: [byOperator],
    })
  for (const failure_code of ['no_account', 'account_unusable', 'resource_missing'])
    scenario(`by the operator while nobody can be asked what became of it (${failure_code})`, {
      given: [...active, due, requested, waiting(failure_code)],
      when: writeOff('operator'),
      then: [byOperator],
    })
  scenario('and is collected all the same when the provider tells of it later', {
    given: [...active, due, requested, waiting('resource_missing'), byOperator],
    when: settle(debit.paid()),
    then: [collected],
  })
  scenario('409 conflict: the provider has been asked after all', {
    given: [...active, due, waiting('mandate_pending'), requested],
    when: writeOff('operator'),
    then: rejected('conflict', undefined, 'being collected'),
  })
  for (const failure_code of ['unanswered', 'processing'])
    scenario(`409 conflict: the provider has only not answered yet (${failure_code})`, {
      given: [...active, due, waiting(failure_code)],
      when: writeOff('operator'),
      then: rejected('conflict', undefined, 'being collected'),
    })
  scenario('when its policy has ended and the provider was never asked', {
    given: [...active, due],
    when: writeOff('policy_ended'),
    then: [writtenOff],
  })
  for (const [what, ...since] of [
    ['the provider was asked meanwhile', requested],
    ['the provider does not answer', requested, waiting('resource_missing')],
    ['it was collected meanwhile', collected],
    ['it was written off', writtenOff],
  ] as const)
    scenario(`not when its policy has ended and ${what}`, {
      given: [...active, due, ...since],
      when: writeOff('policy_ended'),
      then: [],
    })
})

describe('a cancelled policy', () => {
  const cancel = { type: 'CancelPolicy', reason: 'customer_request', note: null, today: '2026-02-20' } as const
  scenario('asks no more for a card that was not charged', {
    given: [...active, dueByCard],
    when: cancel,
    then: [cancelledOn('2026-02-20'), writtenOff],
  })
  scenario('waits for what may be with the banks', {
    given: [...active, due],
    when: cancel,
    then: [cancelledOn('2026-02-20')],
  })
  scenario('does not ask again for what fails', {
    given: [...active, due, requested, ended],
    when: settle(debit.refused()),
    then: [failed(1, null), writtenOff],
  })
  scenario('calls no premium', {
    given: [...active, ended],
    when: { type: 'CallPremium', calendar: everyDay, now: '2026-02-15T00:00:00.000Z', idOf },
    then: [],
  })
})

describe('the card that paid the first premium', () => {
  const charged = settle(card.paid())
  scenario('was charged', { given: [...activeByCard, dueByCard], when: charged, then: [collectedByCard] })
  scenario('once', { given: [...activeByCard, dueByCard, collectedByCard], when: charged, then: [] })
  scenario('is not paid once the bank has taken it back', {
    given: [...activeByCard, dueByCard, disputed],
    when: settle(card.disputed()),
    then: [],
  })
  scenario('is given back when the policy was cancelled in its cooling-off period', {
    given: [...activeByCard, dueByCard, cancelled()],
    when: charged,
    then: [collectedByCard, owed('cooling_off', card_payment_id)],
  })
})

describe('arrears', () => {
  const secondFailed: PremiumEvent = {
    type: 'PremiumFailed',
    premium_id: idOf(2),
    number: 2,
    amount_pence: 2875,
    due_on: '2026-03-15',
    customer_id: bound.customer_id,
    attempt: 1,
    failure_code: 'insufficient_funds',
    retry_at: null,
    disputed_on: null,
  }
  const at = '2026-03-17T00:00:00.000Z'
  scenario('are not looked for where nothing is overdue', {
    given: [...active, due, collected],
    when: { type: 'CheckArrears', now: at },
    then: [],
  })
  scenario('of a policy that has ended do not suspend it', {
    given: [...inArrears, ended],
    when: { type: 'CheckArrears', now: at },
    then: [],
  })
  scenario('do not end cover that the operator has suspended', {
    given: [...inArrears, { ...suspended, reason: 'operator' }],
    when: { type: 'CheckArrears', now: '2026-05-01T00:00:00.000Z' },
    then: [],
  })
  scenario('of cover that the operator suspends are not looked at again', {
    given: inArrears,
    when: { type: 'SuspendPolicy' },
    then: [
      { ...suspended, reason: 'operator' },
      { type: 'ArrearsChanged', since: '2026-02-15', overdue_pence: 2875, check_at: null },
    ],
  })
  scenario('stay while one of two premiums is overdue', {
    given: [
      ...inSuspense,
      { ...due, premium_id: idOf(2), number: 2, due_on: '2026-03-15', covers_from: '2026-03-02' },
      secondFailed,
      { type: 'ArrearsChanged', since: '2026-02-15', overdue_pence: 5750, check_at: '2026-04-15T23:00:00.000Z' },
    ],
    when: settle(debit.paid()),
    then: [
      collected,
      { type: 'ArrearsChanged', since: '2026-03-15', overdue_pence: 2875, check_at: '2026-05-13T23:00:00.000Z' },
    ],
  })
})

describe('the operator', () => {
  scenario('suspends once', {
    given: [...active, { ...suspended, reason: 'operator' }],
    when: { type: 'SuspendPolicy' },
    then: [],
  })
  scenario('409 conflict: cover has not begun, so it is not suspended', {
    given: [bound],
    when: { type: 'SuspendPolicy' },
    then: rejected('conflict', undefined, 'pending_start'),
  })
  scenario('reinstates once', { given: active, when: { type: 'ReinstatePolicy', calendar: everyDay, now }, then: [] })
  scenario('409 conflict: a cancelled policy is not reinstated', {
    given: [...active, ended],
    when: { type: 'ReinstatePolicy', calendar: everyDay, now },
    then: rejected('conflict', undefined, 'cancelled'),
  })
  scenario('reinstates a lapsed policy without an end', {
    given: [{ ...bound, end_date: null }, activated, mandateMade, lapsed],
    when: { type: 'ReinstatePolicy', calendar: everyDay, now: '2026-04-20T12:00:00.000Z' },
    then: [
      {
        type: 'PolicyReinstated',
        from: 'lapsed',
        next_collection_on: '2026-05-15',
        next_collection_at: '2026-05-14T23:00:00.000Z',
        end_at: null,
        review_at: null,
        indexation_at: null,
      },
    ],
  })
})

const unknown = idOf(7)
const aboutPremiums: readonly PolicyCommand[] = [
  { ...request(), premium_id: unknown },
  { ...delay(), premium_id: unknown },
  { ...settle(debit.paid()), premium_id: unknown },
  { ...retry('operator'), premium_id: unknown },
  { ...writeOff('operator'), premium_id: unknown },
]
for (const when of aboutPremiums)
  scenario(`404 not_found: ${when.type} of a premium that there is not`, {
    given: [...active, due],
    when,
    then: rejected('not_found', undefined, 'no premium with this id'),
  })

const aboutPolicies: readonly PolicyCommand[] = [
  ...aboutPremiums,
  { type: 'SuspendPolicy' },
  { type: 'IssueDocuments', documents: [] },
  { type: 'RequestMandate' },
]
for (const when of aboutPolicies)
  scenario(`404 not_found: ${when.type} of a policy that there is not`, {
    given: [],
    when,
    then: rejected('not_found', undefined, 'no policy with this id'),
  })

describe('documents of a policy', () => {
  const issued = { type: 'PolicyDocumentIssued', ...schedule } satisfies PolicyEvent
  const other = { ...schedule, version_id: 'd2000000-0000-4000-8000-000000000002' }
  scenario('are issued', {
    given: active,
    when: { type: 'IssueDocuments', documents: [schedule] },
    then: [issued],
  })
  scenario('each version once', {
    given: [...active, issued],
    when: { type: 'IssueDocuments', documents: [schedule, other] },
    then: [{ type: 'PolicyDocumentIssued', ...other }],
  })
})

scenario('a premium’s first collection by Direct Debit after a card is the second', {
  given: [{ ...bound, first_premium: { method: 'card', status: 'succeeded', paid_at: now } }, activated],
  when: { type: 'CallPremium', calendar: everyDay, now: '2026-02-15T00:00:00.000Z', idOf },
  then: [{ ...due, premium_id: idOf(2), number: 2, covers_from: '2026-03-02' }],
})
