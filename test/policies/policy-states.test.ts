import { describe, expect, test } from 'vitest'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import { stateOf } from '../scenario.ts'
import {
  active,
  bound,
  cancelledOn,
  collected,
  customer_id,
  failed,
  first,
  due,
  mandateMade,
  refund_id,
  reinstated,
} from '../premiums/premium-builders.ts'

/** What is known of a policy after what happened to it. */

const after = (events: readonly PolicyStreamEvent[], at?: string) => stateOf(policy, events, at) ?? expect.fail()
const lapsed: PolicyStreamEvent = { type: 'PolicyLapsed', customer_id, lapsed_on: '2026-04-15', overdue_pence: 0 }

test('a policy that was just sold has no premiums, no claims and no time without cover', () => {
  expect(after([bound])).toMatchObject({ premiums: [], claims: [], uncovered: [] })
})

test('the payer is known by every name that the provider has given with a mandate, each once', () => {
  const mandateOf = (provider_customer_id: string) => ({ ...mandateMade, provider_customer_id })
  const events = [mandateOf('cus_1'), mandateOf('cus_2'), mandateOf('cus_1')]

  expect(after([bound]).provider_customers).toEqual([])
  expect(after([bound, ...events]).provider_customers).toEqual(['cus_1', 'cus_2'])
})

describe('a policy is paid for without a gap from its start', () => {
  const start = {
    paid_from: { number: 1, date: '2026-02-02' },
    collected_from: { number: 1, date: '2026-02-15' },
    uncovered: [],
  }
  const at = '2026-05-02T09:00:00.000Z'

  test('also when it was suspended and is reinstated', () => {
    const suspended: PolicyStreamEvent = { type: 'PolicySuspended', reason: 'operator', overdue_pence: 0 }

    expect(after([...active, suspended, reinstated], at)).toMatchObject(start)
  })

  test('but for the time between a lapse and what reinstates it: the next premium pays from that day', () => {
    expect(after([...active, due, lapsed, { ...reinstated, from: 'lapsed' }], at)).toMatchObject({
      paid_from: { number: 2, date: '2026-05-02' },
      collected_from: { number: 2, date: '2026-03-15' },
      uncovered: [{ from: '2026-04-15', until: '2026-05-02' }],
    })
  })

  test('and collected as before when nothing is to be collected any more', () => {
    const paidUp = { ...reinstated, from: 'lapsed' as const, next_collection_on: null, next_collection_at: null }

    expect(after([...active, lapsed, paidUp], at)).toMatchObject({
      paid_from: { number: 1, date: '2026-05-02' },
      collected_from: start.collected_from,
    })
  })
})

test('the mandate that was made is the one by which premiums are collected', () => {
  expect(after([...active, mandateMade])).toMatchObject({
    payment_method: { type: 'direct_debit', account_number_last4: '4958', mandate_status: 'active' },
    provider_mandate: {
      provider_customer_id: 'cus_1',
      provider_payment_method_id: 'pm_1',
      provider_mandate_id: 'mandate_1',
    },
    mandate_attempts: 0,
  })
})

describe('the covers of a policy', () => {
  const [life] = bound.components
  if (!life) throw new Error('The sample covers nothing.')
  const two: readonly PolicyStreamEvent[] = [
    {
      ...bound,
      components: [
        { ...life, expires_on: null },
        { ...life, cover_index: 1, expires_on: '2026-03-01' },
      ],
    },
    ...active.slice(1),
  ]
  const secondEnded = [
    ...two,
    { type: 'PolicyCoverEnded', cover_indexes: [1], premium_pence: 2000, annual_premium_pence: 24_000 },
  ] as readonly PolicyStreamEvent[]
  const covers = (events: readonly PolicyStreamEvent[]) =>
    after(events).components.map(({ status, ends_on }) => [status, ends_on])

  test('end one by one, and the policy costs less from then on', () => {
    expect(after(secondEnded)).toMatchObject({
      status: 'active',
      premium_pence: 2000,
      annual_premium_pence: 24_000,
      ended_covers: [1],
    })
    expect(covers(secondEnded)).toEqual([
      ['active', null],
      ['ended', '2026-03-01'],
    ])
  })

  test('end with it, unless they ended before', () => {
    expect(covers([...secondEnded, cancelledOn('2026-04-15')])).toEqual([
      ['ended', '2026-04-15'],
      ['ended', '2026-03-01'],
    ])
  })

  test('of a policy that lapsed are reinstated, but for those that had ended', () => {
    const back = [...secondEnded, lapsed, { ...reinstated, from: 'lapsed' as const }]

    expect(after(back).status).toBe('active')
    expect(covers(back)).toEqual([
      ['active', null],
      ['ended', '2026-03-01'],
    ])
  })

  test('end when the policy has run for its term', () => {
    const expired = [...two, { type: 'PolicyExpired', end_date: '2051-02-02' }] as const

    expect(covers(expired).map(([status]) => status)).toEqual(['ended', 'ended'])
  })
})

describe('the first premium', () => {
  test('has failed when its collection has', () => {
    expect(after([...active, due, failed()]).first_premium.status).toBe('failed')
  })

  test('has not failed because a later one has', () => {
    const later = { ...failed(), number: 2 } as PolicyStreamEvent

    expect(after([...active, due, later]).first_premium.status).toBe('pending')
  })

  test('was paid, also when it is given back later', () => {
    const refunded: PolicyStreamEvent = {
      type: 'PremiumRefunded',
      ...first,
      refund_id,
      attempt: 1,
      refund_pence: first.amount_pence,
      reason: 'cooling_off',
    }

    expect(after([...active, due, collected, refunded]).first_premium.status).toBe('succeeded')
  })

  test('has not failed while it is awaited', () => {
    expect(after([...active, due]).first_premium.status).toBe('pending')
  })
})
