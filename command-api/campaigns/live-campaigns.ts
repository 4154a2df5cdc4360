import { campaignEvents } from '#domain/campaigns/events.ts'
import { evolveCampaign, type Campaign } from '#domain/campaigns/record.ts'
import { recordsFold } from '#domain/records-fold.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { LiveFolds } from '#infra/consumers/live-folds.ts'

/** The campaigns of an organisation, as this process knows them: for lists, and for nothing that is decided. */
export type LiveCampaigns = (organisation_id: OrganisationId) => readonly Campaign[]

/** Follows the events of campaigns; resolves when it knows all there are. */
export const followCampaigns = async (folds: LiveFolds): Promise<LiveCampaigns> => {
  const campaigns = await folds.follow(
    recordsFold({
      name: 'campaigns',
      version: 2,
      categories: ['campaign'],
      events: campaignEvents,
      evolve: evolveCampaign,
    }),
    new Map<string, Campaign>(),
  )
  return (organisation_id) =>
    [...campaigns.values()]
      .filter((each) => each.organisation_id === organisation_id)
      .toSorted((one, other) => one.key.localeCompare(other.key))
}
