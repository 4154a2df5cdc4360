import { z } from 'zod'
import { applicationEvents as application } from '../applications/events.ts'
import { claimEvents as claim } from '../claims/events.ts'
import { deliveryNewsEvents as news } from '../deliveries/events.ts'
import { event, type EventOf, type EventShapes } from '../event.ts'
import { EndpointConnectionId } from '../integrations/events.ts'
import { ActivityKind } from '../leads/events.ts'
import { marketQuoteEvents as market } from '../market-quotes/events.ts'
import { paymentEvents as payment } from '../payments/events.ts'
import { Key } from '../pipeline/events.ts'
import { policyEvents as policy } from '../policies/events.ts'
import { premiumEvents as premium } from '../premiums/events.ts'
import { quoteEvents as quote } from '../quotes/events.ts'
import { CampaignId, OrganisationId, ProductId } from '../values.ts'

type Row = readonly [shape: EventShapes[string], name: string]

/** The shapes and the published names of some stored events, each by the type that it is stored under. */
const published = <const Table extends Readonly<Record<string, Row>>>(table: Table) => {
  const rows = Object.entries(table)
  return {
    events: Object.fromEntries(rows.map(([type, [shape]]) => [type, shape])) as {
      readonly [Type in keyof Table]: Table[Type][0]
    }, // row by row
    names: Object.fromEntries(rows.map(([type, [, name]]) => [type, name])) as {
      readonly [Type in keyof Table]: Table[Type][1]
    }, // row by row
  }
}

/**
 * Every stored event that is published as a lifecycle event, and its published name, by what it is about. Receivers rely on
 * these names. An event that is added here is a trigger of workflows, is sent and stands in the feed.
 */
export const lifecycle = {
  application: published({
    ApplicationStarted: [application.ApplicationStarted, 'application.started'],
    CustomerSaved: [application.CustomerSaved, 'application.customer_saved'],
    ApplicationReferred: [application.ApplicationReferred, 'application.referred'],
    ApplicationDeclined: [application.ApplicationDeclined, 'application.declined'],
    ApplicationPostponed: [application.ApplicationPostponed, 'application.postponed'],
    ApplicationAbandoned: [application.ApplicationAbandoned, 'application.abandoned'],
    // Whatever was with the team, or ended, can be worked on again.
    ApplicationAccepted: [application.ApplicationAccepted, 'application.reopened'],
    ApplicationGivenBack: [application.ApplicationGivenBack, 'application.reopened'],
    ApplicationReopened: [application.ApplicationReopened, 'application.reopened'],
    ApplicationHandedOff: [market.ApplicationHandedOff, 'application.handed_off'],
    ApplicationBound: [application.ApplicationBound, 'application.bound'],
    MarketSearchCompleted: [market.MarketSearchCompleted, 'quote.market_completed'],
    MarketSearchFailed: [market.MarketSearchFailed, 'quote.market_failed'],
  }),
  quote: published({
    QuoteIssued: [quote.QuoteIssued, 'quote.issued'],
    QuoteReplaced: [quote.QuoteReplaced, 'quote.replaced'],
    QuoteAccepted: [quote.QuoteAccepted, 'quote.accepted'],
    QuoteAcceptanceVoided: [quote.QuoteAcceptanceVoided, 'quote.acceptance_voided'],
    QuoteRejected: [quote.QuoteRejected, 'quote.rejected'],
    QuoteExpired: [quote.QuoteExpired, 'quote.expired'],
    QuoteBought: [quote.QuoteBought, 'quote.bought'],
  }),
  mandate: published({
    MandateCreated: [payment.MandateCreated, 'mandate.created'],
    MandateActivated: [payment.MandateActivated, 'mandate.activated'],
    MandateFailed: [payment.MandateFailed, 'mandate.failed'],
    MandateCancelled: [payment.MandateCancelled, 'mandate.cancelled'],
  }),
  /** With its premiums and claims. */
  policy: published({
    PolicyBound: [policy.PolicyBound, 'policy.bound'],
    PolicyActivated: [policy.PolicyActivated, 'policy.activated'],
    PolicyAmended: [policy.PolicyAmended, 'policy.amended'],
    PolicyCoverEnded: [policy.PolicyCoverEnded, 'policy.amended'],
    PolicyIndexed: [policy.PolicyIndexed, 'policy.indexed'],
    PolicyReviewed: [policy.PolicyReviewed, 'policy.reviewed'],
    PolicySuspended: [policy.PolicySuspended, 'policy.suspended'],
    PolicyReinstated: [policy.PolicyReinstated, 'policy.reinstated'],
    PolicyLapsed: [policy.PolicyLapsed, 'policy.lapsed'],
    PolicyCancelled: [policy.PolicyCancelled, 'policy.cancelled'],
    PolicyExpired: [policy.PolicyExpired, 'policy.expired'],
    PolicyDocumentIssued: [policy.PolicyDocumentIssued, 'policy.document_issued'],
    PolicyUpdated: [policy.PolicyUpdated, 'policy.updated'],
    PolicyMandateRefused: [policy.PolicyMandateRefused, 'mandate.failed'],
    PremiumDue: [premium.PremiumDue, 'premium.due'],
    PremiumCollected: [premium.PremiumCollected, 'premium.collected'],
    PremiumFailed: [premium.PremiumFailed, 'premium.failed'],
    PremiumRetried: [premium.PremiumRetried, 'premium.retried'],
    PremiumRefunded: [premium.PremiumRefunded, 'premium.refunded'],
    PremiumRefundPaidOtherwise: [premium.PremiumRefundPaidOtherwise, 'premium.refunded'],
    PremiumRefundFailed: [premium.PremiumRefundFailed, 'premium.refund_failed'],
    PremiumWrittenOff: [premium.PremiumWrittenOff, 'premium.written_off'],
    ClaimOpened: [claim.ClaimOpened, 'claim.opened'],
    ClaimEvidenceRequested: [claim.ClaimEvidenceRequested, 'claim.evidence_requested'],
    ClaimApproved: [claim.ClaimApproved, 'claim.approved'],
    ClaimDeclined: [claim.ClaimDeclined, 'claim.declined'],
    ClaimPaid: [claim.ClaimPaid, 'claim.paid'],
    ClaimClosed: [claim.ClaimClosed, 'claim.closed'],
    ClaimReopened: [claim.ClaimReopened, 'claim.reopened'],
  }),
  /** Webhooks about webhooks. */
  webhook: published({
    DeliveryFailed: [news.DeliveryFailed, 'webhook.failed'],
    ConnectionFailing: [news.ConnectionFailing, 'webhook.connection_failing'],
    ConnectionDisabled: [news.ConnectionDisabled, 'webhook.connection_disabled'],
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

/** What happens to a lead beside its timeline, by its published name, and what that is called where a trigger is chosen. */
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

/** What stands on a lead's timeline, by its published name: `activity.booking`. */
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

/** What a workflow does. An action that stays while others change keeps its id, and so do the deliveries of it. */
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
