import { z } from 'zod'
import { event, personal, type EventOf } from '../event.ts'
import { ApplicationId, CalendarDate, CustomerId, Pence, ProviderId, ProviderWord } from '../values.ts'

/** It follows from the policy and the number of the premium. */
export const PremiumId = z.uuid().toLowerCase().brand<'PremiumId'>()
export type PremiumId = z.infer<typeof PremiumId>

export const PremiumRefundId = z.uuid().toLowerCase().brand<'PremiumRefundId'>()
export type PremiumRefundId = z.infer<typeof PremiumRefundId>

export const PremiumMethod = z.enum(['direct_debit', 'card'])
export const WriteOffReason = z.enum(['policy_ended', 'operator'])
export type WriteOffReason = z.infer<typeof WriteOffReason>
export const RefundReason = z.enum(['cooling_off', 'policy_ended', 'provider', 'operator', 'paid_twice'])
export type RefundReason = z.infer<typeof RefundReason>

const Attempt = z.int().positive()
const premium = {
  premium_id: PremiumId,
  /** The first month of cover is paid with premium 1. */
  number: z.int().positive(),
  amount_pence: Pence,
  due_on: CalendarDate,
}
const refund = { premium_id: PremiumId, refund_id: PremiumRefundId }
/** Why the team did it, in words; left out where nobody of the team did, and by versions that did not ask. */
const byTheTeam = { note: personal(z.string()).optional() }

/** Stream `policy-<policy id>`: what is paid for a policy is decided together with what becomes of it. */
export const premiumEvents = {
  PremiumDue: event({
    ...premium,
    /** The first day of the month that it pays for. */
    covers_from: CalendarDate,
    method: PremiumMethod,
    /** When the next one is due; null: this is the last. */
    next_due_on: CalendarDate.nullable(),
    next_due_at: z.iso.datetime().nullable(),
  }),
  /** The payment provider was asked to collect it. */
  PremiumRequested: event({
    ...premium,
    attempt: Attempt,
    payment_intent_id: ProviderId,
    /** The provider is asked then, if it has not reported the result. */
    check_at: z.iso.datetime(),
  }),
  /** Nothing could be done, or learnt, about it yet. */
  PremiumDelayed: event({
    premium_id: PremiumId,
    attempt: Attempt,
    failure_code: ProviderWord,
    /** Failures in a row. */
    failures: z.int().positive(),
    retry_at: z.iso.datetime(),
  }),
  PremiumCollected: event({
    ...premium,
    attempt: Attempt,
    method: PremiumMethod,
    payment_intent_id: ProviderId.nullable(),
    collected_at: z.iso.datetime(),
  }),
  PremiumFailed: event(
    {
      ...premium,
      customer_id: CustomerId,
      attempt: Attempt,
      failure_code: ProviderWord,
      /** When it is collected again; null: that is left to the team. */
      retry_at: z.iso.datetime().nullable(),
      /** The date, at the organisation, when the payer's bank took it back; null: it did not, or it was not recorded. */
      disputed_on: CalendarDate.nullable(),
    },
    { upcasts: [(v1) => ({ ...v1, disputed_on: null })] },
  ),
  /** It is collected again. */
  PremiumRetried: event({ ...premium, attempt: Attempt, ...byTheTeam }),
  /** The firm has won the dispute of an earlier attempt's collection, after the premium was asked for again. */
  PremiumReinstated: event({
    ...premium,
    attempt: Attempt,
    method: PremiumMethod,
    payment_intent_id: ProviderId.nullable(),
    reinstated_at: z.iso.datetime(),
    /** The refund where both attempts have collected it. */
    refund_id: PremiumRefundId,
  }),
  /** The payer's bank has taken back what stood beside another payment, or beside one that is asked for: that is lost after all. */
  PremiumTakenBack: event({ ...premium, attempt: Attempt, disputed_on: CalendarDate }),
  /** The payments of the premium, where there are more than the last one asked for. */
  PremiumPaymentsChanged: event({
    premium_id: PremiumId,
    /** The one that pays it. */
    attempt: Attempt,
    method: PremiumMethod,
    payment_intent_id: ProviderId.nullable(),
    collected_at: z.iso.datetime().nullable(),
    also_paid_by: z.array(
      z.object({
        attempt: Attempt,
        method: PremiumMethod,
        payment_intent_id: ProviderId.nullable(),
        collected_at: z.iso.datetime(),
      }),
    ),
    disputed_attempts: z.array(Attempt),
  }),
  /** It is not asked for any more. */
  PremiumWrittenOff: event({ ...premium, attempt: Attempt, reason: WriteOffReason, ...byTheTeam }),
  PremiumRefundOwed: event({
    ...premium,
    ...refund,
    application_id: ApplicationId,
    /** Where it was paid by card: the application gives that back. */
    card_payment_id: z.uuid().nullable(),
    refund_pence: Pence,
    reason: RefundReason,
    ...byTheTeam,
  }),
  /** Somebody has given a part of it back at the provider: only so much of it is owed still. */
  PremiumRefundReduced: event({ ...premium, ...refund, attempt: Attempt, refund_pence: Pence }),
  PremiumRefunded: event({
    ...premium,
    ...refund,
    attempt: Attempt,
    refund_pence: Pence,
    reason: RefundReason,
    /** The provider's id; it was not recorded before payments had streams of their own. */
    provider_refund_id: ProviderId.optional(),
  }),
  /** It could not be given back: it is tried again, or left to the team. */
  PremiumRefundDelayed: event({
    ...refund,
    failure_code: ProviderWord,
    attempt: Attempt,
    retry_at: z.iso.datetime().nullable(),
  }),
  /** It was given back, and days later the provider had it back from the payer's bank: it is owed, and left to the team. */
  PremiumRefundFailed: event({
    ...premium,
    ...refund,
    attempt: Attempt,
    refund_pence: Pence,
    failure_code: ProviderWord,
    provider_refund_id: ProviderId,
  }),
  /** The team has it tried once more. */
  PremiumRefundRequested: event({ ...refund, ...byTheTeam }),
  /** A refund that could not go back the same way was paid to the customer another way. */
  PremiumRefundPaidOtherwise: event(
    {
      ...premium,
      ...refund,
      customer_id: CustomerId,
      attempt: Attempt,
      refund_pence: Pence,
      paid_on: CalendarDate,
      reason: personal(z.string()),
    },
    { subject: ({ customer_id }) => customer_id },
  ),
  /** It is owed no more: the team says so, or the payer's bank has taken back what was to be given back. */
  PremiumRefundWaived: event(
    {
      ...premium,
      ...refund,
      customer_id: CustomerId,
      attempt: Attempt,
      refund_pence: Pence,
      why: z.enum(['not_owed', 'taken_back']),
      reason: personal(z.string()).nullable(),
    },
    { subject: ({ customer_id }) => customer_id },
  ),
}
export type PremiumEvent = EventOf<typeof premiumEvents>
