import { z } from 'zod'
import { CampaignKey, ConsentPurpose } from '../campaigns/events.ts'
import { event, personal, type EventOf } from '../event.ts'
import { ApiApplicationId, CampaignId, Channel, CustomerId, IngestId, OrganisationId, Provenance } from '../values.ts'

export const Source = z.string().regex(/^[a-z0-9_.-]{1,64}$/, 'must be up to 64 lower-case letters, digits, _, . and -')

const Plain = z.union([z.string(), z.number(), z.boolean(), z.null()])
/** By field key. */
export const Declared = z.record(z.string(), z.union([Plain, z.array(Plain)]))
export type Declared = Readonly<z.infer<typeof Declared>>

export const IngestIdentity = z.object({
  contact_id: z.string().optional(),
  email: z.string().optional(),
  phone: z.string().optional(),
  name: z.string().optional(),
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  external_id: z.string().optional(),
})
export type IngestIdentity = z.infer<typeof IngestIdentity>

/** The person's consent and refusals, by purpose and channel, as the form recorded them. */
export const IngestConsent = z.object({
  method: z.string(),
  recorded_at: z.iso.datetime().nullable(),
  wording: z.string().nullable(),
  purposes: z.partialRecord(ConsentPurpose, z.partialRecord(Channel, z.boolean())),
})
export type IngestConsent = z.infer<typeof IngestConsent>

/** The content of a lead, as sent. */
export const IngestContent = z.object({
  identity: IngestIdentity.nullable(),
  data: z.record(z.string(), z.unknown()).nullable(),
  text: z.string().nullable(),
  declared: Declared.nullable(),
  consent: IngestConsent.nullable(),
  provenance: Provenance.nullable(),
  /** The texts in `data` and `declared` that were sent as numbers, and are kept as they were written. */
  numbers: z.array(z.string()).optional(),
})
export type IngestContent = z.infer<typeof IngestContent>

export const MatchedBy = z.enum(['contact_id', 'external_id', 'email', 'phone', 'name', 'nothing', 'person'])
export type MatchedBy = z.infer<typeof MatchedBy>

export const ReviewReason = z.enum(['conflicting_identifiers', 'several_people', 'different_emails', 'nobody_named'])
export type ReviewReason = z.infer<typeof ReviewReason>

export const DiscardReason = z.enum(['blocked_source', 'trap_field', 'person'])

/** A working state that a deferred ingest goes back to. */
export const IngestStep = z.enum(['resolving', 'extracting'])
export type IngestStep = z.infer<typeof IngestStep>

/** A rule that a lead does not meet, in the sender's field names. */
export const RuleFailure = z.object({
  field: z.string(),
  rule: z.string().nullable(),
  reason: z.string().nullable(),
})
export type RuleFailure = z.infer<typeof RuleFailure>

/** A detail that was sent and cannot be used, in the sender's field names. */
export const RefusedDetail = z.object({ field: z.string(), reason: z.string() })
export type RefusedDetail = z.infer<typeof RefusedDetail>

/** Left out where all could be used. */
const refused = personal(z.array(RefusedDetail)).optional()

const written = {
  facts_written: z.int(),
  fields_proposed: z.int(),
  activities_written: z.int(),
}

/** Stream `ingest-<ingest id>`: the id follows from the Idempotency-Key where there is one. */
export const ingestEvents = {
  IngestReceived: event({
    ingest_id: IngestId,
    organisation_id: OrganisationId,
    /** Null: the operator uploaded it. */
    api_application_id: ApiApplicationId.nullable(),
    source: Source,
    source_reference: personal(z.string()).nullable(),
    campaign: z.object({ id: CampaignId, key: CampaignKey }).nullable(),
    /** When the lead happened, as the sender says; null: now. */
    happened_at: z.iso.datetime().nullable(),
    /** In real time, which separates retries from new leads. */
    accepted_at: z.iso.datetime(),
    content: personal(IngestContent),
  }),
  /** A key that came with the content of another lead stands for that lead from now on. In a stream of its own. */
  IngestKeyUsed: event({ first_ingest_id: IngestId }),
  IngestResolutionStarted: event({ attempt: z.int() }),
  /** It does not meet the campaign's rules, or the organisation's. */
  IngestHeld: event({ failures: personal(z.array(RuleFailure)) }),
  IngestReviewNeeded: event({ reason: ReviewReason, candidates: z.array(CustomerId), refused }),
  IngestDiscarded: event({ reason: DiscardReason, note: personal(z.string()).nullable() }),
  /** A person of the team accepts it although it does not meet the rules. */
  IngestAccepted: event({ ingest_id: IngestId }),
  /** A person of the team says who it is about; null: somebody new. */
  IngestPersonPicked: event({ contact_id: CustomerId.nullable() }),
  /** The lead's person is found, and its declared values are theirs. */
  IngestResolved: event({
    contact_id: CustomerId,
    matched_by: MatchedBy,
    is_new_lead: z.boolean(),
    ...written,
    refused,
  }),
  IngestDeferred: event({
    step: IngestStep,
    attempt: z.int(),
    reason: personal(z.string()),
    retry_after: z.iso.datetime(),
  }),
  IngestRetried: event({ step: IngestStep, attempt: z.int() }),
  IngestFailed: event({ step: IngestStep, reason: personal(z.string()) }),
  /** The values read are theirs too. */
  IngestApplied: event({ ...written, truncated: z.boolean(), refused }),
}
export type IngestEvent = EventOf<typeof ingestEvents>
