import type { z } from 'zod'
import { campaign, type CampaignCommand } from '#domain/campaigns/campaign.ts'
import type { LeadRule } from '#domain/campaigns/events.ts'
import { leadIntake, type SetLeadIntake } from '#domain/campaigns/lead-intake.ts'
import { openIntake, type Campaign, type LeadIntake } from '#domain/campaigns/record.ts'
import { isSameJson } from '#domain/canonical-json.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { keptWhereLeftOut } from '../setup-file/kept.ts'
import {
  inOrderOf,
  reportRefusal,
  type SetupContext,
  type SetupSection,
  type SetupStep,
  type Whole,
} from '../setup-file/section.ts'
import { DeclaredCampaign, DeclaredIntake } from './declared.ts'
import { campaignIdOf } from './ids.ts'
import type { LiveCampaigns } from './live-campaigns.ts'

type Deps = { readonly writer: Writer; readonly campaigns: LiveCampaigns }

/** The campaigns to which leads are sent. */
export const campaignsSection = ({ writer, campaigns }: Deps): SetupSection<DeclaredCampaign> => {
  const { handle, load, preview } = commandHandler(writer, campaign)

  const planOne = async (
    { key, ...declared }: DeclaredCampaign,
    written: unknown,
    { organisation_id, context }: SetupContext,
  ): Promise<SetupStep> => {
    const campaign_id = campaignIdOf(organisation_id, key)
    const existing = await load(campaign_id)
    const choices = keptWhereLeftOut(declared, existing, written)
    const command: CampaignCommand = existing
      ? { type: 'ChangeCampaign', choices }
      : { type: 'CreateCampaign', campaign_id, organisation_id, key, choices }
    const events = await preview(campaign_id, command)
    return {
      what: `campaign ${key}`,
      change: events.length === 0 ? 'none' : existing ? 'change' : 'create',
      details: events.length === 0 ? [] : [choices.state, ...choices.rules.map(describeRule)],
      apply: async () => {
        await handle(campaign_id, command, context)
      },
    }
  }

  return {
    key: 'campaigns',
    schema: DeclaredCampaign.strict(),
    plan: async (declared, setup) => {
      const plans = declared.map(async (each, index) => {
        const earlier = declared.findIndex(({ key }) => key === each.key)
        if (earlier === index)
          return reportRefusal(setup, [index], () => planOne(each, setup.declared('campaigns')[index], setup))
        setup.report([index, 'key'], `is that of campaigns[${earlier}]`)
        return undefined
      })
      return (await Promise.all(plans)).filter((step) => step !== undefined)
    },
    exported: async ({ organisation_id }) => inOrderOf(campaigns(organisation_id).map(writtenAs), ({ key }) => key),
  }
}

const writtenAs = ({ key, name, state, rules, field_names }: Campaign): Whole<z.input<typeof DeclaredCampaign>> => ({
  key,
  name,
  state,
  rules,
  field_names,
})

const describeRule = (rule: LeadRule): string => {
  const { rule: name, ...rest } = rule
  const parts = Object.entries(rest).flatMap(([key, value]) => {
    if (value === undefined) return []
    return [`${key} ${Array.isArray(value) ? value.join(' ') : value}`]
  })
  return `${name}: ${parts.join(', ')}`
}

const intakeSection = <Key extends keyof LeadIntake, Item extends LeadIntake[Key][number]>(
  writer: Writer,
  section: {
    readonly key: string
    readonly part: Key
    readonly schema: z.ZodType<Item>
    readonly chosen: (declared: readonly Item[]) => Pick<LeadIntake, Key>
  },
): SetupSection<Item> => {
  const { handle, preview, load } = commandHandler(writer, leadIntake)
  const { key, part, schema, chosen } = section
  return {
    key,
    schema,
    plan: async (declared, setup) => {
      const { organisation_id, context } = setup
      const command: SetLeadIntake = { type: 'SetLeadIntake', organisation_id, choices: chosen(declared) }
      const events = await reportRefusal(setup, [], () => preview(organisation_id, command))
      if (!events) return []
      return [
        {
          what: key.replaceAll('_', ' '),
          change: events.length > 0 ? 'change' : 'none',
          details: events.length > 0 ? [`${declared.length} in all`] : [],
          apply: async () => {
            await handle(organisation_id, command, context)
          },
        },
      ]
    },
    exported: async ({ organisation_id }) => {
      const intake = await load(organisation_id)
      return isSameJson(intake, openIntake) ? undefined : intake[part]
    },
  }
}

/** The organisation's requirements of every lead, in three lists. Each is taken as a whole. */
export const leadIntakeSections = (writer: Writer) => [
  intakeSection(writer, {
    key: 'lead_rules',
    part: 'rules',
    schema: DeclaredIntake.rules.element,
    chosen: (rules) => ({ rules: [...rules] }),
  }),
  intakeSection(writer, {
    key: 'blocked_sources',
    part: 'blocked_sources',
    schema: DeclaredIntake.blocked_sources.element,
    chosen: (blocked_sources) => ({ blocked_sources: [...blocked_sources] }),
  }),
  intakeSection(writer, {
    key: 'trap_fields',
    part: 'trap_fields',
    schema: DeclaredIntake.trap_fields.element,
    chosen: (trap_fields) => ({ trap_fields: [...trap_fields] }),
  }),
]
