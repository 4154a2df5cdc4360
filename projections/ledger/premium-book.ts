import {
  added,
  noCounters,
  positionOfPayment,
  positionOfPremium,
  writtenOffOf,
  type Amounts,
  type Counters,
} from '#domain/ledger/record.ts'
import { isBySoldCard } from '#domain/payments/record.ts'
import { sumOf } from '#domain/money.ts'
import type { PremiumEvent } from '#domain/premiums/events.ts'
import { disputeCode, evolvePremium, type Premium } from '#domain/premiums/record.ts'

/** A policy as the ledger needs it, beside its premiums. */
export type PolicyBook = {
  readonly currency_code: string
  readonly test: boolean
  readonly card_payment_id: string | null
  /** The card payment that it was sold for was let go before it was charged: what was given back of it was never paid. */
  readonly is_card_let_go: boolean
}

/** A payment of the former model, as far as its policy has recorded it. */
export type Attempt = {
  readonly payment_intent_id: string | null
  readonly is_open: boolean
  readonly counters: Counters
  /** It has a stream by now, which alone counts for it. */
  readonly has_stream: boolean
}

export type PremiumBook = {
  readonly premium: Premium
  /** By the number of the attempt. */
  readonly attempts: Readonly<Record<string, Attempt>>
  /** Sum on `receivable` of the payments with a stream. */
  readonly paid: number
}

const untried: Attempt = { payment_intent_id: null, is_open: false, counters: noCounters, has_stream: false }

export const attemptOf = (book: PremiumBook | undefined, attempt: number): Attempt => book?.attempts[attempt] ?? untried

export const positionOfOwed = (book: PremiumBook | undefined): Amounts => {
  if (!book) return {}
  const owed = positionOfPremium(book.premium)
  const receivable = (added(owed, positionOfAttempts(book)).receivable ?? 0) + book.paid
  return added(owed, writtenOffOf(lostOf(book.premium, receivable)))
}

/**
 * As soon as a premium is asked for no more, nothing of it is receivable, whatever comes or is taken back later. Of what was paid
 * twice, what is owed to nobody is gained.
 */
const lostOf = ({ status, refunds }: Premium, receivable: number): number => {
  if (status === 'written_off') return receivable
  const kept = refunds.filter(
    (each) => each.status === 'waived' && each.waived_as === 'not_owed' && each.reason === 'paid_twice',
  )
  return Math.max(Math.min(receivable, 0), -sumOf(kept, ({ refund_pence }) => refund_pence))
}

/** The position of the payments that have no stream. */
export const positionOfAttempts = (book: PremiumBook | undefined): Amounts =>
  added(...Object.values(book?.attempts ?? {}).map(({ counters }) => positionOfPayment(counters, true)))

/** Nothing that the team has written about a customer is kept here. */
const withoutNotes = (premium: Premium): Premium => ({
  ...premium,
  note: null,
  refunds: premium.refunds.map((refund) => ({ ...refund, note: null })),
})

export const evolvePremiumBook = (
  book: PremiumBook | undefined,
  event: PremiumEvent,
  policy: PolicyBook,
  recorded: { readonly occurred_at: string },
): PremiumBook => {
  const premium = evolvePremium(book?.premium, event, recorded)
  if (!premium) throw new Error(`${event.type} of premium ${event.premium_id}, which was never due.`)
  const attempts = book ? { ...book.attempts, ...changedAttempt(book, event, policy) } : {}
  return { premium: withoutNotes(premium), attempts, paid: book?.paid ?? 0 }
}

/** Of this payment the stream tells from now on; what was recorded of it before goes with it. */
export const withStream = (book: PremiumBook, attempt: number): PremiumBook => ({
  ...book,
  attempts: { ...book.attempts, [attempt]: { ...untried, has_stream: true } },
})

const tellsOfPayment = [
  'PremiumRequested',
  'PremiumCollected',
  'PremiumFailed',
  'PremiumReinstated',
  'PremiumTakenBack',
  'PremiumRefunded',
  'PremiumRefundFailed',
] as const
type OfPayment = Extract<PremiumEvent, { type: (typeof tellsOfPayment)[number] }>

const isOfPayment = (event: PremiumEvent): event is OfPayment => tellsOfPayment.some((type) => type === event.type)

/** The attempt that an event tells of, as it is after it. Of one that has a stream, it tells nothing new. */
const changedAttempt = (book: PremiumBook, event: PremiumEvent, policy: PolicyBook): PremiumBook['attempts'] => {
  const number = attemptIn(book, event)
  if (number === undefined || !isOfPayment(event)) return {}
  const attempt = attemptOf(book, number)
  if (attempt.has_stream) return {}
  const isCard = isBySoldCard(policy.card_payment_id, book.premium.number, number)
  const isNeverPaid = isCard && policy.is_card_let_go
  return { [number]: { ...attempt, ...changeOf(attempt, event, book.premium, { isCard, isNeverPaid }) } }
}

/** The attempt whose payment an event is about; undefined: none. */
export const attemptIn = ({ premium }: PremiumBook, event: PremiumEvent): number | undefined => {
  if (!isOfPayment(event)) return undefined
  if (event.type !== 'PremiumRefundFailed') return event.attempt
  const refund = premium.refunds.find(({ refund_id }) => refund_id === event.refund_id)
  return refund?.attempt ?? event.attempt
}

type OfCard = { readonly isCard: boolean; readonly isNeverPaid: boolean }

const changeOf = (attempt: Attempt, event: OfPayment, premium: Premium, card: OfCard): Partial<Attempt> => {
  const { counters } = attempt
  const { amount_pence: pence } = premium
  const open = counters.disputed - counters.won - counters.lost
  switch (event.type) {
    case 'PremiumRequested':
      return { payment_intent_id: event.payment_intent_id, is_open: true }
    case 'PremiumCollected':
    case 'PremiumReinstated': {
      // What the payer's bank had taken back is the firm's again: the dispute was won.
      const { payment_intent_id } = event
      const named = payment_intent_id === null ? {} : { payment_intent_id }
      return { ...named, is_open: false, counters: { ...paid(counters, pence, card), won: counters.won + open } }
    }
    case 'PremiumFailed':
    case 'PremiumTakenBack': {
      const isDisputed = event.type === 'PremiumTakenBack' || event.failure_code === disputeCode
      if (!isDisputed || open > 0) return { is_open: false }
      // A dispute may be told before anybody has recorded that it was paid.
      const was = paid(counters, pence, card)
      return { is_open: false, counters: { ...was, disputed: was.disputed + pence } }
    }
    case 'PremiumRefunded': {
      // What is recorded once more, for another reason, was given back once.
      const isGiven = premium.refunds.some(
        ({ refund_id, status }) => refund_id === event.refund_id && status === 'refunded',
      )
      if (card.isNeverPaid || isGiven) return {}
      return { counters: { ...counters, refunded: counters.refunded + event.refund_pence } }
    }
    case 'PremiumRefundFailed':
      if (card.isNeverPaid) return {}
      return { counters: { ...counters, refunds_failed: counters.refunds_failed + event.refund_pence } }
  }
}

/** A card's charge is recorded by its application. */
const paid = (counters: Counters, pence: number, { isCard }: OfCard): Counters => ({
  ...counters,
  captured: isCard ? 0 : pence,
})
