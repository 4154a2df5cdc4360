import { describe, expect, test } from 'vitest'
import { campaign, type CampaignChoices } from '#domain/campaigns/campaign.ts'
import { LeadRule, type CampaignEvent } from '#domain/campaigns/events.ts'
import { leadIntake } from '#domain/campaigns/lead-intake.ts'
import { CampaignId, OrganisationId } from '#domain/values.ts'
import { rejected, scenariosOf } from '../scenario.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const campaign_id = CampaignId.parse('c1000000-0000-4000-8000-000000000001')
const choices: CampaignChoices = {
  name: 'Spring',
  state: 'active',
  rules: [{ rule: 'required', field: 'email' }],
  field_names: { email: 'E-Mail' },
}
const identity = { campaign_id, organisation_id, key: 'spring' }
const created: Extract<CampaignEvent, { type: 'CampaignCreated' }> = {
  type: 'CampaignCreated',
  ...identity,
  ...choices,
}
const create = (changes: Partial<CampaignChoices> = {}) =>
  ({ type: 'CreateCampaign', ...identity, choices: { ...choices, ...changes } }) as const

describe('a campaign', () => {
  const scenario = scenariosOf(campaign)

  scenario('has a key, a name, a state, rules and the sender’s field names', {
    given: [],
    when: create(),
    then: [created],
  })

  scenario('whose key is taken is refused', {
    given: [created],
    when: create(),
    then: rejected('conflict', { key: 'taken' }, 'campaign with the key spring already. Change that one.'),
  })

  scenario('is paused, and nothing else changes', {
    given: [created],
    when: { type: 'ChangeCampaign', choices: { state: 'paused' } },
    then: [{ type: 'CampaignChanged', ...choices, state: 'paused' }],
  })

  scenario('chosen as it is does not change', { given: [created], when: { type: 'ChangeCampaign', choices }, then: [] })

  scenario('that there is not cannot be changed', {
    given: [],
    when: { type: 'ChangeCampaign', choices: {} },
    then: rejected('not_found', undefined, 'There is no campaign with this id.'),
  })

  const paused: CampaignEvent = { type: 'CampaignChanged', ...choices, state: 'paused' }
  scenario('that is paused stays so when something else changes', {
    given: [created, paused],
    when: { type: 'ChangeCampaign', choices: { name: 'Summer' } },
    then: [{ ...paused, name: 'Summer' }],
  })
  scenario('whose rules are changed has rules that can be checked', {
    given: [created],
    when: { type: 'ChangeCampaign', choices: { rules: [{ rule: 'age_range', field: 'dob' }] } },
    then: rejected('validation_failed', { 'rules[0]': 'needs min' }, 'Correct rules[0]: it needs min, max or both.'),
  })

  const usable: readonly LeadRule[] = [
    { rule: 'format', field: 'email', format: 'email' },
    { rule: 'format', field: 'reference', format: 'pattern', pattern: '^[A-Z]{3}$' },
    { rule: 'allowed_values', field: 'product_interest', values: ['life'] },
    { rule: 'age_range', field: 'dob', min: 18 },
    { rule: 'age_range', field: 'dob', max: 75 },
    { rule: 'age_range', field: 'dob', min: 18, max: 75 },
    { rule: 'age_range', field: 'dob', min: 30, max: 30 },
    { rule: 'postcode_range', field: 'postal_code', allowed: ['LS'] },
    { rule: 'postcode_range', field: 'postal_code', excluded: ['BT'] },
    { rule: 'postcode_range', field: 'postal_code', allowed: ['LS'], excluded: ['LS1'] },
    { rule: 'postcode_range', field: 'postal_code', allowed: ['l', 'sw1a', 'LS11', 'LS1 4AP'] },
    { rule: 'consent', purpose: 'service' },
    { rule: 'no_duplicate', days: 30 },
  ]
  for (const rule of usable)
    scenario(`can demand ${JSON.stringify(rule)}`, {
      given: [],
      when: create({ rules: [rule] }),
      then: [{ ...created, rules: [rule] }],
    })

  const unusable: readonly (readonly [LeadRule, string])[] = [
    [{ rule: 'format', field: 'reference', format: 'pattern' }, 'needs a pattern'],
    [{ rule: 'format', field: 'reference', format: 'pattern', pattern: '(' }, 'regular expression'],
    [{ rule: 'format', field: 'email', format: 'email', pattern: 'a' }, 'belongs to format pattern'],
    [{ rule: 'age_range', field: 'dob' }, 'needs min, max or both'],
    [{ rule: 'age_range', field: 'dob', min: 30, max: 29 }, 'min above its max'],
    [{ rule: 'postcode_range', field: 'postal_code' }, 'needs allowed or excluded'],
    [{ rule: 'postcode_range', field: 'postal_code', allowed: [] }, 'needs allowed or excluded'],
    [{ rule: 'postcode_range', field: 'postal_code', excluded: [] }, 'needs allowed or excluded'],
    [{ rule: 'postcode_range', field: 'postal_code', allowed: ['LS', 'Leeds'] }, 'names Leeds, which is no postcode'],
    [
      { rule: 'postcode_range', field: 'postal_code', allowed: ['LS'], excluded: ['1'] },
      'names 1, which is no postcode',
    ],
  ]
  for (const [rule, reason] of unusable)
    scenario(`with the rule ${JSON.stringify(rule)} is refused`, {
      given: [],
      when: create({ rules: [{ rule: 'required', field: 'email' }, rule] }),
      then: rejected('validation_failed', { 'rules[1]': reason }),
    })
})

test.each<[LeadRule, string, readonly [number, number]]>([
  [{ rule: 'no_duplicate', days: 30 }, 'days', [1, 3650]],
  [{ rule: 'age_range', field: 'dob' }, 'min', [0, 150]],
  [{ rule: 'age_range', field: 'dob' }, 'max', [0, 150]],
])('%o takes %s from %o, and nothing beyond', (rule, name, [least, most]) => {
  const isRule = (value: number) => LeadRule.safeParse({ ...rule, [name]: value }).success

  expect([least - 1, least, most, most + 1, least + 0.5].map(isRule)).toEqual([false, true, true, false, false])
})

test('a rule of allowed values names at least one', () => {
  const isRule = (values: readonly string[]) =>
    LeadRule.safeParse({ rule: 'allowed_values', field: 'plan', values }).success

  expect([isRule([]), isRule(['Gold'])]).toEqual([false, true])
})

describe('what an organisation demands of every lead', () => {
  const scenario = scenariosOf(leadIntake)
  const nothing = { rules: [], blocked_sources: [], trap_fields: [] }

  scenario('is changed list by list', {
    given: [{ type: 'LeadIntakeSet', organisation_id, ...nothing, trap_fields: ['website'] }],
    when: { type: 'SetLeadIntake', organisation_id, choices: { blocked_sources: ['bulk', 'attic', 'bulk'] } },
    then: [
      {
        type: 'LeadIntakeSet',
        organisation_id,
        ...nothing,
        blocked_sources: ['attic', 'bulk'],
        trap_fields: ['website'],
      },
    ],
  })

  scenario('does not change when it is so already', {
    given: [],
    when: { type: 'SetLeadIntake', organisation_id, choices: nothing },
    then: [],
  })

  scenario('has no rule that nobody could check', {
    given: [],
    when: { type: 'SetLeadIntake', organisation_id, choices: { rules: [{ rule: 'age_range', field: 'dob' }] } },
    then: rejected('validation_failed', { 'rules[0]': 'needs min' }),
  })
})
