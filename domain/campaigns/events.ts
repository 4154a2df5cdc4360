import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { CampaignId, Channel, OrganisationId } from '../values.ts'

/** Names a campaign in what senders send. */
export const CampaignKey = z
  .string()
  .regex(/^[a-z0-9_.-]{1,64}$/, 'must be up to 64 lower-case letters, digits, _, . and -')

export const CampaignState = z.enum(['active', 'paused', 'archived'])
export type CampaignState = z.infer<typeof CampaignState>

/** Our name of a field of a lead: a detail of the person, or a fact. */
export const FieldKey = z
  .string()
  .regex(/^[a-z0-9_.-]{1,64}$/, 'must be up to 64 lower-case letters, digits, _, . and -')

export const ConsentPurpose = z.enum(['service', 'first_party_marketing', 'third_party_marketing'])
export type ConsentPurpose = z.infer<typeof ConsentPurpose>

const age = z.int().min(0).max(150)

/** Linters of OpenAPI take a required property for misspelled where it is not defined in the same place. */
const given = (name: string) => ({ properties: { [name]: {} }, required: [name] })

/** A rule for leads. One that breaks it is held until a person accepts it. */
export const LeadRule = z.discriminatedUnion('rule', [
  z.object({ rule: z.literal('required'), field: FieldKey }),
  z
    .object({
      rule: z.literal('format'),
      field: FieldKey,
      format: z.enum(['email', 'phone', 'postcode', 'date', 'number', 'pattern']),
      /** With format `pattern`: what a value must match. */
      pattern: z.string().optional(),
    })
    .meta({
      anyOf: [
        { properties: { format: { const: 'pattern' }, pattern: {} }, required: ['pattern'] },
        { properties: { format: { not: { const: 'pattern' } } }, not: given('pattern') },
      ],
    }),
  z.object({ rule: z.literal('allowed_values'), field: FieldKey, values: z.array(z.string()).min(1) }),
  /** In years on the day on which the lead is checked. */
  z
    .object({ rule: z.literal('age_range'), field: FieldKey, min: age.optional(), max: age.optional() })
    .meta({ anyOf: [given('min'), given('max')] }),
  /** By the start of the postcode: an area (`LS`) or a district (`LS1`). */
  z
    .object({
      rule: z.literal('postcode_range'),
      field: FieldKey,
      allowed: z.array(z.string()).optional(),
      excluded: z.array(z.string()).optional(),
    })
    .meta({
      anyOf: [
        { properties: { allowed: { minItems: 1 } }, required: ['allowed'] },
        { properties: { excluded: { minItems: 1 } }, required: ['excluded'], not: given('allowed') },
      ],
    }),
  z.object({ rule: z.literal('consent'), purpose: ConsentPurpose, channel: Channel.optional() }),
  /** The same person must not have been sent on this campaign (or at all, where the rule is organisation-wide) within these days. */
  z.object({ rule: z.literal('no_duplicate'), days: z.int().min(1).max(3650) }),
])
export type LeadRule = z.infer<typeof LeadRule>

const choices = {
  name: z.string(),
  state: CampaignState,
  rules: z.array(LeadRule),
  /** Our field keys, and the sender's name of each: failures are reported in the sender's words. */
  field_names: z.record(FieldKey, z.string()),
}

/** Stream `campaign-<campaign id>`. */
export const campaignEvents = {
  CampaignCreated: event({
    campaign_id: CampaignId,
    organisation_id: OrganisationId,
    key: CampaignKey,
    ...choices,
  }),
  CampaignChanged: event(choices),
}
export type CampaignEvent = EventOf<typeof campaignEvents>

/** An organisation's rules for every lead, whatever its campaign. Stream `lead_intake-<organisation id>`. */
export const leadIntakeEvents = {
  LeadIntakeSet: event({
    organisation_id: OrganisationId,
    rules: z.array(LeadRule),
    blocked_sources: z.array(z.string()),
    /** Fields that no person sees: a lead that fills one of them was sent by a machine. */
    trap_fields: z.array(z.string()),
  }),
}
export type LeadIntakeEvent = EventOf<typeof leadIntakeEvents>
