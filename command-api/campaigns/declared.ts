import { z } from 'zod'
import { CampaignKey, CampaignState, FieldKey, LeadRule } from '#domain/campaigns/events.ts'

/** As names of fields are compared. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

const text = z.string().trim().min(1).max(200)

/** The settings of a campaign. */
export const chosen = {
  name: text,
  state: CampaignState,
  rules: z.array(LeadRule).max(100),
  field_names: z
    .record(FieldKey, text)
    .refine((names) => new Set(Object.values(names).map(plain)).size === Object.keys(names).length, {
      error: 'must not call two fields by one name',
    })
    .describe('By our field key, what the sender calls the field.'),
}

/** A campaign of a set-up file, or of a request that creates one. */
export const DeclaredCampaign = z.object({
  key: CampaignKey,
  name: chosen.name,
  state: chosen.state.default('active'),
  rules: chosen.rules.default([]),
  field_names: chosen.field_names.default({}),
})
export type DeclaredCampaign = z.output<typeof DeclaredCampaign>

const Source = z.string().regex(/^[a-z0-9_.-]{1,64}$/, 'must be up to 64 lower-case letters, digits, _, . and -')

/** An organisation's requirements of every lead, as a set-up file or a request declares them. */
export const DeclaredIntake = {
  rules: z.array(LeadRule).max(100),
  blocked_sources: z.array(Source).max(1_000),
  trap_fields: z.array(text).max(100),
}
