import { z } from 'zod'
import { CampaignState, type LeadRule } from '#domain/campaigns/events.ts'
import { Campaign } from '#domain/campaigns/record.ts'
import { act, choicesOf } from '../act.ts'
import type { List } from '../list.ts'
import { apiOf, pageOf, type Page } from '../page.ts'
import { badge, empty, facts, link, moment, section, table, value, words, type Tone } from '../show.ts'
import { h } from '../view.ts'
import { setUpChanges } from './set-up-changes.ts'

const tones: Readonly<Record<string, Tone>> = { active: 'good', paused: 'wait' }

export const campaigns: List<typeof Campaign> = {
  title: 'Campaigns',
  path: 'campaigns',
  api: 'campaigns',
  item: Campaign,
  filters: [],
  none: 'No campaign is set up yet. The set-up file declares them.',
  columns: (organisation_id) => [
    { title: 'Campaign', show: ({ id, name }) => link(pageOf(organisation_id, `campaigns/${id}`), name) },
    { title: 'State', show: ({ state }) => badge(state, tones[state]) },
    { title: 'Key', show: ({ key }) => h('code', {}, key) },
    { title: 'Rules', show: ({ rules }) => String(rules.length), isNumber: true },
    { title: 'Changed', show: ({ updated_at }) => moment(updated_at) },
  ],
}

const limitsOf = ({ rule: _rule, ...limits }: LeadRule): string =>
  Object.entries(limits)
    .map(([name, limit]) => `${words(name)}: ${value(limit)}`)
    .join(', ')

/** One campaign with the rules that its leads must meet. */
export const campaignPage: Page = {
  address: '/console/organisations/:organisation_id/campaigns/:campaign_id',
  show: async (asked) => {
    const address = apiOf(asked.organisation?.id ?? '', `campaigns/${asked.path['campaign_id'] ?? ''}`)
    const [{ data: campaign }, changes] = await Promise.all([
      asked.read(address, z.object({ data: Campaign })),
      setUpChanges(asked, asked.path['campaign_id']),
    ])
    const names = Object.entries(campaign.field_names)
    return {
      title: campaign.name,
      main: h(
        'div',
        { class: 'record' },
        h(
          'div',
          {},
          facts([
            ['State', badge(campaign.state, tones[campaign.state])],
            ['Key', h('code', {}, campaign.key)],
            ['Made', moment(campaign.created_at)],
            ['Changed', moment(campaign.updated_at)],
          ]),
          section(
            'Rules: a lead that does not meet them is held',
            campaign.rules.length === 0
              ? empty('It has no rules of its own.')
              : table(
                  'Rules',
                  [
                    { title: 'Rule', show: ({ rule }) => words(rule) },
                    { title: 'Of', show: limitsOf },
                  ],
                  campaign.rules,
                ),
          ),
          names.length > 0 &&
            section('What the sender calls our fields', facts(names.map(([ours, theirs]) => [words(ours), theirs]))),
          changes,
        ),
        asked.me.roles.includes('owner') &&
          h(
            'div',
            {},
            section(
              'What next',
              act({
                title: 'Change the state',
                method: 'PATCH',
                address,
                ask: 'Leads are taken on a campaign only while it is active. What is sent on another is refused.',
                fields: [
                  {
                    name: 'state',
                    label: 'State',
                    kind: 'choice',
                    choices: choicesOf(CampaignState.options),
                    value: campaign.state,
                    isRequired: true,
                  },
                ],
              }),
            ),
          ),
      ),
    }
  },
}
