import { z } from 'zod'
import { EndpointConnectionId } from '../integrations/events.ts'
import { OrganisationId, ProductId } from '../values.ts'
import {
  leadEventNames,
  LeadTriggerType,
  LifecycleActionId,
  LifecycleEventType,
  WorkflowAction,
  WorkflowId,
  WorkflowState,
  WorkflowTrigger,
  type LifecycleActionEvent,
  type TriggerEventType,
  type WorkflowEvent,
} from './events.ts'

/** A product's lifecycle events that are sent as webhooks over a connection. */
export const LifecycleAction = z.object({
  id: LifecycleActionId,
  organisation_id: OrganisationId,
  name: z.string(),
  product_id: ProductId.nullable().describe('The product whose events are sent; null: every product.'),
  event_types: z.array(LifecycleEventType).min(1),
  endpoint_connection_id: EndpointConnectionId,
  active: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export type LifecycleAction = z.infer<typeof LifecycleAction>

/** The action after an event; undefined when there is none, or none any more. */
export const evolveLifecycleAction = (
  action: LifecycleAction | undefined,
  event: LifecycleActionEvent,
  { occurred_at }: { readonly occurred_at: string },
): LifecycleAction | undefined => {
  switch (event.type) {
    case 'LifecycleActionCreated': {
      const { type: _type, lifecycle_action_id: id, ...declared } = event
      return { id, ...declared, created_at: occurred_at, updated_at: occurred_at }
    }
    case 'LifecycleActionChanged': {
      const { type: _type, ...changed } = event
      return action && { ...action, ...changed, updated_at: occurred_at }
    }
    case 'LifecycleActionRemoved':
      return undefined
  }
}

/** The actions that follow an event. */
export const Workflow = z
  .object({
    id: WorkflowId,
    organisation_id: OrganisationId,
    name: z.string(),
    trigger: WorkflowTrigger,
    actions: z.array(WorkflowAction),
    state: WorkflowState.describe('An archived workflow does nothing until it is enabled again.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Workflow' })
export type Workflow = z.infer<typeof Workflow>

export const evolveWorkflow = (
  workflow: Workflow | undefined,
  event: WorkflowEvent,
  { occurred_at }: { readonly occurred_at: string },
): Workflow | undefined => {
  switch (event.type) {
    case 'WorkflowCreated': {
      const { type: _type, workflow_id: id, ...declared } = event
      return { id, ...declared, created_at: occurred_at, updated_at: occurred_at }
    }
    case 'WorkflowChanged': {
      const { type: _type, ...changed } = event
      return workflow && { ...workflow, ...changed, updated_at: occurred_at }
    }
  }
}

const isLeadTrigger = (type: TriggerEventType): type is LeadTriggerType => LeadTriggerType.safeParse(type).success

/** A workflow is about leads, and not about applications, quotes, policies and so on. */
export const isAboutLeads = ({ trigger }: Pick<Workflow, 'trigger'>): boolean => isLeadTrigger(trigger.event_type)

/** The label of a workflow's trigger where it is chosen. */
export const triggerNameOf = (type: LeadTriggerType): string =>
  isActivity(type) ? `On the timeline: ${type.slice('activity.'.length).replaceAll('_', ' ')}` : leadEventNames[type]

const isActivity = (type: LeadTriggerType): type is Extract<LeadTriggerType, `activity.${string}`> =>
  type.startsWith('activity.')
