import { describe, expect, test } from 'vitest'
import { EndpointConnectionId } from '#domain/integrations/events.ts'
import { evolveLifecycleAction, LifecycleAction } from '#domain/workflows/record.ts'
import { LifecycleActionId, LifecycleEventType, type LifecycleActionEvent } from '#domain/workflows/events.ts'
import { lifecycleAction, type LifecycleChoices } from '#domain/workflows/lifecycle-action.ts'
import { OrganisationId, ProductId } from '#domain/values.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'

const scenario = scenariosOf(lifecycleAction)

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const lifecycle_action_id = LifecycleActionId.parse('c8c7b6d5-2e3f-4a41-9bac-1d2e3f4a5b6c')
const endpoint_connection_id = EndpointConnectionId.parse('b7b6a5c4-1d2e-4f30-8a9b-0c1d2e3f4a5b')
const product_id = ProductId.parse('d9d8c7e6-3f4a-4b52-8cbd-2e3f4a5b6c7d')

const choices: LifecycleChoices = {
  product_id: null,
  event_types: ['quote.accepted', 'quote.issued'],
  endpoint_connection_id,
  active: true,
}
const named = { lifecycle_action_id, organisation_id, name: 'Tell the CRM' }
const created: LifecycleActionEvent = { type: 'LifecycleActionCreated', ...named, ...choices }
const create = (changes: Partial<LifecycleChoices> = {}) =>
  ({ type: 'CreateLifecycleAction', ...named, choices: { ...choices, ...changes } }) as const

describe('a lifecycle action', () => {
  scenario('sends chosen events of all products over a connection', { given: [], when: create(), then: [created] })

  scenario('may be for one product', {
    given: [],
    when: create({ product_id }),
    then: [{ ...created, product_id }],
  })

  scenario('has each event once, in one order', {
    given: [],
    when: create({ event_types: ['quote.issued', 'quote.accepted', 'quote.issued'] }),
    then: [created],
  })

  scenario('without an event is refused', {
    given: [],
    when: create({ event_types: [] }),
    then: rejected('validation_failed', { event_types: 'empty' }, 'Choose at least one lifecycle event.'),
  })

  scenario('of a name that is taken is refused', {
    given: [created],
    when: create(),
    then: rejected(
      'conflict',
      { name: 'taken' },
      'There is a lifecycle action called Tell the CRM already. Change that one.',
    ),
  })

  scenario('changes only what is chosen again', {
    given: [created],
    when: { type: 'ChangeLifecycleAction', choices: { active: false } },
    then: [{ type: 'LifecycleActionChanged', ...choices, active: false }],
  })

  const elsewhere = EndpointConnectionId.parse('a7b6a5c4-1d2e-4f30-8a9b-0c1d2e3f4a5b')
  for (const changed of [
    { product_id },
    { event_types: ['quote.expired'] },
    { event_types: ['quote.accepted'] },
    { endpoint_connection_id: elsewhere },
  ] satisfies Partial<LifecycleChoices>[])
    scenario(`can change ${JSON.stringify(changed)} alone`, {
      given: [created],
      when: { type: 'ChangeLifecycleAction', choices: changed },
      then: [{ type: 'LifecycleActionChanged', ...choices, ...changed }],
    })

  scenario('chosen as it is does not change', {
    given: [created],
    when: { type: 'ChangeLifecycleAction', choices: { event_types: ['quote.issued', 'quote.accepted'] } },
    then: [],
  })

  scenario('that is not there cannot be changed', {
    given: [],
    when: { type: 'ChangeLifecycleAction', choices: { active: false } },
    then: rejected('not_found', undefined, 'There is no lifecycle action with this id. Check the address.'),
  })

  scenario('is removed', {
    given: [created],
    when: { type: 'RemoveLifecycleAction' },
    then: [{ type: 'LifecycleActionRemoved', name: 'Tell the CRM' }],
  })

  scenario('that is removed already is not removed again', {
    given: [created, { type: 'LifecycleActionRemoved', name: 'Tell the CRM' }],
    when: { type: 'RemoveLifecycleAction' },
    then: [],
  })
})

test('a lifecycle action is what was created and changed since', () => {
  const later = { occurred_at: '2026-02-01T09:00:00.000Z' }
  const changed = { type: 'LifecycleActionChanged', ...choices, active: false } as const
  const removed = { type: 'LifecycleActionRemoved', name: 'Tell the CRM' } as const
  const at = '2026-01-15T12:00:00.000Z'
  const record = {
    id: lifecycle_action_id,
    organisation_id,
    name: 'Tell the CRM',
    ...choices,
    created_at: at,
    updated_at: at,
  }
  const action = stateOf(lifecycleAction, [created])

  expect(action).toEqual(record)
  expect(evolveLifecycleAction(action, changed, later)).toEqual({
    ...record,
    active: false,
    updated_at: later.occurred_at,
  })
  expect(evolveLifecycleAction(action, removed, later)).toBeUndefined()
  for (const event of [changed, removed]) expect(evolveLifecycleAction(undefined, event, later)).toBeUndefined()
  expect(LifecycleAction.parse(record)).toEqual(record)
  expect(LifecycleAction.safeParse({ ...record, event_types: [] }).success).toBe(false)
  expect(lifecycleAction.category).toBe('lifecycle_action')
})

test('the published lifecycle events are those of the applications, quotes, policies, mandates, premiums, claims, complaints and webhooks', () => {
  const byAggregate = Map.groupBy(LifecycleEventType.options, (type) => type.split('.')[0])

  expect(Object.fromEntries([...byAggregate].map(([aggregate, types]) => [aggregate, types.length]))).toEqual({
    application: 9,
    quote: 9,
    policy: 12,
    mandate: 4,
    premium: 7,
    claim: 7,
    complaint: 5,
    webhook: 3,
  })
})
