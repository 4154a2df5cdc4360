import { describe, expect, test } from 'vitest'
import { ActivityKind } from '#domain/leads/events.ts'
import { EndpointConnectionId } from '#domain/integrations/events.ts'
import { CampaignId, OrganisationId, ProductId } from '#domain/values.ts'
import {
  LeadTriggerType,
  TriggerEventType,
  WorkflowActionId,
  WorkflowId,
  type WorkflowAction,
  type WorkflowEvent,
} from '#domain/workflows/events.ts'
import { isAboutLeads, triggerNameOf, Workflow } from '#domain/workflows/record.ts'
import { workflow, type WorkflowChoices } from '#domain/workflows/workflow.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'

const scenario = scenariosOf(workflow)

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const workflow_id = WorkflowId.parse('f1000000-0000-4000-8000-000000000001')
const endpoint_connection_id = EndpointConnectionId.parse('b7b6a5c4-1d2e-4f30-8a9b-0c1d2e3f4a5b')
const campaign_id = CampaignId.parse('ca000000-0000-4000-8000-000000000001')
const product_id = ProductId.parse('d9d8c7e6-3f4a-4b52-8cbd-2e3f4a5b6c7d')
const actionId = (n: number) => WorkflowActionId.parse(`fa000000-0000-4000-8000-00000000000${n}`)

const webhook: WorkflowAction = { kind: 'webhook', id: actionId(1), endpoint_connection_id }
const call: WorkflowAction = {
  kind: 'integration',
  id: actionId(2),
  integration_connection_id: 'ec000000-0000-4000-8000-000000000001',
  endpoint: 'create_contact',
}
const join: WorkflowAction = {
  kind: 'outreach_stream',
  id: actionId(3),
  outreach_stream_id: '05000000-0000-4000-8000-000000000001',
}

const choices: WorkflowChoices = {
  trigger: { event_type: 'lead.created', campaign_id: null, product_id: null },
  actions: [webhook],
  state: 'active',
}
const named = { workflow_id, organisation_id, name: 'Tell the CRM of new leads' }
const created: WorkflowEvent = { type: 'WorkflowCreated', ...named, ...choices }
const create = (changes: Partial<WorkflowChoices> = {}) =>
  ({ type: 'CreateWorkflow', ...named, choices: { ...choices, ...changes } }) as const
const trigger = (changes: Partial<Workflow['trigger']>) => ({ trigger: { ...choices.trigger, ...changes } })

describe('a workflow', () => {
  scenario('does something when something happens', { given: [], when: create(), then: [created] })

  scenario('has several actions of each kind', {
    given: [],
    when: create({ actions: [webhook, { ...webhook, id: actionId(4) }, call, join] }),
    then: [{ ...created, actions: [webhook, { ...webhook, id: actionId(4) }, call, join] }],
  })

  scenario('without an action is refused', {
    given: [],
    when: create({ actions: [] }),
    then: rejected('validation_failed', { actions: 'needs at least one action' }),
  })

  scenario('of a name that is taken is refused', {
    given: [created],
    when: create(),
    then: rejected('conflict', { name: 'is taken' }),
  })

  scenario('about leads may be limited to a campaign', {
    given: [],
    when: create(trigger({ campaign_id })),
    then: [{ ...created, ...trigger({ campaign_id }) }],
  })

  scenario('about leads cannot be limited to a product', {
    given: [],
    when: create(trigger({ product_id })),
    then: rejected('validation_failed', { 'trigger.product': 'about a lead' }),
  })

  scenario('about policies may be limited to a product', {
    given: [],
    when: create(trigger({ event_type: 'policy.bound', product_id })),
    then: [{ ...created, ...trigger({ event_type: 'policy.bound', product_id }) }],
  })

  scenario('about policies cannot be limited to a campaign', {
    given: [],
    when: create(trigger({ event_type: 'policy.bound', campaign_id })),
    then: rejected('validation_failed', { 'trigger.campaign': 'not about a lead' }),
  })

  scenario('that was never created cannot be changed', {
    given: [],
    when: { type: 'ChangeWorkflow', choices: { state: 'archived' } },
    then: rejected('not_found'),
  })

  scenario('is archived', {
    given: [created],
    when: { type: 'ChangeWorkflow', choices: { state: 'archived' } },
    then: [{ type: 'WorkflowChanged', ...choices, state: 'archived' }],
  })

  scenario('is enabled again', {
    given: [created, { type: 'WorkflowChanged', ...choices, state: 'archived' }],
    when: { type: 'ChangeWorkflow', choices: { state: 'active' } },
    then: [{ type: 'WorkflowChanged', ...choices }],
  })

  scenario('that is already so does not change', {
    given: [created],
    when: { type: 'ChangeWorkflow', choices },
    then: [],
  })

  scenario('keeps a usable trigger when only its kind changes', {
    given: [{ ...created, ...trigger({ campaign_id }) }],
    when: { type: 'ChangeWorkflow', choices: trigger({ event_type: 'claim.opened', campaign_id }) },
    then: rejected('validation_failed', { 'trigger.campaign': 'not about a lead' }),
  })

  test('shows what it is', () => {
    const state = stateOf(workflow, [created, { type: 'WorkflowChanged', ...choices, state: 'archived' }])
    expect(Workflow.parse(state)).toMatchObject({
      id: workflow_id,
      name: named.name,
      state: 'archived',
      ...trigger({}),
    })
  })
})

describe('a trigger', () => {
  test('is any event of a lead, any kind of activity, or any lifecycle event', () => {
    const isOfLead = (event_type: TriggerEventType) => isAboutLeads({ trigger: { ...choices.trigger, event_type } })
    expect(LeadTriggerType.options).toHaveLength(15 + ActivityKind.options.length)
    expect(LeadTriggerType.options.every(isOfLead)).toBe(true)
    expect(isOfLead('premium.failed')).toBe(false)
    expect(TriggerEventType.options).toEqual(expect.arrayContaining(['activity.policy_bound', 'policy.bound']))
  })

  test('has the name that the workflow builder shows', () => {
    expect(triggerNameOf('lead.created')).toBe('A lead arrives')
    expect(triggerNameOf('lead.manual_run')).toBe('Somebody runs it by hand')
    expect(triggerNameOf('contact.details_changed')).toBe('Contact details change')
    expect(triggerNameOf('activity.policy_bound')).toBe('On the timeline: policy bound')
  })
})
