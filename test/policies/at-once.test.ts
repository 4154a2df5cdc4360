import { describe, expect, test } from 'vitest'
import { ClaimId } from '#domain/claims/events.ts'
import { toStored } from '#domain/event.ts'
import { policy, type PolicyCommand } from '#domain/policies/policy.ts'
import { policyStreamEvents, type PolicyStreamEvent } from '#domain/policies/record.ts'
import { refundable } from '#domain/premiums/record.ts'
import { derivedId } from '#infra/ids.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { memoryLog } from '../premiums/bank.ts'
import {
  active,
  bound,
  collected,
  debit,
  due,
  idOf,
  mandateMade,
  premium_id,
  refund_id,
  requested,
  settle,
} from '../premiums/premium-builders.ts'
import { england } from './calendars.ts'

/** Acts that come at the same moment, each to a process of its own, and processes that are killed as they write. */

const now = '2026-05-10T09:00:00.000Z'
const today = '2026-05-10'
const context = {
  organisation_id: bound.organisation_id,
  actor: { type: 'operator', id: null } as const,
  correlation_id: 'test',
  now,
}
const paid = [...active, mandateMade, due, requested, collected]
const claim = (last: number) => ClaimId.parse(`b4000000-0000-5000-8000-00000000000${last}`)
const opened = (last: number): PolicyStreamEvent => ({
  type: 'ClaimOpened',
  claim_id: claim(last),
  claim_type: 'life',
  customer_id: bound.customer_id,
  amount_pence: 20_000_000,
  note: null,
  cover_index: 0,
  happened_on: '2026-05-01',
})
const decide = (last: number, decision: 'approve' | 'pay', ends_policy = false): PolicyCommand => ({
  type: 'DecideClaim',
  claim_id: claim(last),
  decision,
  amount_pence: null,
  note: 'Proven.',
  ends_policy,
  today,
})
const amend = (premium_pence: number): PolicyCommand => ({
  type: 'AmendPolicy',
  calendar: england,
  components: [{ cover_index: 0, cover_amount_pence: null, premium_pence }],
  collection_day: null,
  collection_days: [],
  note: null,
  now,
})
const cancel: PolicyCommand = { type: 'CancelPolicy', reason: 'customer_request', note: null, today }
const dispute = settle(debit.disputed())
const refund: PolicyCommand = { type: 'RefundPremium', premium_id, refund_id, refund_pence: null }

const open = async (given: readonly PolicyStreamEvent[]) => {
  const { log, kill, streamOf } = memoryLog()
  const stream = `policy-${bound.policy_id}`
  const metadata = { ...context, causation_id: null, occurred_at: '2026-02-19T09:00:00.000Z' }
  const stored = given.map((event, index) => ({
    id: derivedId('given', String(index)),
    ...toStored(policyStreamEvents, event),
    metadata,
  }))
  await log.append(stream, 'no_stream', stored)
  const act = async (command: PolicyCommand): Promise<unknown> => {
    const { handle, load } = commandHandler(makeWriter({ log, seen: async () => undefined }), policy)
    if (command.type !== 'SettlePremium') return handle(bound.policy_id, command, context)
    // It counts only while nobody has changed the policy: then it is decided again.
    const { changes = 0 } = (await load(bound.policy_id)) ?? {}
    const { state } = await handle(bound.policy_id, { ...command, changes }, context)
    return state?.changes === changes ? state : act(command)
  }
  return {
    kill,
    act,
    atOnce: async (commands: readonly PolicyCommand[]) => {
      const ended = await Promise.allSettled(commands.map(act))
      for (const each of ended)
        if (each.status === 'rejected' && (each.reason as Error).name !== 'Rejection') throw each.reason
      return ended.filter(({ status }) => status === 'fulfilled').length
    },
    types: () =>
      streamOf(stream)
        .slice(given.length)
        .map(({ type }) => type),
    state: async () =>
      (await commandHandler(makeWriter({ log, seen: async () => undefined }), policy).load(bound.policy_id)) ??
      expect.fail(),
  }
}

describe('the same act twenty times at once is done once', () => {
  test.each<readonly [string, PolicyCommand, readonly PolicyStreamEvent[], readonly string[]]>([
    ['amendment', amend(2_000), paid, ['PolicyAmended']],
    ['cancellation', cancel, paid, ['PolicyCancelled']],
    ['refund', refund, paid, ['PremiumRefundOwed']],
    ['approval', decide(1, 'approve'), [...paid, opened(1)], ['ClaimApproved']],
    ['dispute', dispute, paid, ['PremiumFailed', 'ArrearsChanged']],
  ])('%s', async (_what, command, given, expected) => {
    const { atOnce, types } = await open(given)
    await atOnce(Array.from({ length: 20 }, () => command))
    expect(types()).toEqual(expected)
  })
})

describe('two acts at once', () => {
  test('of two claims that together are more than is covered, one is approved', async () => {
    const { atOnce, state } = await open([...paid, opened(1), opened(2)])
    expect(await atOnce([decide(1, 'approve'), decide(2, 'approve')])).toBe(1)
    expect((await state()).claims.map(({ status }) => status).toSorted()).toEqual(['approved', 'open'])
  })
  test('what has ended is not amended any more, and what is amended is cancelled', async () => {
    const { atOnce, types } = await open(paid)
    await atOnce([amend(2_000), cancel])
    expect([['PolicyAmended', 'PolicyCancelled'], ['PolicyCancelled']]).toContainEqual(types())
  })
  test('a refund of a premium that the bank takes back is left to the team, or not owed at all', async () => {
    const { atOnce, state } = await open(paid)
    await atOnce([refund, dispute])
    const [premium] = (await state()).premiums
    expect(premium?.status).toBe('failed')
    expect(premium?.refunds.every(({ is_left }) => is_left)).toBe(true)
    expect(premium && refundable(premium)).toBe(0)
  })
  test('a claim that ends cover and arrears that end it: it ends once', async () => {
    const failed: PolicyStreamEvent = {
      type: 'PremiumFailed',
      premium_id,
      number: 1,
      amount_pence: 2875,
      due_on: '2026-02-15',
      customer_id: bound.customer_id,
      attempt: 1,
      failure_code: 'insufficient_funds',
      retry_at: null,
      disputed_on: null,
    }
    const arrears: PolicyStreamEvent = {
      type: 'ArrearsChanged',
      since: '2026-02-15',
      overdue_pence: 2875,
      check_at: now,
    }
    const suspended: PolicyStreamEvent = { type: 'PolicySuspended', reason: 'arrears', overdue_pence: 2875 }
    const approved = { ...opened(1), type: 'ClaimApproved' } as unknown as PolicyStreamEvent
    const { atOnce, types } = await open([
      ...active,
      mandateMade,
      due,
      requested,
      failed,
      arrears,
      suspended,
      opened(1),
      approved,
    ])
    await atOnce([decide(1, 'pay', true), { type: 'CheckArrears', now }])
    const ends = types().filter((type) => type === 'PolicyLapsed' || type === 'PolicyEndedByClaim')
    expect(ends).toHaveLength(1)
    expect(types()).toContain('ClaimPaid')
    expect(types().filter((type) => type === 'PremiumWrittenOff')).toHaveLength(1)
  })
  test('of a reinstatement and a collection, both are done, in whichever order', async () => {
    const lapsed: PolicyStreamEvent = {
      type: 'PolicyLapsed',
      customer_id: bound.customer_id,
      lapsed_on: '2026-05-01',
      overdue_pence: 0,
    }
    const { atOnce, state } = await open([...active, mandateMade, due, requested, lapsed])
    const collect = settle(debit.paid())
    expect(
      await atOnce([
        { type: 'ReinstatePolicy', calendar: england, now },
        collect,
        { type: 'CallPremium', calendar: england, now, idOf },
      ]),
    ).toBe(3)
    const after = await state()
    expect(after).toMatchObject({ status: 'active', arrears: { since: null } })
    expect(after.premiums.map(({ status }) => status)).toEqual(['collected'])
  })
})

describe('a process that is killed as it writes', () => {
  test.each<readonly [string, PolicyCommand]>([
    ['a claim that ends cover', decide(1, 'pay', true)],
    ['a refund', refund],
    ['a cancellation', cancel],
    ['an amendment', amend(2_000)],
  ])('leaves nothing or all of %s: the same act again ends in the same state', async (_what, command) => {
    const given = [...paid, opened(1), { ...opened(1), type: 'ClaimApproved' } as unknown as PolicyStreamEvent]
    const undisturbed = await open(given)
    await undisturbed.act(command)
    for (const at of ['before', 'after'] as const) {
      const world = await open(given)
      world.kill.at = at
      await expect(world.act(command)).rejects.toThrow('killed')
      await world.act(command)
      expect(world.types()).toEqual(undisturbed.types())
      expect(await world.state()).toEqual(await undisturbed.state())
    }
  })
})
