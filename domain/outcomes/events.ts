import { z } from 'zod'
import { MappedOutcome } from '../custom-integrations/events.ts'
import { event, personal, type EventOf, type Json } from '../event.ts'
import { LeadActor, LeadStatus } from '../leads/events.ts'
import { Key } from '../pipeline/events.ts'
import { ApiApplicationId, CurrencyCode, CustomerId, OrganisationId } from '../values.ts'

export const MeasureUnit = z.enum(['money', 'percent', 'count'])

export const Measure = z.object({ key: Key, label: z.string().min(1).max(100), unit: MeasureUnit })
export type Measure = z.infer<typeof Measure>

/** A value of the outcome, or a number that is always the same, as an exact decimal. */
export const Operand = z.union([
  z.object({ value: Key }),
  z.object({ constant: z.string().regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be a decimal number such as 12 or 0.01') }),
])
export type Operand = z.infer<typeof Operand>

/** A value worked out of others. A quotient divides the first operand by each of the others. */
export const Formula = z.object({
  operation: z.enum(['sum', 'product', 'quotient']),
  of: z.array(Operand).min(1).max(20),
})
export type Formula = z.infer<typeof Formula>

/** The effect of an outcome type on its lead. */
export const OutcomeEffect = z.enum(['none', 'stage', 'won', 'lost', 'cancel_sale'])
export type OutcomeEffect = z.infer<typeof OutcomeEffect>

export const OutcomeType = z.object({
  key: Key,
  label: z.string().min(1).max(100),
  /** It may be recorded more than once for a lead and deal. */
  repeatable: z.boolean(),
  product: z.enum(['none', 'optional', 'required']),
  values: z.array(z.object({ key: Key, required: z.boolean(), formula: Formula.nullable() })).max(50),
  effect: OutcomeEffect,
  /** With effect `stage`: the stage that the lead moves to. */
  stage: Key.nullable(),
})
export type OutcomeType = z.infer<typeof OutcomeType>

export const OutcomeProduct = z.object({
  key: Key,
  name: z.string().min(1).max(200),
  /** Other codes that also work. */
  aliases: z.array(z.string().min(1).max(200)).max(100),
})
export type OutcomeProduct = z.infer<typeof OutcomeProduct>

export const OutcomeModel = z.object({
  types: z.array(OutcomeType),
  measures: z.array(Measure),
  products: z.array(OutcomeProduct),
})
export type OutcomeModel = z.infer<typeof OutcomeModel>

/** Stream `outcome_model-<organisation id>`. */
export const outcomeModelEvents = {
  /** All of it as it is from now on. */
  OutcomeModelDeclared: event({ organisation_id: OrganisationId, model: OutcomeModel }),
}

export const OutcomeValues = z.record(Key, z.number())

/** An outcome as it was reported, tidied: all that tells one report from another. */
export const Report = z.object({
  type: Key,
  occurred_at: z.iso.datetime(),
  deal_ref: z.string().nullable(),
  product: Key.nullable(),
  reason: z.string().nullable(),
  note: z.string().nullable(),
  /** A currency code; of a person who was erased, nothing. */
  currency: z.string(),
  /** Calculated ones are not among them. */
  values: OutcomeValues,
})
export type Report = z.infer<typeof Report>

/** The sender's identifiers of the lead. */
export const LeadReference = z.object({
  contact_id: z.string().nullable(),
  external_id: z.string().nullable(),
  email: z.string().nullable(),
  phone: z.string().nullable(),
})
export type LeadReference = z.infer<typeof LeadReference>

export const OutcomeSource = z.enum(['api', 'upload', 'manual', 'policy', 'webhook'])
export type OutcomeSource = z.infer<typeof OutcomeSource>

/** The reason to hold an outcome: its lead is not clear, or it is invalid. */
export const HeldReason = z.enum(['no_match', 'several_matches', 'invalid'])
export type HeldReason = z.infer<typeof HeldReason>

const origin = {
  organisation_id: OrganisationId,
  outcome_id: z.uuid(),
  api_application_id: ApiApplicationId.nullable(),
  source: OutcomeSource,
  /** The sender's own id for it. */
  event_id: personal(z.string()).nullable(),
}

/** The fault of each input. */
const Faults = z.record(z.string(), z.string())

/**
 * Stream `outcome_report-<outcome id>`. The id follows from the sender's event id, where there is one, so that "no such
 * stream yet" is what makes the report the first. Until the lead is known the report is encrypted under a key of its own.
 */
export const outcomeReportEvents = {
  OutcomeReported: event({
    ...origin,
    report: personal(Report),
    lead: personal(LeadReference),
    /** The lead that it is about; null: it is held. */
    contact_id: CustomerId.nullable(),
    held: HeldReason.nullable(),
    by: LeadActor,
  }),
  /** An outcome that came in an event of another system and cannot be recorded as it is. It is held. */
  InvalidOutcomeReported: event({ ...origin, sent: personal(MappedOutcome), faults: personal(Faults), by: LeadActor }),
  /** Its lead is known, but does not allow it: it is held. */
  MatchedOutcomeHeld: event({
    ...origin,
    report: personal(Report),
    lead: personal(LeadReference),
    faults: personal(Faults),
    by: LeadActor,
  }),
  /** The faults were put right. */
  HeldOutcomeCorrected: event({
    report: personal(Report),
    lead: personal(LeadReference),
    contact_id: CustomerId.nullable(),
    held: HeldReason.nullable(),
    by: LeadActor,
  }),
  HeldOutcomeMatched: event({ contact_id: CustomerId, by: LeadActor }),
  HeldOutcomeDiscarded: event({ by: LeadActor }),
}
export type OutcomeReportEvent = EventOf<typeof outcomeReportEvents>

const recorded = {
  ...origin,
  contact_id: CustomerId,
  outcome_type: Key,
  deal_ref: personal(z.string()).nullable(),
  product: Key.nullable(),
  currency: CurrencyCode,
  values: OutcomeValues,
  missing_values: z.array(Key),
  by: LeadActor,
  /** The applications that had sent the person: they see the outcome as one of their own leads. */
  seen_by: z.array(ApiApplicationId),
}

/** OutcomesShown names whoever may see what was recorded before. */
const seenByNobody = (v1: Json): Json => ({ ...v1, seen_by: [] })

const own = { subject: (_data: unknown, contactId: string) => contactId }

/** Stream `outcomes-<contact id>`: what became of one person, in the order of recording. */
export const outcomeEvents = {
  OutcomeRecorded: event(
    {
      ...recorded,
      happened_at: z.iso.datetime(),
      reason: personal(z.string()).nullable(),
      note: personal(z.string()).nullable(),
      effect: OutcomeEffect,
      repeatable: z.boolean(),
      /** The sale that it cancels. */
      cancels: z.uuid().nullable(),
      /** Its effect on the lead; null: none. */
      lead_status: LeadStatus.nullable(),
      lead_stage: Key.nullable(),
    },
    { ...own, upcasts: [seenByNobody] },
  ),
  /** Reports stop counting the outcome that is reversed. The reversal is an outcome in its own right. */
  OutcomeReversed: event(
    {
      ...recorded,
      happened_at: z.iso.datetime(),
      reversal_of: z.uuid(),
      note: personal(z.string()).nullable(),
      /** The outcome had closed the lead, so that somebody should look at it. */
      closed_lead: z.boolean(),
    },
    { ...own, upcasts: [seenByNobody] },
  ),
  /** Applications that sent the person in later see what was recorded before. */
  OutcomesShown: event(
    {
      organisation_id: OrganisationId,
      contact_id: CustomerId,
      seen_by: z.array(ApiApplicationId),
      outcomes: z.array(
        z.object({ outcome_id: z.uuid(), outcome_type: Key, deal_ref: personal(z.string()).nullable() }),
      ),
    },
    own,
  ),
}
export type OutcomeEvent = EventOf<typeof outcomeEvents>
