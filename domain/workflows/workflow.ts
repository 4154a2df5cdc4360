import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import type { OrganisationId } from '../values.ts'
import { workflowEvents, type WorkflowEvent, type WorkflowId } from './events.ts'
import { evolveWorkflow, isAboutLeads, type Workflow } from './record.ts'

/** The choices made when a workflow is set up, which can be changed later. */
export type WorkflowChoices = Pick<Workflow, 'trigger' | 'actions' | 'state'>

export type WorkflowCommand =
  | {
      readonly type: 'CreateWorkflow'
      readonly workflow_id: WorkflowId
      readonly organisation_id: OrganisationId
      readonly name: string
      readonly choices: WorkflowChoices
    }
  | { readonly type: 'ChangeWorkflow'; readonly choices: Partial<WorkflowChoices> }

const decide = (command: WorkflowCommand, workflow: Workflow | undefined): readonly WorkflowEvent[] => {
  switch (command.type) {
    case 'CreateWorkflow': {
      const { type: _type, choices, ...identity } = command
      if (workflow)
        throw new Rejection('conflict', `There is a workflow called ${command.name} already. Change that one.`, {
          name: 'is taken',
        })
      refuseUnusable(choices)
      return [{ type: 'WorkflowCreated', ...identity, ...choices }]
    }
    case 'ChangeWorkflow': {
      if (!workflow) throw new Rejection('not_found', 'There is no workflow with this id. Check the address.')
      const choices = { ...choicesOf(workflow), ...command.choices }
      refuseUnusable(choices)
      return isSameJson(choices, choicesOf(workflow)) ? [] : [{ type: 'WorkflowChanged', ...choices }]
    }
  }
}

const refuseUnusable = (choices: WorkflowChoices): void => {
  const { trigger, actions } = choices
  if (actions.length === 0) throw unusable('actions', 'needs at least one action')
  if (trigger.campaign_id !== null && !isAboutLeads(choices))
    throw unusable('trigger.campaign', `does not go with ${trigger.event_type}, which is not about a lead`)
  if (trigger.product_id !== null && isAboutLeads(choices))
    throw unusable('trigger.product', `does not go with ${trigger.event_type}, which is about a lead`)
}

const unusable = (field: string, reason: string) =>
  new Rejection('validation_failed', `Correct ${field}: it ${reason}.`, { [field]: reason })

const choicesOf = ({ trigger, actions, state }: Workflow): WorkflowChoices => ({ trigger, actions, state })

export const workflow: Decider<WorkflowCommand, typeof workflowEvents, Workflow | undefined> = {
  category: 'workflow',
  events: workflowEvents,
  initialState: undefined,
  decide,
  evolve: evolveWorkflow,
}
