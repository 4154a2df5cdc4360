import { expect, test } from 'vitest'
import { MandateId } from '#domain/payments/events.ts'
import type { PolicyCommand } from '#domain/policies/policy.ts'
import { settle, take } from './money-steps.ts'
import { openWorld, organisation_id, policy_id } from './money-world.ts'
import { payment_id } from './paid-by-card.ts'

/** The provider was asked, and whoever asked was killed before it was recorded: then the mandate changes. */

const otherMandate: PolicyCommand = {
  type: 'RecordMandate',
  mandate_id: MandateId.parse('f1000000-0000-4000-8000-000000000002'),
  provider_customer_id: 'cus_other',
  provider_payment_method_id: 'pm_other',
  provider_mandate_id: 'mandate_other',
  account_number_last4: '7491',
  status: 'active',
}

const askedAndKilled = async () => {
  const world = await openWorld()
  const { attempt, clock, due, fire, state } = world
  const act = async (command: PolicyCommand) =>
    attempt(async ({ handle }) =>
      handle(policy_id, command, {
        organisation_id,
        actor: { type: 'operator', id: null },
        correlation_id: 'test',
        now: clock.at,
      }),
    )
  const fireDue = async (kind: string, ...kill: readonly [killAt?: 'before' | 'after', write?: number]) => {
    const row = due().find((each) => each.kind === kind)
    if (row) await fire(row, ...kill)
  }
  const premium = async () => (await state())?.premiums[0] ?? expect.fail()
  const mandateIsCancelled = async () => {
    const mandate_id = MandateId.parse((await state())?.payment_method.mandate_id)
    await act({ type: 'ChangeMandate', mandate_id, status: 'cancelled' })
  }
  await fireDue('policy_premium', 'after')
  // What it is about to ask for is recorded first.
  await fireDue('premium', 'before', 2)
  expect(await premium()).toMatchObject({ status: 'due', attempt: 1 })
  expect(world.bank.intents).toHaveLength(1)
  return { ...world, act, mandateIsCancelled, fireDue, premium }
}

test('what was asked for is found once the provider has forgotten the key of the request', async () => {
  const { fireDue, premium, bank, clock } = await askedAndKilled()
  bank.keys.clear()
  clock.at = '2026-07-01T21:00:01.000Z'

  await fireDue('premium')

  expect(await premium()).toMatchObject({ status: 'requested', attempt: 1, payment_intent_id: 'pi_1' })
  expect(bank.intents).toHaveLength(1)
})

test.each([
  ['account_unusable', 'due'],
  ['idempotency_error', 'due'],
  ['bank_account_restricted', 'failed'],
])('after the provider has refused to collect it (%s), a premium is %s', async (code, status) => {
  const { fireDue, premium, bank } = await askedAndKilled()
  bank.intents.length = 0
  Object.assign(bank.provider, { collect: async () => ({ outcome: 'refused', code, message: '' }) })

  await fireDue('premium')

  expect(await premium()).toMatchObject({ status, attempt: 1, failure_code: code })
})

test('what was asked for under a mandate that has ended since is collected once', async () => {
  const { mandateIsCancelled, fireDue, premium, bank, tell } = await askedAndKilled()
  await mandateIsCancelled()

  await fireDue('premium')

  expect(await premium()).toMatchObject({ status: 'requested', attempt: 1, payment_intent_id: 'pi_1' })
  bank.intents.forEach((intent) => (intent.status = 'succeeded'))
  await tell('payment_intent.succeeded', 0)
  expect(await premium()).toMatchObject({ status: 'collected', attempt: 1 })
  expect(bank.intents).toHaveLength(1)
})

test('what was asked for under a former mandate is not asked for again under the next one', async () => {
  const { act, mandateIsCancelled, fireDue, premium, bank } = await askedAndKilled()
  await mandateIsCancelled()
  await act({ type: 'RequestMandate' })
  await act(otherMandate)

  await fireDue('premium')

  expect(await premium()).toMatchObject({ status: 'requested', attempt: 1, payment_intent_id: 'pi_1' })
  expect(bank.intents).toHaveLength(1)
})

test('a former payer whom the provider no longer knows does not keep premiums from being asked for', async () => {
  const { act, mandateIsCancelled, fireDue, bank, state } = await askedAndKilled()
  await fireDue('premium')
  await mandateIsCancelled()
  await act({ type: 'RequestMandate' })
  await act(otherMandate)
  bank.forgotten.add('cus_a1')

  await fireDue('policy_premium')

  expect(await state()).toMatchObject({ premiums: [{ number: 1 }, { number: 2, status: 'requested' }] })
  expect(bank.intents).toMatchObject([{ provider_customer_id: 'cus_a1' }, { provider_customer_id: 'cus_other' }])
})

test('a premium waits where the provider does not know the payer of the present mandate', async () => {
  const { act, mandateIsCancelled, fireDue, premium, bank } = await askedAndKilled()
  bank.forgotten.add('cus_other')
  await mandateIsCancelled()
  bank.intents.length = 0
  await act({ type: 'RequestMandate' })
  await act(otherMandate)

  await fireDue('premium')

  expect(await premium()).toMatchObject({ status: 'due', failure_code: 'resource_missing' })
  expect(bank.intents).toEqual([])
})

test('what was asked for under a former mandate is found once cover has ended', async () => {
  const { act, mandateIsCancelled, fireDue, premium, bank } = await askedAndKilled()
  await mandateIsCancelled()
  await act({ type: 'RequestMandate' })
  await act(otherMandate)
  await act({ type: 'CancelPolicy', reason: 'customer_request', note: null, today: '2026-08-20' })

  await fireDue('premium')

  expect(await premium()).toMatchObject({ status: 'requested', payment_intent_id: 'pi_1' })
  expect(bank.intents).toHaveLength(1)
})

test('a premium that nobody has asked for fails with its mandate', async () => {
  const { mandateIsCancelled, fireDue, premium, bank } = await askedAndKilled()
  bank.intents.length = 0
  await mandateIsCancelled()

  await fireDue('premium')

  expect(await premium()).toMatchObject({ status: 'failed', attempt: 1, failure_code: 'no_mandate' })
  expect(bank.intents).toEqual([])
})

test('a premium that waits for a mandate is asked for no more once cover has come to the end of its term', async () => {
  const world = await openWorld({ end_date: '2026-02-20' })
  const { attempt, clock, due, fire, state } = world
  const mandate_id = MandateId.parse((await state())?.payment_method.mandate_id)
  const context = {
    organisation_id,
    actor: { type: 'operator', id: null },
    correlation_id: 'test',
    now: clock.at,
  } as const
  await attempt(async ({ handle }) => {
    await handle(policy_id, { type: 'ChangeMandate', mandate_id, status: 'cancelled' }, context)
    await handle(policy_id, { type: 'RequestMandate' }, context)
  })
  for (const kind of ['policy_end', 'premium'])
    await fire(due().find((each) => each.kind === kind) ?? expect.fail(kind))

  expect(await state()).toMatchObject({
    status: 'expired',
    premiums: [{ status: 'written_off', failure_code: 'no_mandate' }],
  })
  expect(due()).toEqual([])
})

test.each([
  ['is under way for more than a week', false],
  ['nobody can be asked about, since the firm has no account any more', true],
])('a payment that %s is looked at once a day', async (_title, is_removed) => {
  const { account, due, fire, fireDue } = await askedAndKilled()
  await fireDue('premium')
  const checked = () => due().find(({ kind }) => kind === 'payment') ?? expect.fail()
  account.is_removed = is_removed
  const before = checked()

  await fire(before)
  await fire(before)

  expect(Date.parse(checked().due_at) - Date.parse(before.due_at)).toBe(24 * 60 * 60 * 1000)
})

test('what is asked for is what was missing when the premium was settled, whatever comes back meanwhile', async () => {
  const world = await openWorld({ end_date: null, is_by_card: true })
  const { bank, meanwhile } = world
  const [card] = bank.intents
  if (!card) expect.fail()
  const given = 1_000
  await take(world, { act: 'refund at the provider', at: 0, pence: given, told: true }, 0)
  await world.dispute(0, true, card.amount_pence - given)
  await take(world, { act: 'retry', at: 0 }, 2)
  const retried = world.due().find(({ kind }) => kind === 'premium') ?? expect.fail()
  let reads = 0
  meanwhile.before = async (stream) => {
    if (stream !== `payment-${payment_id}` || ++reads !== 2) return
    await take(world, { act: 'refund fails', at: 0, told: true }, 3)
  }

  await world.fire(retried)

  expect(reads).toBeGreaterThan(1)
  const [, debit] = bank.intents
  if (!debit) expect.fail('Nothing was asked for.')
  expect(debit.amount_pence).toBe(card.amount_pence - given)
  await settle(world, 1, true, 1)
  expect((await world.state())?.premiums).toMatchObject([{ status: 'collected', amount_pence: card.amount_pence }])
})
