import { z } from 'zod'
import { event, personal, type EventOf } from '../event.ts'
import { Key } from '../pipeline/events.ts'
import { OrganisationId, PolicyId } from '../values.ts'

export const CustomIntegrationId = z.uuid().toLowerCase().brand<'CustomIntegrationId'>()
export type CustomIntegrationId = z.infer<typeof CustomIntegrationId>

export const IntegrationConnectionId = z.uuid().toLowerCase().brand<'IntegrationConnectionId'>()
export type IntegrationConnectionId = z.infer<typeof IntegrationConnectionId>

/** The path of a value in the sender's event: `event.name`, or `items.0.id` within a list. */
export const EventPath = z
  .string()
  .max(200)
  .regex(/^[ -\-/-~\u00a0-\uffff]+(\.[ -\-/-~\u00a0-\uffff]+)*$/, 'must be names separated by dots, such as event.name')

export const SecretName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,49}$/, 'must be up to 50 lower-case letters, digits and _, beginning with a letter')

export const HeaderName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'must be the name of a header, such as X-Signature')

export const OutcomeMapping = z.object({
  lead: z.object({
    /** Our contact_id. */
    id: EventPath.nullable(),
    external_id: EventPath.nullable(),
    email: EventPath.nullable(),
    phone: EventPath.nullable(),
    match_on_details: z.boolean(),
  }),
  /** The same for every event; either this or `type_column`. */
  type: Key.nullable(),
  type_column: EventPath.nullable(),
  occurred_at: EventPath,
  deal_ref: EventPath.nullable(),
  product: EventPath.nullable(),
  reason: EventPath.nullable(),
  event_id: EventPath.nullable(),
  note: EventPath.nullable(),
  /** By measure; money is in pounds. */
  values: z.record(Key, EventPath),
})
export type OutcomeMapping = z.infer<typeof OutcomeMapping>

const EventTypes = z.array(z.string().min(1).max(200)).max(200)

/** Settings for reading the events that another system posts to us. */
export const Inbound = z.object({
  event_type_path: EventPath,
  signature_header: HeaderName,
  /** The secret that deliveries are signed with; null: they are refused until one is chosen. */
  signing_secret: SecretName.nullable(),
  outcome_event_types: EventTypes,
  outcome_mapping: OutcomeMapping.nullable(),
  update_event_types: EventTypes,
  policy_id_path: EventPath.nullable(),
})
export type Inbound = z.infer<typeof Inbound>

/** Our credentials at another system. Secrets are named here and kept with the connection. */
export const Credential = z.discriminatedUnion('type', [
  z.object({ type: z.literal('api_key'), header: HeaderName, secret: SecretName }),
  z.object({ type: z.literal('bearer'), secret: SecretName }),
  z.object({ type: z.literal('basic'), username: z.string().min(1).max(200), secret: SecretName }),
  z.object({
    type: z.literal('oauth2'),
    token_url: z.string().max(2_000),
    client_id: z.string().min(1).max(500),
    secret: SecretName,
    scope: z.string().max(1_000).nullable(),
    /** Placement of the client's id and secret in the token request: header or form. */
    client_authentication: z.enum(['basic', 'form']),
  }),
])
export type Credential = z.infer<typeof Credential>

export const IntegrationEndpoint = z.object({
  key: Key,
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  /** Below the base address; may hold variables. */
  path: z.string().max(2_000),
  headers: z.record(HeaderName, z.string().max(2_000)),
  /** Null: the whole envelope, as JSON. */
  body_template: z.string().max(50_000).nullable(),
})
export type IntegrationEndpoint = z.infer<typeof IntegrationEndpoint>

/** An API of another system that we call. */
export const Outbound = z.object({
  base_url: z.string().max(2_000),
  credential: Credential.nullable(),
  endpoints: z.array(IntegrationEndpoint).max(50),
})
export type Outbound = z.infer<typeof Outbound>

const settings = { inbound: Inbound.nullable(), outbound: Outbound.nullable() }

/** Stream `custom_integration-<custom integration id>`. It is inbound or outbound for its whole life. */
export const customIntegrationEvents = {
  CustomIntegrationCreated: event({
    custom_integration_id: CustomIntegrationId,
    organisation_id: OrganisationId,
    name: z.string(),
    ...settings,
  }),
  CustomIntegrationChanged: event(settings),
}
export type CustomIntegrationEvent = EventOf<typeof customIntegrationEvents>

/** Stream `integration_connection-<integration connection id>`. Of secrets only the sealed text is kept. */
export const integrationConnectionEvents = {
  IntegrationConnectionCreated: event({
    integration_connection_id: IntegrationConnectionId,
    custom_integration_id: CustomIntegrationId,
    organisation_id: OrganisationId,
    name: z.string(),
  }),
  IntegrationSecretSet: event({ name: SecretName, sealed_secret: z.string().min(1) }),
  /** Nothing is taken in or sent over it any more. */
  IntegrationConnectionRevoked: event({ name: z.string() }),
}
export type IntegrationConnectionEvent = EventOf<typeof integrationConnectionEvents>

/** An outcome as read from an event, as text and not checked yet. Null where it says nothing. */
export const MappedOutcome = z.object({
  type: z.string().nullable(),
  occurred_at: z.string().nullable(),
  lead: z.object({
    id: z.string().nullable(),
    external_id: z.string().nullable(),
    email: z.string().nullable(),
    phone: z.string().nullable(),
    match_on_details: z.boolean(),
  }),
  deal_ref: z.string().nullable(),
  product: z.string().nullable(),
  reason: z.string().nullable(),
  note: z.string().nullable(),
  values: z.record(Key, z.string()),
  /** Parts where the event holds neither text nor a number. */
  unreadable: z.array(z.string()),
})
export type MappedOutcome = z.infer<typeof MappedOutcome>

/**
 * Stream `inbound_event-<inbound event id>`. The id follows from the connection and the sender's event id, or from the whole
 * body where it has none, so that "no such stream yet" is what makes a delivery the first.
 */
export const inboundEventEvents = {
  InboundEventAccepted: event({
    organisation_id: OrganisationId,
    custom_integration_id: CustomIntegrationId,
    integration_connection_id: IntegrationConnectionId,
    event_type: z.string(),
    /** The sender's own id for it. */
    event_id: personal(z.string()).nullable(),
    outcome: personal(MappedOutcome).nullable(),
    /** The policy that it updates. */
    policy_id: PolicyId.nullable(),
    /** The body as it came, where it updates a policy. */
    body: personal(z.string()).nullable(),
  }),
}
export type InboundEventEvent = EventOf<typeof inboundEventEvents>
