import { expect, test } from 'vitest'
import { lead } from '#domain/leads/lead.ts'
import { leadEvents, type LeadEvent } from '#domain/leads/events.ts'
import { leadDueTimes } from '../../projections/due-times/leads.ts'
import { leadFeed, leadRecords, leads } from '../../projections/leads/projection.ts'
import { recorded } from '../recorded.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { about, act, activity, at, contact_id, created, organisation_id, receive, user } from './builders.ts'

const scenario = scenariosOf(lead)

const sale = {
  type: 'RecordActivity',
  activity_id: activity(1),
  kind: 'policy_bound',
  summary: 'Bought policy A-1',
  happened_at: at,
} as const
const won = { type: 'FollowOutcome', status: 'won', stage: null, reason: null } as const

const bought: LeadEvent = {
  type: 'LeadActivityRecorded',
  seen_by: [],
  campaign: null,
  by: user,
  activity_id: activity(1),
  kind: 'policy_bound',
  summary: 'Bought policy A-1',
  channel: null,
  direction: null,
  related: null,
  happened_at: at,
  touches: true,
  is_first_contact: false,
  dormant_at: null,
}

scenario('what a person who is no lead does is recorded; no application sees it, and it sets no deadline', {
  given: [],
  when: act(sale),
  then: [bought],
})
scenario('an outcome makes nobody a lead: there is no status that could follow it', {
  given: [],
  when: act([sale, won], { screens_tps: true }),
  then: [bought],
})
scenario('an activity of a person who is no lead is recorded once', { given: [bought], when: act(sale), then: [] })
scenario('an activity that was recorded before the person became a lead is not recorded again', {
  given: [bought, created],
  when: act(sale),
  then: [],
})
scenario('a person with activities who is sent in becomes a lead as anybody else', {
  given: [bought],
  when: act(receive()),
  then: [created],
})
scenario('nobody works with a person who is no lead', {
  given: [bought],
  when: act({ type: 'AddTask', task_id: activity(2), title: 'Ring', due_at: null }),
  then: rejected('not_found'),
})
scenario('no timer fires for a person who is no lead', {
  given: [bought],
  when: act({ type: 'GoDormant' }),
  then: rejected('not_found'),
})

test('an activity of a person who is no lead stands on the timeline and in no list of leads, and nothing falls due', () => {
  const [happened] = recorded(leadEvents, `lead-${contact_id}`, [bought], { organisation_id })
  if (!happened) throw new Error('Nothing was recorded.')
  const inRecords = { organisation_id, contact_id }

  expect(leads.keys(bought, happened)).toEqual([])
  expect(leadRecords.project(undefined, bought, happened, inRecords)).toBeUndefined()
  expect(Object.values(leadDueTimes(bought)).filter((due_at) => due_at !== null)).toEqual([])
  // Of the team, and of no application.
  const [inFeed, ...others] = leadFeed.keys(bought, happened)
  expect(others).toEqual([])
  expect(inFeed && leadFeed.project(undefined, bought, happened, inFeed)).toMatchObject({
    contact_id,
    type: 'activity.policy_bound',
    campaign_id: null,
  })
})

test('other events of a lead that was never created are a fault', () => {
  const flagged: LeadEvent = { type: 'LeadVulnerabilityFlagged', ...about, flagged: true, details: null }
  const [happened] = recorded(leadEvents, `lead-${contact_id}`, [flagged], { organisation_id })

  expect(() => happened && leadRecords.project(undefined, flagged, happened, { organisation_id, contact_id })).toThrow(
    'never created',
  )
})
