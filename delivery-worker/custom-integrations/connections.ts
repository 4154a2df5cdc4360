import {
  customIntegrationEvents,
  integrationConnectionEvents,
  Outbound,
  type IntegrationEndpoint,
} from '#domain/custom-integrations/events.ts'
import { integrationSecretBinding } from '#domain/custom-integrations/record.ts'
import type { Json } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { unseal } from '#infra/crypto/seal.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { connectionKind, endpointKey, type ConnectionFacts, type Outside, type Sending } from '../capability.ts'
import type { Filled } from './fill.ts'
import { integrationRequest } from './request.ts'
import type { TokenRequest } from '../sending/tokens.ts'

type IntegrationFacts = ConnectionFacts & { readonly outbound: Outbound | null }

/** Nothing is sent over an integration itself: it says what its connections call. */
export const customIntegrations = connectionKind<typeof customIntegrationEvents, IntegrationFacts>({
  type: 'custom_integration',
  categories: ['custom_integration'],
  events: customIntegrationEvents,
  learn: (_facts, { outbound }) => ({ outbound, removed: false }),
  request: () => {
    throw new OwnError('An integration is called over one of its connections.')
  },
})

type Facts = ConnectionFacts & {
  readonly custom_integration_id: string
  readonly sealed_secrets: Readonly<Record<string, string>>
}

type Prepared = Facts & {
  readonly outbound: Outbound
  readonly endpoint: IntegrationEndpoint
  readonly filled: Filled
  readonly credential: Readonly<Record<string, string>>
  /** The access token in it, if it holds one. */
  readonly token: { readonly request: TokenRequest; readonly text: string } | null
}

/** Calls to the APIs of other systems, as their integrations say at this moment. */
export const integrationConnections = connectionKind<typeof integrationConnectionEvents, Facts, Prepared>({
  type: 'integration_connection',
  categories: ['integration_connection'],
  events: integrationConnectionEvents,
  learn: (facts, event) => {
    switch (event.type) {
      case 'IntegrationConnectionCreated':
        return { custom_integration_id: event.custom_integration_id, sealed_secrets: {}, removed: false }
      case 'IntegrationSecretSet':
        return facts && { ...facts, sealed_secrets: { ...facts.sealed_secrets, [event.name]: event.sealed_secret } }
      case 'IntegrationConnectionRevoked':
        return facts && { ...facts, sealed_secrets: {}, removed: true }
    }
  },
  prepare: async (facts, sending, { db, tokens, fill }) => {
    const outbound = await outboundOf(facts, db)
    const { [endpointKey]: key, ...envelope } = JSON.parse(sending.body) as Json // what we have made ourselves
    const endpoint = outbound.endpoints.find((each) => each.key === key)
    if (!endpoint) throw new OwnError(`The integration has no endpoint ${JSON.stringify(key)} any more.`)
    const filled = await fill(sending.organisation_id, { endpoint, envelope })
    const call = { ...facts, outbound, endpoint, filled }
    const { credential } = outbound
    if (credential?.type !== 'oauth2')
      return { ...call, credential: headersOf(credential, facts, sending), token: null }
    const request = tokenRequest(credential, facts, sending)
    const text = await tokens.tokenFor(request)
    return { ...call, credential: { Authorization: `Bearer ${text}` }, token: { request, text } }
  },
  request: ({ outbound, endpoint, filled, credential }, { id }) =>
    integrationRequest({ outbound, endpoint, filled, idempotency_key: id, credential }),
  // The other system does not take the token any more, although it has not expired.
  isStale: ({ token }, _sending, { tokens }, { status }) => {
    if (!token || status !== 401) return false
    tokens.forget(token.request, token.text)
    return true
  },
  integrationOf: ({ custom_integration_id }) => custom_integration_id,
})

const outboundOf = async ({ custom_integration_id }: Facts, db: Outside['db']): Promise<Outbound> => {
  const { rows } = await db.query<{ facts: IntegrationFacts }>(sql`
    select facts from delivery_known where kind = 'connection' and id = ${custom_integration_id}`)
  const outbound = rows[0]?.facts.outbound
  if (!outbound) throw new OwnError('The integration of this connection is not one that is called.')
  return outbound
}

const secretOf = (
  name: string,
  { sealed_secrets }: Facts,
  { keys, organisation_id, connection_id }: Sending,
): string => {
  const sealed = sealed_secrets[name]
  if (sealed === undefined) throw new OwnError(`The secret ${name} of the connection is not set.`)
  return unseal(keys, sealed, integrationSecretBinding(organisation_id, connection_id, name))
}

/** A secret that stands in a header as it is. Where it is encoded it may hold any character. */
const plainSecretOf = (name: string, facts: Facts, sending: Sending): string => {
  const secret = secretOf(name, facts, sending)
  if (/[^\x20-\x7e]/.test(secret)) throw new OwnError(`The secret ${name} holds characters that no header can hold.`)
  return secret
}

type OAuth2 = Extract<Outbound['credential'], { readonly type: 'oauth2' }>

const tokenRequest = (
  { secret, type: _type, ...credential }: OAuth2,
  facts: Facts,
  sending: Sending,
): TokenRequest => ({
  ...credential,
  connection_id: sending.connection_id,
  client_secret: secretOf(secret, facts, sending),
})

const headersOf = (
  credential: Exclude<Outbound['credential'], OAuth2>,
  facts: Facts,
  sending: Sending,
): Readonly<Record<string, string>> => {
  switch (credential?.type) {
    case undefined:
      return {}
    case 'api_key':
      return { [credential.header]: plainSecretOf(credential.secret, facts, sending) }
    case 'bearer':
      return { Authorization: `Bearer ${plainSecretOf(credential.secret, facts, sending)}` }
    case 'basic': {
      const both = `${credential.username}:${secretOf(credential.secret, facts, sending)}`
      return { Authorization: `Basic ${Buffer.from(both).toString('base64')}` }
    }
  }
}
