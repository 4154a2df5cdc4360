import { describe, expect, test } from 'vitest'
import { endpointConnectionEvents, EndpointConnectionId } from '#domain/integrations/events.ts'
import type { EventOf } from '#domain/event.ts'
import { leadEvents, type LeadEvent } from '#domain/leads/events.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { CampaignId, OrganisationId, ProductId } from '#domain/values.ts'
import {
  WorkflowActionId,
  workflowEvents,
  WorkflowId,
  type WorkflowAction,
  type WorkflowEvent,
} from '#domain/workflows/events.ts'
import { capabilities } from '../../delivery-worker/capabilities.ts'
import { makePlan } from '../../delivery-worker/planning/plan.ts'
import { about, activity, contact_id, created, form, user } from '../leads/builders.ts'
import { inStreamOrder, recorded } from '../recorded.ts'
import { samples } from '../stored-events/samples.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const workflow_id = WorkflowId.parse('f1000000-0000-4000-8000-000000000001')
const other_id = WorkflowId.parse('f1000000-0000-4000-8000-000000000002')
const endpoint_connection_id = EndpointConnectionId.parse('e0000000-0000-4000-8000-000000000001')
const spring = { id: CampaignId.parse('ca000000-0000-4000-8000-000000000001'), key: 'spring' }
const of = { organisation_id }

const webhook = (n: number): WorkflowAction => ({
  kind: 'webhook',
  id: WorkflowActionId.parse(`fa000000-0000-4000-8000-00000000000${n}`),
  endpoint_connection_id,
})
const anything = { event_type: 'lead.created', campaign_id: null, product_id: null } as const

type Created = Extract<WorkflowEvent, { type: 'WorkflowCreated' }>
const set = (changes: Partial<Created> = {}) => {
  const event: Created = {
    type: 'WorkflowCreated',
    workflow_id,
    organisation_id,
    name: 'Tell the CRM',
    trigger: anything,
    actions: [webhook(1)],
    state: 'active',
    ...changes,
  }
  return recorded(workflowEvents, `workflow-${event.workflow_id}`, [event], of)
}
const change = (changes: Partial<Omit<Created, 'type'>>) => {
  const { trigger = anything, actions = [webhook(1)], state = 'active' } = changes
  const event = { type: 'WorkflowChanged', trigger, actions, state } as const
  return recorded(workflowEvents, `workflow-${workflow_id}`, [event], of)
}
const connection = () =>
  recorded(
    endpointConnectionEvents,
    `endpoint_connection-${endpoint_connection_id}`,
    [
      {
        type: 'EndpointConnectionCreated',
        endpoint_connection_id,
        organisation_id,
        name: 'CRM',
        base_url: 'https://crm.example.com',
        sealed_secret: 'sealed',
      },
    ],
    of,
  )
const happens = (event: LeadEvent) => recorded(leadEvents, `lead-${contact_id}`, [event], of)
const task: LeadEvent = { type: 'LeadTaskCompleted', ...about, task_id: activity(1), title: 'Ring Ada' }

type Batch = readonly ReturnType<typeof set>[]
const planned = (...batch: Batch) => makePlan(capabilities, [], inStreamOrder([...connection(), ...batch.flat()]))
const sent = (...batch: Batch) => planned(...batch).deliveries

describe('an event of a lead', () => {
  test('is sent once for each webhook action of each workflow that it triggers', () => {
    const both = set({ actions: [webhook(1), webhook(2)] })
    const another = set({ workflow_id: other_id, actions: [webhook(3)] })

    const deliveries = sent(both, another, happens(created))

    expect(deliveries.map(({ action_id }) => action_id)).toEqual(
      [webhook(1), webhook(2), webhook(3)].map(({ id }) => id),
    )
    expect(new Set(deliveries.map(({ id }) => id)).size).toBe(3)
    expect(new Set(deliveries.map(({ event_id }) => event_id)).size).toBe(1)
    expect(deliveries[0]).toMatchObject({ subject_type: 'lead', subject_id: contact_id, type: 'lead.created' })
  })

  test('keeps nothing personal with the delivery: it is read when it is sent', () => {
    const [delivery] = sent(set({ trigger: { ...anything, event_type: 'lead.task_completed' } }), happens(task))

    expect(delivery?.message).toEqual({
      event_id: delivery?.event_id,
      event_type: 'lead.task_completed',
      trigger_name: 'A task is done',
      occurred_at: '2026-01-15T12:00:00.000Z',
      payload: {},
      workflow_id,
      workflow_name: 'Tell the CRM',
      campaign_key: null,
      contact_id,
      organization_id: organisation_id,
    })
    expect(JSON.stringify(delivery)).not.toContain('Ada')
    expect(delivery?.waits_for).toEqual(['lead_events', 'lead_records'])
  })

  test('that follows from what became known of the person waits until that can be read', () => {
    const changed: LeadEvent = { type: 'ContactDetailsChanged', ...about, changed: ['email'] }
    const details = set({ trigger: { ...anything, event_type: 'contact.details_changed' } })

    for (const deliveries of [sent(set(), happens(created)), sent(details, happens(changed))])
      expect(deliveries.map(({ waits_for }) => waits_for)).toEqual([['lead_events', 'lead_records', 'customers']])
  })

  test('that tells of a person who is no lead yet waits for their details, too', () => {
    const forms = set({ trigger: { ...anything, event_type: 'activity.form' } })
    const waits = (...events: readonly LeadEvent[]) =>
      sent(forms, recorded(leadEvents, `lead-${contact_id}`, events, of)).map(({ waits_for }) => waits_for)

    expect(waits(form, form)).toEqual([
      ['lead_events', 'lead_records', 'customers'],
      ['lead_events', 'lead_records', 'customers'],
    ])
    expect(waits(form, created, form).at(-1)).toEqual(['lead_events', 'lead_records'])
  })

  test('is not sent for another trigger, nor when only the team is concerned', () => {
    const added: LeadEvent = { type: 'LeadTaskAdded', ...about, task_id: activity(1), title: 'Ring', due_at: null }
    const sameGrade: LeadEvent = { type: 'LeadScored', ...about, score: 1, from_grade: 'E', grade: 'E' }
    const graded = set({ trigger: { ...anything, event_type: 'lead.grade_changed' } })

    expect(sent(set(), happens(task))).toEqual([])
    expect(sent(set(), happens(added))).toEqual([])
    expect(sent(graded, happens(sameGrade))).toEqual([])
    expect(sent(graded, happens({ ...sameGrade, grade: 'D' }))).toHaveLength(1)
  })

  test('fires a workflow that is limited to a campaign only when it carries that campaign', () => {
    const limited = set({ trigger: { ...anything, campaign_id: spring.id } })
    const other = { id: CampaignId.parse('ca000000-0000-4000-8000-000000000002'), key: 'autumn' }

    expect(sent(limited, happens(created))).toEqual([])
    expect(sent(limited, happens({ ...created, campaign: other }))).toEqual([])
    expect(
      sent(limited, happens({ ...created, campaign: spring })).map(({ message }) => message['campaign_key']),
    ).toEqual(['spring'])
  })

  test('that somebody runs by hand is for that workflow alone, within its campaign', () => {
    const run: LeadEvent = { type: 'LeadRunByHand', ...about, by: user, run_id: activity(2), workflow_id }
    const byHand = { ...anything, event_type: 'lead.manual_run' } as const
    const others = set({ workflow_id: other_id, trigger: byHand, actions: [webhook(2)] })

    expect(sent(set(), others, happens(run)).map(({ action_id }) => action_id)).toEqual([webhook(1).id])
    expect(sent(set({ trigger: { ...anything, campaign_id: spring.id } }), happens(run))).toEqual([])
    expect(sent(set({ state: 'archived' }), happens(run))).toEqual([])
  })
})

describe('what waits to be sent is cancelled', () => {
  const waiting = [set({ actions: [webhook(1), webhook(2)] }), happens(created)] as const
  const reasons = (...later: Batch) => sent(...waiting, ...later).map(({ cancelled }) => cancelled)

  test('when its workflow is archived', () => {
    expect(reasons(change({ actions: [webhook(1), webhook(2)], state: 'archived' }))).toEqual([
      'action_inactive',
      'action_inactive',
    ])
  })

  test('when its action is removed, and the other action goes on', () => {
    expect(reasons(change({ actions: [webhook(2)] }))).toEqual(['action_removed', null])
    expect(reasons(change({ actions: [webhook(2), webhook(1)] }))).toEqual([null, null])
  })

  test('also in later batches, by the id of each action', () => {
    const { cancellations } = planned(set({ actions: [webhook(1), webhook(2)] }), change({ actions: [webhook(2)] }))

    expect(cancellations).toMatchObject([{ of: 'action', id: webhook(1).id, reason: 'action_removed' }])
  })
})

describe('a lifecycle event', () => {
  const bound = samples.find(({ event }) => event.type === 'PolicyBound')?.event
  if (!bound) throw new Error('There is no sample.')
  const { product_id } = bound.data as EventOf<Pick<typeof policyEvents, 'PolicyBound'>>
  const trigger = { event_type: 'policy.bound', campaign_id: null, product_id } as const
  const later = { ...bound, position: happens(created)[0]?.position ?? bound.position, revision: 0 }

  test('triggers the workflows of its product, with the body of lifecycle webhooks', () => {
    const [delivery] = sent(set({ trigger }), [later])

    expect(delivery?.message).toMatchObject({ id: bound.id, type: 'policy.bound', product_id })
    expect(Object.keys(delivery?.message ?? {})).toEqual([
      'id',
      'type',
      'occurred_at',
      'aggregate',
      'payload',
      'product_id',
      'organization_id',
    ])
  })

  test('triggers no workflow of another product', () => {
    const another = ProductId.parse('10000000-0000-4000-8000-0000000000ff')

    expect(sent(set({ trigger: { ...trigger, product_id: another } }), [later])).toEqual([])
    expect(sent(set({ trigger: { ...trigger, product_id: null } }), [later])).toHaveLength(1)
  })
})
