import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import type { CampaignId, OrganisationId } from '../values.ts'
import { campaignEvents, type CampaignEvent } from './events.ts'
import { evolveCampaign, type Campaign } from './record.ts'
import { refuseUnusableRules } from './rule-faults.ts'

/** The choices made when a campaign is set up, which can be changed later. */
export type CampaignChoices = Pick<Campaign, 'name' | 'state' | 'rules' | 'field_names'>

export type CampaignCommand =
  | {
      readonly type: 'CreateCampaign'
      readonly campaign_id: CampaignId
      readonly organisation_id: OrganisationId
      readonly key: string
      readonly choices: CampaignChoices
    }
  | { readonly type: 'ChangeCampaign'; readonly choices: Partial<CampaignChoices> }

const decide = (command: CampaignCommand, campaign: Campaign | undefined): readonly CampaignEvent[] => {
  switch (command.type) {
    case 'CreateCampaign': {
      const { type: _type, choices, ...identity } = command
      if (campaign)
        throw new Rejection('conflict', `There is a campaign with the key ${command.key} already. Change that one.`, {
          key: 'is taken',
        })
      refuseUnusableRules(choices.rules)
      return [{ type: 'CampaignCreated', ...identity, ...choices }]
    }
    case 'ChangeCampaign': {
      if (!campaign) throw new Rejection('not_found', 'There is no campaign with this id. Check the address.')
      const choices = { ...choicesOf(campaign), ...command.choices }
      refuseUnusableRules(choices.rules)
      return isSameJson(choices, choicesOf(campaign)) ? [] : [{ type: 'CampaignChanged', ...choices }]
    }
  }
}

const choicesOf = ({ name, state, rules, field_names }: Campaign): CampaignChoices => ({
  name,
  state,
  rules,
  field_names,
})

export const campaign: Decider<CampaignCommand, typeof campaignEvents, Campaign | undefined> = {
  category: 'campaign',
  events: campaignEvents,
  initialState: undefined,
  decide,
  evolve: evolveCampaign,
}
