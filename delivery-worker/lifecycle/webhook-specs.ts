import { z } from 'zod'
import type { WebhookSpec } from '#infra/http/openapi.ts'

const headers = {
  'Idempotency-Key': 'The same on every retry of one delivery: skip one that was handled.',
  'X-Service-Signature': 't=<unix seconds>,v1=<HMAC-SHA256 of t, a full stop and the raw body, in lower-case hex>',
  'X-Service-Sequence': 'Greater for a later event of the same record.',
}

const snapshot = (what: string) =>
  z.record(z.string(), z.unknown()).optional().describe(`${what}, as it is when this is sent.`)

/** The fields of every lifecycle webhook; the snapshot follows from the subject of the event. */
export const LifecycleWebhook = z
  .object({
    id: z.uuid().describe('Of the event; the same as in GET /api/v1/lifecycle_events.'),
    type: z.string().describe('For example policy.bound. New types can be added: ignore unknown ones.'),
    occurred_at: z.iso.datetime({ offset: true }),
    aggregate: z.object({ type: z.string(), id: z.uuid() }),
    payload: z.record(z.string(), z.unknown()).describe('The event’s own details; often small.'),
    product_id: z.uuid().nullable(),
    organization_id: z.uuid(),
    policy: snapshot('The policy'),
    quote: snapshot('The quote'),
    application: snapshot('The application'),
    customer: snapshot('The customer, never with underwriting answers').nullable(),
  })
  .meta({ id: 'LifecycleWebhook' })

const Text = z.string().nullable()
const Consent = z
  .record(z.string(), z.record(z.string(), z.enum(['granted', 'refused', 'withdrawn', 'unknown'])))
  .describe('By purpose, then channel.')

const Instant = z.iso.datetime({ offset: true }).nullable()

const contactFields = {
  contact_id: z.uuid(),
  external_system_id: Text,
  name: Text,
  first_name: Text,
  last_name: Text,
  email: Text,
  phone: Text,
  email_verified: z.boolean(),
  phone_verified: z.boolean(),
  consent: Consent,
  tps_status: z.enum(['clear', 'registered', 'not_applicable']).nullable().describe('null: never screened.'),
}

const Owner = z.object({ id: z.uuid(), name: Text, email: Text })
const NextAction = z.object({ type: z.string(), summary: Text, due_at: z.iso.datetime({ offset: true }) })
const FieldValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number()]))]).nullable()

const LeadShown = z.object({
  ...contactFields,
  stage: Text,
  status: Text,
  score: z.number().nullable(),
  owner_id: z.uuid().nullable(),
  owner: Owner.nullable(),
  last_touched_at: Instant,
  buying_signal: Text,
  follow_up: z.boolean().nullable(),
  outcome_reason: Text,
  priority: Text,
  vulnerable: z.boolean().nullable(),
  snoozed_until: Instant,
  archived: z.boolean().nullable(),
  next_action: NextAction.nullable(),
  fields: z.record(z.string(), FieldValue).describe('Every field the firm set up, by key; null when unknown.'),
})

export const LeadWebhook = z
  .object({
    event_id: z.uuid(),
    event_type: z.string().describe('For example lead.stage_changed or activity.call.'),
    trigger_name: z.string(),
    occurred_at: z.iso.datetime({ offset: true }),
    payload: z.record(z.string(), z.unknown()),
    workflow_id: z.uuid(),
    workflow_name: z.string(),
    campaign_key: Text,
    contact_id: z.uuid().describe('The service’s id of the lead: send it back with outcomes.'),
    organization_id: z.uuid(),
    contact: z.object(contactFields),
    lead: LeadShown.describe('The contact’s fields, and the lead’s; null where the person has no lead record yet.'),
    facts: z.record(z.string(), z.string()).describe('Only fields with a value, as display text.'),
  })
  .meta({ id: 'LeadWebhook' })

/** Every request that is sent to receivers, as the OpenAPI document shows it. */
export const webhookSpecs: readonly WebhookSpec[] = [
  {
    name: 'Lifecycle',
    summary: 'A lifecycle event of an application, quote, policy, mandate, premium, claim, complaint or webhook',
    body: LifecycleWebhook,
    headers,
  },
  { name: 'Lead', summary: 'An event of a lead, sent by a workflow', body: LeadWebhook, headers },
  {
    name: 'Ping',
    summary: 'The operator tries the connection: webhook.ping',
    body: LifecycleWebhook.pick({
      id: true,
      type: true,
      occurred_at: true,
      aggregate: true,
      payload: true,
      product_id: true,
      organization_id: true,
    }).meta({ id: 'PingWebhook' }),
    headers,
  },
]
