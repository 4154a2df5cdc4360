import fc from 'fast-check'
import { expect } from 'vitest'
import type { ApplicationCommand } from '#domain/applications/application.ts'
import { ClaimId } from '#domain/claims/events.ts'
import { MandateId } from '#domain/payments/events.ts'
import { hasMandate, needsMandate } from '#domain/policies/mandate.ts'
import type { PolicyCommand } from '#domain/policies/policy.ts'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import { derivedId } from '#infra/ids.ts'
import { everyDay } from '../policies/calendars.ts'
import { application_id, openWorld, organisation_id, policy_id } from './money-world.ts'

/** What may happen to the money of a policy, one step after the other. */

type World = Awaited<ReturnType<typeof openWorld>>

/** What the banks say of a payment, and to how many processes at once the provider passes it on. */
export const settle = async ({ bank, tell }: World, index: number, succeeds: boolean, times: number) => {
  const intent = bank.intents[index]
  if (intent?.status !== 'processing') return
  intent.status = succeeds ? 'succeeded' : 'open'
  const type = succeeds ? 'payment_intent.succeeded' : 'payment_intent.payment_failed'
  await Promise.all(Array.from({ length: times }, async () => tell(type, index)))
}

export const step = fc.oneof(
  { weight: 1, arbitrary: fc.record({ act: fc.constant('collect' as const), succeeds: fc.boolean() }) },
  {
    weight: 5,
    arbitrary: fc.record(
      {
        act: fc.constant('fire' as const),
        at: fc.nat(3),
        kill: fc.constantFrom(undefined, undefined, 'before' as const, 'after' as const),
        /** Which of its writes it is killed at: the first, unless it says so. */
        write: fc.constantFrom(1, 1, 2, 3, 4),
      },
      { requiredKeys: ['act', 'at', 'kill'] },
    ),
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
  {
    weight: 2,
    arbitrary: fc.record(
      {
        act: fc.constant('dispute' as const),
        at: fc.nat(9),
        told: fc.boolean(),
        pence: fc.constantFrom(undefined, undefined, 1_000),
      },
      { requiredKeys: ['act', 'at', 'told'] },
    ),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('win' as const), at: fc.nat(9), told: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('tell again' as const), at: fc.nat(9) }) },
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
export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** What happens to one premium that is disputed more than others: one step is mostly what the one before it asks for. */
export const oftenDisputed: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ act: fc.constant('collect' as const), succeeds: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('dispute' as const), at: fc.nat(2), told: fc.constant(true) }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('win' as const), at: fc.nat(2), told: fc.constant(true) }) },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant('fire' as const), at: fc.nat(1), kill: fc.constant(undefined) }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('retry' as const), at: fc.constant(0) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('settle' as const),
      at: fc.nat(2),
      succeeds: fc.boolean(),
      times: fc.constant(1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('refund at the provider' as const),
      at: fc.nat(2),
      pence: fc.constantFrom(400, 2_875),
      told: fc.constant(true),
    }),
  },
  { weight: 1, arbitrary: step },
)

export const operator = (now: string) => ({
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
const workOff = async (world: World, closing?: Closing): Promise<boolean> => {
  const { state, attempt, clock } = world
  const card = await world.card()
  // Only a former version gives a sold card back by itself (kept-money.test.ts).
  if (card?.is_left) {
    const { payment_id } = card
    const command: ApplicationCommand = closing
      ? { type: 'CloseCardReturn', payment_id, closing }
      : { type: 'RequestSettlement', payment_id }
    await attempt(async ({ cards }) => cards.handle(application_id, command, operator(clock.at)))
    return true
  }
  const premiums = (await state())?.premiums ?? []
  for (const { premium_id, refunds, status } of premiums)
    for (const { refund_id } of refunds.filter(({ is_left }) => is_left)) {
      const how = closing ?? (status === 'collected' ? undefined : notOwed)
      const which = { premium_id, refund_id }
      const command: PolicyCommand = how
        ? { type: 'CloseRefund', ...which, closing: how }
        : { type: 'RequestRefund', ...which }
      const done: unknown[] = []
      await attempt(async ({ handle }) => done.push(...(await handle(policy_id, command, operator(clock.at))).events))
      if (done.length > 0) return true
    }
  return false
}

/** The first premium is asked for, once more if it has failed, and the banks answer. */
const collect = async (world: World, succeeds: boolean): Promise<void> => {
  const { bank, clock, attempt } = world
  const first = (await world.state())?.premiums[0]
  if (first?.status === 'failed') {
    const again = { type: 'RetryPremium', premium_id: first.premium_id, by: 'operator', now: clock.at } as const
    await attempt(async ({ handle }) => handle(policy_id, again, operator(clock.at)))
  }
  const due = world.due().find(({ kind }) => kind === (first ? 'premium' : 'policy_premium'))
  if (due) await world.fire(due)
  for (const index of bank.intents.keys()) await settle(world, index, succeeds, 1)
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

export const take = async (world: World, given: Step, count: number): Promise<void> => {
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
      if (given.act === 'fire') await world.fire(due, given.kill, given.write)
      else await Promise.all([world.fire(due), world.fire(due)])
      return
    }
    case 'collect':
      return collect(world, given.succeeds)
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
      return world.dispute(given.at % Math.max(bank.intents.length, 1), given.told, given.pence)
    case 'win':
      return world.win(given.at % Math.max(bank.intents.length, 1), given.told)
    case 'tell again': {
      const index = given.at % Math.max(bank.intents.length, 1)
      const { status } = bank.intents[index] ?? {}
      if (status === 'succeeded') await world.tell('payment_intent.succeeded', index)
      return world.tellOfDispute(index, count)
    }
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
    case 'cancel': {
      const reason = given.cooling_off ? 'cooling_off' : 'customer_request'
      return operate({ type: 'CancelPolicy', reason, note: null, today: clock.at.slice(0, 10) })
    }
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
      return operate({ type: 'ReinstatePolicy', calendar: everyDay, now: clock.at })
    case 'claim': {
      const claim_id = ClaimId.parse(derivedId('claim', String(count)))
      const today = clock.at.slice(0, 10)
      const decided = { type: 'DecideClaim', claim_id, amount_pence: null, note: 'Proven.', today } as const
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

const isOfMoney = ({ kind }: { readonly kind: string }): boolean =>
  kind === 'premium' || kind === 'premium_refund' || kind === 'card_payment_return'

/**
 * All that is under way comes to its end: the banks answer, the provider tells what it has not told yet, the team has what was
 * left to it tried once more, and what is due of premiums and refunds is done.
 */
export const finish = async (world: World): Promise<void> => {
  const { bank } = world
  Object.assign(bank.silent, { collections: 0, refunds: 0 })
  await world.tellOfFailedRefunds()
  for (const index of bank.intents.keys()) await world.tellOfDispute(index)
  if (needsMandate((await world.state()) ?? expect.fail()))
    await take(world, { act: 'other account', is_made: true }, 99)
  await world.followCancellation()
  for (let round = 0; round < 100; round++) {
    for (const index of bank.intents.keys()) await settle(world, index, true, 1)
    // Where both payments were given back already, trying again fails for ever.
    const isTriedAgain = await workOff(world, round > 40 ? otherwise : undefined)
    const rows = world.due().filter(isOfMoney)
    if (rows.length === 0 && !isTriedAgain) {
      for (const index of bank.intents.keys()) await world.tellOfRefunds(index)
      if (!world.due().some(isOfMoney)) return
    }
    for (const due of rows) await world.fire(due)
  }
  throw new Error('It did not come to an end.')
}
