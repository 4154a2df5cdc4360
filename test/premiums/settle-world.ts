import { expect } from 'vitest'
import { PaymentId, type PaymentStreamEvent } from '#domain/payments/events.ts'
import {
  heldPence,
  payment as payments,
  type MadeRefund,
  type Payment,
  type PaymentCommand,
} from '#domain/payments/payment.ts'
import { PremiumId, PremiumRefundId, type PremiumEvent } from '#domain/premiums/events.ts'
import { evolvePremium, type Premium } from '#domain/premiums/record.ts'
import { settle } from '#domain/premiums/settle.ts'
import { isNeedless, sumsOf, type Facts } from '#domain/premiums/sums.ts'
import { ApplicationId, CustomerId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { everyDay } from '../policies/calendars.ts'

/** One premium, the bank that its payments are at, and processes that may be killed: all of it without a store. */

const now = '2026-07-01T09:00:00.000Z'
const premium_id = PremiumId.parse(derivedId('premium', 'policy', '1'))
const application_id = ApplicationId.parse(derivedId('application', '1'))
const customer_id = CustomerId.parse(derivedId('customer', '1'))
export const amount_pence = 2_875

type BankRefund = { -readonly [Key in keyof MadeRefund]: MadeRefund[Key] }
type BankDispute = {
  readonly provider_dispute_id: string
  readonly disputed_pence: number
  status: 'open' | 'won' | 'lost'
}
type BankPayment = {
  readonly payment_intent_id: string
  readonly attempt: number
  readonly amount_pence: number
  status: 'processing' | 'succeeded' | 'open'
  readonly refunds: BankRefund[]
  readonly disputes: BankDispute[]
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

export const bankHolds = ({ status, amount_pence: paid, refunds, disputes }: BankPayment): number =>
  (status === 'succeeded' ? paid : 0) -
  sum(refunds.map(({ has_failed, refund_pence }) => (has_failed ? 0 : refund_pence))) -
  sum(disputes.map(({ status: how, disputed_pence }) => (how === 'won' ? 0 : disputed_pence)))

export type KillAt = 'asked' | 'done' | undefined

export const openSettleWorld = (isByCard: boolean) => {
  const bank: BankPayment[] = []
  const byKey = new Map<string, BankRefund | 'refused'>()
  const known = new Map<number, Payment>()
  const events: PremiumEvent[] = []
  /** The same among those of the payments, in the order in which they were stored. */
  const journal: (PremiumEvent | PaymentStreamEvent)[] = []
  const policy = {
    application_id,
    card_payment_id: isByCard ? derivedId('card', '1') : null,
    customer: { id: customer_id },
    cancelled_on: null as string | null,
    cancellation_reason: null as string | null,
    time_zone: 'Europe/London',
    collection_rules: { retry_after_days: [10, 10] },
    has_ended: false,
  }
  const about = { premium_id, number: 1, amount_pence, due_on: '2026-07-01' }
  let premium: Premium
  const record = (...more: readonly PremiumEvent[]): void => {
    for (const event of more) {
      events.push(event)
      journal.push(event)
      premium = evolvePremium(premium, event, { occurred_at: now }) ?? expect.fail()
    }
  }
  const knownNow = (): Facts => ({
    policy,
    payments: [...known.values()].toSorted((one, other) => (one.attempt ?? 0) - (other.attempt ?? 0)),
    now,
    calendar: everyDay,
    refundIdOf: (name) => PremiumRefundId.parse(derivedId('premium_refund', premium_id, name)),
  })
  const settleAll = (): void => {
    record(...settle(premium, knownNow()))
    const again = settle(premium, knownNow())
    // An assertion for each of millions costs more than to settle.
    if (again.length > 0) expect(again).toEqual([])
  }
  const decide = (attempt: number, command: PaymentCommand): boolean => {
    let state = known.get(attempt)
    const decided = payments.decide(command, state)
    for (const event of decided) {
      journal.push(event)
      state = payments.evolve(state, event, { occurred_at: now })
    }
    if (state) known.set(attempt, state)
    return decided.length > 0
  }
  const openedAs = (attempt: number, pence: number) => ({
    payment_id: PaymentId.parse(derivedId('payment', premium_id, String(attempt))),
    application_id,
    policy_id: null,
    premium_id,
    method: isByCard && attempt === 1 ? ('card' as const) : ('direct_debit' as const),
    attempt,
    amount_pence: pence,
    currency_code: 'GBP' as const,
  })
  const look = (each: BankPayment): void => {
    const { payment_intent_id, attempt, status, refunds, disputes } = each
    const statement = {
      payment_intent_id,
      status,
      captured_pence: each.amount_pence,
      captured_at: status === 'succeeded' ? now : null,
      failure_code: status === 'open' ? 'insufficient_funds' : null,
      refunds: structuredClone(refunds),
      disputes: structuredClone(disputes),
    }
    const changes = known.get(attempt)?.changes ?? 0
    decide(attempt, { type: 'RecordStatement', statement, opened: openedAs(attempt, each.amount_pence), changes })
    settleAll()
  }
  const readAt = (index: number): void => {
    const found = bank[index % Math.max(1, bank.length)]
    if (found) look(found)
  }
  const bankCollects = (attempt: number, pence: number): BankPayment => {
    const found = bank.find((each) => each.attempt === attempt)
    if (found) return found
    const made: BankPayment = {
      payment_intent_id: `pi_${attempt}`,
      attempt,
      amount_pence: pence,
      status: 'processing',
      refunds: [],
      disputes: [],
    }
    bank.push(made)
    return made
  }
  const bankRefunds = (at: BankPayment, key: string | undefined, refund_id: PremiumRefundId | null, pence: number) => {
    const before = key === undefined ? undefined : byKey.get(key)
    if (before) return before
    const given = sum(at.refunds.map(({ has_failed, refund_pence }) => (has_failed ? 0 : refund_pence)))
    const isDisputed = at.disputes.some(({ status }) => status !== 'won')
    const isPossible = at.status === 'succeeded' && !isDisputed && given + pence <= at.amount_pence
    const count = sum(bank.map(({ refunds }) => refunds.length))
    const made: BankRefund | 'refused' = isPossible
      ? {
          provider_refund_id: `re_${count + 1}`,
          refund_id,
          refund_pence: pence,
          has_failed: false,
          failure_code: null,
        }
      : 'refused'
    if (made !== 'refused') at.refunds.push(made)
    if (key !== undefined) byKey.set(key, made)
    return made
  }

  /** What was opened, and never came to the provider, is looked for there. */
  const lookForOpened = (): void => {
    for (const { attempt, status, payment_intent_id } of known.values())
      if (attempt !== null && status === 'opened' && payment_intent_id === null) {
        const found = bank.find((each) => each.attempt === attempt)
        if (found) look(found)
        else if (premium.status !== 'due' || premium.attempt !== attempt || sumsOf(premium, knownNow()).missing === 0)
          decide(attempt, { type: 'RefusePayment', failure_code: 'not_asked' })
      }
    settleAll()
  }
  const collect = (kill: KillAt): void => {
    lookForOpened()
    const { attempt } = premium
    if (premium.status === 'failed' && premium.retry_at !== null && !policy.has_ended)
      record({ type: 'PremiumRetried', ...about, attempt: premium.attempts + 1 })
    if (premium.status !== 'due') return
    const { missing } = sumsOf(premium, knownNow())
    if (missing === 0) {
      if (policy.has_ended) record({ type: 'PremiumWrittenOff', ...about, attempt, reason: 'policy_ended' })
      return
    }
    const current = premium.attempt
    const pence = known.get(current)?.amount_pence ?? missing
    decide(current, { type: 'OpenPayment', ...openedAs(current, pence) })
    if (kill === 'asked') return
    const made = bankCollects(current, pence)
    if (kill === 'done') return
    const { payment_intent_id } = made
    record({ type: 'PremiumRequested', ...about, attempt: current, payment_intent_id, check_at: now })
    look(made)
  }

  /** Gives back what is owed, one refund after the other. */
  const giveBack = (kill: KillAt): void => {
    for (const each of bank) if (known.get(each.attempt)?.asked) look(each)
    for (const [number, { asked, ...each }] of known)
      if (asked && isNeedless(premium, { asked, ...each }))
        decide(number, { ...asked, type: 'RefuseRefund', failure_code: 'not_owed' })
    settleAll()
    const refund = premium.refunds.find(({ status, is_left }) => status === 'owed' && !is_left)
    if (!refund) return
    const { refund_id, refund_pence } = refund
    const left = (failure_code: string): void => {
      const attempt = refund.failed_attempts + 1
      const retry_at = attempt > 3 ? null : now
      record({ type: 'PremiumRefundDelayed', premium_id, refund_id, failure_code, attempt, retry_at })
    }
    const all = knownNow().payments
    const from =
      all.find(({ asked }) => asked?.refund_id === refund_id) ??
      all.findLast((each) => {
        const held = heldPence(each)
        return each.asked === null && held > 0
      })
    if (!from) return left('no_payment')
    const attempt = from.attempt ?? 1
    const idempotency_key = from.asked?.idempotency_key ?? `${refund_id} ${attempt} ${countOf(from, refund)}`
    const pence = from.asked?.refund_pence ?? Math.min(heldPence(from), refund_pence)
    if (!from.asked) decide(attempt, { type: 'AskRefund', refund_id, refund_pence: pence, idempotency_key })
    if (kill === 'asked') return
    const at = bank.find((each) => each.attempt === attempt) ?? expect.fail()
    const made = bankRefunds(at, idempotency_key, refund_id, pence)
    if (kill === 'done') return
    if (made === 'refused') {
      decide(attempt, { type: 'RefuseRefund', refund_id, idempotency_key, failure_code: 'refused' })
      // It may be refused for what nobody has told yet.
      look(at)
      if (premium.refunds.some((one) => one.refund_id === refund_id && one.status === 'owed' && !one.is_left))
        left('refused')
    } else look(at)
  }
  const asksOf = new Map<string, number>()
  const countOf = ({ attempt }: Payment, { refund_id }: { readonly refund_id: string }): number => {
    const key = `${attempt} ${refund_id}`
    asksOf.set(key, (asksOf.get(key) ?? 0) + 1)
    return asksOf.get(key) ?? 1
  }

  const first: PremiumEvent = {
    type: 'PremiumDue',
    ...about,
    covers_from: '2026-07-01',
    method: isByCard ? 'card' : 'direct_debit',
    next_due_on: null,
    next_due_at: null,
  }
  premium = evolvePremium(undefined, first, { occurred_at: now }) ?? expect.fail()
  journal.push(first)
  if (isByCard) {
    const card = bankCollects(1, amount_pence)
    card.status = 'succeeded'
    look(card)
  }

  return {
    bank,
    policy,
    events,
    journal,
    look,
    readAt,
    collect,
    lookForOpened,
    giveBack,
    record,
    settleAll,
    bankRefunds,
    about,
    known: knownNow,
    premium: () => premium,
    sums: () => sumsOf(premium, knownNow()),
  }
}
export type SettleWorld = ReturnType<typeof openSettleWorld>
