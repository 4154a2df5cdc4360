import { expect } from 'vitest'
import { policy, type PolicyCommand } from '#domain/policies/policy.ts'
import { ClaimId } from '#domain/claims/events.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { collectPremiums } from '../../command-api/premiums/collect-premiums.ts'
import { premiumIds } from '../../command-api/policies/ids.ts'
import { refundPremiums } from '../../command-api/premiums/refund-premiums.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { makePayments, openedAs } from '../../command-api/payments/payments.ts'
import { setUpMandates } from '../../command-api/payments/policy-mandates.ts'
import { organisation_id } from '../applications/release.ts'
import { quotedAt, type Sales } from '../policies/fixture.ts'
import { england } from '../policies/calendars.ts'

/** Policies in the states in which the operator acts upon them, and what the operator sends. */

type Process = Pick<Sales, 'post' | 'writer' | 'merchants'>

export const strangers = '99999999-0000-4000-8000-000000000001'
export const claim_id = ClaimId.parse('c1000000-0000-4000-8000-000000000001')
const actor = { type: 'system', id: null } as const
const contextAt = (now: string) => ({ organisation_id, actor, correlation_id: 'test', now })

export const load = async (sales: Sales, id: string): Promise<PolicyState> => {
  const state = await commandHandler(sales.writer, policy).load(id)
  return state ?? expect.fail('There is no such policy.')
}
export const decide = async (sales: Sales, id: string, now: string, ...commands: readonly PolicyCommand[]) => {
  for (const command of commands) await commandHandler(sales.writer, policy).handle(id, command, contextAt(now))
}
export type Collecting = Parameters<typeof setUpMandates>[0]

export const fire = async (process: Collecting, kind: string, state: PolicyState, id: string, due_at: string) => {
  const clock = { now: () => new Date(due_at) }
  const timers = [
    ...collectPremiums({ ...process, clock, calendar: england }),
    refundPremiums({ ...process, calendar: england }),
    setUpMandates(process),
  ]
  const due = { organisation_id, kind, id, stream: `policy-${state.id}`, due_at }
  await timers.find((timer) => timer.kind === kind)?.fire(due, contextAt(due_at))
}

export const called = '2026-06-30T09:00:00.000Z'
export const sold = async (sales: Sales): Promise<string> => {
  sales.clock(quotedAt)
  const { quote_id } = await sales.ready()
  const { id } = (await sales.bind(quote_id, { collection_day: 14 })).body.data
  await decide(sales, id, called, { type: 'ActivatePolicy', now: called })
  sales.clock(called)
  return id
}
/** A policy whose first premium was collected. */
export const paid = async (sales: Sales): Promise<string> => {
  const id = await sold(sales)
  await fire(sales, 'policy_mandate', await load(sales, id), id, quotedAt)
  await fire(sales, 'policy_premium', await load(sales, id), id, called)
  const premium = (await load(sales, id)).premiums[0] ?? expect.fail('No premium was asked for.')
  await fetch(`${sales.stripe.url}/stand-in/payment_intents/${premium.payment_intent_id}/settle`, { method: 'POST' })
  await fire(sales, 'premium', await load(sales, id), premium.premium_id, premium.retry_at ?? '')
  return id
}
export const dueOnly = async (sales: Sales): Promise<string> => {
  const id = await sold(sales)
  await decide(sales, id, called, { type: 'CallPremium', calendar: england, now: called, idOf: premiumIds(id) })
  return id
}
/** A policy whose first premium has failed. */
export const unpaid = async (sales: Sales): Promise<string> => {
  const id = await dueOnly(sales)
  const state = await load(sales, id)
  const premium = state.premiums[0] ?? expect.fail('No premium is due.')
  const payments = makePayments({ ...sales, calendar: england })
  const opened = openedAs(state, premium, 1)
  for (const command of [
    { type: 'OpenPayment', ...opened } as const,
    { type: 'RefusePayment', failure_code: 'insufficient_funds' } as const,
  ])
    await payments.handle(opened.payment_id, command, contextAt(called))
  await payments.settle(id, premium.premium_id, contextAt(called))
  return id
}
export const lapsed = async (sales: Sales): Promise<string> => {
  const id = await unpaid(sales)
  for (const now of ['2026-08-15T09:00:00.000Z', '2026-09-20T09:00:00.000Z'])
    await decide(sales, id, now, { type: 'CheckArrears', now })
  sales.clock('2026-09-25T09:00:00.000Z')
  return id
}
export const refunded = async (sales: Sales): Promise<string> => {
  const id = await paid(sales)
  await decide(sales, id, called, { type: 'CancelPolicy', reason: 'cooling_off', note: null, today: '2026-06-30' })
  return id
}
export const suspended = async (sales: Sales): Promise<string> => {
  const id = await sold(sales)
  await decide(sales, id, called, { type: 'SuspendPolicy' })
  return id
}
export const claimed = (...decisions: readonly ('approve' | 'decline')[]) => {
  const today = '2026-06-20'
  const amount_pence = 1_000_000
  return async (sales: Sales): Promise<string> => {
    const id = await sold(sales)
    const opened = { claim_type: 'life', cover_index: null, happened_on: today, amount_pence, note: null } as const
    await decide(sales, id, called, { type: 'OpenClaim', claim_id, ...opened, today })
    for (const decision of decisions)
      await decide(sales, id, called, {
        type: 'DecideClaim',
        claim_id,
        decision,
        amount_pence,
        note: 'As the report says.',
        ends_policy: false,
        today,
      })
    return id
  }
}
export const withoutMandate = async (sales: Sales): Promise<string> => {
  const id = await sold(sales)
  const failure = { failure_code: 'account_closed', is_final: true, mandate_requests: 0, now: called } as const
  await decide(sales, id, called, { type: 'RecordMandateFailure', ...failure })
  return id
}

export type Act = {
  readonly name: string
  readonly prepare: (sales: Sales) => Promise<string>
  /** Its address below that of the policy. */
  readonly at: (state: PolicyState) => string
  readonly body?: object
  /** How many writes it makes. */
  readonly writes?: number
}

export const firstPremium = ({ premiums }: PolicyState): string => `premiums/${premiums[0]?.premium_id}`
export const decisions = () => `claims/${claim_id}/decisions`
export const direct_debit = { account_holder_name: 'Anna Ash', sort_code: '10-79-99', account_number: '88837491' }
export const claim = { claim_type: 'life', happened_on: '2026-06-20', amount_pence: 1_000_000 }
export const leave = { how: 'not_owed', reason: 'Paid in cash.' }
/** Why the team does something about money. */
export const because = { reason: 'The customer asked for it.' }

export const send = async (
  sales: Sales,
  { at, body }: Act,
  id: string,
  process: Process = sales,
  organisation: string = organisation_id,
) => {
  const address = `/admin/v1/organisations/${organisation}/policies/${id}/${at(await load(sales, id))}`
  return process.post(address, body ?? {}, { 'idempotency-key': 'once' })
}
