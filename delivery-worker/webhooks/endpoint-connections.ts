import { endpointConnectionEvents } from '#domain/integrations/events.ts'
import { signingSecretPlace } from '#domain/integrations/record.ts'
import { unseal } from '#infra/crypto/seal.ts'
import { connectionKind, type ConnectionFacts } from '../capability.ts'
import { sign, signatureHeader } from './sign.ts'

type Facts = ConnectionFacts & { readonly base_url: string; readonly sealed_secret: string }

/** Signed webhooks: a POST to the address exactly as entered, with a new signature for each attempt. */
export const endpointConnections = connectionKind<typeof endpointConnectionEvents, Facts>({
  type: 'endpoint_connection',
  categories: ['endpoint_connection'],
  events: endpointConnectionEvents,
  learn: (facts, event) => {
    switch (event.type) {
      case 'EndpointConnectionCreated':
        return { base_url: event.base_url, sealed_secret: event.sealed_secret, removed: false }
      case 'EndpointConnectionMoved':
        return facts && { ...facts, base_url: event.base_url }
      case 'EndpointSecretRegenerated':
        return facts && { ...facts, sealed_secret: event.sealed_secret }
      case 'EndpointConnectionRemoved':
        return facts && { ...facts, removed: true }
    }
  },
  request: ({ base_url, sealed_secret }, { id, organisation_id, connection_id, body, keys, now }) => ({
    method: 'POST',
    url: base_url,
    headers: {
      'Content-Type': 'application/json',
      'Idempotency-Key': id,
      [signatureHeader]: sign(
        unseal(keys, sealed_secret, signingSecretPlace(organisation_id, connection_id)),
        body,
        now,
      ),
    },
    body,
  }),
})
