import { createSecretKey, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { endpointConnectionEvents } from '#domain/integrations/events.ts'
import { signingSecretBinding } from '#domain/integrations/record.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { unseal } from '#infra/crypto/seal.ts'
import { connectionKind, type ConnectionFacts } from '../capability.ts'
import { sign, signatureHeader } from './sign.ts'

type Facts = ConnectionFacts & {
  readonly base_url: string
  /** The last one. */
  readonly sealed_secret: string
  /** Earlier ones, the oldest first. What an earlier version has learned has none. */
  readonly former?: readonly FormerSecret[]
}

/** A secret that signs until this instant of real time. */
type FormerSecret = { readonly sealed_secret: string; readonly until: string }

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
      case 'EndpointSecretRegenerated': {
        const { sealed_secret, former_signs_until: until } = event
        return facts && { ...facts, sealed_secret, former: until === null ? [] : formerUntil(until, facts) }
      }
      case 'EndpointConnectionRemoved':
        return facts && { ...facts, removed: true }
    }
  },
  request: ({ base_url, sealed_secret, former = [] }, { id, organisation_id, connection_id, body, keys, now }) => {
    // Exactly one secret signs: receivers read one v1, and those that read several differ in which.
    const signing = former.find(({ until }) => now < new Date(until))?.sealed_secret ?? sealed_secret
    const secret = secretOf(keys, signing, signingSecretBinding(organisation_id, connection_id))
    return {
      method: 'POST',
      url: base_url,
      headers: {
        'Content-Type': 'application/json',
        'Idempotency-Key': id,
        [signatureHeader]: sign(secret, body, now),
      },
      body,
    }
  },
})

/** Opening a secret takes longer than signing with it. */
const secretsKept = new LRUCache<string, KeyObject>({ max: 1_000 })

const secretOf = (keys: Pick<Keys, 'sealing'>, sealed: string, binding: readonly string[]): KeyObject => {
  const name = [sealed, ...binding].join(' ')
  const known = secretsKept.get(name)
  if (known) return known
  const secret = createSecretKey(Buffer.from(unseal(keys, sealed, binding)))
  secretsKept.set(name, secret)
  return secret
}

const formerKept = 10

/** The secrets that sign, one after the other, until the one that was just made does. */
const formerUntil = (until: string, { former = [], sealed_secret }: Facts): readonly FormerSecret[] =>
  [...former, { sealed_secret, until }]
    .map((each) => (each.until < until ? each : { ...each, until }))
    .slice(-formerKept)
