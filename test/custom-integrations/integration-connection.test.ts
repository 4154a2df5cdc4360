import { describe, expect, test } from 'vitest'
import {
  CustomIntegrationId,
  IntegrationConnectionId,
  type InboundEventEvent,
  type IntegrationConnectionEvent,
} from '#domain/custom-integrations/events.ts'
import { inboundEvent } from '#domain/custom-integrations/inbound-event.ts'
import { integrationConnection } from '#domain/custom-integrations/integration-connection.ts'
import {
  evolveIntegrationConnection,
  IntegrationConnection,
  shownConnection,
  type CustomIntegration,
} from '#domain/custom-integrations/record.ts'
import { organisation_id } from '../applications/release.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'

const scenario = scenariosOf(integrationConnection)
const custom_integration_id = CustomIntegrationId.parse('b7b6a5c4-1d2e-4f30-8a9b-0c1d2e3f4a5b')
const integration_connection_id = IntegrationConnectionId.parse('b7b6a5c4-1d2e-4f30-8a9b-0c1d2e3f4a5c')
const identity = { integration_connection_id, custom_integration_id, organisation_id, name: 'live' }

const create = (sealed_secrets: Readonly<Record<string, string>> = {}) =>
  ({ type: 'CreateIntegrationConnection', ...identity, sealed_secrets }) as const
const set = (sealed_secrets: Readonly<Record<string, string>>) =>
  ({ type: 'SetIntegrationSecrets', sealed_secrets }) as const
const revoke = { type: 'RevokeIntegrationConnection' } as const
const created: IntegrationConnectionEvent = { type: 'IntegrationConnectionCreated', ...identity }
const secret = (name: string, sealed_secret = 'sealed'): IntegrationConnectionEvent => ({
  type: 'IntegrationSecretSet',
  name,
  sealed_secret,
})
const revoked: IntegrationConnectionEvent = { type: 'IntegrationConnectionRevoked', name: 'live' }
const secrets = (from: number, to: number) =>
  Object.fromEntries(Array.from({ length: to - from + 1 }, (_, index) => [`secret_${from + index}`, 'sealed']))
const allSet = (from: number, to: number) => Object.keys(secrets(from, to)).map((name) => secret(name))

describe('a connection of an integration', () => {
  scenario('is created without secrets', { given: [], when: create(), then: [created] })
  scenario('is created with secrets, which are sealed', {
    given: [],
    when: create({ api_key: 'sealed' }),
    then: [created, secret('api_key')],
  })
  scenario('of a name that is taken is refused', {
    given: [created],
    when: create(),
    then: rejected('conflict', { name: 'is taken' }, 'called live already. Change that one.'),
  })
  scenario('of a name that was revoked is refused: its address stays closed', {
    given: [created, revoked],
    when: create(),
    then: rejected('conflict', { name: 'is taken' }, 'called live was revoked, and its address stays closed.'),
  })
  scenario('takes another secret, which applies from then on', {
    given: [created, secret('api_key')],
    when: set({ api_key: 'sealed again' }),
    then: [secret('api_key', 'sealed again')],
  })
  scenario('that there is not takes none', {
    given: [],
    when: set({ api_key: 'sealed' }),
    then: rejected('not_found', undefined, 'There is no connection with this id. Check the address.'),
  })
})

describe('the secrets of a connection', () => {
  scenario('may be 20 from the beginning', {
    given: [],
    when: create(secrets(1, 20)),
    then: [created, ...allSet(1, 20)],
  })
  scenario('may not be 21', {
    given: [],
    when: create(secrets(1, 21)),
    then: rejected('validation_failed', { secrets: 'must be at most 20' }, 'at most 20 secrets'),
  })
  scenario('may become 20', { given: [created, ...allSet(1, 19)], when: set(secrets(20, 20)), then: allSet(20, 20) })
  scenario('may not become 21', {
    given: [created, ...allSet(1, 20)],
    when: set(secrets(21, 21)),
    then: rejected('validation_failed', { secrets: 'must be at most 20' }),
  })
  scenario('may all be set again', {
    given: [created, ...allSet(1, 20)],
    when: set(secrets(1, 20)),
    then: allSet(1, 20),
  })
})

describe('a connection that is revoked', () => {
  scenario('takes in and sends nothing any more', { given: [created], when: revoke, then: [revoked] })
  scenario('is revoked already', { given: [created, revoked], when: revoke, then: [] })
  scenario('takes no secret', {
    given: [created, revoked],
    when: set({ api_key: 'sealed' }),
    then: rejected('conflict', undefined, 'The connection was revoked. Create another one.'),
  })
  scenario('was created before', { given: [], when: revoke, then: rejected('not_found') })
  test('keeps no secret', () => {
    const at = '2026-01-15T12:00:00.000Z'

    expect(stateOf(integrationConnection, [created, secret('api_key'), revoked], at)).toMatchObject({
      name: 'live',
      sealed_secrets: {},
      revoked_at: at,
      updated_at: at,
    })
  })
  test('was never there when nothing was created', () => {
    for (const event of [secret('api_key'), revoked])
      expect(evolveIntegrationConnection(undefined, event, { occurred_at: '2026-01-15T12:00:00.000Z' })).toBeUndefined()
  })
})

describe('the operator sees of a connection', () => {
  const connection = stateOf(integrationConnection, [created, secret('signing'), secret('api_key')])
  if (!connection) throw new Error('There is no connection.')
  const shown = (direction: CustomIntegration['direction']) =>
    IntegrationConnection.parse(
      shownConnection(connection, { name: 'CRM', direction } as CustomIntegration, 'https://cover.example'),
    )

  test('the address where the other system posts its events, when it is inbound', () => {
    expect(shown('inbound')).toMatchObject({
      integration: 'CRM',
      direction: 'inbound',
      delivery_url: `https://cover.example/api/v1/webhooks/integrations/custom_http/${integration_connection_id}`,
    })
  })
  test('no address, when it is outbound', () => {
    expect(shown('outbound')).toMatchObject({ direction: 'outbound', delivery_url: null })
  })
  test('the names of its secrets in order, and not what they are', () => {
    expect(shown('outbound').secrets).toEqual(['api_key', 'signing'])
    expect(JSON.stringify(shown('outbound'))).not.toContain('sealed')
  })
})

describe('an event that another system posts', () => {
  const scenarioOfEvent = scenariosOf(inboundEvent)
  const event: Omit<InboundEventEvent, 'type'> = {
    organisation_id,
    custom_integration_id,
    integration_connection_id,
    event_type: 'sale.made',
    event_id: '7',
    outcome: null,
    policy_id: null,
    body: null,
  }
  const accepted: InboundEventEvent = { type: 'InboundEventAccepted', ...event }

  scenarioOfEvent('is recorded', { given: [], when: { ...event, type: 'AcceptInboundEvent' }, then: [accepted] })
  scenarioOfEvent('is recorded once', { given: [accepted], when: { ...event, type: 'AcceptInboundEvent' }, then: [] })
})
