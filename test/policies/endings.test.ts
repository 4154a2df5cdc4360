import { describe, expect, test } from 'vitest'
import { ClaimId } from '#domain/claims/events.ts'
import { MandateId } from '#domain/payments/events.ts'
import { dueAfter, dueOnOtherDay } from '#domain/premiums/collection.ts'
import { monthsAfter } from '#domain/dates.ts'
import type { PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { evolvePolicy, Policy, PolicyRecord, renderPolicy, type PolicyStreamEvent } from '#domain/policies/record.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { OrganisationId } from '#domain/values.ts'
import { rejected, stateOf } from '../scenario.ts'
import {
  activated,
  active,
  bound,
  cancelledOn,
  collectedAnew,
  collected,
  debit,
  due,
  failed,
  idOf,
  inArrears,
  inSuspense,
  noArrears,
  now,
  premium_id,
  requested,
  retried,
  scenario,
  schedule,
  settle,
  settledBy,
  dueByCard,
  collectedByCard,
} from '../premiums/premium-builders.ts'
import { everyDay } from './calendars.ts'

/** What follows of a policy that has ended, or whose term is nearly over; and what is shown of it. */

const stateAfter = (...events: readonly PolicyStreamEvent[]): PolicyState => {
  const state = stateOf(policy, events)
  if (!state) throw new Error('There is no policy.')
  return state
}
const endedByClaim: PolicyEvent = {
  type: 'PolicyEndedByClaim',
  claim_id: ClaimId.parse('b4000000-0000-5000-8000-000000000001'),
  ended_on: '2026-05-10',
}
const expired: PolicyEvent = { type: 'PolicyExpired', end_date: '2051-02-02' }

describe('a policy that has ended', () => {
  scenario('by a claim cannot be cancelled', {
    given: [...active, endedByClaim],
    when: { type: 'CancelPolicy', reason: 'customer_request', note: null, today: '2026-06-01' },
    then: rejected('conflict', undefined, 'This policy has ended (claimed)'),
  })
  scenario('by a claim is not reinstated', {
    given: [...active, endedByClaim],
    when: { type: 'ReinstatePolicy', calendar: everyDay, now },
    then: rejected('conflict', undefined, 'A policy that is claimed cannot be reinstated.'),
  })
  scenario('by a claim is asked for no premium', {
    given: [...active, endedByClaim],
    when: { type: 'CallPremium', calendar: everyDay, now: '2026-07-01T00:00:00.000Z', idOf },
    then: [],
  })
  scenario('while it was in arrears is not reinstated by a late payment', {
    given: [...inSuspense, retried(2), expired],
    when: settle(debit.refused(), debit.paid(2)),
    then: [collectedAnew, noArrears],
  })
  scenario('before cover began does not end once more on its last day', {
    given: [bound, cancelledOn('2026-02-02')],
    when: { type: 'ExpirePolicy', now: '2051-02-02T12:00:00.000Z' },
    then: [],
  })
  scenario('has cover that has not begun activated first', {
    given: [bound],
    when: { type: 'ExpirePolicy', now: '2051-02-02T12:00:00.000Z' },
    then: [],
  })
})

describe('a policy', () => {
  const { type: _type, ...terms } = bound
  scenario('is set up once: whoever comes second has nothing to add', {
    given: [bound],
    when: { type: 'SetUpPolicy', ...terms } as never,
    then: [],
  })
  const update = {
    type: 'RecordPolicyUpdate',
    organisation_id: bound.organisation_id,
    event_type: 'policy.changed',
    occurred_at: now,
  } as never as Extract<Parameters<typeof policy.decide>[0], { type: 'RecordPolicyUpdate' }>
  test('that is not there, or is another firm’s, has no news', () => {
    expect(policy.decide(update, undefined)).toEqual([])
    expect(
      policy.decide(
        { ...update, organisation_id: OrganisationId.parse('99999999-0000-4000-8000-000000000001') },
        stateAfter(bound),
      ),
    ).toEqual([])
  })
  scenario('404 not_found: that is not there cannot be suspended', {
    given: [],
    when: { type: 'SuspendPolicy' },
    then: rejected('not_found', undefined, 'no policy with this id'),
  })
})

describe('cooling off gives back the first premium by card', () => {
  const paid = (method: 'card' | 'direct_debit', status: string) =>
    ({ ...bound, first_premium: { method, status, paid_at: null } }) as typeof bound
  const cancel = { type: 'CancelPolicy', reason: 'cooling_off', note: null, today: '2026-02-10' } as const
  const refund = (...events: readonly PolicyStreamEvent[]) => {
    const [cancellation] = policy.decide(cancel, stateAfter(...events))
    return cancellation?.type === 'PolicyCancelled' ? cancellation.refund_pence : undefined
  }

  test.each([
    ['card', 'succeeded', 2875],
    ['card', 'authorised', 2875],
    ['card', 'failed', 0],
    ['direct_debit', 'pending', 0],
    ['direct_debit', 'succeeded', 0],
  ] as const)('that was to be paid by %s and is %s: %i pence', (method, status, pence) => {
    expect(refund(paid(method, status), activated)).toBe(pence)
  })

  test('once, where it was collected', () => {
    expect(refund(paid('card', 'succeeded'), activated, dueByCard, collectedByCard)).toBe(2875)
  })

  test('beside what was collected by Direct Debit', () => {
    expect(
      refund(
        paid('card', 'authorised'),
        activated,
        { ...due, number: 2, premium_id: idOf(2) },
        { ...collected, number: 2, premium_id: idOf(2) },
      ),
    ).toBe(5750)
  })

  test('which is not there beside one that is not collected yet', () => {
    expect(refund(paid('card', 'authorised'), activated, dueByCard)).toBe(2875)
  })
})

describe('the last premiums are due while there is cover', () => {
  /** Three months from 2 February 2026, collected late from the start. */
  const late = stateAfter(
    { ...bound, end_date: '2026-05-02', collection_day: 25, first_collection_on: '2026-03-25' },
    activated,
  )

  test('the last one on the last day, the one before it in time to be told of the last', () => {
    expect(dueAfter(late, 1, '2026-03-25', everyDay)).toBe('2026-04-22')
    expect(dueAfter(late, 2, '2026-04-22', everyDay)).toBe('2026-05-02')
    expect(dueAfter(late, 3, '2026-05-02', everyDay)).toBeNull()
  })

  test('the last one on the last day also where it cannot be told of in time', () => {
    expect(dueAfter(late, 2, '2026-04-28', everyDay)).toBe('2026-05-02')
  })

  test('on their day where that is in time', () => {
    const early = stateAfter({ ...bound, end_date: '2026-05-02', collection_day: 15 }, activated)

    expect(dueAfter(early, 1, '2026-02-15', everyDay)).toBe('2026-03-15')
    expect(dueAfter(early, 2, '2026-03-15', everyDay)).toBe('2026-04-15')
    expect(dueAfter(early, 3, '2026-04-15', everyDay)).toBeNull()
  })

  test('which a policy without an end does not have', () => {
    const forLife = stateAfter({ ...bound, end_date: null }, activated)

    expect(dueAfter(forLife, 1, '2026-02-15', everyDay)).toBe('2026-03-15')
    expect(dueAfter(forLife, 400, '2059-05-15', everyDay)).toBe('2059-06-15')
    expect(dueAfter(forLife, 1, '2026-03-10', everyDay)).toBe('2026-03-20')
  })

  test('and once nothing is due any more another day changes nothing', () => {
    expect(dueOnOtherDay(stateAfter(bound, activated, endedByClaim), 1, now, everyDay)).toBeNull()
  })

  test.each([
    ['2026-05-10', '2026-05-02'],
    ['2026-05-01', '2026-05-01'],
  ])('what is to be collected on %s is due on %s', (next_due_on, due_on) => {
    const given = [
      { ...bound, end_date: '2026-05-02' },
      activated,
      { ...due, next_due_on },
    ] satisfies PolicyStreamEvent[]
    const [premium] = policy.decide(
      { type: 'CallPremium', calendar: everyDay, now: '2026-05-12T00:00:00.000Z', idOf },
      stateAfter(...given),
    )

    expect(premium).toMatchObject({ type: 'PremiumDue', number: 2, due_on })
  })
})

test.each([
  ['2026-01-31', 1, '2026-02-28'],
  ['2024-01-31', 1, '2024-02-29'],
  ['2026-01-31', 13, '2027-02-28'],
  ['2026-03-31', -1, '2026-02-28'],
  ['2026-05-15', 8, '2027-01-15'],
])('%s and %i months is %s', (date, months, expected) => {
  expect(monthsAfter(date, months)).toBe(expected)
})

describe('a premium that is taken back', () => {
  const taken = (...given: readonly PolicyStreamEvent[]) => settledBy(given, debit.disputed())[0]
  const owedAgain = { type: 'PremiumFailed', failure_code: 'disputed', retry_at: null, attempt: 1 }

  test('before anybody recorded that it was asked for, or collected, is owed again', () => {
    expect(taken(...active, due)).toMatchObject(owedAgain)
    expect(taken(...active, due, requested)).toMatchObject(owedAgain)
    expect(taken(...active, due, requested, collected)).toMatchObject(owedAgain)
  })

  test('after it has failed leaves it failed', () => {
    expect(settledBy(inArrears, debit.disputed())).toMatchObject([{ type: 'PremiumPaymentsChanged' }])
  })
})

describe('a timer collects again', () => {
  const retry = (at: string) => ({ type: 'RetryPremium', premium_id, by: 'timer', now: at }) as const
  const given = [...active, due, requested, failed(1, '2026-03-01T00:00:00.000Z')]

  test('at the time that was set for it, and not before', () => {
    const attempts = (at: string) =>
      policy.decide(retry(at), stateAfter(...given)).filter(({ type }) => type === 'PremiumRetried')

    expect(attempts('2026-02-28T23:59:59.999Z')).toEqual([])
    expect(attempts('2026-03-01T00:00:00.000Z')).toHaveLength(1)
  })
})

describe('whoever has paid by Direct Debit has a mandate that the banks took', () => {
  const mandate_id = MandateId.parse('f1000000-0000-4000-8000-000000000001')
  const provider_mandate = {
    provider_customer_id: 'cus_1',
    provider_payment_method_id: 'pm_1',
    provider_mandate_id: null,
  }
  const proven = (changes: Partial<typeof bound>) =>
    settledBy([{ ...bound, ...changes }, activated, due, requested], debit.paid()).filter(
      ({ type }) => type === 'PolicyMandateChanged',
    )

  test('also where the news of that was lost', () => {
    expect(proven({ mandate_id, provider_mandate })).toMatchObject([{ mandate_id, status: 'active' }])
  })
  test('but not where there is none', () => {
    expect(proven({ mandate_id: null, provider_mandate })).toEqual([])
    expect(proven({ mandate_id, provider_mandate: null })).toEqual([])
  })
  test('and not one that has ended since', () => {
    expect(proven({ mandate_id, provider_mandate, mandate_status: 'cancelled' })).toEqual([])
    expect(proven({ mandate_id, provider_mandate, mandate_status: 'active' })).toEqual([])
  })
})

test('what is shown of a policy, and what only the service needs, is all that is known of it', () => {
  const events: readonly PolicyStreamEvent[] = [...inArrears, { type: 'PolicyDocumentIssued', ...schedule }]
  const fold = (before: PolicyRecord | undefined, event: PolicyStreamEvent) =>
    evolvePolicy(before, event, { occurred_at: now })
  const record = events.reduce(fold, undefined)
  const held = PolicyRecord.parse(record)

  expect(held).toEqual(record)
  expect(Object.keys(PolicyRecord.shape)).not.toContain('display_id')
  expect(Object.keys(PolicyRecord.shape)).not.toContain('premium_frequency')
  const shown = renderPolicy(held, 'https://api.example')
  expect(Policy.parse(shown)).toEqual(shown)
  expect(shown.documents).toMatchObject([{ name: 'Policy schedule' }])
})
