import { z } from 'zod'
import { applicationEvents } from '../applications/events.ts'
import { claimEvents } from '../claims/events.ts'
import { complaintEvents } from '../complaints/events.ts'
import { deliveryOutcomeEvents } from '../deliveries/events.ts'
import { event, type EventOf, type EventShapes } from '../event.ts'
import { EndpointConnectionId } from '../integrations/events.ts'
import { ActivityKind } from '../leads/events.ts'
import { marketQuoteEvents } from '../market-quotes/events.ts'
import { paymentEvents } from '../payments/events.ts'
import { Key } from '../pipeline/events.ts'
import { policyEvents } from '../policies/events.ts'
import { premiumEvents } from '../premiums/events.ts'
import { quoteEvents } from '../quotes/events.ts'
import { CampaignId, OrganisationId, ProductId } from '../values.ts'

/** The published names of some stored events, and their shapes, each by the type that it is stored under. */
const published = <
  Shapes extends EventShapes,
  const Names extends { readonly [Type in keyof Names]: Type extends keyof Shapes ? string : never },
>(
  shapes: Shapes,
  names: Names,
) => ({
  names,
  events: Object.fromEntries(Object.entries(shapes).filter(([type]) => type in names)) as {
    readonly [Type in keyof Names & keyof Shapes]: Shapes[Type]
  }, // those that have a name
})

/**
 * Every stored event that is published as a lifecycle event, and its published name, by what it is about. Receivers rely on
 * these names. An event that is added here is a trigger of workflows, is sent and stands in the feed.
 */
export const lifecycle = {
  application: published(
    { ...applicationEvents, ...marketQuoteEvents },
    {
      ApplicationStarted: 'application.started',
      CustomerSaved: 'application.customer_saved',
      ApplicationReferred: 'application.referred',
      ApplicationDeclined: 'application.declined',
      ApplicationPostponed: 'application.postponed',
      ApplicationAbandoned: 'application.abandoned',
      // Whatever was with the team, or ended, can be worked on again.
      ApplicationAccepted: 'application.reopened',
      ApplicationGivenBack: 'application.reopened',
      ApplicationReopened: 'application.reopened',
      ApplicationHandedOff: 'application.handed_off',
      ApplicationBound: 'application.bound',
      MarketSearchCompleted: 'quote.market_completed',
      MarketSearchFailed: 'quote.market_failed',
    },
  ),
  quote: published(quoteEvents, {
    QuoteIssued: 'quote.issued',
    QuoteReplaced: 'quote.replaced',
    QuoteAccepted: 'quote.accepted',
    QuoteAcceptanceVoided: 'quote.acceptance_voided',
    QuoteRejected: 'quote.rejected',
    QuoteExpired: 'quote.expired',
    QuoteBought: 'quote.bought',
  }),
  mandate: published(paymentEvents, {
    MandateCreated: 'mandate.created',
    MandateActivated: 'mandate.activated',
    MandateFailed: 'mandate.failed',
    MandateCancelled: 'mandate.cancelled',
  }),
  /** With its premiums and claims. */
  policy: published(
    { ...policyEvents, ...premiumEvents, ...claimEvents },
    {
      PolicyBound: 'policy.bound',
      PolicyActivated: 'policy.activated',
      PolicyAmended: 'policy.amended',
      PolicyCoverEnded: 'policy.amended',
      PolicyIndexed: 'policy.indexed',
      PolicyReviewed: 'policy.reviewed',
      PolicySuspended: 'policy.suspended',
      PolicyReinstated: 'policy.reinstated',
      PolicyLapsed: 'policy.lapsed',
      PolicyCancelled: 'policy.cancelled',
      PolicyExpired: 'policy.expired',
      PolicyDocumentIssued: 'policy.document_issued',
      PolicyUpdated: 'policy.updated',
      PolicyMandateRefused: 'mandate.failed',
      PremiumDue: 'premium.due',
      PremiumCollected: 'premium.collected',
      PremiumFailed: 'premium.failed',
      PremiumRetried: 'premium.retried',
      PremiumRefunded: 'premium.refunded',
      PremiumRefundPaidOtherwise: 'premium.refunded',
      PremiumRefundFailed: 'premium.refund_failed',
      PremiumWrittenOff: 'premium.written_off',
      ClaimOpened: 'claim.opened',
      ClaimEvidenceRequested: 'claim.evidence_requested',
      ClaimApproved: 'claim.approved',
      ClaimDeclined: 'claim.declined',
      ClaimPaid: 'claim.paid',
      ClaimClosed: 'claim.closed',
      ClaimReopened: 'claim.reopened',
    },
  ),
  complaint: published(complaintEvents, {
    ComplaintOpened: 'complaint.opened',
    ComplaintDecided: 'complaint.decided',
    ComplaintRedressed: 'complaint.redressed',
    ComplaintReferred: 'complaint.referred',
    ComplaintClosed: 'complaint.closed',
  }),
  /** Webhooks about webhooks. */
  webhook: published(deliveryOutcomeEvents, {
    DeliveryFailed: 'webhook.failed',
    ConnectionFailing: 'webhook.connection_failing',
    ConnectionDisabled: 'webhook.connection_disabled',
  }),
} as const

type Names = { readonly [About in keyof typeof lifecycle]: (typeof lifecycle)[About]['names'] }
type LifecycleName = { [About in keyof Names]: Names[About][keyof Names[About]] }[keyof Names]

/** Every lifecycle event that can be sent as a webhook, by its published name. */
export const LifecycleEventType = z.enum([
  ...new Set(Object.values(lifecycle).flatMap(({ names }): readonly LifecycleName[] => Object.values(names))),
])
export type LifecycleEventType = z.infer<typeof LifecycleEventType>

export const LifecycleActionId = z.uuid().brand<'LifecycleActionId'>()
export type LifecycleActionId = z.infer<typeof LifecycleActionId>

const choices = {
  product_id: ProductId.nullable(),
  event_types: z.array(LifecycleEventType).min(1),
  endpoint_connection_id: EndpointConnectionId,
  active: z.boolean(),
}

/** Stream `lifecycle_action-<lifecycle action id>`. */
export const lifecycleActionEvents = {
  LifecycleActionCreated: event({
    lifecycle_action_id: LifecycleActionId,
    organisation_id: OrganisationId,
    name: z.string(),
    ...choices,
  }),
  LifecycleActionChanged: event(choices),
  /** Nothing is sent for it any more; what was planned is cancelled. */
  LifecycleActionRemoved: event({ name: z.string() }),
}
export type LifecycleActionEvent = EventOf<typeof lifecycleActionEvents>

/** Events of a lead beside its timeline, by published name, with the label shown where a trigger is chosen. */
export const leadEventNames = {
  'lead.created': 'A lead arrives',
  'lead.facts_recorded': 'We learn something new',
  'lead.stage_changed': 'The stage changes',
  'lead.owner_assigned': 'An owner is assigned',
  'lead.status_changed': 'The outcome changes',
  'lead.outcome_reason_set': 'A reason is given for the outcome',
  'lead.vulnerability_flagged': 'They may be vulnerable',
  'lead.next_action_due': 'A next action falls due',
  'lead.first_contact_overdue': 'Nobody has contacted them yet',
  'lead.grade_changed': 'Their grade changes',
  'lead.tps_screened': 'Their number is screened',
  'lead.task_completed': 'A task is done',
  'lead.snooze_ended': 'A snooze ends',
  'lead.manual_run': 'Somebody runs it by hand',
  'contact.details_changed': 'Contact details change',
} as const
const LeadEventType = z.enum(Object.keys(leadEventNames) as (keyof typeof leadEventNames)[]) // its own keys

/** Events on a lead's timeline, by published name: `activity.booking`. */
const ActivityEventType = z.enum(ActivityKind.options.map((kind) => `activity.${kind}` as const))

/** Every event of a lead that can start a workflow. */
export const LeadTriggerType = z.enum([...LeadEventType.options, ...ActivityEventType.options])
export type LeadTriggerType = z.infer<typeof LeadTriggerType>

/** Every event that can start a workflow: of a lead, or of an application, a quote, a policy and so on. */
export const TriggerEventType = z.enum([...LeadTriggerType.options, ...LifecycleEventType.options])
export type TriggerEventType = z.infer<typeof TriggerEventType>

export const WorkflowId = z.uuid().toLowerCase().brand<'WorkflowId'>()
export type WorkflowId = z.infer<typeof WorkflowId>

export const WorkflowActionId = z.uuid().brand<'WorkflowActionId'>()
export type WorkflowActionId = z.infer<typeof WorkflowActionId>

export const WorkflowTrigger = z.object({
  event_type: TriggerEventType,
  /** Of a lead's event: the campaign that it arrived on; null: any, or none. */
  campaign_id: CampaignId.nullable(),
  /** Of a lifecycle event: the product; null: every product. */
  product_id: ProductId.nullable(),
})
export type WorkflowTrigger = z.infer<typeof WorkflowTrigger>

/** An action of a workflow. One that stays while others change keeps its id, and so do its deliveries. */
export const WorkflowAction = z.discriminatedUnion('kind', [
  /** The event is sent, signed, to an endpoint of the organisation. */
  z.object({ kind: z.literal('webhook'), id: WorkflowActionId, endpoint_connection_id: EndpointConnectionId }),
  /** An endpoint of a custom integration is called, over a connection of it. */
  z.object({
    kind: z.literal('integration'),
    id: WorkflowActionId,
    integration_connection_id: z.uuid(),
    /** Of the integration's endpoints, by its key. */
    endpoint: Key,
  }),
  /** The person joins an outreach stream. */
  z.object({ kind: z.literal('outreach_stream'), id: WorkflowActionId, outreach_stream_id: z.uuid() }),
])
export type WorkflowAction = z.infer<typeof WorkflowAction>

/** An archived workflow does nothing until it is enabled again. */
export const WorkflowState = z.enum(['active', 'archived'])
export type WorkflowState = z.infer<typeof WorkflowState>

const workflowChoices = {
  trigger: WorkflowTrigger,
  actions: z.array(WorkflowAction).min(1),
  state: WorkflowState,
}

/** Stream `workflow-<workflow id>`. */
export const workflowEvents = {
  WorkflowCreated: event({
    workflow_id: WorkflowId,
    organisation_id: OrganisationId,
    name: z.string(),
    ...workflowChoices,
  }),
  WorkflowChanged: event(workflowChoices),
}
export type WorkflowEvent = EventOf<typeof workflowEvents>
