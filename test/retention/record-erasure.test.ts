import { describe, expect, test } from 'vitest'
import type { Hindrance } from '#domain/erasures/hindrances.ts'
import {
  RetentionPeriod,
  type RecordErasureEvent,
  type RetainedRecord,
  type RetentionPeriods,
} from '#domain/retention/events.ts'
import { keptBecause } from '#domain/retention/kept.ts'
import { recordErasure } from '#domain/retention/record-erasure.ts'
import { bindingPeriods, bindsAt, evolvePeriods, periodsOfPeople, type Periods } from '#domain/retention/record.ts'
import { retention } from '#domain/retention/retention.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { scenariosOf } from '../scenario.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const contact_id = CustomerId.parse('c0000000-0000-4000-8000-000000000001')
const id = 'a0000000-0000-4000-8000-000000000001'
const at = '2026-01-15T12:00:00.000Z'

describe('for how long records are kept', () => {
  const scenario = scenariosOf(retention)
  const set = { type: 'SetRetention', organisation_id, periods: { leads: '400 days' } } as const
  const was: { type: 'RetentionSet'; organisation_id: OrganisationId; periods: Record<string, string> } = {
    type: 'RetentionSet',
    organisation_id,
    periods: { leads: '400 days' },
  }

  scenario('is as it was set', { given: [], when: set, then: [was] })
  scenario('is not set again', { given: [was], when: set, then: [] })
  scenario('a period that is taken back is gone', {
    given: [was],
    when: { ...set, periods: {} },
    then: [{ ...was, periods: {} }],
  })

  test.each(['1 days', '36500 days', '1200 months'])('%s is a period', (period) => {
    expect(RetentionPeriod.safeParse(period).success).toBe(true)
  })
  test.each([
    '0 days',
    '36501 days',
    '1201 months',
    '2 years',
    '24',
    ' 24 months',
    '24 months ',
    '-1 days',
    '1.5 days',
  ])('%j is none', (period) => {
    expect(RetentionPeriod.safeParse(period).success).toBe(false)
  })
})

describe('a period that is set binds a day later', () => {
  type Set = readonly [hour: number, periods: RetentionPeriods]
  const time = (hour: number) => new Date(Date.parse('2026-01-15T00:00:00.000Z') + hour * 3_600_000)
  const given = (...sets: readonly Set[]): Periods =>
    sets.reduce<Periods>(
      (before, [hour, periods]) => evolvePeriods(before, { periods }, { occurred_at: time(hour).toISOString() }),
      { periods: {}, former: [] },
    )
  const leads = (period: string): RetentionPeriods => ({ leads: period })
  const binding = (rules: Periods, hour: number) => bindingPeriods(rules, time(hour)).leads?.toSorted()

  test('nothing goes by the first one before', () => {
    const rules = given([0, leads('1 days')])
    expect([binding(rules, 23.99), binding(rules, 24)]).toEqual([undefined, ['1 days']])
  })
  test('by a shorter one goes only what is over the one before, too', () => {
    const rules = given([0, leads('24 months')], [100, leads('1 days')])
    expect([binding(rules, 123.99), binding(rules, 124)]).toEqual([['1 days', '24 months'], ['1 days']])
    expect(bindsAt(rules, time(101))).toEqual({ leads: time(124).toISOString() })
    expect(bindsAt(rules, time(124))).toEqual({})
  })
  test('one that was mistyped and put right within that time never binds alone', () => {
    const rules = given([0, leads('24 months')], [100, leads('1 days')], [101, leads('24 months')])
    for (const hour of [102, 124, 125, 200]) expect([hour, binding(rules, hour)?.at(-1)]).toEqual([hour, '24 months'])
  })
  test('one that is taken back binds at once, and so does not what is set after it', () => {
    const rules = given([0, leads('24 months')], [100, {}], [101, leads('1 days')])
    expect([binding(given([0, leads('24 months')], [100, {}]), 100), binding(rules, 124)]).toEqual([
      undefined,
      undefined,
    ])
    expect(binding(rules, 125)).toEqual(['1 days'])
  })
  test('of several that were set in a row, each binds for its own day', () => {
    const rules = given([0, leads('24 months')], [100, leads('300 days')], [110, leads('1 days')])
    expect([123, 124, 133, 134].map((hour) => binding(rules, hour))).toEqual([
      ['1 days', '24 months', '300 days'],
      ['1 days', '300 days'],
      ['1 days', '300 days'],
      ['1 days'],
    ])
  })
  test('one that stays as it was binds on while another kind is set', () => {
    const rules = given([0, leads('24 months')], [100, { ...leads('24 months'), claims: '1 days' }])
    expect(bindingPeriods(rules, time(101))).toEqual({ leads: ['24 months'] })
    expect(bindsAt(rules, time(101))).toEqual({ claims: time(124).toISOString() })
  })
  test('what no longer binds is forgotten, and what is set to and fro is remembered once', () => {
    const flips = Array.from({ length: 40 }, (_, index): Set => [
      100 + index / 10,
      leads(index % 2 === 0 ? '1 days' : '2 days'),
    ])
    expect(given(...flips).former.map(({ period }) => period)).toEqual([null, '2 days', '1 days'])
    expect(given([0, leads('1 days')], [100, leads('2 days')]).former).toHaveLength(1)
  })
  test('a person’s own details stay for the longest that was set of any kind, while that binds', () => {
    const rules = given(
      [0, { leads: '1 days', claims: '120 months', integration_log: '200 months' }],
      [100, leads('1 days')],
    )
    expect(periodsOfPeople(rules, time(101))).toEqual(['1 days', '120 months'])
    expect(periodsOfPeople(rules, time(124))).toEqual(['1 days'])
    expect(periodsOfPeople(given([0, leads('1 days')]), time(1))).toEqual([])
  })
})

describe('the erasure of a record', () => {
  const scenario = scenariosOf(recordErasure)
  const of = (type: RetainedRecord['type']) => ({ record: { type, id }, contact_id, second_contact_id: null }) as const
  const asked = { organisation_id, kind: 'applications', period: '24 months', ended_at: at } as const
  const request = { type: 'RequestRecordErasure', ...asked, ...of('application') } as const
  const requested: RecordErasureEvent = { ...request, type: 'RecordErasureRequested' }
  const confirm = { type: 'ConfirmRecordErasure', streams: [`application-${id}`], kept_with_person: false } as const
  const erased: RecordErasureEvent = {
    type: 'RecordErased',
    ...of('application'),
    streams: [`application-${id}`],
    kept_with_person: false,
  }
  const giveUp = { type: 'GiveUpRecordErasure', because: 'It is held.' } as const
  const givenUp: RecordErasureEvent = { type: 'RecordErasureGivenUp', ...of('application'), because: 'It is held.' }
  const after = (ended_at: string, type: RetainedRecord['type']) => ({ ...request, ...of(type), ended_at }) as const

  scenario('is asked for', { given: [], when: request, then: [requested] })
  scenario('is asked for once', { given: [requested], when: request, then: [] })
  scenario('is confirmed', { given: [requested], when: confirm, then: [erased] })
  scenario('is confirmed once', { given: [requested, erased], when: confirm, then: [] })
  scenario('that was not asked for is not confirmed', { given: [], when: confirm, then: [] })
  scenario('is given up', { given: [requested], when: giveUp, then: [givenUp] })
  scenario('is not given up once it is done', { given: [requested, erased], when: giveUp, then: [] })
  scenario('that was given up is not confirmed', { given: [requested, givenUp], when: confirm, then: [] })
  scenario('that was given up can be asked for again', {
    given: [requested, givenUp],
    when: request,
    then: [requested],
  })
  scenario('that is done is not asked for again', {
    given: [requested, erased],
    at,
    when: after('2027-01-01T00:00:00.000Z', 'application'),
    then: [],
  })
  scenario('is asked for again after a restore', {
    given: [requested, erased],
    when: { ...request, period: null, ended_at: null },
    then: [{ ...requested, period: null, ended_at: null }],
  })
  scenario('of a lead that has begun again since is asked for again', {
    given: [requested, erased],
    at,
    when: after('2026-01-15T12:00:00.001Z', 'lead'),
    then: [{ ...requested, ...of('lead'), ended_at: '2026-01-15T12:00:00.001Z' }],
  })
  scenario('of messages to a person to whom more was sent since is asked for again', {
    given: [requested, erased],
    at,
    when: after('2026-01-15T12:00:00.001Z', 'outreach_person'),
    then: [{ ...requested, ...of('outreach_person'), ended_at: '2026-01-15T12:00:00.001Z' }],
  })
  scenario('of a lead that has not is not', { given: [requested, erased], at, when: after(at, 'lead'), then: [] })
})

describe('a record is kept although its period is over', () => {
  const whys = [
    'policy_in_force',
    'policy_being_made',
    'claim_not_settled',
    'refund_owed',
    'legal_hold',
    'complaint_not_closed',
  ] as const
  const hindrances: readonly Hindrance[] = whys.map((why) => ({ why, record: { type: 'policy', id } }))
  const kept = (type: RetainedRecord['type'], ownId = 'another') =>
    keptBecause({ type, id: ownId }, hindrances, []).map(({ why }) => why)

  test.each(['lead', 'ingest', 'outcome_report'] as const)('a %s for whatever its person is needed', (type) => {
    expect(kept(type)).toEqual(whys)
  })
  test('an application for a legal hold, a complaint, and a sale that is being made', () => {
    expect(kept('application')).toEqual(['policy_being_made', 'legal_hold', 'complaint_not_closed'])
  })
  test.each(['outreach_person', 'message_news'] as const)('%s for neither a policy nor a claim', (type) => {
    expect(kept(type)).toEqual(['policy_being_made', 'legal_hold', 'complaint_not_closed'])
  })
  test('a policy for what is about itself, and a claim for neither', () => {
    expect(kept('policy', id)).toEqual(whys)
    expect(kept('policy')).toEqual(['policy_being_made', 'legal_hold', 'complaint_not_closed'])
    expect(kept('claim', id)).toEqual(['legal_hold', 'complaint_not_closed'])
  })
  test('a policy for the claims that are kept for longer', () => {
    expect(keptBecause({ type: 'policy', id }, [], ['c1'])).toMatchObject([
      { why: 'claim_kept', record: { type: 'claim', id: 'c1' } },
    ])
  })
})
