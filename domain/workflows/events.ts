import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { EndpointConnectionId } from '../integrations/events.ts'
import { ActivityKind } from '../leads/events.ts'
import { Key } from '../pipeline/events.ts'
import { CampaignId, OrganisationId, ProductId } from '../values.ts'

/** Every lifecycle event that can be sent as a webhook, by its published name. Receivers rely on these names. */
export const LifecycleEventType = z.enum([
  'application.started',
  'application.customer_saved',
  'application.referred',
  'application.declined',
  'application.postponed',
  'application.abandoned',
  'application.reopened',
  'application.handed_off',
  'application.bound',
  'quote.issued',
  'quote.replaced',
  'quote.accepted',
  'quote.acceptance_voided',
  'quote.rejected',
  'quote.expired',
  'quote.bought',
  'quote.market_completed',
  'quote.market_failed',
  'policy.bound',
  'policy.activated',
  'policy.amended',
  'policy.indexed',
  'policy.reviewed',
  'policy.suspended',
  'policy.reinstated',
  'policy.lapsed',
  'policy.cancelled',
  'policy.expired',
  'policy.document_issued',
  'policy.updated',
  'mandate.created',
  'mandate.activated',
  'mandate.failed',
  'mandate.cancelled',
  'premium.due',
  'premium.collected',
  'premium.failed',
  'premium.retried',
  'premium.refunded',
  'premium.written_off',
  'claim.opened',
  'claim.evidence_requested',
  'claim.approved',
  'claim.declined',
  'claim.paid',
  'claim.closed',
  'claim.reopened',
  'webhook.failed',
  'webhook.connection_failing',
  'webhook.connection_disabled',
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
