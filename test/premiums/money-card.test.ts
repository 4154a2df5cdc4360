import { expect, test } from 'vitest'
import type { PolicyCommand } from '#domain/policies/policy.ts'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import { operator } from './money-steps.ts'
import { openWorld as openMoney, policy_id } from './money-world.ts'
import { firstPremium } from './paid-by-card.ts'

/** A first premium that was paid by card, the provider, and what is done about it. */
const openWorld = async () => {
  const world = await openMoney({ end_date: null, is_by_card: true })
  const { bank } = world
  /** What is due of refunds, each as often as it asks for itself, and twice. */
  const follow = async () => {
    for (let time = 0; time < 4; time++)
      for (const due of world.due()) if (due.kind === 'premium_refund') await world.fire(due)
  }
  return {
    bank,
    byHand: async (pence: number) => {
      await bank.provider.refund('pi_1', pence, `by hand ${bank.refunds.length}`, {})
      for (let time = 0; time < 2; time++) await world.tellOfRefunds(0)
      await follow()
    },
    fails: async (index: number) => {
      bank.failRefund(bank.refunds[index] ?? expect.fail())
      await world.tellOfFailedRefunds()
      await follow()
    },
    does: async (command: PolicyCommand) => {
      await world.attempt(async ({ handle }) => handle(policy_id, command, operator('2026-07-02T09:00:00.000Z')))
      await follow()
    },
    premium: async () => (await world.state())?.premiums[0] ?? expect.fail(),
    holds: () => bank.holds(),
  }
}

const { premium_id } = firstPremium
const refund_id = (last: number) => PremiumRefundId.parse(`b2000000-0000-5000-8000-00000000000${last}`)
const refund = { type: 'RefundPremium', premium_id, refund_id: refund_id(1), refund_pence: null } as const

test('a part of a card payment that somebody has given back by hand is recorded with the premium, once', async () => {
  const { byHand, premium } = await openWorld()
  await byHand(1_000)
  expect(await premium()).toMatchObject({
    status: 'collected',
    refunded_pence: 1_000,
    refunds: [{ refund_pence: 1_000, reason: 'provider', status: 'refunded' }],
  })
})

test('the rest of it is given back by hand as well', async () => {
  const { byHand, premium } = await openWorld()
  await byHand(1_000)
  await byHand(1_875)
  expect(await premium()).toMatchObject({ refunded_pence: 2_875, refunds: [{ refund_pence: 1_000 }, {}] })
})

test('of what is left, the operator gives a part back, and then all, and no more than is left', async () => {
  const { bank, byHand, does, premium, holds } = await openWorld()
  await byHand(1_000)
  await does({ ...refund, refund_pence: 1_876 })
  expect(holds()).toBe(1_875)

  await does({ ...refund, refund_pence: 875 })
  await does({ ...refund, refund_id: refund_id(2) })

  expect(await premium()).toMatchObject({ refunded_pence: 2_875, refunds: [{}, { status: 'refunded' }, {}] })
  expect(bank.refunds.map(({ pence }) => pence)).toEqual([1_000, 875, 1_000])
})

test('what is cancelled later gives back only what is left', async () => {
  const { byHand, does, premium, holds } = await openWorld()
  await byHand(1_000)
  await does({ type: 'CancelPolicy', reason: 'cooling_off', note: null, today: '2026-07-02' })
  expect(await premium()).toMatchObject({ refunded_pence: 2_875, refunds: [{}, { refund_pence: 1_875 }] })
  expect(holds()).toBe(0)
})

test('a part that comes back to the provider was nobody’s debt: all can be given back again', async () => {
  const { byHand, fails, does, premium, holds } = await openWorld()
  await byHand(1_000)
  await fails(0)
  expect(await premium()).toMatchObject({ refunded_pence: 0, refunds: [{ status: 'waived' }] })
  await does(refund)
  expect(await premium()).toMatchObject({ refunded_pence: 2_875, refunds: [{}, { refund_pence: 2_875 }] })
  expect(holds()).toBe(0)
})

test('a rest that comes back to the provider is left to the team, and is given back again, and only the rest', async () => {
  const { byHand, fails, does, premium, bank, holds } = await openWorld()
  await byHand(1_000)
  await does(refund)
  await fails(1)
  expect(await premium()).toMatchObject({ refunded_pence: 1_000, refunds: [{}, { status: 'owed', is_left: true }] })

  await does({ type: 'RequestRefund', premium_id, refund_id: refund.refund_id })

  expect(await premium()).toMatchObject({ refunded_pence: 2_875, refunds: [{}, { status: 'refunded' }] })
  expect(bank.refunds.map(({ pence }) => pence)).toEqual([1_000, 1_875, 1_875])
  expect(holds()).toBe(0)
})
