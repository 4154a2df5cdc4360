import { z } from 'zod'
import { WorkflowState, type WorkflowAction } from '#domain/workflows/events.ts'
import { LifecycleAction, Workflow } from '#domain/workflows/record.ts'
import { act, choicesOf } from '../act.ts'
import type { List } from '../list.ts'
import { apiOf, pageOf, type Page } from '../page.ts'
import { badge, facts, link, moment, section, table, words } from '../show.ts'
import { h, type View } from '../view.ts'
import { connectionLink, connectionNames, type ConnectionNames } from './connection-names.ts'
import { setUpChanges } from './set-up-changes.ts'

const stateOf = (isActive: boolean): View => (isActive ? badge('active', 'good') : badge('not active'))

export const workflows: List<typeof Workflow> = {
  title: 'Workflows',
  path: 'workflows',
  api: 'workflows',
  item: Workflow,
  filters: [],
  none: 'No workflow is set up yet. The set-up file declares them.',
  columns: (organisation_id) => [
    { title: 'Workflow', show: ({ id, name }) => link(pageOf(organisation_id, `workflows/${id}`), name) },
    { title: 'State', show: ({ state }) => stateOf(state === 'active') },
    { title: 'Begins with', show: ({ trigger }) => h('code', {}, trigger.event_type) },
    { title: 'Does', show: ({ actions }) => actions.map(({ kind }) => words(kind)).join(', ') },
    { title: 'Changed', show: ({ updated_at }) => moment(updated_at) },
  ],
}

const actionView = (action: WorkflowAction, names: ConnectionNames, organisation_id: string): View => {
  switch (action.kind) {
    case 'webhook':
      return ['Sends the event to ', connectionLink(organisation_id, action.endpoint_connection_id, names)]
    case 'integration':
      return [
        `Calls ${action.endpoint} over `,
        connectionLink(organisation_id, action.integration_connection_id, names),
      ]
    case 'outreach_stream':
      return [
        'The person joins ',
        link(pageOf(organisation_id, `outreach_streams/${action.outreach_stream_id}`), 'an outreach stream'),
      ]
  }
}

/** One workflow: what it begins with, and what it does then. */
export const workflowPage: Page = {
  address: '/console/organisations/:organisation_id/workflows/:workflow_id',
  show: async (asked) => {
    const organisation_id = asked.organisation?.id ?? ''
    const address = apiOf(organisation_id, `workflows/${asked.path['workflow_id'] ?? ''}`)
    const [{ data: workflow }, names, changes] = await Promise.all([
      asked.read(address, z.object({ data: Workflow })),
      connectionNames(asked),
      setUpChanges(asked, asked.path['workflow_id']),
    ])
    const { event_type, campaign_id } = workflow.trigger
    return {
      title: workflow.name,
      main: h(
        'div',
        { class: 'record' },
        h(
          'div',
          {},
          facts([
            ['State', stateOf(workflow.state === 'active')],
            ['Begins with', h('code', {}, event_type)],
            [
              'Of the campaign',
              campaign_id === null
                ? 'any, or none'
                : link(pageOf(organisation_id, `campaigns/${campaign_id}`), 'one campaign'),
            ],
            ['Changed', moment(workflow.updated_at)],
          ]),
          section(
            'What it does',
            h(
              'ol',
              {},
              workflow.actions.map((each) => h('li', {}, actionView(each, names, organisation_id))),
            ),
          ),
          changes,
        ),
        asked.me.roles.includes('owner') &&
          h(
            'div',
            {},
            section(
              'What next',
              act({
                title: 'Change the state',
                method: 'PATCH',
                address,
                ask: 'An archived workflow does nothing until it is active again, and what waited for it is cancelled.',
                fields: [
                  {
                    name: 'state',
                    label: 'State',
                    kind: 'choice',
                    choices: choicesOf(WorkflowState.options),
                    value: workflow.state,
                    isRequired: true,
                  },
                ],
              }),
            ),
          ),
      ),
    }
  },
}

export const lifecycleActions: List<typeof LifecycleAction> = {
  title: 'Lifecycle actions',
  path: 'lifecycle_actions',
  api: 'lifecycle_actions',
  item: LifecycleAction,
  filters: [],
  none: 'No lifecycle action is set up yet: nothing is sent of applications and policies. The set-up file declares them.',
  columns: (organisation_id) => [
    {
      title: 'Lifecycle action',
      show: ({ id, name }) => link(pageOf(organisation_id, `lifecycle_actions/${id}`), name),
    },
    { title: 'State', show: ({ active }) => stateOf(active) },
    { title: 'Events', show: ({ event_types }) => String(event_types.length), isNumber: true },
    { title: 'Changed', show: ({ updated_at }) => moment(updated_at) },
  ],
}

/** One lifecycle action: which events are sent, and where. */
export const lifecycleActionPage: Page = {
  address: '/console/organisations/:organisation_id/lifecycle_actions/:lifecycle_action_id',
  show: async (asked) => {
    const organisation_id = asked.organisation?.id ?? ''
    const address = apiOf(organisation_id, `lifecycle_actions/${asked.path['lifecycle_action_id'] ?? ''}`)
    const [{ data: action }, names, changes] = await Promise.all([
      asked.read(address, z.object({ data: LifecycleAction })),
      connectionNames(asked),
      setUpChanges(asked, asked.path['lifecycle_action_id']),
    ])
    return {
      title: action.name,
      main: h(
        'div',
        { class: 'record' },
        h(
          'div',
          {},
          facts([
            ['State', stateOf(action.active)],
            ['Sent to', connectionLink(organisation_id, action.endpoint_connection_id, names)],
            ['Of the product', action.product_id === null ? 'every one' : h('code', {}, action.product_id)],
            ['Changed', moment(action.updated_at)],
          ]),
          section(
            'Events',
            table('Events', [{ title: 'Event', show: (type) => h('code', {}, type) }], action.event_types),
          ),
          changes,
        ),
        asked.me.roles.includes('owner') &&
          h(
            'div',
            {},
            section(
              'What next',
              act({
                title: action.active ? 'Stop sending' : 'Send again from now on',
                method: 'PATCH',
                address,
                sends: { active: !action.active },
                ask: action.active
                  ? 'Nothing is sent for it from now on, until it is active again.'
                  : 'What happens from now on is sent. What happened meanwhile is not.',
              }),
            ),
          ),
      ),
    }
  },
}
