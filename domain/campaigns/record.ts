import { z } from 'zod'
import { CampaignId, OrganisationId } from '../values.ts'
import { CampaignKey, CampaignState, FieldKey, LeadRule, type CampaignEvent, type LeadIntakeEvent } from './events.ts'

/** A campaign of leads, and its rules for them. */
export const Campaign = z
  .object({
    id: CampaignId,
    organisation_id: OrganisationId,
    key: CampaignKey,
    name: z.string(),
    state: CampaignState.describe('Only an active campaign takes leads.'),
    rules: z.array(LeadRule).describe('A lead that does not meet them is held.'),
    field_names: z.record(FieldKey, z.string()).describe('By our field key, what the sender calls the field.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Campaign' })
export type Campaign = z.infer<typeof Campaign>

export const evolveCampaign = (
  campaign: Campaign | undefined,
  event: CampaignEvent,
  { occurred_at }: { readonly occurred_at: string },
): Campaign | undefined => {
  switch (event.type) {
    case 'CampaignCreated': {
      const { type: _type, campaign_id: id, ...declared } = event
      return { id, ...declared, created_at: occurred_at, updated_at: occurred_at }
    }
    case 'CampaignChanged': {
      const { type: _type, ...changed } = event
      return campaign && { ...campaign, ...changed, updated_at: occurred_at }
    }
  }
}

/** An organisation's rules for every lead. */
export const LeadIntake = z
  .object({
    rules: z.array(LeadRule).describe('For every lead, beside the rules of its campaign.'),
    blocked_sources: z.array(z.string()).describe('Leads of these sources are discarded.'),
    trap_fields: z.array(z.string()).describe('A lead that fills one of these fields is discarded.'),
  })
  .meta({ id: 'LeadIntake' })
export type LeadIntake = z.infer<typeof LeadIntake>

export const openIntake: LeadIntake = { rules: [], blocked_sources: [], trap_fields: [] }

export const evolveLeadIntake = (_intake: LeadIntake, event: LeadIntakeEvent): LeadIntake => {
  const { rules, blocked_sources, trap_fields } = event
  return { rules, blocked_sources, trap_fields }
}
