import { z } from 'zod'
import { campaign, type CampaignChoices } from '#domain/campaigns/campaign.ts'
import { leadIntake } from '#domain/campaigns/lead-intake.ts'
import { Campaign, LeadIntake } from '#domain/campaigns/record.ts'
import { CampaignId, OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { route, type Route } from '#infra/http/route.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { LiveCampaigns } from './live-campaigns.ts'
import { teamContext, impersonalRoute } from '../operator.ts'
import { chosen, DeclaredCampaign, DeclaredIntake } from './declared.ts'
import { campaignIdOf } from './ids.ts'

type Deps = { readonly writer: Writer; readonly campaigns: LiveCampaigns }

const organisationAddress = '/admin/v1/organisations/:organisation_id' as const
const campaignsAddress = `${organisationAddress}/campaigns` as const
const oneCampaign = `${campaignsAddress}/:campaign_id` as const
const intakeAddress = `${organisationAddress}/lead_intake` as const

const OrganisationPath = z.object({ organisation_id: OrganisationId })
const CampaignPath = OrganisationPath.extend({ campaign_id: CampaignId })

const OneCampaign = z.object({ data: Campaign })
const OneIntake = z.object({ data: LeadIntake })

const noCampaign = () => notFound('campaign')

/** The operator's routes for campaigns, and for the requirements of every lead. */
export const campaignRoutes = ({ writer, campaigns }: Deps): Route[] => {
  const { handle, load } = commandHandler(writer, campaign)
  const intake = commandHandler(writer, leadIntake)

  return [
    route(
      {
        ...impersonalRoute('owner', 'leads'),
        method: 'get',
        address: campaignsAddress,
        summary: 'List the campaigns of an organisation',
        path: OrganisationPath,
        answers: { 200: z.object({ data: z.array(Campaign).readonly() }) },
      },
      async ({ path: { organisation_id } }) => {
        return { status: 200, body: { data: campaigns(organisation_id) } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'post',
        address: campaignsAddress,
        summary: 'Create a campaign',
        path: OrganisationPath,
        body: DeclaredCampaign,
        errors: ['conflict'],
        answers: { 201: OneCampaign },
      },
      async ({ path: { organisation_id }, body: { key, ...choices }, ...facts }) => {
        const campaign_id = campaignIdOf(organisation_id, key)
        const command = { type: 'CreateCampaign', campaign_id, organisation_id, key, choices } as const
        const { state } = await handle(campaign_id, command, teamContext(organisation_id, facts))
        if (!state) throw noCampaign()
        return { status: 201, body: { data: state } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'leads'),
        method: 'get',
        address: oneCampaign,
        summary: 'Show a campaign',
        path: CampaignPath,
        answers: { 200: OneCampaign },
      },
      async ({ path: { organisation_id, campaign_id } }) => {
        const found = await load(campaign_id)
        if (found?.organisation_id !== organisation_id) throw noCampaign()
        return { status: 200, body: { data: found } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'patch',
        address: oneCampaign,
        summary: 'Change a campaign: only the fields sent. One that is paused or archived takes no leads',
        path: CampaignPath,
        body: z.object(chosen).partial(),
        answers: { 200: OneCampaign },
      },
      async ({ path: { organisation_id, campaign_id }, body: { name, state, rules, field_names }, ...facts }) => {
        const known = await load(campaign_id)
        if (known?.organisation_id !== organisation_id) throw noCampaign()
        const choices: Partial<CampaignChoices> = {
          ...(name !== undefined && { name }),
          ...(state && { state }),
          ...(rules && { rules }),
          ...(field_names && { field_names }),
        }
        const command = { type: 'ChangeCampaign', choices } as const
        const changed = await handle(campaign_id, command, teamContext(organisation_id, facts))
        return { status: 200, body: { data: changed.state ?? known } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'leads'),
        method: 'get',
        address: intakeAddress,
        summary: 'Show what an organisation demands of every lead',
        path: OrganisationPath,
        answers: { 200: OneIntake },
      },
      async ({ path: { organisation_id } }) => {
        return { status: 200, body: { data: await intake.load(organisation_id) } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'patch',
        address: intakeAddress,
        summary: 'Change what an organisation demands of every lead: each list that is sent replaces the one before',
        path: OrganisationPath,
        body: z.object(DeclaredIntake).partial(),
        answers: { 200: OneIntake },
      },
      async ({ path: { organisation_id }, body: { rules, blocked_sources, trap_fields }, ...facts }) => {
        const choices = {
          ...(rules && { rules }),
          ...(blocked_sources && { blocked_sources }),
          ...(trap_fields && { trap_fields }),
        }
        const command = { type: 'SetLeadIntake', organisation_id, choices } as const
        const { state } = await intake.handle(organisation_id, command, teamContext(organisation_id, facts))
        return { status: 200, body: { data: state } }
      },
    ),
  ]
}
