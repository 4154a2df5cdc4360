import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { application } from '#domain/applications/application.ts'
import { applicationStreamEvents } from '#domain/applications/record.ts'
import {
  fromStored,
  toStored,
  type EventOf,
  type EventShapes,
  type NewEvent,
  type RecordedEvent,
} from '#domain/event.ts'
import { paymentStreamEvents } from '#domain/payments/events.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { policyStreamEvents } from '#domain/policies/record.ts'
import { isClaimEvent, isPremiumEvent } from '#domain/policies/state.ts'
import { OrganisationId } from '#domain/values.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import { makeLog } from '#infra/log.ts'
import { settleCardPayments } from '../../command-api/payments/settle-card-payments.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { collectPremiums } from '../../command-api/premiums/collect-premiums.ts'
import { policyTimers } from '../../command-api/policies/timers.ts'
import { whenPolicyCancelledSettlePremiums } from '../../command-api/premiums/when-policy-cancelled-settle-premiums.ts'
import { refundPremiums } from '../../command-api/premiums/refund-premiums.ts'
import { makePaymentNews } from '../../command-api/payment-news/receive.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { cardPaymentDue, isCardEvent } from '../../projections/due-times/card-payments.ts'
import { paymentDueTime } from '../../projections/due-times/payments.ts'
import { policyDueTimes } from '../../projections/due-times/policies.ts'
import { premiumDueTimes } from '../../projections/due-times/premiums.ts'
import type { Row } from '../../projections/due-times/row.ts'
import { started } from '../applications/builders.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { everyDay } from '../policies/calendars.ts'
import { makeBank, memoryLog, type KeptBank } from './bank.ts'
import {
  application_id,
  cardPaid,
  collectedByCard,
  dueByCard,
  firstPremium,
  paid_at,
  payment_id,
} from './paid-by-card.ts'

const bound = sampleEvent(policyEvents, 'PolicyBound', 2)
export { application_id } from './paid-by-card.ts'

const silent = makeLog('silent', 'test')
export const { policy_id, organisation_id } = bound
const stream = `policy-${policy_id}`
const applicationStream = `application-${application_id}`
const issued = sampleEvent(quoteEvents, 'QuoteIssued')

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

/** When it is asked what became of a payment. */
const paymentDueOf = (recorded: readonly RecordedEvent[]): readonly Due[] => {
  let due: Due | undefined
  for (const each of recorded) {
    const event = fromStored(paymentStreamEvents, each)
    const due_at = paymentDueTime(event, each.metadata.occurred_at)
    if (due_at !== undefined) due = due_at === null ? undefined : { kind: 'payment', id: event.payment_id, due_at }
  }
  return due ? [due] : []
}

/** When the card payment is given back, as the same read model would have it. */
const cardReturnsOf = (recorded: readonly RecordedEvent[]): readonly Due[] => {
  const place = { kind: 'card_payment_return', id: payment_id, organisation_id, stream: applicationStream } as const
  let row: Row | undefined
  for (const each of recorded) {
    const event = fromStored(applicationStreamEvents, each)
    if (isCardEvent(event))
      row = cardPaymentDue(place.kind, row, event, { ...place, event_id: each.id }, each.metadata.occurred_at)
  }
  return row?.due_at ? [{ kind: row.kind, id: row.id, due_at: row.due_at }] : []
}

const unasked = async () => expect.fail('Nothing is asked of this.')

/** What a version before has left: its events, what the provider has, and when that was. */
export type KeptWorld = {
  readonly at: string
  readonly streams: Readonly<Record<string, readonly KeptEvent[]>>
  readonly bank: KeptBank
}
type KeptEvent = Pick<NewEvent, 'type' | 'schema_version' | 'data'> & { readonly occurred_at: string }

type Opening = { readonly end_date: string | null; readonly is_by_card?: boolean; readonly kept?: KeptWorld }

/** A policy, the provider that its premiums are collected by, and processes that can be killed. */
export const openWorld = async ({ end_date, is_by_card = false, kept }: Opening = bound) => {
  const bank = makeBank(kept?.bank)
  const { log, kill, meanwhile, streamOf, streamsOf } = memoryLog()
  const paymentsOf = () => streamsOf('payment')
  const clock = { at: kept?.at ?? '2026-07-01T09:00:00.000Z' }
  let told = 0
  const account = { is_removed: false }
  const context = () => ({
    organisation_id,
    actor: { type: 'operator', id: null } as const,
    correlation_id: 'test',
    now: clock.at,
  })
  /** Whoever is killed is replaced by another, who remembers nothing. */
  const start = () => {
    const writer = makeWriter({ log, seen: async () => undefined })
    const merchant = {
      provider: bank.provider,
      publishable_key: null,
      stripe_account: null,
      capture: 'automatic' as const,
    }
    const deps = {
      writer,
      merchants: () => (account.is_removed ? undefined : merchant),
      clock: { now: () => new Date(clock.at) },
    }
    const receive = makePaymentNews({
      calendar: everyDay,
      ...deps,
      log: silent,
      mandateOwner: async () => undefined,
      setUp: async () => undefined,
    })
    const rulesOf = () => expect.fail('Nothing is indexed.')
    const life = policyTimers({
      calendar: everyDay,
      writer,
      catalogue: { release: unasked },
      rulesOf,
      reviewBasis: unasked,
    })
    const timers = [
      ...collectPremiums({ ...deps, calendar: everyDay }),
      refundPremiums({ ...deps, calendar: everyDay }),
      ...settleCardPayments({ ...deps, calendar: everyDay }),
      ...life,
    ]
    const cards = commandHandler(writer, application)
    const whenCancelled = whenPolicyCancelledSettlePremiums({ ...deps, calendar: everyDay })
    return { ...commandHandler(writer, policy), cards, timers, receive, writer, whenCancelled }
  }
  const put = async <Shapes extends EventShapes>(to: string, shapes: Shapes, events: readonly EventOf<Shapes>[]) =>
    keep(
      to,
      events.map((event) => ({ ...toStored(shapes, event), occurred_at: clock.at })),
    )
  const keep = async (to: string, events: readonly KeptEvent[]) =>
    log.append(
      to,
      'no_stream',
      events.map(({ occurred_at, ...event }) => ({
        id: randomUUID(),
        ...event,
        metadata: { ...context(), causation_id: null, occurred_at },
      })),
    )
  const sell = async () => {
    if (is_by_card) {
      const { quote_id } = issued
      const metadata = { organisation_id, application_id, quote_id, payment_id }
      bank.payByCard({ amount_pence: firstPremium.amount_pence, metadata, paid_at })
      await put(applicationStream, applicationStreamEvents, [
        started({ application_id, organisation_id }),
        issued,
        ...cardPaid({ quote_id, amount_pence: firstPremium.amount_pence, paid_at }),
        { type: 'CardPaymentUsed', payment_id, policy_id },
      ])
    }
    const next = { next_due_on: '2026-03-15', next_due_at: '2026-03-14T23:00:00.000Z' }
    const due = { ...dueByCard, covers_from: bound.start_date, ...next }
    const byCard = is_by_card ? [due, { ...collectedByCard, payment_intent_id: null }] : []
    const card_payment_id = is_by_card ? payment_id : null
    await put(stream, policyStreamEvents, [
      { ...bound, application_id, card_payment_id, end_date, cooling_off_ends_on: '2026-08-31' },
      ...byCard,
      { type: 'PolicyActivated', start_date: bound.start_date },
    ])
  }
  if (kept) for (const [to, events] of Object.entries(kept.streams)) await keep(to, events)
  else await sell()

  const attempt = async (
    work: (process: ReturnType<typeof start>) => Promise<unknown>,
    killAt?: 'before' | 'after',
    write = 1,
  ) => {
    Object.assign(kill, { at: killAt, write })
    try {
      await work(start())
    } catch (error) {
      const isExpected = error instanceof Error && (error.name === 'Rejection' || error.message.includes('killed'))
      if (!isExpected) throw error
    } finally {
      kill.at = undefined
    }
  }
  const fire = async (due: Due, killAt?: 'before' | 'after', write?: number) => {
    if (due.due_at > clock.at) clock.at = due.due_at
    await attempt(
      async ({ timers }) =>
        timers
          .find(({ kind }) => kind === due.kind)
          ?.fire(
            {
              ...due,
              organisation_id,
              stream: due.kind.startsWith('card_payment')
                ? applicationStream
                : due.kind === 'payment'
                  ? `payment-${due.id}`
                  : stream,
            },
            context(),
          ),
      killAt,
      write,
    )
  }
  const tell = async (type: 'payment_intent.succeeded' | 'payment_intent.payment_failed', index: number) => {
    const intent = bank.intents[index]
    if (!intent) return
    const last_payment_error = { code: 'insufficient_funds', decline_code: null }
    const object = { id: intent.id, amount: intent.amount_pence, metadata: { ...intent.metadata }, last_payment_error }
    const news = { id: `evt_${intent.id}_told_${++told}`, livemode: false, type, data: { object } }
    await attempt(async ({ receive }) => receive(OrganisationId.parse(organisation_id), news, context()))
  }
  const tellOfRefunds = async (index: number, amount_refunded = bank.intents[index]?.refunded_pence ?? 0) => {
    const intent = bank.intents[index]
    if (!intent || amount_refunded === 0) return
    const object = {
      amount_refunded,
      refunded: amount_refunded === intent.amount_pence,
      payment_intent: intent.id,
      metadata: { ...intent.metadata },
    }
    const { length: made } = bank.refunds.filter((each) => each.intent === intent.id)
    const id = `evt_${intent.id}_refund_${made}_${amount_refunded}`
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
  const tellOfDispute = async (index: number, again = 0) => {
    const intent = bank.intents[index]
    if (!intent || intent.dispute_changes === 0) return
    const object = { id: `dp_${index}`, amount: intent.amount_pence, payment_intent: intent.id }
    const news = {
      id: `evt_dispute_${intent.id}_${intent.dispute_changes}_${again}`,
      livemode: false,
      type: intent.is_disputed ? ('charge.dispute.created' as const) : ('charge.dispute.funds_reinstated' as const),
      data: { object },
    }
    await attempt(async ({ receive }) => receive(OrganisationId.parse(organisation_id), news, context()))
  }
  const dispute = async (index: number, isTold = true, disputed_pence?: number) => {
    const intent = bank.intents[index]
    if (intent?.status !== 'succeeded' || intent.is_disputed) return
    // The firm was told of it when it had won before.
    await tellOfDispute(index)
    if (intent.dispute_changes === 0 && disputed_pence !== undefined) intent.disputed_pence = disputed_pence
    Object.assign(intent, { is_disputed: true, dispute_changes: intent.dispute_changes + 1 })
    if (isTold) await tellOfDispute(index)
  }
  /** The firm wins the dispute of a payment, of which it was told. */
  const win = async (index: number, isTold = true) => {
    const intent = bank.intents[index]
    if (!intent?.is_disputed) return
    await tellOfDispute(index)
    Object.assign(intent, { is_disputed: false, dispute_changes: intent.dispute_changes + 1 })
    if (isTold) await tellOfDispute(index)
  }
  return {
    bank,
    meanwhile,
    account,
    clock,
    fire,
    dispute,
    win,
    tellOfDispute,
    tell,
    tellOfRefunds,
    tellOfFailedRefunds,
    attempt,
    due: () => [
      ...dueOf(streamOf(stream)),
      ...paymentsOf().flatMap(paymentDueOf),
      ...cardReturnsOf(streamOf(applicationStream)),
    ],
    card: async () => (await start().cards.load(application_id))?.payments.cards[0],
    state: async () => start().load(policy_id),
    /** What follows from a cancellation by itself. */
    followCancellation: async () => {
      const cancelled = streamOf(stream).find(({ type }) => type === 'PolicyCancelled')
      if (cancelled)
        await attempt(async ({ whenCancelled }) =>
          whenCancelled.react(fromStored(whenCancelled.events, cancelled), cancelled, context()),
        )
    },
  }
}
