import { campaignEvents, leadIntakeEvents, type CampaignEvent, type LeadIntakeEvent } from '#domain/campaigns/events.ts'
import {
  evolveCampaign,
  evolveLeadIntake,
  openIntake,
  type Campaign,
  type LeadIntake,
} from '#domain/campaigns/record.ts'
import { idOf } from '#domain/event.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { LiveFolds } from '#infra/consumers/live-folds.ts'
import { campaignIdOf } from './campaigns/ids.ts'

/** What leads are sent on, and what organisations demand of them, as this process knows it. */
export type LiveCampaigns = {
  readonly campaign: (organisation_id: OrganisationId, key: string) => Campaign | undefined
  readonly campaigns: (organisation_id: OrganisationId) => readonly Campaign[]
  readonly intake: (organisation_id: OrganisationId) => LeadIntake
}

type Live = { readonly campaigns: Map<string, Campaign>; readonly intakes: Map<string, LeadIntake> }

const isOfCampaign = (event: CampaignEvent | LeadIntakeEvent): event is CampaignEvent => event.type in campaignEvents

/** Follows the events of campaigns; resolves when it knows all there are. */
export const followCampaigns = async (folds: LiveFolds): Promise<LiveCampaigns> => {
  const { campaigns, intakes } = await folds.follow(
    {
      name: 'campaigns',
      version: 1,
      categories: ['campaign', 'lead_intake'],
      events: { ...campaignEvents, ...leadIntakeEvents },
      apply: (live: Live, event: CampaignEvent | LeadIntakeEvent, { stream, metadata }) => {
        if (isOfCampaign(event)) {
          const campaign = evolveCampaign(live.campaigns.get(idOf(stream)), event, metadata)
          if (campaign) live.campaigns.set(campaign.id, campaign)
        } else live.intakes.set(event.organisation_id, evolveLeadIntake(openIntake, event))
      },
    },
    { campaigns: new Map<string, Campaign>(), intakes: new Map<string, LeadIntake>() },
  )

  return {
    campaign: (organisation_id, key) => campaigns.get(campaignIdOf(organisation_id, key)),
    campaigns: (organisation_id) =>
      [...campaigns.values()]
        .filter((each) => each.organisation_id === organisation_id)
        .toSorted((one, other) => one.key.localeCompare(other.key)),
    intake: (organisation_id) => intakes.get(organisation_id) ?? openIntake,
  }
}
