import { z } from 'zod'
import {
  EventPath,
  HeaderName,
  Inbound,
  IntegrationEndpoint,
  Outbound,
  OutcomeMapping,
  SecretName,
  Credential,
} from '#domain/custom-integrations/events.ts'
import { orMissing } from '../setup-file/missing-secret.ts'
import type { Settings } from '#domain/custom-integrations/custom-integration.ts'

const Path = EventPath.nullable().default(null)

const DeclaredMapping = OutcomeMapping.extend({
  lead: z
    .strictObject({
      id: Path.describe('Where our contact_id is.'),
      external_id: Path.describe('Where the firm’s own id of the lead is.'),
      email: Path,
      phone: Path,
      match_on_details: z
        .boolean()
        .default(false)
        .describe('Whether email and phone may find the lead: only when they belong to exactly one.'),
    })
    .describe('How to find the lead: at least one of id, external_id, email and phone.'),
  type: OutcomeMapping.shape.type.default(null).describe('The outcome type of every event; or else type_column.'),
  type_column: Path.describe('Where the outcome type is.'),
  deal_ref: Path,
  product: Path,
  reason: Path,
  event_id: Path.describe('The sender’s own id: a repeat is recorded once. Without it the whole body tells.'),
  note: Path,
  values: OutcomeMapping.shape.values.default({}).describe('By measure, where its amount in pounds is.'),
})

const DeclaredInbound = Inbound.extend({
  event_type_path: EventPath.describe('Where the type of an event is, such as event.name.'),
  signature_header: HeaderName.default('X-Integrations-Signature'),
  signing_secret: SecretName.nullable()
    .default(null)
    .describe('The name of the secret that deliveries are signed with; until it is chosen they are refused.'),
  outcome_event_types: Inbound.shape.outcome_event_types.default([]).describe('Events that are recorded as outcomes.'),
  outcome_mapping: DeclaredMapping.strict().nullable().default(null),
  update_event_types: Inbound.shape.update_event_types
    .default([])
    .describe('Events that are recorded on the timeline of a policy.'),
  policy_id_path: Path.describe('Where the id is that the policy has here.'),
}).strict()

const credentials = Credential.options
const DeclaredCredential = z.discriminatedUnion('type', [
  credentials[0].extend({ header: HeaderName.default('X-Api-Key') }).strict(),
  credentials[1].strict(),
  credentials[2].strict(),
  credentials[3]
    .extend({
      scope: credentials[3].shape.scope.default(null),
      client_authentication: credentials[3].shape.client_authentication.default('basic'),
    })
    .strict(),
])

const DeclaredOutbound = Outbound.extend({
  credential: DeclaredCredential.nullable().default(null),
  endpoints: z
    .array(
      IntegrationEndpoint.extend({
        method: IntegrationEndpoint.shape.method.default('POST'),
        headers: IntegrationEndpoint.shape.headers.default({}),
        body_template: IntegrationEndpoint.shape.body_template
          .default(null)
          .describe('Liquid, with the variables of the envelope. null: the whole envelope as JSON.'),
      }).strict(),
    )
    .max(50),
}).strict()

/** The settings of an integration, inbound or outbound: one of the two, and always the same one. */
export const declaredSettings = {
  inbound: DeclaredInbound.optional(),
  outbound: DeclaredOutbound.optional(),
}

export const IntegrationName = z.string().trim().min(1).max(200)

/** Secrets by name; one that is left blank is made, and shown once. */
export const GivenSecrets = z
  .record(SecretName, z.string().max(4_000).nullable())
  .describe('By name. One that is blank is made, and shown once.')

/** Secrets of a set-up file: one can also be named, without being in it. */
const DeclaredSecrets = z.record(SecretName, orMissing(GivenSecrets.valueType))

/** An integration of a set-up file. */
export const DeclaredIntegration = z.strictObject({
  name: IntegrationName,
  ...declaredSettings,
  connections: z
    .array(z.strictObject({ name: IntegrationName, secrets: DeclaredSecrets.default({}) }))
    .max(20)
    .default([]),
})
export type DeclaredIntegration = z.output<typeof DeclaredIntegration>

export const settingsOf = ({ inbound, outbound }: Pick<DeclaredIntegration, 'inbound' | 'outbound'>): Settings => ({
  inbound: inbound ?? null,
  outbound: outbound ?? null,
})
