import { describe, expect, test } from 'vitest'
import { endpointConnection, type EndpointConnectionCommand } from '#domain/integrations/endpoint-connection.ts'
import { EndpointConnectionId, type EndpointConnectionEvent } from '#domain/integrations/events.ts'
import { EndpointConnection, evolveEndpointConnection, signingSecretBinding } from '#domain/integrations/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'

const scenario = scenariosOf(endpointConnection)

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const endpoint_connection_id = EndpointConnectionId.parse('b7b6a5c4-1d2e-4f30-8a9b-0c1d2e3f4a5b')
const base_url = 'https://crm.example.com/hooks?team=7'

const created: EndpointConnectionEvent = {
  type: 'EndpointConnectionCreated',
  endpoint_connection_id,
  organisation_id,
  name: 'CRM',
  base_url,
  sealed_secret: 'key.sealed',
}

const create = (changes: Partial<Extract<EndpointConnectionCommand, { type: 'CreateEndpointConnection' }>> = {}) =>
  ({
    type: 'CreateEndpointConnection',
    endpoint_connection_id,
    organisation_id,
    name: 'CRM',
    base_url,
    sealed_secret: 'key.sealed',
    http_allowed: false,
    ...changes,
  }) as const

describe('creating an endpoint connection', () => {
  scenario('keeps the base address exactly as entered', { given: [], when: create(), then: [created] })

  scenario('refuses one without a secret: it cannot be saved until it has one', {
    given: [],
    when: create({ sealed_secret: null }),
    then: rejected(
      'validation_failed',
      { signing_secret: 'required' },
      'An endpoint connection needs a signing secret.',
    ),
  })

  scenario('refuses a second one of the same name', {
    given: [created],
    when: create({ base_url: 'https://other.example.com' }),
    then: rejected(
      'conflict',
      { name: 'taken' },
      'There is an endpoint connection called CRM already. Change that one.',
    ),
  })

  const removed: EndpointConnectionEvent = { type: 'EndpointConnectionRemoved', name: 'CRM' }
  scenario('takes the name of one that was removed', { given: [created, removed], when: create(), then: [created] })
})

describe('a base address', () => {
  for (const [address, reason] of [
    ['http://crm.example.com/hooks', 'https://'],
    ['ftp://crm.example.com', 'https://'],
    ['javascript:alert(1)', 'https://'],
    ['crm.example.com', 'whole address'],
    ['', 'whole address'],
    ['https://', 'whole address'],
    ['https://user@crm.example.com', 'user name'],
    ['https://user:secret@crm.example.com', 'user name'],
    ['https://:secret@crm.example.com', 'user name'],
    ['https://crm.example.com/#here', 'after #'],
    [' https://crm.example.com', 'space'],
    [`https://crm.example.com/${'x'.repeat(2000)}`, 'at most'],
  ] as const)
    scenario(`that cannot be used is refused: ${address.slice(0, 50)}`, {
      given: [],
      when: create({ base_url: address }),
      then: rejected('validation_failed', { base_url: reason }, 'The base address must '),
    })

  const longest = `https://crm.example.com/${'x'.repeat(2000 - 'https://crm.example.com/'.length)}`
  scenario('may have 2,000 characters', {
    given: [],
    when: create({ base_url: longest }),
    then: [{ ...created, base_url: longest }],
  })
  scenario('may not have 2,001', {
    given: [],
    when: create({ base_url: `${longest}x` }),
    then: rejected('validation_failed', { base_url: 'must have at most 2000 characters' }),
  })
  scenario('of another protocol is refused also where http:// is permitted', {
    given: [],
    when: create({ base_url: 'ftp://crm.example.com', http_allowed: true }),
    then: rejected('validation_failed', { base_url: 'https://' }),
  })

  const local = 'http://127.0.0.1:4010/webhooks'
  scenario('may be http:// where the operator permits it for that host', {
    given: [],
    when: create({ base_url: local, http_allowed: true }),
    then: [{ ...created, base_url: local }],
  })
})

describe('changing an endpoint connection', () => {
  const elsewhere = 'https://new.example.com'

  scenario('moves it to another address', {
    given: [created],
    when: { type: 'MoveEndpointConnection', base_url: elsewhere, http_allowed: false },
    then: [{ type: 'EndpointConnectionMoved', base_url: elsewhere }],
  })

  scenario('to the address that it has changes nothing', {
    given: [created],
    when: { type: 'MoveEndpointConnection', base_url, http_allowed: false },
    then: [],
  })

  scenario('refuses an address that cannot be used', {
    given: [created],
    when: { type: 'MoveEndpointConnection', base_url: 'http://new.example.com', http_allowed: false },
    then: rejected('validation_failed', { base_url: 'https://' }),
  })

  scenario('regenerates its secret', {
    given: [created],
    when: { type: 'RegenerateEndpointSecret', sealed_secret: 'key.another', former_signs_until: null },
    then: [{ type: 'EndpointSecretRegenerated', sealed_secret: 'key.another', former_signs_until: null }],
  })

  scenario('that was never created is refused', {
    given: [],
    when: { type: 'RegenerateEndpointSecret', sealed_secret: 'key.another', former_signs_until: null },
    then: rejected('not_found', undefined, 'There is no endpoint connection with this id. Check the address.'),
  })

  scenario('removes it, once', {
    given: [created],
    when: { type: 'RemoveEndpointConnection' },
    then: [{ type: 'EndpointConnectionRemoved', name: 'CRM' }],
  })

  scenario('that was removed is refused', {
    given: [created, { type: 'EndpointConnectionRemoved', name: 'CRM' }],
    when: { type: 'MoveEndpointConnection', base_url: elsewhere, http_allowed: false },
    then: rejected('not_found'),
  })

  scenario('removing it again changes nothing', {
    given: [created, { type: 'EndpointConnectionRemoved', name: 'CRM' }],
    when: { type: 'RemoveEndpointConnection' },
    then: [],
  })
})

describe('an endpoint connection', () => {
  const later = '2026-02-01T09:00:00.000Z'
  const moved = { type: 'EndpointConnectionMoved', base_url: 'https://new.example.com' } as const
  const regenerated = {
    type: 'EndpointSecretRegenerated',
    sealed_secret: 'key.another',
    former_signs_until: null,
  } as const
  const removed = { type: 'EndpointConnectionRemoved', name: 'CRM' } as const
  const created_at = '2026-01-15T12:00:00.000Z'
  const record = {
    id: endpoint_connection_id,
    organisation_id,
    name: 'CRM',
    base_url,
    former_secret_signs_until: null,
    created_at,
    updated_at: created_at,
  }
  const evolved = (event: EndpointConnectionEvent) =>
    evolveEndpointConnection(stateOf(endpointConnection, [created])?.record, event, { occurred_at: later })

  test('is what was created and changed since, and its secret is kept beside it', () => {
    expect(stateOf(endpointConnection, [created])).toEqual({ record, sealed_secret: 'key.sealed' })
    expect(stateOf(endpointConnection, [created, moved])?.sealed_secret).toBe('key.sealed')
    expect(stateOf(endpointConnection, [created, regenerated])?.sealed_secret).toBe('key.another')
    expect(EndpointConnection.parse(record)).toEqual(record)
    expect(endpointConnection.category).toBe('endpoint_connection')
  })

  test('says when it was changed', () => {
    expect(evolved(moved)).toEqual({ ...record, base_url: moved.base_url, updated_at: later })
    expect(evolved(regenerated)).toEqual({ ...record, updated_at: later })
    const overlapping = { ...regenerated, former_signs_until: '2026-02-02T09:00:00.000Z' }
    expect(evolved(overlapping)).toMatchObject({ former_secret_signs_until: '2026-02-02T09:00:00.000Z' })
    expect(evolved(removed)).toBeUndefined()
  })

  test('that was never created is nothing', () => {
    for (const event of [moved, regenerated, removed])
      expect(evolveEndpointConnection(undefined, event, { occurred_at: later })).toBeUndefined()
  })

  test('has a secret that can be opened only where it belongs', () => {
    expect(signingSecretBinding('o', 'c')).toEqual(['o', 'endpoint_connection-c', 'signing_secret'])
  })
})
