import { campaign } from '#domain/campaigns/campaign.ts'
import { leadIntake } from '#domain/campaigns/lead-intake.ts'
import type { Campaign, LeadIntake } from '#domain/campaigns/record.ts'
import type { IngestRecord } from '#domain/ingests/record.ts'
import { commandHandler, type Writer } from './handle.ts'

/** What is demanded of a lead: by the campaign that it was sent on, and by the organisation of every lead. */
export type Demands = { readonly campaign: Campaign | undefined; readonly intake: LeadIntake }

/**
 * As the log has them now. What this process has heard may be older than what the one that took the lead in went by, and
 * no lead is let in by rules that hold no more.
 */
export const makeDemands = (writer: Writer) => {
  const campaigns = commandHandler(writer, campaign)
  const intakes = commandHandler(writer, leadIntake)
  return {
    demandsOf: async ({
      organisation_id,
      campaign: named,
    }: Pick<IngestRecord, 'organisation_id' | 'campaign'>): Promise<Demands> => {
      const [known, intake] = await Promise.all([
        named ? campaigns.load(named.id) : undefined,
        intakes.load(organisation_id),
      ])
      return { campaign: known, intake }
    },
  }
}
