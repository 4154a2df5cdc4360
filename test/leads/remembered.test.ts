import { describe, expect, test } from 'vitest'
import type { LeadEvent } from '#domain/leads/events.ts'
import { lead } from '#domain/leads/lead.ts'
import { stateOf } from '../scenario.ts'
import { about, activity, at, created, days, form, ingest, recorded, website } from './builders.ts'

describe('what was done before is remembered', () => {
  const activities = (count: number): LeadEvent[] =>
    Array.from({ length: count }, (_, index) => ({
      ...form,
      activity_id: `7b000000-0000-4000-8000-00000000${String(index).padStart(4, '0')}`,
    }))
  const runs = (count: number): LeadEvent[] =>
    Array.from({ length: count }, (_, index) => ({
      type: 'LeadRunByHand',
      ...about,
      run_id: `7c000000-0000-4000-8000-00000000${String(index).padStart(4, '0')}`,
      workflow_id: activity(1),
    }))
  const sent = (count: number): LeadEvent[] =>
    Array.from({ length: count }, (_, index) => ({
      type: 'LeadSentAgain',
      ...about,
      organisation_id: created.organisation_id,
      contact_id: created.contact_id,
      api_application_id: website,
      source: 'website',
      source_reference: null,
      ingest_id: index === 5 ? null : `7d000000-0000-4000-8000-00000000${String(index).padStart(4, '0')}`,
      external_system_id: null,
      shown: null,
    }))
  const state = (...events: readonly LeadEvent[]) => {
    const found = stateOf(lead, [created, ...events])
    if (!found?.record) throw new Error('There is no lead.')
    return found
  }
  test('of the last thousand of each', () => {
    const { seen_activities, runs: ran, sendings } = state(...activities(1_001), ...runs(1_001), ...sent(1_001))
    expect([seen_activities.length, ran.length, sendings.length]).toEqual([1_000, 1_000, 1_000])
    expect([seen_activities[0], ran[0], sendings[0]?.ingest_id].map((id) => id?.slice(-4))).toEqual([
      '0001',
      '0001',
      '0001',
    ])
  })
  test('each with its own', () => {
    expect(state()).toMatchObject({
      seen_activities: [],
      runs: [],
      sendings: [{ ingest_id: ingest(1), campaign_id: null, at }],
    })
    expect(state(...activities(1), ...runs(1), recorded({ pets: 1 }, ingest(7)))).toMatchObject({
      seen_activities: ['7b000000-0000-4000-8000-000000000000'],
      runs: ['7c000000-0000-4000-8000-000000000000'],
      sendings: [{ ingest_id: ingest(1), campaign_id: null, at }],
    })
  })
  test('why, until the status changes, whatever else happens', () => {
    const why: LeadEvent = { type: 'LeadOutcomeReasonSet', ...about, reason: 'price', note: null }
    const lost: LeadEvent = {
      type: 'LeadStatusChanged',
      ...about,
      from: 'open',
      to: 'lost',
      reason: null,
      dormant_at: null,
      first_contact_due_at: null,
    }

    expect(state(form).said).toEqual({})
    expect(state(why, form).said).toEqual({ reason: { reason: 'price', note: null } })
    expect(state(why, lost).said).toEqual({})
  })
  test('and when its id in the organisation’s own CRM became another one', () => {
    const called = (external_system_id: string): LeadEvent => ({
      type: 'LeadMarked',
      ...about,
      marks: { external_system_id },
    })

    expect(state().external_id_changed_at).toBeNull()
    expect(state(form).external_id_changed_at).toBeNull()
    expect(state(called('C-1')).external_id_changed_at).toBe(at)
    const before = state(called('C-1'))
    const evolveLater = (event: LeadEvent) => lead.evolve(before, event, { occurred_at: days(1) })
    expect(evolveLater(called('C-1'))).toMatchObject({ external_id_changed_at: at })
    expect(evolveLater(called('C-2'))).toMatchObject({ external_id_changed_at: days(1) })
  })
  test('from before the person became a lead, too', () => {
    expect(stateOf(lead, [form])).toEqual({ record: undefined, seen_activities: [activity(1)] })
    expect(stateOf(lead, [form, created])).toMatchObject({
      seen_activities: [activity(1)],
      runs: [],
      sendings: [{ ingest_id: ingest(1), campaign_id: null, at }],
    })
  })
})
