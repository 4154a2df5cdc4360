import { CampaignId, type OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'

/** A campaign is known by its key within the organisation: its stream is the index of keys. */
export const campaignIdOf = (organisation_id: OrganisationId, key: string): CampaignId =>
  CampaignId.parse(derivedId('campaign', organisation_id, key))
