import { expect, test } from 'vitest'
import type { EventOf, Json } from '#domain/event.ts'
import { EndpointConnectionId, endpointConnectionEvents } from '#domain/integrations/events.ts'
import { signingSecretBinding } from '#domain/integrations/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { seal } from '#infra/crypto/seal.ts'
import { endpointConnections } from '../../delivery-worker/webhooks/endpoint-connections.ts'
import { sign } from '../../delivery-worker/webhooks/sign.ts'
import { recorded } from '../recorded.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const connection_id = EndpointConnectionId.parse('e0000000-0000-4000-8000-000000000001')
const keys = deriveKeys(Buffer.alloc(32, 7).toString('base64'))
const sealed = (secret: string) => seal(keys, secret, signingSecretBinding(organisation_id, connection_id))

type Event = EventOf<typeof endpointConnectionEvents>
const created: Event = {
  type: 'EndpointConnectionCreated',
  endpoint_connection_id: connection_id,
  organisation_id,
  name: 'CRM',
  base_url: 'https://crm.example.com/hooks?key=1',
  sealed_secret: sealed('first'),
}
const regenerated = (secret: string, until: string | null): Event => ({
  type: 'EndpointSecretRegenerated',
  sealed_secret: sealed(secret),
  former_signs_until: until && `2026-03-01T${until}:00.000Z`,
})

/** The secret that signs at this time of 1 March. */
const signerAt = (time: string, ...events: readonly Event[]) => {
  const now = new Date(`2026-03-01T${time}:00.000Z`)
  const stream = `endpoint_connection-${connection_id}`
  const facts = recorded(endpointConnectionEvents, stream, [created, ...events]).reduce<Json | undefined>(
    (before, event) => endpointConnections.learn(before, event),
    undefined,
  )
  const sending = { id: 'the key', organisation_id, connection_id, body: '{}', keys, now }
  const { headers } = endpointConnections.request(facts ?? {}, sending)
  const signature = headers['X-Service-Signature']
  expect(signature).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
  return ['first', 'second', 'third'].filter((secret) => sign(secret, '{}', now) === signature)
}

test('a new secret signs at once when no overlap is chosen', () => {
  expect(signerAt('09:00')).toEqual(['first'])
  expect(signerAt('09:00', regenerated('second', null))).toEqual(['second'])
})

test('during an overlap the former secret goes on signing, and one signature is sent', () => {
  const events = [regenerated('second', '10:00')]

  expect(signerAt('09:59', ...events)).toEqual(['first'])
  expect(signerAt('10:00', ...events)).toEqual(['second'])
})

test('a secret regenerated again within an overlap waits for its own, and the first one does not outlast it', () => {
  const longer = [regenerated('second', '10:00'), regenerated('third', '12:00')]
  const shorter = [regenerated('second', '10:00'), regenerated('third', '09:30')]

  expect(['09:59', '10:00', '11:59', '12:00'].flatMap((time) => signerAt(time, ...longer))).toEqual([
    'first',
    'second',
    'second',
    'third',
  ])
  expect(['09:29', '09:30'].flatMap((time) => signerAt(time, ...shorter))).toEqual(['first', 'third'])
})

test('a secret that became known is replaced at once, whatever overlap was running', () => {
  expect(signerAt('09:00', regenerated('second', '10:00'), regenerated('third', null))).toEqual(['third'])
})

test('it is sent to the base address exactly as entered', () => {
  const [event] = recorded(endpointConnectionEvents, `endpoint_connection-${connection_id}`, [created])
  const facts = event && endpointConnections.learn(undefined, event)
  const sending = { id: 'the key', organisation_id, connection_id, body: '{"a":1}', keys, now: new Date() }

  expect(endpointConnections.request(facts ?? {}, sending)).toMatchObject({
    method: 'POST',
    url: 'https://crm.example.com/hooks?key=1',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'the key' },
    body: '{"a":1}',
  })
})
