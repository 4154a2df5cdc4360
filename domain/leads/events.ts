import { z } from 'zod'
import { event, personal, type EventOf, type Json } from '../event.ts'
import { Key, StageKind } from '../pipeline/events.ts'
import { ApiApplicationId, CampaignId, CustomerId, OrganisationId } from '../values.ts'

export const LeadStatus = z.enum([
  'open',
  'won',
  'lost',
  'dormant',
  'disqualified',
  'duplicate',
  'invalid',
  'not_interested',
  'ineligible',
])
export type LeadStatus = z.infer<typeof LeadStatus>

export const Grade = z.enum(['A', 'B', 'C', 'D', 'E'])
export type Grade = z.infer<typeof Grade>

export const ActivityKind = z.enum([
  'note',
  'call',
  'missed_call',
  'email',
  'sms',
  'whatsapp',
  'letter',
  'reply',
  'unsubscribed',
  'bounced',
  'booking',
  'booking_changed',
  'booking_cancelled',
  'booking_attended',
  'booking_missed',
  'form',
  'visit',
  'link_clicked',
  'document_sent',
  'document_opened',
  'task',
  'application_started',
  'application_abandoned',
  'application_referred',
  'application_declined',
  'quote_issued',
  'quote_accepted',
  'quote_expired',
  'market_quotes_ready',
  'handed_off',
  'policy_bound',
  'policy_updated',
  'policy_cancelled',
  'policy_lapsed',
  'premium_failed',
  'claim_opened',
  'outcome',
  'outcome_reversed',
  'consent_changed',
  'survey_answered',
  'membership_changed',
  'complaint',
])
export type ActivityKind = z.infer<typeof ActivityKind>

export const Direction = z.enum(['inbound', 'outbound'])
export const ActivityChannel = z.enum(['email', 'sms', 'whatsapp', 'phone', 'post', 'web', 'in_person'])

/** The cause of an event for receivers: a member of the team is a `user`, the person a `contact`. */
export const LeadActor = z.object({
  type: z.enum(['system', 'user', 'api', 'workflow', 'contact']),
  name: personal(z.string()).nullable(),
})
export type LeadActor = z.infer<typeof LeadActor>

export const CampaignRef = z.object({ id: CampaignId, key: Key })
export type CampaignRef = z.infer<typeof CampaignRef>

export const FactValue = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.union([z.string(), z.number(), z.boolean()])),
])
export type FactValue = z.infer<typeof FactValue>

export const Facts = z.record(Key, FactValue)
export type Facts = Readonly<z.infer<typeof Facts>>

/** Anyone can send ever more about somebody: so many are held of a lead. */
export const mostFacts = 2_000

export const StageRef = z.object({ key: Key, kind: StageKind })
export type StageRef = z.infer<typeof StageRef>

export const TpsStatus = z.enum(['clear', 'registered', 'not_applicable'])
export type TpsStatus = z.infer<typeof TpsStatus>

/** Why a number could not be screened. */
export const TpsTrouble = z.enum(['no_answer'])
export type TpsTrouble = z.infer<typeof TpsTrouble>

export const NextAction = z.object({
  type: Key,
  summary: personal(z.string()).nullable(),
  due_at: z.iso.datetime(),
})
export type NextAction = z.infer<typeof NextAction>

export const BuyingSignal = z.enum(['strong', 'some', 'none'])
export const Priority = z.enum(['low', 'normal', 'high', 'urgent'])

/** The team's marks on a lead. */
export const Marks = z.object({
  /** The person's interest in buying; null: nobody has judged. */
  buying_signal: BuyingSignal.nullable(),
  /** The team has promised to come back to the person. */
  follow_up: z.boolean(),
  priority: Priority,
  /** Out of the team's sight; the feeds still show it. */
  archived: z.boolean(),
  /** Its id in the organisation's own CRM. */
  external_system_id: personal(z.string()).nullable(),
})
export type Marks = z.infer<typeof Marks>

/** Of every event: what its readers need to know whether they see it, without knowing what came before. */
const about = {
  /** The API applications that have sent the lead by then. Each sees the event in its feeds. */
  seen_by: z.array(ApiApplicationId),
  /** The campaign of the ingest that caused it; otherwise the lead's first. */
  campaign: CampaignRef.nullable(),
  by: LeadActor,
}

const sending = {
  organisation_id: OrganisationId,
  contact_id: CustomerId,
  /** Null: it was uploaded or entered by the team. */
  api_application_id: ApiApplicationId.nullable(),
  source: Key,
  source_reference: personal(z.string()).nullable(),
  ingest_id: z.uuid().nullable(),
}

/** A lead as its list shows it, for an application that did not see what came before. */
export const LeadShown = z.object({
  status: LeadStatus,
  stage: StageRef,
  stage_entered_at: z.iso.datetime(),
  owner_assigned: z.boolean(),
  score: z.int(),
  campaign_id: CampaignId.nullable(),
  first_touched_at: z.iso.datetime().nullable(),
  last_touched_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
})
export type LeadShown = z.infer<typeof LeadShown>

/** When the lead goes dormant unless somebody is in contact before; null: never. */
const dormant_at = z.iso.datetime().nullable()

const own = { subject: (_data: unknown, contactId: string) => contactId }

/** Stream `lead-<contact id>`: at most one for each person. */
export const leadEvents = {
  LeadCreated: event(
    {
      ...about,
      ...sending,
      external_system_id: personal(z.string()).nullable(),
      stage: StageRef,
      score: z.int(),
      grade: Grade,
      first_contact_due_at: z.iso.datetime().nullable(),
      dormant_at,
    },
    own,
  ),
  /** The person was sent in again. `shown` is given when the application sends the lead for the first time. */
  LeadSentAgain: event(
    {
      ...about,
      ...sending,
      external_system_id: personal(z.string()).nullable(),
      /** The applications that gave its id in the organisation's own CRM; null: all see it, as the team or an import gave it. */
      external_id_of: z.array(ApiApplicationId).nullable().optional(),
      shown: LeadShown.nullable(),
    },
    own,
  ),
  LeadFactsRecorded: event(
    { ...about, keys: z.array(Key), facts: personal(Facts), ingest_id: z.uuid().nullable() },
    own,
  ),
  /** Values that differ from those held: for the team to judge. */
  LeadFactsProposed: event({ ...about, proposed: personal(Facts), ingest_id: z.uuid().nullable() }, own),
  LeadProposalsSettled: event({ ...about, keys: z.array(Key) }, own),
  LeadStageChanged: event({ ...about, from: StageRef, to: StageRef }, own),
  /** Ids of members of the team, with their names as they were. */
  LeadOwnerAssigned: event(
    {
      ...about,
      from: z.uuid().nullable(),
      to: z.uuid().nullable(),
      from_name: personal(z.string()).nullable(),
      to_name: personal(z.string()).nullable(),
    },
    own,
  ),
  LeadStatusChanged: event(
    {
      ...about,
      from: LeadStatus,
      to: LeadStatus,
      reason: personal(z.string()).nullable(),
      dormant_at,
      /** The deadline for first contact; null: nobody waits for that, as for a lead that has ended. */
      first_contact_due_at: z.iso.datetime().nullable(),
    },
    { ...own, upcasts: [(v1: Json): Json => ({ ...v1, first_contact_due_at: null })] },
  ),
  LeadOutcomeReasonSet: event(
    { ...about, reason: personal(z.string()).nullable(), note: personal(z.string()).nullable() },
    own,
  ),
  LeadVulnerabilityFlagged: event({ ...about, flagged: z.boolean(), details: personal(z.string()).nullable() }, own),
  LeadNextActionSet: event({ ...about, next_action: NextAction.nullable() }, own),
  LeadNextActionFellDue: event({ ...about, next_action: NextAction }, own),
  LeadFirstContactOverdue: event({ ...about, due_at: z.iso.datetime(), minutes_overdue: z.int() }, own),
  LeadScored: event({ ...about, score: z.int(), from_grade: Grade, grade: Grade }, own),
  LeadTpsScreened: event(
    {
      ...about,
      status: TpsStatus,
      /** The screened number; another number needs another screening. */
      phone_number: personal(z.string()).nullable(),
      screened_at: z.iso.datetime(),
      expires_at: z.iso.datetime(),
    },
    own,
  ),
  /** The next screening of the number, the first or another; null: none any more. */
  LeadTpsScreeningPlanned: event(
    {
      ...about,
      due_at: z.iso.datetime().nullable(),
      /** Failed tries since the last screening, and the reason. */
      failed_tries: z.int().min(0),
      trouble: TpsTrouble.nullable(),
    },
    own,
  ),
  LeadTaskAdded: event(
    { ...about, task_id: z.uuid(), title: personal(z.string()), due_at: z.iso.datetime().nullable() },
    own,
  ),
  LeadTaskCompleted: event({ ...about, task_id: z.uuid(), title: personal(z.string()) }, own),
  LeadSnoozed: event({ ...about, snoozed_until: z.iso.datetime() }, own),
  LeadSnoozeEnded: event({ ...about, snoozed_until: z.iso.datetime() }, own),
  LeadMarked: event({ ...about, marks: Marks.partial() }, own),
  /** Somebody of the team ran a workflow for the lead; `by` names them. */
  LeadRunByHand: event({ ...about, run_id: z.uuid(), workflow_id: z.uuid() }, own),
  ContactDetailsChanged: event({ ...about, changed: z.array(Key) }, own),
  LeadActivityRecorded: event(
    {
      ...about,
      activity_id: z.uuid(),
      kind: ActivityKind,
      summary: personal(z.string()),
      channel: ActivityChannel.nullable(),
      direction: Direction.nullable(),
      related: z.object({ type: Key, id: z.uuid() }).nullable(),
      happened_at: z.iso.datetime(),
      /** The person and the firm were in contact by it. */
      touches: z.boolean(),
      /** It is the first contact, for which there is a deadline. */
      is_first_contact: z.boolean(),
      dormant_at,
    },
    own,
  ),
}
export type LeadEvent = EventOf<typeof leadEvents>
