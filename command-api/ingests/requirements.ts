import { campaign } from '#domain/campaigns/campaign.ts'
import { leadIntake } from '#domain/campaigns/lead-intake.ts'
import type { Campaign, LeadIntake } from '#domain/campaigns/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import { campaignIdOf } from '../campaigns/ids.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'

/** Demands on a lead: those of the campaign that it was sent on, and the organisation's on every lead. */
export type Requirements = { readonly campaign: Campaign | undefined; readonly intake: LeadIntake }

/**
 * As the log has them now. What this process has heard may be older than what another one, or the team, goes by already, and
 * no lead is let in by rules that hold no more.
 */
export const makeRequirements = (writer: Writer) => {
  const campaigns = commandHandler(writer, campaign)
  const intakes = commandHandler(writer, leadIntake)
  const campaignOf = (organisation_id: OrganisationId, key: string): Promise<Campaign | undefined> =>
    campaigns.load(campaignIdOf(organisation_id, key))
  return {
    campaignOf,
    requirementsOf: async (organisation_id: OrganisationId, key: string | null | undefined): Promise<Requirements> => {
      const [known, intake] = await Promise.all([
        key ? campaignOf(organisation_id, key) : undefined,
        intakes.load(organisation_id),
      ])
      return { campaign: known, intake }
    },
  }
}
