import { describe, expect, test } from 'vitest'
import type { PolicyEvent } from '#domain/policies/events.ts'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import { premiumDueTimes } from '../../projections/due-times/premiums.ts'
import { everyDay } from '../policies/calendars.ts'
import {
  active,
  arrears,
  askedAnew,
  bound,
  byDebit,
  cancelled,
  cancelledOn,
  collected,
  collectedAnew,
  customer_id,
  debit,
  disputed,
  due,
  failed,
  givenBack,
  idOf,
  inArrears,
  inSuspense,
  noArrears,
  now,
  owed,
  premium_id,
  refund_id,
  reinstated,
  requested,
  retried,
  returned,
  scenario,
  settle,
  paidBy,
  suspended,
  twice,
  writtenOff,
} from './premium-builders.ts'

describe('a premium is due on its day', () => {
  const call = (at: string) => ({ type: 'CallPremium', calendar: everyDay, now: at, idOf }) as const

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
  const free: PolicyEvent = {
    type: 'PolicyAmended',
    customer_id,
    premium_pence: 0,
    annual_premium_pence: 0,
    components: [],
    collection_day: 15,
    next_collection_on: '2026-02-15',
    next_collection_at: '2026-02-15T00:00:00.000Z',
    note: null,
  }
  const nothing = { ...due, amount_pence: 0 }
  scenario('where it was amended to nothing there is nothing to collect, and cover goes on', {
    given: [...active, free],
    when: call('2026-02-15T00:00:00.000Z'),
    then: [
      nothing,
      {
        ...collected,
        amount_pence: 0,
        payment_intent_id: null,
        collected_at: '2026-02-15T00:00:00.000Z',
      },
    ],
  })
  scenario('but not of a policy that has ended', {
    given: [...active, { type: 'PolicyExpired', end_date: '2026-02-02' }],
    when: call('2026-02-15T00:00:00.000Z'),
    then: [],
  })
  scenario('the last one pays for the last month of cover', {
    given: [{ ...bound, end_date: '2026-03-02' }, ...active.slice(1)],
    when: call('2026-02-15T00:00:00.000Z'),
    then: [{ ...due, next_due_on: null, next_due_at: null }],
  })
})

describe('what becomes of a collection', () => {
  scenario('it is collected', { given: [...active, due, requested], when: settle(debit.paid()), then: [collected] })
  scenario('which is told more than once', {
    given: [...active, due, requested, collected],
    when: settle(debit.paid()),
    then: [],
  })
  scenario('or before it was recorded that it was asked for', {
    given: [...active, due],
    when: settle(debit.paid()),
    then: [collected],
  })
  scenario('it fails: it is collected again after ten days, and is overdue', {
    given: [...active, due, requested],
    when: settle(debit.refused()),
    then: [failed(), arrears('2026-03-17T00:00:00.000Z')],
  })
  scenario('late news of an earlier attempt changes nothing', {
    given: [...inArrears, retried(2)],
    when: settle(debit.refused()),
    then: [],
  })
  scenario('after the last attempt it is left to the team', {
    given: [...inArrears, retried(2), failed(2), retried(3)],
    when: settle(debit.refused(1), debit.refused(2), debit.refused(3)),
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
    given: [...active, due, { ...requested, check_at: now }],
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
    when: settle(debit.paid()),
    then: [collected, owed('cooling_off')],
  })
  scenario('what is collected for a time from the day on which a policy ended is given back', {
    given: [...active, due, requested, cancelledOn('2026-02-02')],
    when: settle(debit.paid()),
    then: [collected, owed('policy_ended')],
  })
  scenario('and is kept when the policy was in force for a day of it', {
    given: [...active, due, requested, cancelledOn('2026-02-03')],
    when: settle(debit.paid()),
    then: [collected],
  })
})

describe('a dispute', () => {
  const paid = [...active, due, requested, collected]
  const again = [...paid, disputed, ...askedAnew]
  const alsoAnew = paidBy(1, { also_paid_by: [byDebit(2)] })
  const twicePaid = [...again, collectedAnew, twice(), alsoAnew]
  const waived = expect.objectContaining({ type: 'PremiumRefundWaived', refund_id, why: 'taken_back' }) as never
  const overdue = expect.objectContaining({ type: 'ArrearsChanged', overdue_pence: 2875 }) as never

  scenario('takes back what was collected, and leaves it to the team', {
    given: paid,
    when: settle(debit.disputed()),
    then: [disputed, overdue],
  })
  scenario('makes the premium overdue from then on, however long ago it was collected', {
    given: paid,
    // It is half an hour past midnight in London.
    when: { ...settle(debit.disputed()), now: '2026-08-02T23:30:00.000Z' },
    then: [
      { ...disputed, disputed_on: '2026-08-03' },
      { type: 'ArrearsChanged', since: '2026-08-03', overdue_pence: 2875, check_at: '2026-09-01T23:00:00.000Z' },
    ],
  })
  scenario('that is told twice changes nothing', {
    given: [...paid, disputed],
    when: settle(debit.disputed()),
    then: [],
  })
  scenario('does not concern another attempt', {
    given: [...paid, disputed, retried(2)],
    when: settle(debit.disputed()),
    then: [],
  })
  scenario('that the firm wins leaves the premium paid', {
    given: [...paid, disputed],
    when: settle(debit.won()),
    then: [collected, paidBy(1)],
  })
  scenario('that is won after the premium was collected again: it was paid twice, and one is given back', {
    given: [...again, collectedAnew],
    when: settle(debit.won(), debit.paid(2)),
    then: [twice(), alsoAnew],
  })
  scenario('that is told as won twice gives back one', {
    given: twicePaid,
    when: settle(debit.won(), debit.paid(2)),
    then: [],
  })
  scenario('that is won while the premium is collected again has paid it, and nothing is given back yet', {
    given: again,
    when: settle(debit.won(), debit.coming(2)),
    then: [collected, paidBy(1)],
  })
  scenario('that was won: what is collected again is given back', {
    given: [...again, collected, paidBy(1)],
    when: settle(debit.won(), debit.paid(2)),
    then: [twice(), alsoAnew],
  })
  scenario('that was won has paid the premium, where collecting it again fails', {
    given: [...again, collected, paidBy(1)],
    when: settle(debit.won(), debit.refused(2)),
    then: [],
  })
  scenario('that is won after collecting it again has failed leaves the premium paid', {
    given: [...again, failed(2)],
    when: settle(debit.won(), debit.refused(2)),
    then: [collected, paidBy(1)],
  })
  scenario('that is won has paid what nobody was asked for again', {
    given: [...paid, disputed, retried(2)],
    when: settle(debit.won()),
    then: [collected, paidBy(1)],
  })
  scenario('of what was collected again, too, gives nothing back of the one that was won', {
    given: twicePaid,
    when: settle(debit.won(), debit.disputed(2)),
    then: [waived, paidBy(1, { disputed_attempts: [2] })],
  })
  scenario('that was won leaves the premium unpaid where it was given back already', {
    given: [...twicePaid, { ...givenBack, reason: 'paid_twice', attempt: 2 }],
    when: settle(debit.won(), debit.disputed(2, { refunds: [returned(2875, { refund_id })] })),
    then: [{ ...disputed, attempt: 2 }, paidBy(1, { also_paid_by: [byDebit(1)], disputed_attempts: [2] }), overdue],
  })
  scenario('what was paid twice can be given back by hand of either payment', {
    given: twicePaid,
    when: settle(debit.won(1, { refunds: [returned(2875)] }), debit.paid(2)),
    then: [{ ...givenBack, reason: 'paid_twice', provider_refund_id: 're_1' }, paidBy(2)],
  })
  const other_id = PremiumRefundId.parse(idOf(2))
  scenario('what was paid twice is given back beside what the team gives back', {
    given: twicePaid,
    when: { type: 'RefundPremium', premium_id, refund_id: other_id, refund_pence: null },
    then: [{ ...owed('operator'), refund_id: other_id }],
  })
  scenario('that took nothing changes nothing', { given: paid, when: settle(debit.won()), then: [] })
  scenario('of a policy that has ended is not asked for again', {
    given: [...paid, { type: 'PolicyLapsed', customer_id, lapsed_on: '2026-04-16', overdue_pence: 0 }],
    when: settle(debit.disputed()),
    then: [disputed, writtenOff],
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
    when: settle(debit.refused(), debit.paid(2)),
    then: [collectedAnew, reinstated, noArrears],
  })
  scenario('that are written off reinstate it too', {
    given: inSuspense,
    when: { type: 'WriteOffPremium', premium_id, reason: 'operator' },
    then: [{ ...writtenOff, reason: 'operator' }, reinstated, noArrears],
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
