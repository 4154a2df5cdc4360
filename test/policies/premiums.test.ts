import { describe, expect, test } from 'vitest'
import { fromStored } from '#domain/event.ts'
import { policyEvents, type PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import type { SettlePremium } from '#domain/policies/premiums.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import { evolvePolicyState, type PolicyState } from '#domain/policies/state.ts'
import { PremiumId, PremiumRefundId, type PremiumEvent } from '#domain/premiums/events.ts'
import { premiumDueTimes } from '../../projections/due-times/policies.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { samples } from '../stored-events/samples.ts'

const scenario = scenariosOf(policy)
const sample = samples.find(({ name }) => name === 'PolicyBound.v1')?.event
if (!sample) throw new Error('There is no sample of PolicyBound.')

/** Starts on 2 February 2026; £28.75 is collected on the 15th of each month, in London. */
const bound = fromStored(policyEvents, sample)
const active: readonly PolicyEvent[] = [bound, { type: 'PolicyActivated', start_date: '2026-02-02' }]
const customer_id = 'c0000000-0000-4000-8000-000000000001' as never
const idOf = (number: number) => PremiumId.parse(`b1000000-0000-5000-8000-00000000000${number}`)
const premium_id = idOf(1)
const first = { premium_id, number: 1, amount_pence: 2875, due_on: '2026-02-15' }
const due: PremiumEvent = {
  type: 'PremiumDue',
  ...first,
  covers_from: '2026-02-02',
  method: 'direct_debit',
  next_due_on: '2026-03-15',
  next_due_at: '2026-03-15T00:00:00.000Z',
}
const requested: PremiumEvent = {
  type: 'PremiumRequested',
  ...first,
  attempt: 1,
  payment_intent_id: 'pi_1',
  check_at: '2026-02-23T00:00:00.000Z',
}
const collected: PremiumEvent = {
  type: 'PremiumCollected',
  ...first,
  attempt: 1,
  method: 'direct_debit',
  payment_intent_id: 'pi_1',
  collected_at: '2026-02-19T09:00:00.000Z',
}
const failed = (attempt = 1, retry_at: string | null = '2026-03-01T00:00:00.000Z'): PremiumEvent => ({
  type: 'PremiumFailed',
  ...first,
  customer_id,
  attempt,
  failure_code: 'insufficient_funds',
  retry_at,
})
const retried = (attempt: number): PremiumEvent => ({ type: 'PremiumRetried', ...first, attempt })
const arrears = (check_at: string): PolicyEvent => ({
  type: 'ArrearsChanged',
  since: '2026-02-15',
  overdue_pence: 2875,
  check_at,
})
const noArrears: PolicyEvent = { type: 'ArrearsChanged', since: null, overdue_pence: 0, check_at: null }
const now = '2026-02-19T09:00:00.000Z'
const settle = (result: 'collected' | 'failed', attempt = 1): SettlePremium => ({
  type: 'SettlePremium',
  premium_id,
  attempt,
  now,
  result:
    result === 'collected'
      ? { outcome: 'collected', payment_intent_id: 'pi_1', collected_at: now }
      : { outcome: 'failed', failure_code: 'insufficient_funds' },
})
const inArrears = [...active, due, requested, failed(), arrears('2026-03-17T00:00:00.000Z')]
const suspended: PolicyEvent = { type: 'PolicySuspended', reason: 'arrears', overdue_pence: 2875 }
const inSuspense = [...inArrears, suspended, arrears('2026-04-16T23:00:00.000Z')]
const reinstated: PolicyEvent = {
  type: 'PolicyReinstated',
  from: 'suspended',
  next_collection_on: '2026-03-15',
  next_collection_at: '2026-03-15T00:00:00.000Z',
  end_at: '2051-02-02T00:00:00.000Z',
  review_at: null,
  indexation_at: null,
}
const writtenOff: PremiumEvent = { type: 'PremiumWrittenOff', ...first, attempt: 1, reason: 'policy_ended' }

describe('a premium is due on its day', () => {
  const call = (at: string) => ({ type: 'CallPremium', now: at, idOf }) as const

  scenario('once', { given: active, when: call('2026-02-15T00:00:00.000Z'), then: [due] })
  scenario('not a moment before', { given: active, when: call('2026-02-14T23:59:59.999Z'), then: [] })
  scenario('and the next a month later', { given: [...active, due], when: call('2026-03-14T23:59:59.999Z'), then: [] })
  scenario('in summer at midnight of London, not of UTC', {
    given: [...active, due],
    when: call('2026-03-15T00:00:00.000Z'),
    then: [
      {
        ...due,
        premium_id: idOf(2),
        number: 2,
        due_on: '2026-03-15',
        covers_from: '2026-03-02',
        next_due_on: '2026-04-15',
        next_due_at: '2026-04-14T23:00:00.000Z',
      },
    ],
  })
  scenario('but not of a policy that has ended', {
    given: [...active, { type: 'PolicyExpired', end_date: '2026-02-02' }],
    when: call('2026-02-15T00:00:00.000Z'),
    then: [],
  })
  scenario('the last one pays for the last month of cover', {
    given: [{ ...bound, end_date: '2026-03-02' } as PolicyEvent, ...active.slice(1)],
    when: call('2026-02-15T00:00:00.000Z'),
    then: [{ ...due, next_due_on: null, next_due_at: null }],
  })
})

describe('what becomes of a collection', () => {
  scenario('it is collected', { given: [...active, due, requested], when: settle('collected'), then: [collected] })
  scenario('which is told more than once', {
    given: [...active, due, requested, collected],
    when: settle('collected'),
    then: [],
  })
  scenario('or before it was recorded that it was asked for', {
    given: [...active, due],
    when: settle('collected'),
    then: [collected],
  })
  scenario('it fails: it is collected again after ten days, and is overdue', {
    given: [...active, due, requested],
    when: settle('failed'),
    then: [failed(), arrears('2026-03-17T00:00:00.000Z')],
  })
  scenario('late news of an earlier attempt changes nothing', {
    given: [...inArrears, retried(2)],
    when: settle('failed', 1),
    then: [],
  })
  scenario('after the last attempt it is left to the team', {
    given: [...inArrears, retried(2), failed(2), retried(3)],
    when: settle('failed', 3),
    then: [failed(3, null)],
  })
  scenario('it is collected again when its time has come', {
    given: inArrears,
    when: { type: 'RetryPremium', premium_id, by: 'timer', now: '2026-03-01T00:00:00.000Z' },
    then: [retried(2)],
  })
  scenario('and not a moment before', {
    given: inArrears,
    when: { type: 'RetryPremium', premium_id, by: 'timer', now: '2026-02-28T23:59:59.999Z' },
    then: [],
  })
  scenario('but by the operator at any time', {
    given: inArrears,
    when: { type: 'RetryPremium', premium_id, by: 'operator', now },
    then: [retried(2)],
  })
  scenario('what the banks have not answered is asked for a day later', {
    given: [...active, due, requested],
    when: { type: 'DelayPremium', premium_id, attempt: 1, failure_code: 'processing', now },
    then: [
      {
        type: 'PremiumDelayed',
        premium_id,
        attempt: 1,
        failure_code: 'processing',
        failures: 1,
        retry_at: '2026-02-20T09:00:00.000Z',
      },
    ],
  })
  scenario('what is collected after the policy was cancelled in its cooling-off period is given back', {
    given: [...active, due, requested, cancelled()],
    when: settle('collected'),
    then: [collected, owed('cooling_off')],
  })
  scenario('what is collected for a time from the day on which a policy ended is given back', {
    given: [...active, due, requested, cancelledOn('2026-02-02')],
    when: settle('collected'),
    then: [collected, owed('policy_ended')],
  })
  scenario('and is kept when the policy was in force for a day of it', {
    given: [...active, due, requested, cancelledOn('2026-02-03')],
    when: settle('collected'),
    then: [collected],
  })
})

describe('a dispute', () => {
  const dispute: SettlePremium = { type: 'SettlePremium', premium_id, attempt: 1, now, result: { outcome: 'disputed' } }
  const takenBack: PremiumEvent = {
    type: 'PremiumFailed',
    ...first,
    customer_id,
    attempt: 1,
    failure_code: 'disputed',
    retry_at: null,
  }
  const paid = [...active, due, requested, collected]

  scenario('takes back what was collected, and leaves it to the team', {
    given: paid,
    when: dispute,
    then: [takenBack, expect.objectContaining({ type: 'ArrearsChanged', overdue_pence: 2875 }) as never],
  })
  scenario('makes the premium overdue from then on, however long ago it was collected', {
    given: paid,
    when: { ...dispute, now: '2026-08-03T09:00:00.000Z' },
    then: [
      takenBack,
      { type: 'ArrearsChanged', since: '2026-08-03', overdue_pence: 2875, check_at: '2026-09-01T23:00:00.000Z' },
    ],
  })
  scenario('that is told twice changes nothing', { given: [...paid, takenBack], when: dispute, then: [] })
  scenario('is not undone by news of the success that comes late', {
    given: [...paid, takenBack],
    when: settle('collected'),
    then: [],
  })
  scenario('does not concern another attempt', {
    given: [...paid, takenBack, retried(2)],
    when: dispute,
    then: [],
  })
  scenario('of a policy that has ended is not asked for again', {
    given: [...paid, { type: 'PolicyLapsed', customer_id, lapsed_on: '2026-04-16', overdue_pence: 0 }],
    when: dispute,
    then: [takenBack, writtenOff],
  })
})

describe('arrears', () => {
  const check = (at: string) => ({ type: 'CheckArrears', now: at }) as const

  scenario('suspend cover after thirty days', {
    given: inArrears,
    when: check('2026-03-17T00:00:00.000Z'),
    then: [suspended, arrears('2026-04-15T23:00:00.000Z')],
  })
  scenario('and not a moment before', { given: inArrears, when: check('2026-03-16T23:59:59.999Z'), then: [] })
  scenario('end it after sixty, and what was not paid is asked for no more', {
    given: inSuspense,
    when: check('2026-04-15T23:00:00.000Z'),
    then: [{ type: 'PolicyLapsed', customer_id, lapsed_on: '2026-04-16', overdue_pence: 2875 }, writtenOff, noArrears],
  })
  scenario('and no moment sooner', { given: inSuspense, when: check('2026-04-15T22:59:59.999Z'), then: [] })
  scenario('but what may be with the banks already is waited for', {
    given: [...inSuspense, { ...due, premium_id: idOf(2), number: 2, due_on: '2026-03-15', covers_from: '2026-03-02' }],
    when: check('2026-04-15T23:00:00.000Z'),
    then: [{ type: 'PolicyLapsed', customer_id, lapsed_on: '2026-04-16', overdue_pence: 2875 }, writtenOff, noArrears],
  })
  scenario('that are paid reinstate cover', {
    given: [...inSuspense, retried(2)],
    when: settle('collected', 2),
    then: [{ ...collected, attempt: 2 }, reinstated, noArrears],
  })
  scenario('that are written off reinstate it too', {
    given: inSuspense,
    when: { type: 'WriteOffPremium', premium_id, reason: 'operator' },
    then: [{ ...writtenOff, reason: 'operator' }, reinstated, noArrears],
  })
})

describe('the operator', () => {
  const lapsed: PolicyEvent = { type: 'PolicyLapsed', customer_id, lapsed_on: '2026-04-16', overdue_pence: 2875 }
  const reinstate = (at: string) => ({ type: 'ReinstatePolicy', now: at }) as const

  scenario('suspends cover, which then does not lapse by itself', {
    given: active,
    when: { type: 'SuspendPolicy' },
    then: [{ type: 'PolicySuspended', reason: 'operator', overdue_pence: 0 }],
  })
  scenario('reinstates it', {
    given: [...active, { type: 'PolicySuspended', reason: 'operator', overdue_pence: 0 }],
    when: reinstate(now),
    then: [{ ...reinstated, next_collection_on: '2026-02-15', next_collection_at: '2026-02-15T00:00:00.000Z' }],
  })
  scenario('409 conflict: premiums are overdue', {
    given: inSuspense,
    when: reinstate(now),
    then: rejected('conflict', undefined, 'overdue'),
  })
  scenario('reinstates a lapsed policy, which is paid for from then on', {
    given: [...active, lapsed],
    when: reinstate('2026-05-01T09:00:00.000Z'),
    then: [
      {
        ...reinstated,
        from: 'lapsed',
        next_collection_on: '2026-05-15',
        next_collection_at: '2026-05-14T23:00:00.000Z',
      },
    ],
  })
  test('and the next premium pays for the time from that day on, not for the time without cover', () => {
    const at = (days: string) => ({ occurred_at: days })
    const resumed: PolicyStreamEvent = {
      type: 'PolicyReinstated',
      from: 'lapsed',
      next_collection_on: '2026-05-15',
      next_collection_at: '2026-05-14T23:00:00.000Z',
      end_at: null,
      review_at: null,
      indexation_at: null,
    }
    const told: readonly (readonly [PolicyStreamEvent, string])[] = [
      ...active.map((event) => [event, now] as const),
      [due, now],
      [lapsed, '2026-04-16T00:00:00.000Z'],
      [resumed, '2026-05-01T09:00:00.000Z'],
    ]
    const state = told.reduce<PolicyState | undefined>(
      (before, [event, occurred_at]) => evolvePolicyState(before, event, at(occurred_at)),
      undefined,
    )
    const calls = (day: string, before = state) =>
      policy.decide({ type: 'CallPremium', now: `${day}T09:00:00.000Z`, idOf: () => premium_id }, before)

    const [first] = calls('2026-05-15')
    expect(first).toMatchObject({ type: 'PremiumDue', number: 2, covers_from: '2026-05-01' })
    const after = first && evolvePolicyState(state, first, at('2026-05-15T09:00:00.000Z'))
    expect(calls('2026-06-15', after)[0]).toMatchObject({ number: 3, covers_from: '2026-06-01' })
  })
  const reinstatedInSummer: PolicyEvent = {
    ...reinstated,
    from: 'lapsed',
    next_collection_on: '2026-08-15',
    next_collection_at: '2026-08-14T23:00:00.000Z',
  }
  scenario('on the ninetieth day still', {
    given: [...active, lapsed],
    when: reinstate('2026-07-15T09:00:00.000Z'),
    then: [reinstatedInSummer],
  })
  const until = (end_date: string) => [{ ...bound, end_date } as PolicyEvent, ...active.slice(1), lapsed]
  scenario('on the day before its term is over still', {
    given: until('2026-07-16'),
    when: reinstate('2026-07-15T09:00:00.000Z'),
    then: [{ ...reinstatedInSummer, end_at: '2026-07-15T23:00:00.000Z' }],
  })
  scenario('409 conflict: its term is over', {
    given: until('2026-07-15'),
    when: reinstate('2026-07-15T09:00:00.000Z'),
    then: rejected('conflict', undefined, 'term'),
  })
  scenario('409 conflict: later than the ninetieth day', {
    given: [...active, lapsed],
    when: reinstate('2026-07-16T09:00:00.000Z'),
    then: rejected('conflict', undefined, '2026-07-15'),
  })
  scenario('409 conflict: a premium that is with the banks is not written off', {
    given: [...active, due, requested],
    when: { type: 'WriteOffPremium', premium_id, reason: 'operator' },
    then: rejected('conflict'),
  })
})

describe('a refund', () => {
  const refund_id = PremiumRefundId.parse('b2000000-0000-5000-8000-000000000001')
  const refund = (refund_pence: number | null) =>
    ({ type: 'RefundPremium', premium_id, refund_id, refund_pence }) as const
  const part = { ...owed('operator'), refund_id, refund_pence: 1000 }

  scenario('gives a part back', { given: [...active, due, collected], when: refund(1000), then: [part] })
  scenario('once', { given: [...active, due, collected, part], when: refund(1000), then: [] })
  const others = { ...part, refund_id: PremiumRefundId.parse(premium_id) }
  scenario('of all that is left', {
    given: [...active, due, collected, others],
    when: refund(1875),
    then: [{ ...part, refund_pence: 1875 }],
  })
  scenario('of nothing more than is left', {
    given: [...active, due, collected, others],
    when: refund(1876),
    then: rejected('validation_failed', { refund_pence: 'at most 1875' }),
  })
  scenario('409 conflict: it was not collected', {
    given: [...active, due],
    when: refund(null),
    then: rejected('conflict'),
  })
  scenario('that somebody made at the provider is recorded', {
    given: [...active, due, collected],
    when: { type: 'RecordProviderRefund', premium_id, refund_id, total_pence: 500 },
    then: [{ type: 'PremiumRefunded', ...first, attempt: 1, refund_id, refund_pence: 500, reason: 'provider' }],
  })
  scenario('that is ours is not recorded twice', {
    given: [...active, due, collected, part],
    when: { type: 'RecordProviderRefund', premium_id, refund_id, total_pence: 1000 },
    then: [],
  })
  scenario('of the cooling-off period gives all back that was collected', {
    given: [...active, due, collected],
    when: { type: 'CancelPolicy', reason: 'cooling_off', note: null, today: '2026-02-20' },
    then: [{ ...cancelled(), effective_on: '2026-02-20', refund_pence: 2875 }, owed('cooling_off')],
  })
})

test('each premium and each refund is due by itself', () => {
  const at = '2026-02-15T00:00:00.000Z'
  expect(premiumDueTimes(due, 'p', at)).toEqual([
    { kind: 'policy_premium', id: 'p', due_at: '2026-03-15T00:00:00.000Z' },
    { kind: 'premium', id: premium_id, due_at: at },
  ])
  expect(premiumDueTimes(failed(3, null), 'p', at)).toEqual([{ kind: 'premium', id: premium_id, due_at: null }])
  expect(premiumDueTimes(owed('operator'), 'p', at)).toMatchObject([{ kind: 'premium_refund', due_at: at }])
})

function owed(reason: 'cooling_off' | 'operator' | 'policy_ended') {
  const card = { application_id: 'a0000000-0000-4000-8000-000000000001' as never, card_payment_id: null }
  const refund_id = PremiumRefundId.parse(premium_id)
  return { type: 'PremiumRefundOwed', ...first, refund_id, ...card, refund_pence: 2875, reason } as const
}

function cancelled(): Extract<PolicyEvent, { type: 'PolicyCancelled' }> {
  return {
    type: 'PolicyCancelled',
    application_id: 'a0000000-0000-4000-8000-000000000001' as never,
    card_payment_id: null,
    reason: 'cooling_off',
    note: null,
    effective_on: '2026-02-16',
    cooling_off: true,
    refund_pence: 0,
  }
}

function cancelledOn(effective_on: string): PolicyEvent {
  return { ...cancelled(), reason: 'customer_request', cooling_off: false, effective_on }
}
