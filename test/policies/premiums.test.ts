import { describe, expect, test } from 'vitest'
import type { PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { premiumDueTimes } from '../../projections/due-times/policies.ts'
import { scenariosOf } from '../scenario.ts'
import {
  bound,
  active,
  customer_id,
  idOf,
  premium_id,
  due,
  requested,
  collected,
  failed,
  givenBack,
  refund_id,
  retried,
  twice_id,
  arrears,
  noArrears,
  now,
  settle,
  inArrears,
  suspended,
  inSuspense,
  reinstated,
  writtenOff,
  owed,
  cancelled,
  cancelledOn,
  win,
  disputed,
  dispute,
  arrives,
  stands,
  twice,
  askedAnew,
  collectedAnew,
} from './premium-builders.ts'
import { everyDay } from './calendars.ts'

const scenario = scenariosOf(policy)

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
  const paid = [...active, due, requested, collected]

  scenario('takes back what was collected, and leaves it to the team', {
    given: paid,
    when: dispute(),
    then: [disputed, expect.objectContaining({ type: 'ArrearsChanged', overdue_pence: 2875 }) as never],
  })
  scenario('makes the premium overdue from then on, however long ago it was collected', {
    given: paid,
    // It is half an hour past midnight in London.
    when: { ...dispute(), now: '2026-08-02T23:30:00.000Z' },
    then: [
      { ...disputed, disputed_on: '2026-08-03' },
      { type: 'ArrearsChanged', since: '2026-08-03', overdue_pence: 2875, check_at: '2026-09-01T23:00:00.000Z' },
    ],
  })
  scenario('that is told twice changes nothing', { given: [...paid, disputed], when: dispute(), then: [] })
  scenario('is not undone by news of the success that comes late', {
    given: [...paid, disputed],
    when: settle('collected'),
    then: [],
  })
  scenario('does not concern another attempt', {
    given: [...paid, disputed, retried(2)],
    when: dispute(),
    then: [],
  })
  const again = [...paid, disputed, ...askedAnew]
  const paidAgain = { ...collected, collected_at: now }
  scenario('that the firm wins leaves the premium paid', {
    given: [...paid, disputed],
    when: win,
    then: [{ ...collected, collected_at: now }],
  })
  scenario('that is won after the premium was collected anew: it was paid twice(), and one is given back', {
    given: [...again, collectedAnew],
    when: win,
    then: [stands(1), twice()],
  })
  scenario('that is told as won twice gives back one', {
    given: [...again, collectedAnew, stands(1), twice()],
    when: win,
    then: [],
  })
  scenario('that is won while the premium is collected anew waits for what comes of it', {
    given: again,
    when: win,
    then: [stands(1)],
  })
  scenario('that was won: what is collected anew is given back', {
    given: [...again, stands(1)],
    when: arrives(2),
    then: [collectedAnew, twice()],
  })
  scenario('that was won: what is collected anew is given back once', {
    given: [...again, stands(1), collectedAnew, twice()],
    when: arrives(2),
    then: [],
  })
  scenario('that was won has paid the premium, where collecting it anew fails', {
    given: [...again, stands(1)],
    when: settle('failed', 2),
    then: [paidAgain],
  })
  scenario('that is won after collecting it anew has failed leaves the premium paid', {
    given: [...again, failed(2)],
    when: win,
    then: [stands(1), paidAgain],
  })
  scenario('that was won has paid what is asked for no more, where nobody was asked', {
    given: [...paid, disputed, retried(2), stands(1)],
    when: { type: 'WriteOffPremium', premium_id, reason: 'policy_ended' },
    then: [paidAgain],
  })
  scenario('of what was collected collectedAnew, too, gives nothing back of the one that was won', {
    given: [...again, collectedAnew, stands(1), twice()],
    when: dispute(2),
    then: [
      { ...disputed, attempt: 2 },
      paidAgain,
      expect.objectContaining({ type: 'PremiumRefundWaived', refund_id: twice_id, why: 'taken_back' }) as never,
    ],
  })
  scenario('that was won leaves the premium unpaid where it was given back already', {
    given: [
      ...again,
      collectedAnew,
      stands(1),
      twice(),
      { ...givenBack, refund_id: twice_id, reason: 'paid_twice', attempt: 2 },
    ],
    when: dispute(2),
    then: [{ ...disputed, attempt: 2 }, expect.objectContaining({ type: 'ArrearsChanged' }) as never],
  })
  scenario('what was paid twice can be given back by hand of either payment', {
    given: [...again, collectedAnew, stands(1), twice()],
    when: { type: 'RecordProviderRefund', premium_id, refund_id, attempt: 1, total_pence: 2875, failed_before: 0 },
    then: [{ ...givenBack, refund_id: twice_id, reason: 'paid_twice' }],
  })
  scenario('what was paid twice is given back beside what the team gives back', {
    given: [...again, collectedAnew, stands(1), twice()],
    when: { type: 'RefundPremium', premium_id, refund_id, refund_pence: null },
    then: [owed('operator')],
  })
  scenario('that took nothing changes nothing', { given: paid, when: win, then: [] })
  scenario('that is told as won twice changes nothing more', {
    given: [...paid, disputed, { ...collected, collected_at: now }],
    when: win,
    then: [],
  })
  scenario('of a policy that has ended is not asked for again', {
    given: [...paid, { type: 'PolicyLapsed', customer_id, lapsed_on: '2026-04-16', overdue_pence: 0 }],
    when: dispute(),
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
    when: settle('collected', 2),
    then: [{ ...collected, attempt: 2 }, reinstated, noArrears],
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
