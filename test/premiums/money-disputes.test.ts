import { expect, test } from 'vitest'
import type { PolicyCommand } from '#domain/policies/policy.ts'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import { derivedId } from '#infra/ids.ts'
import { operator, settle } from './money-steps.ts'
import { openWorld, policy_id } from './money-world.ts'

/** What becomes of the money when the payer's bank takes it back, and when that is won or collected again. */

test('of a premium that was taken back and collected again, no more is given back than is owed', async () => {
  const world = await openWorld()
  const { bank, clock, fire, attempt, due, state, dispute } = world
  const fireAll = async () => {
    for (const each of due().filter(({ kind }) => kind.startsWith('premium'))) await fire(each)
  }
  const operate = async (command: PolicyCommand) =>
    attempt(async ({ handle }) => handle(policy_id, command, operator(clock.at)))
  const refund = async (number: number, refund_pence: number) => {
    const refund_id = PremiumRefundId.parse(derivedId('refund', String(number)))
    const premium_id = (await state())?.premiums[0]?.premium_id ?? expect.fail()
    await operate({ type: 'RefundPremium', premium_id, refund_id, refund_pence })
    await fireAll()
  }
  const [first] = due().filter(({ kind }) => kind === 'policy_premium')
  await fire(first ?? expect.fail())
  await settle(world, 0, true, 1)
  await refund(1, 1_000)
  await dispute(0)
  const premium_id = (await state())?.premiums[0]?.premium_id ?? expect.fail()
  await operate({ type: 'RetryPremium', premium_id, by: 'operator', now: clock.at })
  await fireAll()
  await settle(world, 1, true, 1)

  await refund(2, 500)

  expect(bank.intents.map(({ refunded_pence }) => refunded_pence)).toEqual([1_000, 500])
  expect((await state())?.premiums[0]).toMatchObject({ status: 'collected', attempt: 2, refunded_pence: 1_500 })
})

/** The first premium is collected, taken back, and to be asked for again. */
const toBeAskedAnew = async () => {
  const world = await openWorld()
  const { clock, attempt, due, state } = world
  const fireAll = async (...kill: readonly [at?: 'before' | 'after', write?: number]) => {
    for (const each of due().filter(({ kind }) => kind === 'premium' || kind === 'premium_refund'))
      await world.fire(each, ...kill)
  }
  const premium = async () => (await state())?.premiums[0] ?? expect.fail()
  const [first] = due().filter(({ kind }) => kind === 'policy_premium')
  await world.fire(first ?? expect.fail())
  await fireAll()
  await settle(world, 0, true, 1)
  await world.dispute(0)
  const { premium_id } = await premium()
  const again = { type: 'RetryPremium', premium_id, by: 'operator', now: clock.at } as const
  await attempt(async ({ handle }) => handle(policy_id, again, operator(clock.at)))
  return { ...world, world, fireAll, premium, premium_id }
}

/** The same, asked for at the provider: the banks have not answered yet. */
const askedAnew = async () => {
  const asked = await toBeAskedAnew()
  await asked.fireAll()
  return asked
}

test('a premium that was collected again, whose dispute is won and told twice, has one of both payments given back', async () => {
  const { world, bank, fireAll, premium, win, tellOfDispute } = await askedAnew()
  await settle(world, 1, true, 1)
  await win(0)
  await tellOfDispute(0)
  // Killed before and after what it has done is recorded.
  await fireAll('before')
  await fireAll('after')
  await fireAll()

  expect(bank.intents.map(({ refunded_pence }) => refunded_pence)).toEqual([0, 2_875])
  expect(await premium()).toMatchObject({
    status: 'collected',
    refunded_pence: 0,
    refunds: [{ reason: 'paid_twice', status: 'refunded', refund_pence: 2_875, attempt: 2 }],
  })
})

test.each([
  [true, [0, 2_875], { status: 'collected', refunded_pence: 0, refunds: [{ reason: 'paid_twice' }] }],
  [false, [0, 0], { status: 'collected', attempt: 1, refunds: [], payment_intent_id: 'pi_1' }],
])('a dispute that is won while the premium is collected again, which succeeds: %s', async (succeeds, given, paid) => {
  const { world, bank, fireAll, premium, win } = await askedAnew()
  await win(0)
  await settle(world, 1, succeeds, 2)
  await fireAll()

  expect(bank.intents.map(({ refunded_pence }) => refunded_pence)).toEqual(given)
  expect(await premium()).toMatchObject(paid)
})

test('a premium that was to be asked for again is not asked for once its dispute is won', async () => {
  const { bank, fireAll, premium, win } = await toBeAskedAnew()
  await win(0)
  await fireAll('before')
  await fireAll()

  expect(bank.intents).toHaveLength(1)
  expect(await premium()).toMatchObject({ status: 'collected', attempt: 1, payment_intent_id: 'pi_1', refunds: [] })
})

test('one that was asked for again by a process that was killed then is waited for, and one payment is given back', async () => {
  const { world, bank, fireAll, premium, win } = await toBeAskedAnew()
  await fireAll('before', 2)
  expect(bank.intents).toHaveLength(2)
  await win(0)
  await fireAll()
  expect(await premium()).toMatchObject({ status: 'collected', attempt: 1, refunds: [] })
  await settle(world, 1, true, 1)
  await fireAll()

  expect(bank.intents.map(({ refunded_pence }) => refunded_pence)).toEqual([0, 2_875])
})

test('one that was asked for again by a process that slept through all of it is given back when it is collected', async () => {
  const { world, bank, fireAll, premium, win, tell } = await toBeAskedAnew()
  const wakeUp = bank.sleepBeforeNextCollection()
  const asleep = fireAll()
  await wakeUp.isAsleep
  await win(0)
  await fireAll()
  expect(await premium()).toMatchObject({ status: 'collected', attempt: 1 })
  wakeUp.now()
  await asleep
  await settle(world, 1, true, 2)
  await tell('payment_intent.succeeded', 1)
  await fireAll()

  expect(bank.intents.map(({ refunded_pence }) => refunded_pence)).toEqual([0, 2_875])
  expect(await premium()).toMatchObject({ status: 'collected', refunds: [{ reason: 'paid_twice' }] })
})

test('a premium that is written off in trust of a dispute that was won, and is collected all the same, is paid twice', async () => {
  const { world, bank, clock, fireAll, premium, premium_id, win, attempt } = await askedAnew()
  await win(0)
  bank.forgetPayment('pi_2')
  await fireAll()
  const writeOff = { type: 'WriteOffPremium', premium_id, reason: 'operator' } as const
  await attempt(async ({ handle }) => handle(policy_id, writeOff, operator(clock.at)))
  expect(await premium()).toMatchObject({ status: 'collected', attempt: 1, refunds: [] })
  bank.forgetPayment(undefined)
  await settle(world, 1, true, 2)
  await fireAll()

  expect(bank.intents.map(({ refunded_pence }) => refunded_pence)).toEqual([0, 2_875])
  expect(await premium()).toMatchObject({ status: 'collected', refunded_pence: 0, refunds: [{ reason: 'paid_twice' }] })
})

/** The operator gives £10 of the first premium back. */
const giveTenBack = async ({ attempt, clock, premium, fireAll }: Awaited<ReturnType<typeof askedAnew>>) => {
  const { premium_id } = await premium()
  const refund_id = PremiumRefundId.parse(derivedId('refund', 'ten'))
  const command = { type: 'RefundPremium', premium_id, refund_id, refund_pence: 1_000 } as const
  await attempt(async ({ handle }) => handle(policy_id, command, operator(clock.at)))
  // Killed before and after what it has done is recorded.
  await fireAll('before')
  await fireAll('after')
  await fireAll()
}

test('of a premium that was paid twice, of which a part was given back, one payment is given back beside it', async () => {
  const asked = await askedAnew()
  const { world, bank, fireAll, premium, win } = asked
  await settle(world, 1, true, 1)
  await giveTenBack(asked)
  await win(0)
  await fireAll('before')
  await fireAll()
  await fireAll()

  // From the newest payment first, and what that does not hold any more from the other.
  expect(bank.intents.map(({ refunded_pence }) => refunded_pence)).toEqual([1_000, 2_875])
  const { refunds, ...paid } = await premium()
  expect(paid).toMatchObject({ status: 'collected', refunded_pence: 1_000 })
  expect(refunds.filter(({ reason }) => reason === 'paid_twice')).toMatchObject([
    { status: 'refunded', refund_pence: 1_875, attempt: 2 },
    { status: 'refunded', refund_pence: 1_000, attempt: 1 },
  ])
})

test.each(['in time', 'late'])(
  'once one of two payments was given back, what is given back later comes out of the other, of which news comes %s',
  async (news) => {
    const asked = await askedAnew()
    const { world, bank, fireAll, premium, win, tellOfRefunds } = asked
    await settle(world, 1, true, 1)
    await win(0)
    await fireAll()
    if (news === 'late') await giveTenBack(asked)
    else {
      const { attempt, clock } = asked
      const { premium_id } = await premium()
      const refund_id = PremiumRefundId.parse(derivedId('refund', 'ten'))
      const command = { type: 'RefundPremium', premium_id, refund_id, refund_pence: 1_000 } as const
      await attempt(async ({ handle }) => handle(policy_id, command, operator(clock.at)))
      // The provider has done it, and nobody has recorded it.
      await fireAll('before')
    }
    await tellOfRefunds(0)
    await fireAll()

    expect(bank.intents.map(({ refunded_pence }) => refunded_pence)).toEqual([1_000, 2_875])
    expect(await premium()).toMatchObject({ status: 'collected', refunded_pence: 1_000, refunds: [{}, {}] })
  },
)

test('a dispute that is won and told to three processes at once gives one payment back', async () => {
  const { world, bank, fireAll, premium, win, tellOfDispute } = await askedAnew()
  await settle(world, 1, true, 1)
  await win(0, false)
  await Promise.all([tellOfDispute(0), tellOfDispute(0), tellOfDispute(0)])
  await fireAll()

  expect(bank.intents.map(({ refunded_pence }) => refunded_pence)).toEqual([0, 2_875])
  expect((await premium()).refunds).toHaveLength(1)
})

test('news of a refund by hand that comes after the news of its failure gives nothing back', async () => {
  const world = await openWorld()
  const { bank, fire, due, state } = world
  const [first] = due().filter(({ kind }) => kind === 'policy_premium')
  await fire(first ?? expect.fail())
  await settle(world, 0, true, 1)
  await bank.provider.refund(bank.intents[0]?.id ?? '', 400, 'by hand', {})
  bank.failRefund(bank.refunds[0] ?? expect.fail())
  await world.tellOfFailedRefunds()

  await world.tellOfRefunds(0, 400)

  expect((await state())?.premiums[0]).toMatchObject({ status: 'collected', refunded_pence: 0, refunds: [] })
})

test('the rest of a payment that was taken back in part is given back where the policy is cancelled', async () => {
  const world = await openWorld()
  const { bank, attempt, clock, due, fire, state } = world
  await fire(due().find(({ kind }) => kind === 'policy_premium') ?? expect.fail())
  await settle(world, 0, true, 1)
  await world.dispute(0, true, 1_000)
  expect((await state())?.premiums[0]).toMatchObject({ status: 'failed', failure_code: 'disputed' })

  const cancel = { type: 'CancelPolicy', reason: 'cooling_off', note: null, today: '2026-07-02' } as const
  await attempt(async ({ handle }) => handle(policy_id, cancel, operator(clock.at)))
  await world.followCancellation()
  for (const row of due()) await fire(row)

  expect((await state())?.premiums[0]?.refunds).toMatchObject([
    { status: 'refunded', refund_pence: 1_875, reason: 'cooling_off' },
  ])
  expect(bank.holds()).toBe(0)
})

test('a premium is not asked for again while what was asked for before is on its way', async () => {
  const { world, bank, attempt, clock, dispute, fireAll, premium, premium_id, win } = await toBeAskedAnew()
  // It is asked for, and whoever asked is killed before that is recorded.
  await fireAll('before', 2)
  await win(0)
  await dispute(0)
  const again = { type: 'RetryPremium', premium_id, by: 'operator', now: clock.at } as const
  await attempt(async ({ handle }) => handle(policy_id, again, operator(clock.at)))
  await fireAll()

  expect(await premium()).toMatchObject({ status: 'due', attempt: 3, failure_code: 'processing' })
  await settle(world, 1, true, 1)
  expect(await premium()).toMatchObject({ status: 'collected', attempt: 2 })
  expect(bank.intents).toHaveLength(2)
})

test('a premium is asked for again where what was to be asked for before never came to the provider', async () => {
  const { bank, attempt, clock, dispute, fireAll, premium, premium_id, win } = await toBeAskedAnew()
  await fireAll('after', 1)
  await win(0)
  await dispute(0)
  const again = { type: 'RetryPremium', premium_id, by: 'operator', now: clock.at } as const
  await attempt(async ({ handle }) => handle(policy_id, again, operator(clock.at)))
  for (let time = 0; time < 2; time++) await fireAll()

  expect(await premium()).toMatchObject({ status: 'requested', attempt: 3 })
  expect(bank.intents).toHaveLength(2)
})

test('what the team gives back of two payments, of which each holds a part, is given back of both', async () => {
  const { world, bank, fireAll, premium, premium_id, clock, attempt, win } = await askedAnew()
  await settle(world, 1, true, 1)
  await win(0)
  await bank.provider.refund('pi_1', 1_000, 'by hand', {})
  await world.tellOfRefunds(0)
  const refund_id = PremiumRefundId.parse(derivedId('refund', '1'))
  const all = { type: 'RefundPremium', premium_id, refund_id, refund_pence: null } as const
  await attempt(async ({ handle }) => handle(policy_id, all, operator(clock.at)))

  for (let time = 0; time < 4; time++) await fireAll()

  expect(bank.intents.map(({ refunded_pence }) => refunded_pence)).toEqual([2_875, 2_875])
  expect(await premium()).toMatchObject({ status: 'collected', refunded_pence: 2_875 })
})

/** All was given back, which has failed days later: the team has it tried once more. */
const refundTriedAgain = async () => {
  const world = await openWorld()
  const { bank, clock, attempt, due, state } = world
  const fire = async (kind: string) => world.fire(due().find((each) => each.kind === kind) ?? expect.fail(kind))
  const operate = async (command: PolicyCommand) =>
    attempt(async ({ handle }) => handle(policy_id, command, operator(clock.at)))
  await fire('policy_premium')
  await settle(world, 0, true, 1)
  const { premium_id } = (await state())?.premiums[0] ?? expect.fail()
  const refund_id = PremiumRefundId.parse(derivedId('refund', '1'))
  await operate({ type: 'RefundPremium', premium_id, refund_id, refund_pence: null })
  await fire('premium_refund')
  const made = bank.refunds[0] ?? expect.fail()
  bank.failRefund(made)
  await world.tellOfFailedRefunds()
  await operate({ type: 'RequestRefund', premium_id, refund_id })
  const giveBack = async () => {
    await fire('premium_refund')
    return (await state())?.premiums[0]?.refunds[0]
  }
  return { bank, made, giveBack }
}

test('a refund that has failed is made again at once when the team has it tried again', async () => {
  const { bank, giveBack } = await refundTriedAgain()

  expect(await giveBack()).toMatchObject({ status: 'refunded', provider_refunds: ['re_2'] })
  expect(bank.refunds).toHaveLength(2)
})

test('a refund that has failed is not taken for the next one, where the provider answers as it did then', async () => {
  const { bank, made, giveBack } = await refundTriedAgain()
  Object.assign(bank.provider, { refund: async () => ({ outcome: 'done', value: made }) })

  expect(await giveBack()).toMatchObject({ status: 'owed', failure_code: 'refund_failed', failed_attempts: 1 })
})
