import { idOf, type RecordedEvent } from '#domain/event.ts'
import { added, between, noCounters, type Amounts, type EntryKind } from '#domain/ledger/record.ts'
import { paymentStreamEvents, type PaymentStreamEvent } from '#domain/payments/events.ts'
import { debitPaymentKey, isBySoldCard } from '#domain/payments/record.ts'
import { premiumEvents, type PremiumEvent } from '#domain/premiums/events.ts'
import { derivedId } from '#infra/ids.ts'
import {
  evolveBook,
  isOfCard,
  paidBy,
  positionOfBook,
  type CardPaymentEvent,
  type PaymentBook,
} from './payment-book.ts'
import {
  attemptIn,
  attemptOf,
  evolvePremiumBook,
  positionOfAttempts,
  positionOfOwed,
  withStream,
  type PolicyBook,
  type PremiumBook,
} from './premium-book.ts'
import type { Documents, LedgerEvent, Part, Subject } from './row.ts'

/** Finds what is known of a record before the event. */
export type Find = <Name extends Part>(part: Name, id: string) => Documents[Name] | undefined

export type Posting = {
  readonly subject: Subject
  readonly kind: EntryKind
  readonly currency_code: string
  readonly test: boolean
  readonly policy_id: string | null
  readonly premium_id: string | null
  readonly payment_id: string | null
  readonly payment_intent_id: string | null
  readonly lines: Amounts
}

/** The records after an event, and its postings. */
export type Effects = {
  readonly policy?: PolicyBook
  readonly premium?: PremiumBook
  readonly payment?: PaymentBook
  readonly postings: readonly Posting[]
}

const isOfPremium = (event: LedgerEvent): event is PremiumEvent => Object.hasOwn(premiumEvents, event.type)
const isOfStream = (event: LedgerEvent): event is PaymentStreamEvent => Object.hasOwn(paymentStreamEvents, event.type)

export const effectsOf = (event: LedgerEvent, recorded: RecordedEvent, find: Find): Effects => {
  if (event.type === 'PolicyBound') {
    const { currency_code, test, card_payment_id } = event
    return { policy: { currency_code, test, card_payment_id, is_card_let_go: false }, postings: [] }
  }
  if (isOfPremium(event)) return ofPremium(event, recorded, find)
  if (isOfStream(event)) return ofStream(event, find)
  return isOfCard(event) ? ofCard(event, recorded, find) : { postings: [] }
}

/** Without a line there is no entry. */
const posted = (posting: Posting): readonly Posting[] => (Object.keys(posting.lines).length > 0 ? [posting] : [])

const ofPremium = (event: PremiumEvent, { stream, metadata }: RecordedEvent, find: Find): Effects => {
  const policy_id = idOf(stream)
  const { premium_id } = event
  const policy = find('policy', policy_id)
  if (!policy) throw new Error(`${event.type} of policy ${policy_id}, which was never set up.`)
  const before = find('premium', premium_id)
  const premium = evolvePremiumBook(before, event, policy, metadata)
  const { currency_code, test } = policy
  const about = { currency_code, test, policy_id, premium_id }
  const owed = between(positionOfOwed(before), positionOfOwed(premium))
  const paid = between(positionOfAttempts(before), positionOfAttempts(premium))
  const number = before && attemptIn(before, event)
  const ofAttempt = {
    payment_id: number === undefined ? null : paymentIdOf(policy, premium, number),
    payment_intent_id: number === undefined ? null : attemptOf(premium, number).payment_intent_id,
  }
  const ofNone = { payment_id: null, payment_intent_id: null }
  return {
    premium,
    postings: [
      ...posted({
        subject: 'premium',
        kind: owedKinds[event.type] ?? writeOffKind(owed),
        ...about,
        ...ofNone,
        lines: owed,
      }),
      ...posted({ subject: 'payment', kind: paidKind(event, paid), ...about, ...ofAttempt, lines: paid }),
    ],
  }
}

const paymentIdOf = ({ card_payment_id }: PolicyBook, { premium }: PremiumBook, attempt: number): string =>
  isBySoldCard(card_payment_id, premium.number, attempt)
    ? card_payment_id
    : derivedId(...debitPaymentKey(premium.premium_id, attempt))

const owedKinds: Readonly<Partial<Record<PremiumEvent['type'], EntryKind>>> = {
  PremiumDue: 'premium_due',
  PremiumRefundOwed: 'refund_owed',
  PremiumRefunded: 'refund_owed',
  PremiumRefundReduced: 'refund_reduced',
  PremiumRefundWaived: 'refund_owed_no_more',
  PremiumRefundPaidOtherwise: 'paid_otherwise',
}

/** Of all others, what is posted to the premium is that more of it is to be written off, or less. */
const writeOffKind = ({ write_off = 0 }: Amounts): EntryKind => (write_off > 0 ? 'written_off' : 'write_off_reversed')

const paidKind = ({ type }: PremiumEvent, { disputed = 0 }: Amounts): EntryKind => {
  if (type === 'PremiumRefunded') return 'refund_made'
  if (type === 'PremiumRefundFailed') return 'refund_failed'
  if (disputed === 0) return 'payment_received'
  return disputed > 0 ? 'dispute_opened' : 'dispute_won'
}

const ofStream = (event: PaymentStreamEvent, find: Find): Effects => {
  const { payment_id, premium_id } = event
  const before = find('payment', payment_id)
  const known = premium_id === null ? undefined : find('premium', premium_id)
  if (event.type !== 'PaymentOpened' && event.type !== 'PaymentAssigned') {
    const payment = evolveBook(before, event, nothingKnown)
    const premium = withPaid(known, before, payment)
    const posting = paymentPosting(payment_id, streamKinds[event.type], before, payment)
    return { ...(premium && { premium }), payment, postings: [...posting, ...writeOffPosting(known, premium, payment)] }
  }
  const { attempt } = event
  const former = attempt === null ? noCounters : attemptOf(known, attempt).counters
  const test = event.type === 'PaymentOpened' && isTest(event, find)
  const payment = evolveBook(before, event, { test, former })
  const premium = withPaid(known && attempt !== null ? withStream(known, attempt) : known, before, payment)
  const was = added(positionOfBook(before), positionOfAttempts(known))
  const lines = between(was, added(positionOfBook(payment), positionOfAttempts(premium)))
  return {
    ...(premium && { premium }),
    payment,
    postings: [
      ...posted({ ...aboutPayment(payment_id, payment), kind: 'payment_used', lines }),
      ...writeOffPosting(known, premium, payment),
    ],
  }
}

const isTest = (
  { policy_id, application_id }: Extract<PaymentStreamEvent, { type: 'PaymentOpened' }>,
  find: Find,
): boolean => {
  const policy = policy_id === null ? undefined : find('policy', policy_id)
  return policy?.test ?? find('application', application_id)?.test ?? false
}

const withPaid = (
  premium: PremiumBook | undefined,
  before: PaymentBook | undefined,
  payment: PaymentBook,
): PremiumBook | undefined => premium && { ...premium, paid: premium.paid + paidBy(payment) - paidBy(before) }

/** The posting where a payment pays, or loses, a premium asked for no more. */
const writeOffPosting = (
  before: PremiumBook | undefined,
  premium: PremiumBook | undefined,
  { currency_code, test, policy_id, premium_id }: PaymentBook,
): readonly Posting[] => {
  const lines = between(positionOfOwed(before), positionOfOwed(premium))
  const about = { currency_code, test, policy_id, premium_id, payment_id: null, payment_intent_id: null }
  return posted({ subject: 'premium', kind: writeOffKind(lines), ...about, lines })
}

const nothingKnown = { test: false, former: noCounters }

const streamKinds: Readonly<
  Record<Exclude<PaymentStreamEvent['type'], 'PaymentOpened' | 'PaymentAssigned'>, EntryKind>
> = {
  PaymentTakenOn: 'payment_received',
  PaymentAuthorised: 'payment_received',
  PaymentCaptured: 'payment_received',
  PaymentFailed: 'payment_received',
  PaymentCancelled: 'payment_received',
  PaymentDelayed: 'payment_received',
  PaymentRefundAsked: 'refund_made',
  PaymentRefundMade: 'refund_made',
  PaymentRefundFailed: 'refund_failed',
  PaymentDisputeOpened: 'dispute_opened',
  PaymentDisputeWon: 'dispute_won',
  PaymentDisputeLost: 'dispute_lost',
}

const ofCard = (event: CardPaymentEvent, { stream }: RecordedEvent, find: Find): Effects => {
  const { payment_id } = event
  const before = find('payment', payment_id)
  const { test = false } = find('application', idOf(stream)) ?? {}
  const payment = evolveBook(before, event, { test, former: noCounters })
  const policy_id = event.type === 'CardPaymentReturned' && event.how !== 'refunded' ? event.policy_id : null
  const policy = policy_id === null ? undefined : find('policy', policy_id)
  return {
    ...(policy && { policy: { ...policy, is_card_let_go: true } }),
    payment,
    postings: paymentPosting(payment_id, cardKind(event), before, payment),
  }
}

const cardKinds: Readonly<Partial<Record<CardPaymentEvent['type'], EntryKind>>> = {
  CardPaymentUsed: 'payment_used',
  CardPaymentReturned: 'refund_made',
  CardPaymentReturnFailed: 'refund_failed',
}

const cardKind = (event: CardPaymentEvent): EntryKind => {
  if (event.type === 'CardPaymentReturnClosed') return event.how === 'taken_back' ? 'dispute_lost' : event.how
  return cardKinds[event.type] ?? 'payment_received'
}

const aboutPayment = (payment_id: string, payment: PaymentBook) => {
  const { currency_code, test, policy_id, premium_id, payment_intent_id } = payment
  return { subject: 'payment' as const, currency_code, test, policy_id, premium_id, payment_id, payment_intent_id }
}

const paymentPosting = (
  payment_id: string,
  kind: EntryKind,
  before: PaymentBook | undefined,
  payment: PaymentBook,
): readonly Posting[] =>
  posted({
    ...aboutPayment(payment_id, payment),
    kind,
    lines: between(positionOfBook(before), positionOfBook(payment)),
  })
