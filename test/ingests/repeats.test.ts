import { expect, test } from 'vitest'
import type { LeadRule } from '#domain/campaigns/events.ts'
import { openIntake, type Campaign } from '#domain/campaigns/record.ts'
import type { CampaignRef, LeadEvent } from '#domain/leads/events.ts'
import { lead } from '#domain/leads/lead.ts'
import type { LeadStreamState } from '#domain/leads/state.ts'
import { CampaignId, IngestId } from '#domain/values.ts'
import { sentTooSoon } from '../../command-api/ingests/repeats.ts'
import { about, created, form, ingest as ingestId } from '../leads/builders.ts'
import { contact_id, received } from './builders.ts'

/** Whether a person was sent in too recently for the rules of a campaign, or of the organisation. */

const now = '2026-02-14T12:00:00.000Z'
const thirtyDaysAgo = '2026-01-15T12:00:00.000Z'
const justBefore = '2026-01-15T11:59:59.999Z'
const spring = { id: CampaignId.parse('c1000000-0000-4000-8000-000000000001'), key: 'spring' }
const autumn = { id: CampaignId.parse('c1000000-0000-4000-8000-000000000002'), key: 'autumn' }
const campaign: Campaign = {
  ...spring,
  organisation_id: received.organisation_id,
  name: 'Spring',
  state: 'active',
  rules: [],
  field_names: {},
  created_at: thirtyDaysAgo,
  updated_at: thirtyDaysAgo,
}
const own = IngestId.parse(ingestId(9))

type Happened = readonly [occurred_at: string, event: LeadEvent]
const sent = (occurred_at: string, campaign: CampaignRef | null = spring, id = ingestId(1)): Happened => [
  occurred_at,
  { ...created, campaign, ingest_id: id },
]
const sentAgain = (occurred_at: string, campaign: CampaignRef | null = spring): Happened => {
  const { organisation_id, api_application_id, source, source_reference } = created
  const sending = { organisation_id, contact_id, api_application_id, source, source_reference, ingest_id: ingestId(2) }
  return [occurred_at, { type: 'LeadSentAgain', ...about, ...sending, campaign, external_system_id: null, shown: null }]
}
const called = (occurred_at: string): Happened => [occurred_at, { ...form, campaign: spring }]

/** A lead sent on `spring`, of a person with this history, with the rule in the campaign or for every lead. */
const failuresOf = (history: readonly Happened[], scope: 'campaign' | 'all') => {
  const state = history.reduce<LeadStreamState>(
    (before, [occurred_at, event]) => lead.evolve(before, event, { occurred_at }),
    undefined,
  )
  const rules: LeadRule[] = [{ rule: 'no_duplicate', days: 30 }]
  const demands = {
    campaign: { ...campaign, rules: scope === 'campaign' ? rules : [] },
    intake: { ...openIntake, rules: scope === 'all' ? rules : [] },
  }
  return sentTooSoon({ id: own, campaign: spring }, state?.record ? state.sendings : [], demands, now)
}

const tooSoon = [{ field: 'contact', rule: 'no_duplicate', reason: 'was sent already within the last 30 days' }]

test.each<[string, readonly Happened[], boolean, boolean]>([
  ['nobody was sent', [], false, false],
  ['sent to the day 30 days ago', [sent(thirtyDaysAgo)], true, true],
  ['sent a moment longer ago', [sent(justBefore)], false, false],
  ['sent again since', [sent(justBefore), sentAgain(thirtyDaysAgo)], true, true],
  ['sent on another campaign', [sent(now, autumn)], false, true],
  ['sent on no campaign', [sent(now, null)], false, true],
  ['sent on this campaign before another', [sent(thirtyDaysAgo), sentAgain(now, autumn)], true, true],
  ['in contact since, and not sent', [sent(justBefore), called(now)], false, false],
  ['sent by the very same ingest, which is tried again', [sent(now, spring, own)], false, false],
  ['sent 200 events ago', [sent(thirtyDaysAgo), ...Array.from({ length: 200 }, () => called(now))], true, true],
  [
    'sent again before something that counts as of long ago',
    [sent(justBefore), sentAgain(thirtyDaysAgo), called(justBefore)],
    true,
    true,
  ],
  [
    'sent 500 events ago, and longer ago than that',
    [sent(justBefore), ...Array.from({ length: 500 }, () => called(now))],
    false,
    false,
  ],
])('%s', (_history, history, isTooSoonForCampaign, isTooSoonForAll) => {
  expect(failuresOf(history, 'campaign')).toEqual(isTooSoonForCampaign ? tooSoon : [])
  expect(failuresOf(history, 'all')).toEqual(isTooSoonForAll ? tooSoon : [])
})
