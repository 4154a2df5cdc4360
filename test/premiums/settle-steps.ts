import fc from 'fast-check'
import { expect } from 'vitest'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import { refundable } from '#domain/premiums/record.ts'
import { derivedId } from '#infra/ids.ts'
import { amount_pence, bankHolds, type SettleWorld } from './settle-world.ts'

const kill = fc.constantFrom(undefined, undefined, 'asked' as const, 'done' as const)
const at = fc.nat(5)
const told = fc.boolean()

/** What may happen to a premium, step by step, and what must be so in the end. */

export const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant('collect' as const), kill }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constant('bank settles' as const), at, succeeds: fc.boolean(), told }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constant('give back' as const), kill }) },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('dispute' as const),
      at,
      pence: fc.constantFrom<number | null>(null, null, null, 1_000),
      told,
    }),
  },
  { weight: 3, arbitrary: fc.record({ act: fc.constantFrom('win' as const, 'lose' as const), at, told }) },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('by hand' as const),
      at,
      pence: fc.constantFrom<number>(400, 1_000, amount_pence),
      told,
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('refund fails' as const), at, told }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('look' as const), at }) },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('team refunds' as const),
      pence: fc.constantFrom<number | null>(null, 500, 1_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('team retries' as const) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('team retries refund' as const), at }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('team closes refund' as const),
      at,
      how: fc.constantFrom('paid_otherwise' as const, 'not_owed' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('cancel' as const), cooling_off: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('write off' as const) }) },
)
export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

export const take = (world: SettleWorld, each: Step, count: number): void => {
  const { bank, policy, record, about } = world
  const payment = 'at' in each ? bank[each.at % Math.max(1, bank.length)] : undefined
  const premium = world.premium()
  const { premium_id } = premium
  const tell = (isTold: boolean): void => {
    if (isTold && payment) world.look(payment)
  }
  switch (each.act) {
    case 'collect':
      return world.collect(each.kill)
    case 'give back':
      return world.giveBack(each.kill)
    case 'look':
      return world.readAt(each.at)
    case 'bank settles':
      if (payment?.status !== 'processing') return
      payment.status = each.succeeds ? 'succeeded' : 'open'
      return tell(each.told)
    case 'dispute': {
      if (payment?.status !== 'succeeded' || payment.disputes.some(({ status }) => status !== 'won')) return
      const provider_dispute_id = `dp_${payment.attempt}_${payment.disputes.length}`
      payment.disputes.push({
        provider_dispute_id,
        disputed_pence: Math.min(payment.amount_pence, each.pence ?? payment.amount_pence),
        status: 'open',
      })
      return tell(each.told)
    }
    case 'win':
    case 'lose': {
      const dispute = payment?.disputes.find(({ status }) => status === 'open')
      if (!dispute) return
      dispute.status = each.act === 'win' ? 'won' : 'lost'
      return tell(each.told)
    }
    case 'by hand':
      if (!payment) return
      world.bankRefunds(payment, undefined, null, Math.min(each.pence, payment.amount_pence))
      return tell(each.told)
    case 'refund fails': {
      const refund = payment?.refunds.find(({ has_failed }) => !has_failed)
      if (!refund) return
      refund.has_failed = true
      refund.failure_code = 'expired_card'
      return tell(each.told)
    }
    case 'team refunds': {
      const left = refundable(premium)
      const refund_pence = each.pence ?? left
      if (left === 0 || refund_pence > left) return
      const refund_id = PremiumRefundId.parse(derivedId('team', String(count)))
      record({
        type: 'PremiumRefundOwed',
        ...about,
        refund_id,
        application_id: policy.application_id,
        card_payment_id: null,
        refund_pence,
        reason: 'operator',
      })
      return world.settleAll()
    }
    case 'team retries':
      if (premium.status !== 'failed' || policy.has_ended) return
      record({ type: 'PremiumRetried', ...about, attempt: premium.attempts + 1 })
      return world.settleAll()
    case 'team retries refund': {
      const left = premium.refunds.filter(({ status, is_left }) => status === 'owed' && is_left)
      const refund = left[each.at % Math.max(1, left.length)]
      if (!refund || premium.status !== 'collected') return
      record({ type: 'PremiumRefundRequested', premium_id, refund_id: refund.refund_id })
      return world.settleAll()
    }
    case 'team closes refund': {
      const left = premium.refunds.filter(({ status, is_left }) => status === 'owed' && is_left)
      const refund = left[each.at % Math.max(1, left.length)]
      if (!refund) return
      const { refund_id, refund_pence } = refund
      const closed = { ...about, refund_id, customer_id: policy.customer.id, attempt: premium.attempt, refund_pence }
      record(
        each.how === 'not_owed'
          ? { type: 'PremiumRefundWaived', ...closed, why: 'not_owed', reason: 'Said so.' }
          : { type: 'PremiumRefundPaidOtherwise', ...closed, paid_on: '2026-07-01', reason: 'By transfer.' },
      )
      return world.settleAll()
    }
    case 'cancel':
      if (policy.has_ended) return
      Object.assign(policy, {
        has_ended: true,
        cancelled_on: each.cooling_off ? '2026-07-10' : '2026-06-30',
        cancellation_reason: each.cooling_off ? 'cooling_off' : 'customer_request',
      })
      if (premium.status === 'failed') writeOff(world)
      return world.settleAll()
    case 'write off':
      if (premium.status === 'failed') writeOff(world)
      return world.settleAll()
  }
}

const writeOff = ({ record, about, premium }: SettleWorld): void =>
  record({ type: 'PremiumWrittenOff', ...about, attempt: premium().attempt, reason: 'operator' })

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

const pence = (world: SettleWorld, ...statuses: readonly string[]): number =>
  sum(world.premium().refunds.flatMap(({ status, refund_pence }) => (statuses.includes(status) ? [refund_pence] : [])))

/** All is told, all that is due is done, and nobody is killed any more. */
export const finish = (world: SettleWorld): void => {
  const isTried = () => world.premium().refunds.some(({ status, is_left }) => status === 'owed' && !is_left)
  // Each refund is tried several times before it is left to the team.
  for (let round = 0; round < 12 || (isTried() && round < 200); round++) {
    for (const each of world.bank) {
      if (each.status === 'processing') each.status = 'succeeded'
      world.look(each)
    }
    world.lookForOpened()
    if (world.premium().status === 'due' || world.premium().retry_at !== null) world.collect(undefined)
    world.giveBack(undefined)
  }
}

export const expectItToAddUp = (world: SettleWorld): void => {
  const { bank, policy } = world
  const { status, refunds, refunded_pence } = world.premium()
  const held = sum(bank.map(bankHolds))
  const atBank = sum(
    bank.flatMap((each) => each.refunds.map(({ has_failed, refund_pence }) => (has_failed ? 0 : refund_pence))),
  )
  // What was given back is recorded, once.
  expect(pence(world, 'refunded')).toBe(atBank)
  expect(new Set(bank.map(({ attempt }) => attempt)).size).toBe(bank.length)
  expect(new Set(refunds.map(({ refund_id }) => refund_id)).size).toBe(refunds.length)
  expect(refunds.filter((each) => each.status === 'owed' && !each.is_left)).toEqual([])
  const net = held - pence(world, 'paid_otherwise')
  const ofReason = (which: string, ...reasons: readonly string[]): number =>
    sum(refunds.flatMap((each) => (each.status === which && reasons.includes(each.reason) ? [each.refund_pence] : [])))
  const kept = sum(
    refunds.flatMap(({ status: how, waived_as, reason, refund_pence }) =>
      how === 'waived' && waived_as === 'not_owed' && reason !== 'operator' && reason !== 'provider'
        ? [refund_pence]
        : [],
    ),
  )
  if (policy.cancelled_on !== null) {
    // Nothing is kept for a time that is not covered but what is left to the team, or what the team says is not owed.
    expect(net).toBeLessThanOrEqual(pence(world, 'owed') + kept)
    return
  }
  const twice = ofReason('owed', 'paid_twice', 'cooling_off', 'policy_ended')
  if (status === 'collected') {
    // One payment is kept, no more and no less: less what was given back of it.
    expect(net).toBeGreaterThanOrEqual(amount_pence - refunded_pence)
    expect(net).toBeLessThanOrEqual(Math.max(0, amount_pence - refunded_pence) + twice + kept)
  } else {
    expect(net).toBeLessThan(Math.max(1, amount_pence - refunded_pence))
  }
}
