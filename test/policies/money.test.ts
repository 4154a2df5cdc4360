import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromStored, toStored, type RecordedEvent } from '#domain/event.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { policyStreamEvents } from '#domain/policies/record.ts'
import { isClaimEvent, isPremiumEvent } from '#domain/policies/state.ts'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { commandHandler } from '../../command-api/handle.ts'
import { collectPremiums } from '../../command-api/policies/collect-premiums.ts'
import { refundPremiums } from '../../command-api/policies/refund-premiums.ts'
import { makePaymentNews } from '../../command-api/receive-payment-news.ts'
import { makeWriter } from '../../command-api/writer.ts'
import { policyDueTimes, premiumDueTimes } from '../../projections/due-times/policies.ts'
import { samples } from '../stored-events/samples.ts'
import { makeBank, memoryLog } from './bank.ts'

const sample = samples.find(({ name }) => name === 'PolicyBound.v2')?.event
if (!sample) throw new Error('There is no sample of PolicyBound.')
const bound = fromStored(policyEvents, sample)
if (bound.type !== 'PolicyBound') throw new Error('The sample is another event.')
const { policy_id, organisation_id } = bound
const stream = `policy-${policy_id}`

type Due = { readonly kind: string; readonly id: string; readonly due_at: string }

/** What is due of a policy, as the read model of due times would have it. */
const dueOf = (recorded: readonly RecordedEvent[]): readonly Due[] => {
  const rows = new Map<string, Due>()
  for (const each of recorded) {
    const event = fromStored(policyStreamEvents, each)
    const { occurred_at } = each.metadata
    if (isClaimEvent(event)) continue
    const times = isPremiumEvent(event)
      ? premiumDueTimes(event, policy_id, occurred_at)
      : Object.entries(policyDueTimes(event, occurred_at)).map(([kind, due_at]) => ({ kind, id: policy_id, due_at }))
    for (const { kind, id, due_at } of times)
      if (due_at) rows.set(`${kind} ${id}`, { kind, id, due_at })
      else rows.delete(`${kind} ${id}`)
  }
  return [...rows.values()].toSorted((one, other) => (one.due_at < other.due_at ? -1 : 1))
}

const openWorld = async () => {
  const bank = makeBank()
  const { log, kill, streamOf } = memoryLog()
  const clock = { at: '2026-07-01T09:00:00.000Z' }
  const context = () => ({
    organisation_id,
    actor: { type: 'operator', id: null } as const,
    correlation_id: 'test',
    now: clock.at,
  })
  /** Whoever is killed is replaced by another, who remembers nothing. */
  const start = () => {
    const writer = makeWriter({ log, seen: async () => undefined })
    const desk = { provider: bank.provider, publishable_key: null, stripe_account: null, capture: 'automatic' as const }
    const deps = { writer, desks: () => desk, clock: { now: () => new Date(clock.at) } }
    const receive = makePaymentNews({ ...deps, mandateOwner: async () => undefined, setUp: async () => undefined })
    return { ...commandHandler(writer, policy), timers: [...collectPremiums(deps), refundPremiums(deps)], receive }
  }
  const metadata = { ...context(), causation_id: null, occurred_at: clock.at }
  await log.append(stream, 'no_stream', [{ id: derivedId('b', '1'), ...toStored(policyEvents, bound), metadata }])

  const attempt = async (
    work: (process: ReturnType<typeof start>) => Promise<unknown>,
    killAt?: 'before' | 'after',
  ) => {
    kill.at = killAt
    try {
      await work(start())
    } catch (error) {
      const isExpected = error instanceof Error && (error.name === 'Rejection' || error.message.includes('killed'))
      if (!isExpected) throw error
    } finally {
      kill.at = undefined
    }
  }
  const fire = async (due: Due, killAt?: 'before' | 'after') => {
    if (due.due_at > clock.at) clock.at = due.due_at
    await attempt(
      async ({ timers }) =>
        timers.find(({ kind }) => kind === due.kind)?.fire({ ...due, organisation_id, stream }, context()),
      killAt,
    )
  }
  const tell = async (type: 'payment_intent.succeeded' | 'payment_intent.payment_failed', index: number) => {
    const intent = bank.intents[index]
    if (!intent) return
    const last_payment_error = { code: 'insufficient_funds', decline_code: null }
    const object = { id: intent.id, amount: intent.amount_pence, metadata: { ...intent.metadata }, last_payment_error }
    const news = { id: `evt_${intent.id}_${Math.random()}`.replace('.', ''), livemode: false, type, data: { object } }
    await attempt(async ({ receive }) => receive(OrganisationId.parse(organisation_id), news, context()))
  }
  const tellOfRefunds = async (index: number) => {
    const intent = bank.intents[index]
    if (!intent || intent.refunded_pence === 0) return
    const object = {
      amount_refunded: intent.refunded_pence,
      refunded: intent.refunded_pence === intent.amount_pence,
      payment_intent: intent.id,
      metadata: { ...intent.metadata },
    }
    const id = `evt_${intent.id}_refund_${intent.refunded_pence}`
    const news = { id, livemode: false, type: 'charge.refunded' as const, data: { object } }
    await attempt(async ({ receive }) => receive(OrganisationId.parse(organisation_id), news, context()))
  }
  /** Under each of its names, and all of it twice. */
  const tellOfFailedRefunds = async () => {
    for (const { refund_id: id, intent, pence, metadata, has_failed } of bank.refunds)
      for (const type of has_failed ? (['refund.failed', 'refund.updated', 'charge.refund.updated'] as const) : []) {
        const status = 'failed' as const
        const object = {
          id,
          amount: pence,
          status,
          payment_intent: intent,
          metadata: { ...metadata },
          failure_reason: null,
        }
        const news = { id: `evt_${type}_${id}`.replaceAll('.', '_'), livemode: false, type, data: { object } }
        await attempt(async ({ receive }) => receive(OrganisationId.parse(organisation_id), news, context()))
      }
  }
  return {
    bank,
    clock,
    fire,
    tell,
    tellOfRefunds,
    tellOfFailedRefunds,
    attempt,
    due: () => dueOf(streamOf(stream)),
    state: async () => start().load(policy_id),
  }
}
type World = Awaited<ReturnType<typeof openWorld>>

/** What the banks say of a payment, and how often the provider passes it on. */
const settle = async ({ bank, tell }: World, index: number, succeeds: boolean, times: number) => {
  const intent = bank.intents[index]
  if (intent?.status !== 'processing') return
  intent.status = succeeds ? 'succeeded' : 'open'
  for (let told = 0; told < times; told++)
    await tell(succeeds ? 'payment_intent.succeeded' : 'payment_intent.payment_failed', index)
}

const money = async ({ state }: World): Promise<number> =>
  ((await state())?.premiums ?? []).reduce(
    (sum, { status, amount_pence, refunded_pence }) =>
      sum + (status === 'collected' ? amount_pence : 0) - refunded_pence,
    0,
  )

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
  { weight: 1, arbitrary: fc.record({ act: fc.constant('refund at the provider' as const), at: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('refund fails' as const), at: fc.nat(9), told: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('refund again' as const) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('retry' as const), at: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('write off' as const), at: fc.nat(9) }) },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant('lose answers' as const), collections: fc.nat(2), refunds: fc.nat(2) }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('cancel' as const), cooling_off: fc.boolean() }) },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

const operator = (now: string) => ({
  organisation_id,
  actor: { type: 'operator', id: null } as const,
  correlation_id: 'test',
  now,
})

/** As the team does with the first refund that was left to it; says whether there was one. */
const refundAgain = async ({ state, attempt, clock }: World): Promise<boolean> => {
  const premiums = (await state())?.premiums ?? []
  const left = premiums.flatMap(({ premium_id, refunds }) =>
    refunds.filter(({ is_left }) => is_left).map(({ refund_id }) => ({ premium_id, refund_id })),
  )[0]
  if (!left) return false
  const command = { type: 'RequestRefund', ...left } as const
  await attempt(async ({ handle }) => handle(policy_id, command, operator(clock.at)))
  return true
}

const take = async (world: World, given: Step, count: number): Promise<void> => {
  const { bank, clock, attempt } = world
  const premiums = (await world.state())?.premiums ?? []
  const premium_id = 'at' in given ? premiums[given.at % Math.max(premiums.length, 1)]?.premium_id : undefined
  switch (given.act) {
    case 'fire': {
      const rows = world.due().filter(({ kind }) => kind !== 'policy_end' && kind !== 'policy_start')
      const due = rows[given.at % Math.max(rows.length, 1)]
      return due && world.fire(due, given.kill)
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
      await bank.provider.refund(bank.intents[index]?.id ?? '', 50, `by hand ${count}`, {})
      return world.tellOfRefunds(index)
    }
    case 'refund fails': {
      const standing = bank.refunds.filter(({ has_failed }) => !has_failed)
      const refund = standing[given.at % Math.max(standing.length, 1)]
      if (refund) bank.failRefund(refund)
      return given.told ? world.tellOfFailedRefunds() : undefined
    }
    case 'refund again':
      await refundAgain(world)
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
  for (let round = 0; round < 100; round++) {
    for (const index of bank.intents.keys()) await settle(world, index, true, 1)
    const isTriedAgain = await refundAgain(world)
    const rows = world.due().filter(({ kind }) => kind === 'premium' || kind === 'premium_refund')
    if (rows.length === 0 && !isTriedAgain) return
    for (const due of rows) await world.fire(due)
  }
  throw new Error('It did not come to an end.')
}

test('whatever happens in whatever order, what was collected less what was refunded is what the provider holds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const world = await openWorld()
      for (const [count, each] of steps.entries()) await take(world, each, count)

      await finish(world)

      expect(await money(world)).toBe(world.bank.holds())
      const { premiums = [] } = (await world.state()) ?? {}
      for (const { premium_id } of premiums) {
        const taken = world.bank.intents.filter(({ metadata }) => metadata['premium_id'] === premium_id)
        expect(taken.filter(({ status }) => status === 'succeeded').length).toBeLessThanOrEqual(1)
        expect(new Set(taken.map(({ metadata }) => metadata['attempt'])).size).toBe(taken.length)
      }
    }),
    { numRuns: 60 },
  )
})
