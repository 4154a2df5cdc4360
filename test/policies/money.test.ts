import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ClaimId } from '#domain/claims/events.ts'
import { MandateId } from '#domain/payments/events.ts'
import { hasMandate, needsMandate } from '#domain/policies/mandate.ts'
import type { PolicyCommand } from '#domain/policies/policy.ts'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import type { Premium } from '#domain/premiums/record.ts'
import { derivedId } from '#infra/ids.ts'
import { openWorld, organisation_id, policy_id } from './money-world.ts'

type World = Awaited<ReturnType<typeof openWorld>>

/** What the banks say of a payment, and to how many processes at once the provider passes it on. */
const settle = async ({ bank, tell }: World, index: number, succeeds: boolean, times: number) => {
  const intent = bank.intents[index]
  if (intent?.status !== 'processing') return
  intent.status = succeeds ? 'succeeded' : 'open'
  const type = succeeds ? 'payment_intent.succeeded' : 'payment_intent.payment_failed'
  await Promise.all(Array.from({ length: times }, async () => tell(type, index)))
}

/** What the firm should have of a premium; undefined where the team has closed what would be given back of two payments. */
const money = ({ status, amount_pence, refunds }: Premium): number | undefined => {
  const twice = refunds.filter(({ reason }) => reason === 'paid_twice')
  if (twice.some((refund) => refund.status !== 'refunded')) return undefined
  const refunded = refunds.filter((refund) => refund.status === 'refunded' && refund.reason !== 'paid_twice')
  const given = refunded.reduce((pence, { refund_pence }) => pence + refund_pence, 0)
  return (status === 'collected' ? amount_pence : 0) - given
}

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant('fire' as const),
      at: fc.nat(3),
      kill: fc.constantFrom(undefined, undefined, 'before' as const, 'after' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('settle' as const),
      at: fc.nat(9),
      succeeds: fc.boolean(),
      times: fc.nat(2),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('refund' as const),
      at: fc.nat(9),
      pence: fc.constantFrom(null, 100, 1_000, 2_875),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('refund at the provider' as const),
      at: fc.nat(9),
      pence: fc.constantFrom(50, 400, 1_000, 2_875),
      told: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('fire twice at once' as const), at: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('dispute' as const), at: fc.nat(9), told: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('win' as const), at: fc.nat(9), told: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('close' as const), paid: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('refund fails' as const), at: fc.nat(9), told: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('refund again' as const) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('retry' as const), at: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('write off' as const), at: fc.nat(9) }) },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant('lose answers' as const), collections: fc.nat(2), refunds: fc.nat(2) }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('cancel' as const), cooling_off: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('mandate ends' as const) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('other account' as const), is_made: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('suspend' as const) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('reinstate' as const) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('claim' as const), ends_policy: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('time passes' as const), days: fc.constantFrom(1, 30, 60) }) },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

const operator = (now: string) => ({
  organisation_id,
  actor: { type: 'operator', id: null } as const,
  correlation_id: 'test',
  now,
})

type Closing = Extract<PolicyCommand, { type: 'CloseRefund' }>['closing']
const otherwise: Closing = { how: 'paid_otherwise', paid_on: '2026-07-01', reason: 'Bank transfer.' }
const notOwed: Closing = { how: 'not_owed', reason: 'Agreed.' }

/**
 * As the team does with the first refund that was left to it: it is tried again, or closed, as it must be once the payer's
 * bank has taken the premium back. Says whether there was one.
 */
const workOff = async ({ state, attempt, clock }: World, closing?: Closing): Promise<boolean> => {
  const premiums = (await state())?.premiums ?? []
  const left = premiums.flatMap(({ premium_id, refunds, status }) =>
    refunds.filter(({ is_left }) => is_left).map(({ refund_id }) => ({ premium_id, refund_id, status })),
  )[0]
  if (!left) return false
  const { status, ...which } = left
  const how = closing ?? (status === 'collected' ? undefined : notOwed)
  const command: PolicyCommand = how
    ? { type: 'CloseRefund', ...which, closing: how }
    : { type: 'RequestRefund', ...which }
  await attempt(async ({ handle }) => handle(policy_id, command, operator(clock.at)))
  return true
}

/** The customer has given another account, which makes another customer at the provider. */
const otherMandate = (count: number): PolicyCommand => ({
  type: 'RecordMandate',
  mandate_id: MandateId.parse(derivedId('mandate', String(count))),
  provider_customer_id: `cus_${count}`,
  provider_payment_method_id: `pm_${count}`,
  provider_mandate_id: `mandate_${count}`,
  account_number_last4: '7491',
  status: 'pending',
})

const take = async (world: World, given: Step, count: number): Promise<void> => {
  const { bank, clock, attempt } = world
  const state = await world.state()
  const premiums = state?.premiums ?? []
  const operate = async (...commands: readonly PolicyCommand[]) =>
    attempt(async ({ handle }) => {
      for (const command of commands) await handle(policy_id, command, operator(clock.at))
    })
  const premium_id = 'at' in given ? premiums[given.at % Math.max(premiums.length, 1)]?.premium_id : undefined
  switch (given.act) {
    case 'fire':
    case 'fire twice at once': {
      const rows = world.due().filter(({ kind, due_at }) => kind !== 'policy_end' || due_at < '2027')
      const due = rows[given.at % Math.max(rows.length, 1)]
      if (!due) return
      if (given.act === 'fire') await world.fire(due, given.kill)
      else await Promise.all([world.fire(due), world.fire(due)])
      return
    }
    case 'settle':
      return settle(world, given.at % Math.max(bank.intents.length, 1), given.succeeds, given.times)
    case 'refund': {
      const refund_id = PremiumRefundId.parse(derivedId('refund', String(count)))
      return attempt(
        async ({ handle }) =>
          premium_id &&
          handle(
            policy_id,
            { type: 'RefundPremium', premium_id, refund_id, refund_pence: given.pence },
            operator(clock.at),
          ),
      )
    }
    case 'refund at the provider': {
      const index = given.at % Math.max(bank.intents.length, 1)
      await bank.provider.refund(bank.intents[index]?.id ?? '', given.pence, `by hand ${count}`, {})
      return given.told ? world.tellOfRefunds(index) : undefined
    }
    case 'dispute':
      return world.dispute(given.at % Math.max(bank.intents.length, 1), given.told)
    case 'win':
      return world.win(given.at % Math.max(bank.intents.length, 1), given.told)
    case 'close': {
      await workOff(world, given.paid ? otherwise : notOwed)
      return
    }
    case 'refund fails': {
      const standing = bank.refunds.filter(({ has_failed }) => !has_failed)
      const refund = standing[given.at % Math.max(standing.length, 1)]
      if (refund) bank.failRefund(refund)
      return given.told ? world.tellOfFailedRefunds() : undefined
    }
    case 'refund again':
      await workOff(world)
      return
    case 'retry':
    case 'write off':
      return attempt(
        async ({ handle }) =>
          premium_id &&
          handle(
            policy_id,
            given.act === 'retry'
              ? { type: 'RetryPremium', premium_id, by: 'operator', now: clock.at }
              : { type: 'WriteOffPremium', premium_id, reason: 'operator' },
            operator(clock.at),
          ),
      )
    case 'lose answers':
      Object.assign(bank.silent, { collections: given.collections, refunds: given.refunds })
      return
    case 'cancel':
      return attempt(async ({ handle }) =>
        handle(
          policy_id,
          {
            type: 'CancelPolicy',
            reason: given.cooling_off ? 'cooling_off' : 'customer_request',
            note: null,
            today: clock.at.slice(0, 10),
          },
          operator(clock.at),
        ),
      )
    case 'mandate ends': {
      const mandate_id = MandateId.safeParse(state?.payment_method.mandate_id).data
      const status = state?.payment_method.mandate_status === 'pending' ? 'failed' : 'cancelled'
      return mandate_id && operate({ type: 'ChangeMandate', mandate_id, status })
    }
    case 'other account':
      await operate({ type: 'RequestMandate' })
      return given.is_made && state && !hasMandate(state) ? operate(otherMandate(count)) : undefined
    case 'suspend':
      return operate({ type: 'SuspendPolicy' })
    case 'reinstate':
      return operate({ type: 'ReinstatePolicy', now: clock.at })
    case 'claim': {
      const claim_id = ClaimId.parse(derivedId('claim', String(count)))
      const today = clock.at.slice(0, 10)
      const decided = { type: 'DecideClaim', claim_id, amount_pence: null, note: null, today } as const
      return operate(
        {
          type: 'OpenClaim',
          claim_id,
          claim_type: 'life',
          cover_index: null,
          happened_on: '2026-03-01',
          amount_pence: 1_000,
          note: null,
          today,
        },
        { ...decided, decision: 'approve', ends_policy: false },
        { ...decided, decision: 'pay', ends_policy: given.ends_policy },
      )
    }
    case 'time passes':
      clock.at = new Date(Date.parse(clock.at) + given.days * 86_400_000).toISOString()
  }
}

/**
 * All that is under way comes to its end: the banks answer, the provider tells what it has not told yet, the team has what was
 * left to it tried once more, and what is due of premiums and refunds is done.
 */
const finish = async (world: World): Promise<void> => {
  const { bank } = world
  Object.assign(bank.silent, { collections: 0, refunds: 0 })
  await world.tellOfFailedRefunds()
  for (const index of bank.intents.keys()) await world.tellOfDispute(index)
  if (needsMandate((await world.state()) ?? expect.fail()))
    await take(world, { act: 'other account', is_made: true }, 99)
  for (let round = 0; round < 100; round++) {
    for (const index of bank.intents.keys()) await settle(world, index, true, 1)
    // Where both payments were given back already, trying again fails for ever.
    const isTriedAgain = await workOff(world, round > 40 ? otherwise : undefined)
    const rows = world.due().filter(({ kind }) => kind === 'premium' || kind === 'premium_refund')
    if (rows.length === 0 && !isTriedAgain) {
      for (const index of bank.intents.keys()) await world.tellOfRefunds(index)
      if (world.due().every(({ kind }) => kind !== 'premium' && kind !== 'premium_refund')) return
    }
    for (const due of rows) await world.fire(due)
  }
  throw new Error('It did not come to an end.')
}

/** Before what is due at the beginning is collected, soon after, and in years. */
const ends = ['2026-07-10', '2026-10-02', '2051-02-02']

test('whatever happens in whatever order, what was collected less what was refunded is what the provider holds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), fc.constantFrom(...ends), async (steps, end) => {
      const world = await openWorld({ end_date: end })
      for (const [count, each] of steps.entries()) await take(world, each, count)

      await finish(world)

      const { premiums = [], cancellation_reason, cancelled_on = null } = (await world.state()) ?? {}
      for (const { premium_id, covers_from, refunds } of premiums) {
        const isCovered = cancelled_on === null || (cancellation_reason !== 'cooling_off' && covers_from < cancelled_on)
        const isClosedByTeam =
          steps.some(({ act }) => act === 'close') || refunds.some(({ status }) => status === 'paid_otherwise')
        // Nothing is kept for a time that is not covered.
        if (!isCovered && !isClosedByTeam) expect(world.bank.holds(premium_id)).toBeLessThanOrEqual(0)
      }
      for (const { refunded_pence, refunds } of premiums) {
        const counted = refunds
          .filter(({ status }) => status === 'refunded' || status === 'paid_otherwise')
          .filter(({ reason }) => reason !== 'paid_twice')
        expect(refunded_pence).toBe(counted.reduce((sum, { refund_pence }) => sum + refund_pence, 0))
        expect(refunds.filter(({ status }) => status === 'owed')).toEqual([])
      }
      for (const premium of premiums) {
        const { premium_id, status, refunds } = premium
        const taken = world.bank.intents.filter(({ metadata }) => metadata['premium_id'] === premium_id)
        const standing = taken.filter(({ status, is_disputed }) => status === 'succeeded' && !is_disputed)
        const held = money(premium)
        if (held !== undefined) expect(held).toBe(world.bank.holds(premium_id))
        if (!refunds.some(({ reason }) => reason === 'paid_twice'))
          expect(standing.length).toBe(status === 'collected' ? 1 : 0)
        expect(new Set(taken.map(({ metadata }) => metadata['attempt'])).size).toBe(taken.length)
      }
      const months = premiums.filter(({ status }) => status === 'collected').map(({ covers_from }) => covers_from)
      expect(new Set(months).size).toBe(months.length)
    }),
    { numRuns: 60 },
  )
})

test('of a premium that was taken back and collected anew, no more is given back than is owed', async () => {
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

/** The first premium is collected, taken back, and to be asked for anew. */
const toBeAskedAnew = async () => {
  const world = await openWorld()
  const { clock, attempt, due, state } = world
  const fireAll = async (kill?: 'before' | 'after') => {
    for (const each of due().filter(({ kind }) => kind === 'premium' || kind === 'premium_refund'))
      await world.fire(each, kill)
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

test('a premium that was collected anew, whose dispute is won and told twice, has one of both payments given back', async () => {
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
    attempt: 2,
    refunded_pence: 0,
    refunds: [{ reason: 'paid_twice', status: 'refunded', refund_pence: 2_875, attempt: 2 }],
  })
})

test.each([
  [true, [0, 2_875], { status: 'collected', attempt: 2, refunded_pence: 0 }],
  [false, [0, 0], { status: 'collected', attempt: 1, refunds: [], payment_intent_id: 'pi_1' }],
])('a dispute that is won while the premium is collected anew, which succeeds: %s', async (succeeds, given, paid) => {
  const { world, bank, fireAll, premium, win } = await askedAnew()
  await win(0)
  await settle(world, 1, succeeds, 2)
  await fireAll()

  expect(bank.intents.map(({ refunded_pence }) => refunded_pence)).toEqual(given)
  expect(await premium()).toMatchObject(paid)
})

test('a premium that was to be asked for anew is not asked for once its dispute is won', async () => {
  const { bank, fireAll, premium, win } = await toBeAskedAnew()
  await win(0)
  await fireAll('before')
  await fireAll()

  expect(bank.intents).toHaveLength(1)
  expect(await premium()).toMatchObject({ status: 'collected', attempt: 1, payment_intent_id: 'pi_1', refunds: [] })
})

test('one that was asked for anew by a process that was killed then is waited for, and one payment is given back', async () => {
  const { world, bank, fireAll, premium, win } = await toBeAskedAnew()
  await fireAll('before')
  await win(0)
  await fireAll()
  expect(await premium()).toMatchObject({ status: 'requested', attempt: 2 })
  await settle(world, 1, true, 1)
  await fireAll()

  expect(bank.intents.map(({ refunded_pence }) => refunded_pence)).toEqual([0, 2_875])
})

test('one that was asked for anew by a process that slept through all of it is given back when it is collected', async () => {
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
  expect(await premium()).toMatchObject({ status: 'collected', attempt: 2, refunds: [{ reason: 'paid_twice' }] })
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

test('of a premium that was paid twice, the payment of which nothing was given back is given back', async () => {
  const asked = await askedAnew()
  const { world, bank, fireAll, premium, win } = asked
  await settle(world, 1, true, 1)
  await giveTenBack(asked)
  await win(0)
  await fireAll('before')
  await fireAll()

  expect(bank.intents.map(({ refunded_pence }) => refunded_pence)).toEqual([2_875, 1_000])
  const refunds = [
    { status: 'refunded', refund_pence: 1_000, attempt: 2 },
    { status: 'refunded', reason: 'paid_twice', attempt: 1 },
  ]
  expect(await premium()).toMatchObject({ refunded_pence: 1_000, refunds })
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
