import type { Json } from '#domain/event.ts'
import type { CampaignRef } from '#domain/leads/events.ts'
import { LeadTriggerType, workflowEvents, type WorkflowAction, type WorkflowTrigger } from '#domain/workflows/events.ts'
import { triggerNameOf } from '#domain/workflows/record.ts'
import { actionKind, endpointKey, type ActionFacts, type ActionPart, type Happening } from '../capability.ts'
import { lifecycleBody } from '../lifecycle-body.ts'

type Facts = ActionFacts & {
  readonly workflow_id: string
  readonly name: string
  readonly trigger: WorkflowTrigger
  readonly actions: readonly WorkflowAction[]
  /** Ids of actions that it had, the latest last. */
  readonly removed_actions: readonly string[]
}

/** A delivery planned for an action that was removed this many changes ago was sent, or failed, long ago. */
const removedKept = 100

/** Workflows: what the organisation wants to be sent when something happens to a lead, or to a quote, a policy and so on. */
export const workflows = actionKind<typeof workflowEvents, Facts>({
  type: 'workflow',
  categories: ['workflow'],
  events: workflowEvents,
  learn: (facts, event) => {
    const { trigger, actions, state } = event
    const chosen = { trigger, actions, active: state === 'active', removed: false }
    if (event.type === 'WorkflowCreated')
      return { workflow_id: event.workflow_id, name: event.name, ...chosen, removed_actions: [] }
    return facts && { ...facts, ...chosen, removed_actions: removedBy(actions, facts) }
  },
  parts: ({ actions }) => actions.flatMap(partOf),
  removedParts: ({ removed_actions }) => removed_actions,
  asksFor: (facts, happening) => {
    const { campaign_id, product_id } = facts.trigger
    return (
      isTriggered(facts, happening) &&
      (campaign_id === null || campaign_id === campaignOf(happening)?.id) &&
      (product_id === null || product_id === happening.facts['product_id'])
    )
  },
  message: (facts, happening) => {
    const { data: type } = LeadTriggerType.safeParse(happening.type)
    return type ? leadBody(facts, type, happening) : lifecycleBody(happening)
  },
})

const removedBy = (actions: readonly WorkflowAction[], before: Facts): readonly string[] => {
  const kept = new Set<string>(actions.map(({ id }) => id))
  const had = [...before.removed_actions, ...before.actions.map(({ id }) => id)]
  return [...new Set(had)].filter((id) => !kept.has(id)).slice(-removedKept)
}

const partOf = (action: WorkflowAction): readonly ActionPart[] => {
  switch (action.kind) {
    case 'webhook':
      return [{ action_id: action.id, connection_id: action.endpoint_connection_id }]
    case 'integration':
      return [
        {
          action_id: action.id,
          connection_id: action.integration_connection_id,
          settled: { [endpointKey]: action.endpoint },
        },
      ]
    case 'outreach_stream':
      return []
  }
}

/** A lead that is run by hand is run through one workflow, whatever else triggers that. */
const isTriggered = ({ workflow_id, trigger }: Facts, { type, facts }: Happening): boolean =>
  type === 'lead.manual_run' ? facts['run_workflow_id'] === workflow_id : type === trigger.event_type

/** The facts that planning remembers of a lead name it. */
const campaignOf = ({ facts }: Happening) => facts['campaign'] as CampaignRef | null | undefined

/** The body of a lead webhook; its payload, the person and the lead are added when it is sent. */
const leadBody = ({ workflow_id, name }: Facts, type: LeadTriggerType, happening: Happening): Json => {
  const { event_id, occurred_at, payload, subject, organisation_id } = happening
  return {
    event_id,
    event_type: type,
    trigger_name: triggerNameOf(type),
    occurred_at,
    payload,
    workflow_id,
    workflow_name: name,
    campaign_key: campaignOf(happening)?.key ?? null,
    contact_id: subject.id,
    organization_id: organisation_id,
  }
}
