import { describe, expect, test } from 'vitest'
import type { LeadEvent, LeadStatus } from '#domain/leads/events.ts'
import type { OneLeadCommand } from '#domain/leads/commands.ts'
import { lead } from '#domain/leads/lead.ts'
import { isTerminal } from '#domain/leads/record.ts'
import { gradeOf, scoreOf } from '#domain/leads/score.ts'
import { seededPipeline } from '#domain/pipeline/record.ts'
import { leadDueTimes } from '../../projections/due-times/leads.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { about, act, activity, at, created, form, olive, pipeline } from './builders.ts'

const scenario = scenariosOf(lead)
const later = '2026-01-15T13:00:00.000Z'
const untouched = { now: later }

const status = (from: LeadStatus, to: LeadStatus, reason: string | null = null): LeadEvent => ({
  type: 'LeadStatusChanged',
  ...about,
  from,
  to,
  reason,
  dormant_at: to === 'open' ? '2026-02-14T12:00:00.000Z' : null,
  first_contact_due_at: isTerminal(to) ? null : created.first_contact_due_at,
})
const stage = (from: string, to: string): LeadEvent => ({
  type: 'LeadStageChanged',
  ...about,
  from: { key: from, kind: from === 'won' || from === 'lost' ? from : 'open' },
  to: { key: to, kind: to === 'won' || to === 'lost' ? to : 'open' },
})
const become = (to: LeadStatus, reason: string | null = null) => act({ type: 'ChangeStatus', status: to, reason })
const follow = (changes: Partial<Extract<OneLeadCommand, { type: 'FollowOutcome' }>>) =>
  act({ type: 'FollowOutcome', status: null, stage: null, reason: null, ...changes })

describe('status', () => {
  scenario('an open lead is won, and moves to the stage of that kind', {
    given: [created],
    when: become('won'),
    then: [status('open', 'won'), stage('new', 'won')],
  })
  scenario('a lead that is ruled out stays at its stage', {
    given: [created],
    when: become('ineligible', 'too old'),
    then: [status('open', 'ineligible', 'too old')],
  })
  scenario('a lead that has ended goes nowhere but to open', {
    given: [created, status('open', 'lost'), stage('new', 'lost')],
    when: become('won'),
    then: rejected('invalid_transition', { 'acts[0].status': 'lost' }),
  })
  scenario('a person opens an ended lead again, which is then at an open stage', {
    given: [created, status('open', 'lost'), stage('new', 'lost')],
    when: become('open'),
    then: [status('lost', 'open'), stage('lost', 'new')],
  })
  scenario('the status that it has changes nothing', { given: [created], when: become('open'), then: [] })
  scenario('an outcome makes any lead won', {
    given: [created, status('open', 'invalid')],
    when: follow({ status: 'won' }),
    then: [status('invalid', 'won'), stage('new', 'won')],
  })
  scenario('a cancelled only sale makes a won lead lost, with the reason', {
    given: [created, status('open', 'won'), stage('new', 'won')],
    when: follow({ status: 'lost', reason: 'cooling_off' }),
    then: [status('won', 'lost', 'cooling_off'), stage('won', 'lost')],
  })
  scenario('an outcome moves an open lead to its stage', {
    given: [created],
    when: follow({ stage: 'quoted' }),
    then: [stage('new', 'quoted')],
  })
  scenario('a quote leaves a lead that has ended where it is', {
    given: [created, status('open', 'won'), stage('new', 'won')],
    when: follow({ stage: 'quoted' }),
    then: [],
  })
  scenario('a stage that means lost makes the lead lost', {
    given: [created],
    when: act({ type: 'MoveToStage', stage: 'lost' }),
    then: [stage('new', 'lost'), status('open', 'lost')],
  })
  scenario('a stage that there is not is refused', {
    given: [created],
    when: act({ type: 'MoveToStage', stage: 'limbo' }),
    then: rejected('validation_failed', { 'acts[0].stage': 'must be one of' }),
  })
  scenario('whatever the person does wakes a dormant lead up', {
    given: [created, status('open', 'dormant')],
    when: act({
      type: 'RecordActivity',
      activity_id: activity(1),
      kind: 'form',
      summary: 'Sent a form',
      direction: 'inbound',
      happened_at: at,
    }),
    then: [{ ...form, dormant_at: null }, status('dormant', 'open')],
  })
  scenario('an activity of the firm does not', {
    given: [created, status('open', 'dormant')],
    when: act({
      type: 'RecordActivity',
      activity_id: activity(1),
      kind: 'document_sent',
      summary: 'Sent a form',
      direction: 'outbound',
      happened_at: at,
    }),
    then: [{ ...form, kind: 'document_sent', direction: 'outbound', touches: false, dormant_at: null }],
  })
  scenario('an activity is recorded once', {
    given: [created, form],
    when: act({ type: 'RecordActivity', activity_id: activity(1), kind: 'form', summary: 'Again', happened_at: at }),
    then: [],
  })
})

describe('what falls due', () => {
  const next_action = { type: 'call', summary: 'Ring', due_at: later }
  const set: LeadEvent = { type: 'LeadNextActionSet', ...about, next_action }
  const fell: LeadEvent = { type: 'LeadNextActionFellDue', ...about, next_action }
  scenario('a next action falls due once, at its time', {
    given: [created, set],
    when: act({ type: 'NextActionDue' }, { now: later }),
    then: [fell],
  })
  scenario('not before', { given: [created, set], when: act({ type: 'NextActionDue' }), then: [] })
  scenario('not twice', { given: [created, set, fell], when: act({ type: 'NextActionDue' }, { now: later }), then: [] })
  scenario('a lead that nobody has contacted is overdue', {
    given: [created],
    when: act({ type: 'FirstContactDue', noticed_at: '2026-01-15T13:07:59.999Z' }, { now: later }),
    then: [{ type: 'LeadFirstContactOverdue', ...about, due_at: later, minutes_overdue: 7 }],
  })
  const call: LeadEvent = { ...form, kind: 'call', direction: 'outbound', is_first_contact: true }
  scenario('a call in time is the first contact', {
    given: [created],
    when: act({
      type: 'RecordActivity',
      activity_id: activity(1),
      kind: 'call',
      summary: 'Sent a form',
      direction: 'outbound',
      happened_at: at,
    }),
    then: [call],
  })
  scenario('a lead that was contacted is not overdue', {
    given: [created, call],
    when: act({ type: 'FirstContactDue', noticed_at: later }, untouched),
    then: [],
  })
  const snoozed: LeadEvent = { type: 'LeadSnoozed', ...about, snoozed_until: later }
  scenario('a snooze ends at its time', {
    given: [created, snoozed],
    when: act({ type: 'SnoozeOver' }, { now: later }),
    then: [{ type: 'LeadSnoozeEnded', ...about, snoozed_until: later }],
  })
  scenario('a snooze that lies behind is refused', {
    given: [created],
    when: act({ type: 'Snooze', until: at }),
    then: rejected('validation_failed', { 'acts[0].until': 'ahead' }),
  })
  scenario('an open lead without contact goes dormant', {
    given: [created],
    when: act({ type: 'GoDormant' }, { now: '2026-02-14T12:00:00.000Z' }),
    then: [status('open', 'dormant')],
  })
  scenario('one that was touched since does not', {
    given: [created, { ...form, dormant_at: '2026-03-01T12:00:00.000Z' }],
    when: act({ type: 'GoDormant' }, { now: '2026-02-14T12:00:00.000Z' }),
    then: [],
  })

  test('timers are set and taken away by what happens', () => {
    expect(leadDueTimes(created)).toEqual({ lead_first_contact: later, lead_dormancy: '2026-02-14T12:00:00.000Z' })
    expect(leadDueTimes(call)).toMatchObject({ lead_first_contact: null })
    expect(leadDueTimes(status('open', 'won'))).toEqual({
      lead_dormancy: null,
      lead_first_contact: null,
      lead_tps: null,
    })
    // Opened again before anybody made contact, it is waited for as before.
    for (const from of ['won', 'dormant'] as const)
      expect(leadDueTimes(status(from, 'open'))).toEqual({
        lead_dormancy: '2026-02-14T12:00:00.000Z',
        lead_first_contact: later,
      })
    expect(leadDueTimes(status('open', 'dormant'))).toEqual({ lead_dormancy: null, lead_first_contact: later })
    expect([leadDueTimes(set), leadDueTimes(fell)]).toEqual([{ lead_next_action: later }, { lead_next_action: null }])
    expect(leadDueTimes(snoozed)).toEqual({ lead_snooze: later })
  })
})

describe('work', () => {
  const owned: LeadEvent = {
    type: 'LeadOwnerAssigned',
    ...about,
    from: null,
    to: olive.id,
    from_name: null,
    to_name: olive.full_name,
  }
  scenario('a member of the team owns a lead', {
    given: [created],
    when: act({ type: 'AssignOwner', owner_id: olive.id }),
    then: [owned],
  })
  scenario('the owner that it has is not assigned again', {
    given: [created, owned],
    when: act({ type: 'AssignOwner', owner_id: olive.id }),
    then: [],
  })
  scenario('whoever takes a lead that nobody was seen to own has it while that is so', {
    given: [created],
    when: act({ type: 'AssignOwner', owner_id: olive.id, seen_owner_id: null }),
    then: [owned],
  })
  scenario('a lead that somebody else has taken meanwhile stays theirs', {
    given: [created, owned],
    when: act({ type: 'AssignOwner', owner_id: activity(9), seen_owner_id: null }),
    then: rejected('conflict', { 'acts[0].from_owner_id': 'not who works it now' }, olive.full_name),
  })
  scenario('who was seen to own a lead does not matter where the owner stays the same', {
    given: [created, owned],
    when: act({ type: 'AssignOwner', owner_id: olive.id, seen_owner_id: null }),
    then: [],
  })
  scenario('nobody owns a lead who is no active member', {
    given: [created],
    when: act({ type: 'AssignOwner', owner_id: activity(9) }),
    then: rejected('validation_failed', { 'acts[0].owner_id': 'no active member' }),
  })
  scenario('a task that there is not cannot be done', {
    given: [created],
    when: act({ type: 'CompleteTask', task_id: activity(9) }),
    then: rejected('not_found'),
  })
  scenario('a mark that it has changes nothing', {
    given: [created],
    when: act({ type: 'Mark', marks: { priority: 'normal', follow_up: true } }),
    then: [{ type: 'LeadMarked', ...about, marks: { follow_up: true } }],
  })
})

describe('score', () => {
  const rule = { points: 40, fact: null, equals: null, activity: null, source: null }
  const score_rules = [
    { ...rule, fact: 'smoker', equals: 'no' },
    { ...rule, activity: 'reply' },
    { ...rule, source: 'website', points: 30 },
    { ...rule, fact: 'children', points: -100 },
  ]
  const scored = (facts: Record<string, string>, activities: Record<string, number>, source = 'fair') =>
    scoreOf({ facts, activities, source }, { score_rules })

  test('is the points of the rules that hold, from 0 to 100', () => {
    expect(scored({}, {})).toBe(0)
    expect(scored({ smoker: 'yes' }, {})).toBe(0)
    expect(scored({ smoker: 'no' }, { reply: 1 })).toBe(80)
    expect(scored({ smoker: 'no' }, { reply: 1 }, 'website')).toBe(100)
    expect(scored({ children: '2', smoker: 'no' }, {})).toBe(0)
  })
  test('gives the grade by its bounds', () => {
    expect([80, 79, 60, 59, 40, 39, 20, 19].map((score) => gradeOf(score, seededPipeline)).join('')).toBe('ABBCCDDE')
  })
  scenario('changes with what happens, and the grade with it', {
    given: [created],
    when: act(
      { type: 'RecordFacts', facts: { smoker: 'no' }, ingest_id: null, mode: 'store' },
      { pipeline: { ...pipeline, score_rules } },
    ),
    then: [
      { type: 'LeadFactsRecorded', ...about, keys: ['smoker'], facts: { smoker: 'no' }, ingest_id: null },
      { type: 'LeadScored', ...about, score: 70, from_grade: 'E', grade: 'B' },
    ],
  })
})
