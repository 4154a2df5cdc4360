import { z } from 'zod'
import { ConsentPurpose } from '#domain/campaigns/events.ts'
import { Declared, type IngestConsent, type IngestContent } from '#domain/ingests/events.ts'
import { isUsableKey } from '#domain/ingests/fields.ts'
import { mergeProvenance, tidyProvenance } from '#domain/provenance.ts'
import { Channel, SentInstant } from '#domain/values.ts'
import { ProvenanceInput } from '../provenance-input.ts'

const wellFormed = (text: z.ZodString) => text.refine((value) => value.isWellFormed(), 'must be valid Unicode')
const short = (most: number) => wellFormed(z.string().max(most)).nullish()

export const SourceInput = z
  .string()
  .min(1, 'required')
  .regex(/^[a-z0-9_.-]{1,64}$/, 'must be up to 64 lower-case letters, digits, _, . and -')
  .refine((source) => source !== 'leadform', 'is reserved: choose another name')

const IdentityInput = z.object({
  contact_id: short(100).describe('Our id of the person, where the sender knows it.'),
  email: short(500),
  phone: short(100),
  name: short(300),
  first_name: short(200),
  last_name: short(200),
  external_id: short(200).describe('The id of the person in the organisation’s own CRM.'),
})

const byChannel = z.partialRecord(Channel, z.boolean())

const ConsentInput = z.object({
  method: short(200).describe('How the person said so, for example `checkbox`.'),
  recorded_at: SentInstant.nullish(),
  wording: short(5_000).describe('What the form said.'),
  ...Object.fromEntries(ConsentPurpose.options.map((purpose) => [purpose, byChannel.nullish()] as const)),
})
type ConsentInput = z.output<typeof ConsentInput> & Readonly<Record<string, unknown>>

const Plain = z.union([z.string(), z.number(), z.boolean(), z.null()])
const keyReason = 'is no field key: use up to 64 lower-case letters, digits, _, . and -'
const plainReason = 'must be a plain value: text, a number, true, false, or a list of those'

export const IngestInput = z.object({
  source: SourceInput.describe('Where the lead comes from. `leadform` is reserved.'),
  campaign: z
    .string()
    .max(200)
    .nullish()
    .describe('The key of a campaign; without it only the organisation’s own rules apply.'),
  identity: IdentityInput.nullish(),
  data: z.record(z.string(), z.unknown()).nullish().describe('Any JSON; it is read.'),
  text: wellFormed(z.string()).nullish().describe('Free text; it is read.'),
  declared: z
    .record(
      z.string().meta({ pattern: '^[a-z0-9_.-]{1,64}$' }),
      z.union([Plain, z.array(Plain)], { error: plainReason }),
    )
    .superRefine((declared, context) => {
      for (const key of Object.keys(declared))
        if (!isUsableKey(key)) context.addIssue({ code: 'custom', path: [key], message: keyReason, input: key })
    })
    .nullish()
    .describe('Values by field key, stored exactly as given.'),
  consent: ConsentInput.nullish().describe('What the person agreed to, by purpose and channel.'),
  context: z
    .looseObject({
      source_url: z.unknown().optional(),
      referrer: z.unknown().optional(),
      utm_source: z.unknown().optional(),
      user_agent: z.unknown().optional(),
    })
    .nullish()
    .describe('Details of the visit.'),
  provenance: ProvenanceInput,
  occurred_at: SentInstant.nullish().describe('When the lead happened, if not now.'),
  source_reference: short(500).describe('Shown back to the sender.'),
})
export type IngestInput = z.output<typeof IngestInput>

/** The content of a sent lead; undefined when there is nothing to go on. */
export const contentOf = (body: IngestInput, numbers: readonly string[]): IngestContent | undefined => {
  const identity = filled(body.identity)
  const data = filled(body.data)
  const declared = Declared.nullable().parse(filled(body.declared))
  const text = body.text?.trim() ? body.text : null
  if (!identity && !data && !declared && text === null) return undefined
  return {
    identity,
    data,
    text,
    declared,
    consent: consentOf(body.consent),
    provenance: mergeProvenance(tidyProvenance(body.provenance), visitOf(body.context)),
    ...(numbers.length > 0 && { numbers: [...numbers] }),
  }
}

/** The filled values; null where none is. */
const filled = <Values extends object>(
  values: Values | null | undefined,
): { [Key in keyof Values]: NonNullable<Values[Key]> } | null => {
  const kept = Object.entries(values ?? {}).filter(([, value]) => value !== null && value !== undefined && value !== '')
  // Only what is null or left out is gone from it.
  return kept.length > 0 ? (Object.fromEntries(kept) as { [Key in keyof Values]: NonNullable<Values[Key]> }) : null
}

const consentOf = (sent: ConsentInput | null | undefined): IngestConsent | null => {
  if (!sent) return null
  const purposes = Object.fromEntries(
    ConsentPurpose.options.flatMap((purpose) => {
      const channels = byChannel.safeParse(sent[purpose]).data
      return channels && Object.keys(channels).length > 0 ? [[purpose, channels] as const] : []
    }),
  )
  if (Object.keys(purposes).length === 0) return null
  return {
    method: sent.method ?? 'not said',
    recorded_at: sent.recorded_at ?? null,
    wording: sent.wording ?? null,
    purposes,
  }
}

/** The details of a visit, as provenance has them. */
const visitOf = (context: IngestInput['context']) => {
  if (!context) return null
  const utm = Object.fromEntries(
    Object.entries(context).flatMap(([key, value]) => (key.startsWith('utm_') ? [[key.slice(4), value] as const] : [])),
  )
  return tidyProvenance({ ...context, page_url: context.source_url, utm })
}
