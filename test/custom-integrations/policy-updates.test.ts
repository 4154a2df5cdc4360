import { expect, test } from 'vitest'
import { CustomIntegrationId, IntegrationConnectionId } from '#domain/custom-integrations/events.ts'
import { fromStored } from '#domain/event.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { OrganisationId } from '#domain/values.ts'
import { policies } from '../../delivery-worker/lifecycle/policies.ts'
import { scenariosOf } from '../scenario.ts'
import { samples } from '../stored-events/samples.ts'

const scenario = scenariosOf(policy)
const [sample] = samples.flatMap(({ event }) => (event.type === 'PolicyBound' ? [event] : []))
const [news] = samples.flatMap(({ event }) => (event.type === 'PolicyUpdated' ? [event] : []))
if (!sample || !news) throw new Error('There are no samples of policies.')
const bound = fromStored({ PolicyBound: policyEvents.PolicyBound }, sample)

const update = {
  inbound_event_id: '1e000000-0000-4000-8000-000000000001',
  custom_integration_id: CustomIntegrationId.parse('1c000000-0000-4000-8000-000000000001'),
  integration_connection_id: IntegrationConnectionId.parse('1c000000-0000-4000-8000-000000000002'),
  update_type: 'policy.changed',
}
const record = (organisation_id: OrganisationId) =>
  ({ type: 'RecordPolicyUpdate', organisation_id, ...update }) as const

scenario('news of a policy of the firm is recorded', {
  given: [bound],
  when: record(bound.organisation_id),
  then: [{ type: 'PolicyUpdated', ...update }],
})
scenario('news of a policy that is not the firm’s is ignored', {
  given: [bound],
  when: record(OrganisationId.parse('99999999-0000-4000-8000-000000000001')),
  then: [],
})
scenario('news of a policy that is not there is ignored', { given: [], when: record(bound.organisation_id), then: [] })

test('it is told of as policy.updated, without what the other system said', () => {
  const facts = policies.remember(undefined, sample) ?? {}
  expect(policies.happening(facts, news)).toEqual({
    type: 'policy.updated',
    payload: { policy_id: facts['policy_id'], update_type: 'policy.changed' },
  })
})
