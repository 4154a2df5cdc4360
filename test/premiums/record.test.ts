import { describe, expect, test } from 'vitest'
import { PremiumRefundId, premiumEvents, type PremiumEvent } from '#domain/premiums/events.ts'
import {
  evolvePremium,
  evolvePremiums,
  isOverdue,
  overdueSince,
  Premium,
  PremiumRefund,
  refundable,
  type PremiumStatus,
} from '#domain/premiums/record.ts'
import {
  byCard,
  byDebit,
  collected,
  customer_id,
  due,
  failed,
  first,
  givenBack,
  idOf,
  now,
  owed,
  refund_id,
  refundFailed,
  requested,
  retried,
  paidBy,
  writtenOff,
} from './premium-builders.ts'

/** One month's premium, after what happened to it. */

const dueAt = '2026-02-15T00:00:00.000Z'
const later = '2026-02-23T08:00:00.000Z'

const after = (...events: readonly PremiumEvent[]): Premium => {
  const opened = evolvePremium(undefined, due, { occurred_at: dueAt })
  const premium = events.reduce((before, event) => evolvePremium(before, event, { occurred_at: later }), opened)
  if (!premium) throw new Error('There is no premium.')
  return premium
}

const otherRefund = PremiumRefundId.parse('b2000000-0000-5000-8000-000000000002')
const refund = { ...first, refund_id, customer_id, attempt: 1, refund_pence: 2875 }
const waived = (changes: object = {}): PremiumEvent => ({
  type: 'PremiumRefundWaived',
  ...refund,
  why: 'not_owed',
  reason: null,
  ...changes,
})
const paidOtherwise: PremiumEvent = {
  type: 'PremiumRefundPaidOtherwise',
  ...refund,
  paid_on: '2026-03-02',
  reason: 'by cheque',
}
const delayed = (retry_at: string | null): PremiumEvent => ({
  type: 'PremiumRefundDelayed',
  premium_id: first.premium_id,
  refund_id,
  failure_code: 'provider_unavailable',
  attempt: 3,
  retry_at,
})
const disputed: PremiumEvent = { ...failed(1, null), failure_code: 'disputed' } as PremiumEvent

test('what a premium is shown with is what is known of it, with nothing left out', () => {
  const all = [
    after(),
    after(requested, collected, owed('operator'), delayed(null)),
    after(requested, collected, givenBack, refundFailed, paidOtherwise),
    after(requested, failed()),
    after(requested, collected, owed('operator'), waived()),
    after(writtenOff),
  ]

  for (const premium of all) expect(Premium.parse(premium)).toEqual(premium)
  expect(all.map(({ status }) => status)).toEqual([
    'due',
    'collected',
    'collected',
    'failed',
    'collected',
    'written_off',
  ])
  expect(PremiumRefund.safeParse({ ...after(givenBack).refunds[0], status: 'unknown' }).success).toBe(false)
})

test('why the team closed a refund is encrypted under the key of the customer', () => {
  expect(premiumEvents.PremiumRefundPaidOtherwise.subject({ customer_id }, 'policy-1')).toBe(customer_id)
  expect(premiumEvents.PremiumRefundWaived.subject({ customer_id }, 'policy-1')).toBe(customer_id)
})

test('news of one premium changes no other', () => {
  const second = { ...due, premium_id: idOf(2), number: 2 }
  const recorded = { occurred_at: dueAt }
  const both = [due, second].reduce<readonly Premium[]>((all, event) => evolvePremiums(all, event, recorded), [])

  const changed = evolvePremiums(both, requested, { occurred_at: later })

  expect(changed.map(({ number, status }) => [number, status])).toEqual([
    [1, 'requested'],
    [2, 'due'],
  ])
  expect(changed[1]).toEqual(both[1])
})

describe('a premium that the payer’s bank took back', () => {
  test('says when, and by which attempt it had been collected', () => {
    expect(after(requested, collected, disputed)).toMatchObject({
      status: 'failed',
      disputed_on: '2026-02-23',
      disputed_attempts: [1],
    })
  })

  test('is not one that failed for another reason', () => {
    expect(after(requested, failed())).toMatchObject({ status: 'failed', disputed_on: null, disputed_attempts: [] })
  })

  test('nor one of which a refund is left to the team since another was taken back', () => {
    const left: PremiumEvent = { ...delayed(null), failure_code: 'disputed' } as PremiumEvent

    expect(after(requested, collected, owed('operator'), left)).toMatchObject({
      disputed_on: null,
      disputed_attempts: [],
    })
  })

  test('nor one that was written off', () => {
    expect(after(writtenOff)).toMatchObject({ disputed_on: null, disputed_attempts: [] })
  })

  test.each([
    [null, '2026-02-15'],
    ['2026-02-14', '2026-02-15'],
    ['2026-02-16', '2026-02-16'],
  ])('on %s is overdue since %s', (disputed_on, since) => {
    expect(overdueSince({ ...after(), disputed_on })).toBe(since)
  })
})

test.each<readonly [PremiumStatus, number, boolean]>([
  ['due', 1, false],
  ['requested', 1, false],
  ['failed', 1, true],
  ['due', 2, true],
  ['requested', 2, true],
  ['collected', 2, false],
  ['written_off', 2, false],
])('a premium that is %s at attempt %i: has it failed and is still not paid? %s', (status, attempt, overdue) => {
  expect(isOverdue({ ...after(), status, attempt })).toBe(overdue)
})

test('one that a former version had reinstated is overdue as soon as that payment was given back', () => {
  const reinstated: PremiumEvent = {
    type: 'PremiumReinstated',
    ...first,
    attempt: 1,
    method: 'direct_debit',
    payment_intent_id: 'pi_1',
    reinstated_at: later,
    refund_id,
  }
  const standing = [requested, collected, disputed, retried(2), reinstated]

  expect(isOverdue(after(...standing))).toBe(false)
  expect(isOverdue(after(...standing, owed('operator')))).toBe(false)
  expect(isOverdue(after(...standing, { ...givenBack, refund_id: otherRefund }))).toBe(false)
  expect(isOverdue(after(...standing, givenBack))).toBe(true)
})

test('a premium is asked for again when it is collected again', () => {
  expect(after(requested, failed(), retried(2)).asked_at).toBe(later)
  expect(after(requested, failed()).asked_at).toBe(dueAt)
})

describe('which payments stand for a premium', () => {
  const others = { also_paid_by: [byDebit(2)], disputed_attempts: [3] }
  const shown = [{ attempt: 2, method: 'direct_debit', payment_intent_id: 'pi_2', reinstated_at: now, refund_id: null }]

  test('is said of one that is paid: by which, beside which others, and which were taken back', () => {
    expect(after(requested, collected, paidBy(1, { ...byCard, ...others }))).toMatchObject({
      ...byCard,
      also_paid_by: shown,
      disputed_attempts: [3],
    })
  })

  test('of one that is not paid, only the others', () => {
    expect(after(requested, failed(), paidBy(3, others))).toMatchObject({
      attempt: 1,
      payment_intent_id: 'pi_1',
      collected_at: null,
      also_paid_by: shown,
    })
  })

  test('is the one that is under way where it is waited for again', () => {
    const again = { ...requested, attempt: 2, payment_intent_id: 'pi_2' }

    expect(after(requested, collected, again)).toMatchObject({
      status: 'requested',
      attempt: 2,
      payment_intent_id: 'pi_2',
      retry_at: requested.check_at,
    })
  })
})

describe('of what was collected', () => {
  test('can be given back what is not owed or given back yet', () => {
    expect(refundable(after(requested, collected))).toBe(2875)
    expect(refundable(after(requested, collected, { ...owed('operator'), refund_pence: 1000 }))).toBe(1875)
    expect(refundable(after(requested, collected, givenBack))).toBe(0)
    expect(refundable(after(requested, collected, owed('operator'), waived()))).toBe(2875)
  })

  test('no more than was collected can be given back, whatever the provider gave back', () => {
    expect(refundable(after(requested, collected, { ...givenBack, refund_pence: 3000 }))).toBe(0)
  })

  test('nothing can be given back before it is collected, or after it was taken back', () => {
    expect(refundable(after(requested))).toBe(0)
    expect(refundable(after(requested, failed()))).toBe(0)
    expect(refundable(after(requested, collected, disputed))).toBe(0)
  })
})

describe('a refund', () => {
  const untried = {
    refund_id,
    refund_pence: 2875,
    reason: 'operator',
    attempt: null,
    card_payment_id: null,
    paid_on: null,
    failure_code: null,
    failed_attempts: 0,
    is_left: false,
    provider_refunds: [],
    waived_as: null,
    failed_provider_refunds: [],
    note: null,
  }
  const refundsAfter = (...events: readonly PremiumEvent[]) => after(requested, collected, ...events)

  test('that could not be made is tried again, or left to the team until they ask for it', () => {
    const tried = { ...untried, status: 'owed', failure_code: 'provider_unavailable', failed_attempts: 3 }
    const again: PremiumEvent = { type: 'PremiumRefundRequested', premium_id: first.premium_id, refund_id }

    expect(refundsAfter(owed('operator'), delayed(later)).refunds).toEqual([tried])
    expect(refundsAfter(owed('operator'), delayed(null)).refunds).toEqual([{ ...tried, is_left: true }])
    expect(refundsAfter(owed('operator'), delayed(null), again).refunds).toEqual([tried])
  })

  test('that came back from the payer’s bank is owed again and counts as not given', () => {
    const { refunds, refunded_pence } = refundsAfter(owed('operator'), givenBack, refundFailed)

    expect(refunded_pence).toBe(0)
    expect(refunds).toEqual([
      {
        ...untried,
        status: 'owed',
        attempt: 1,
        failure_code: 'expired_or_canceled_card',
        is_left: true,
        failed_provider_refunds: ['re_1'],
      },
    ])
  })

  test('that came back before anybody recorded that it was made has been tried again by that', () => {
    expect(refundsAfter(owed('operator'), delayed(later), refundFailed).refunds).toMatchObject([
      { status: 'owed', failed_attempts: 0, is_left: true },
    ])
  })

  test('that was made is not left to the team any more, by whomever it was made', () => {
    const made = { ...givenBack, provider_refund_id: 're_1' }

    expect(refundsAfter(owed('operator'), delayed(null), made).refunds).toEqual([
      { ...untried, status: 'refunded', attempt: 1, provider_refunds: ['re_1'] },
    ])
  })

  test('that was made before the provider’s ids were recorded has none', () => {
    expect(refundsAfter(givenBack).refunds).toMatchObject([{ status: 'refunded', provider_refunds: [] }])
  })

  test('of which somebody gave back a part is owed for the rest', () => {
    const reduced: PremiumEvent = { ...first, refund_id, attempt: 1, type: 'PremiumRefundReduced', refund_pence: 1875 }

    expect(refundsAfter(owed('operator'), reduced).refunds).toEqual([
      { ...untried, status: 'owed', refund_pence: 1875 },
    ])
  })

  test('that came back twice had been given back once', () => {
    const again: PremiumEvent = { ...refundFailed, provider_refund_id: 're_2' }
    const other: PremiumEvent = { ...givenBack, refund_id: otherRefund, refund_pence: 500 }

    const { refunds, refunded_pence } = refundsAfter(other, givenBack, refundFailed, again)

    expect(refunded_pence).toBe(500)
    expect(refunds.find((each) => each.refund_id === refund_id)?.failed_provider_refunds).toEqual(['re_1', 're_2'])
  })

  test('that nobody knows of cannot come back', () => {
    expect(refundsAfter(refundFailed)).toEqual({ ...refundsAfter(), updated_at: later })
  })

  test('that was paid in another way or is owed no more is not left to the team', () => {
    const left = [owed('operator'), delayed(null)]
    const tried = { ...untried, failure_code: 'provider_unavailable', failed_attempts: 3 }

    const paid = refundsAfter(...left, paidOtherwise)
    expect(paid.refunded_pence).toBe(2875)
    expect(paid.refunds).toEqual([{ ...tried, status: 'paid_otherwise', paid_on: '2026-03-02', note: 'by cheque' }])

    const givenUp = refundsAfter(...left, waived())
    expect(givenUp.refunded_pence).toBe(0)
    expect(givenUp.refunds).toEqual([{ ...tried, status: 'waived', waived_as: 'not_owed' }])
  })

  test('is not changed by news of another', () => {
    const { refunds } = refundsAfter(
      { ...owed('operator'), refund_id: otherRefund, refund_pence: 100 },
      owed('operator'),
      waived(),
    )

    expect(refunds).toMatchObject([
      { refund_id: otherRefund, status: 'owed' },
      { refund_id, status: 'waived' },
    ])
  })
})
