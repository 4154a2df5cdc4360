import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cycleOf } from '#domain/loyalty/cycle.ts'
import { entriesIn, noEntries, type Entry } from '#domain/loyalty/entry-set.ts'
import type { MembershipEvent } from '#domain/loyalty/events.ts'
import { EntriesUnknown, membership } from '#domain/loyalty/membership.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import {
  cancelled,
  confirmed,
  cycle,
  enrol,
  enrolled,
  membership_id,
  points,
  pointsRecorded,
  record,
  startCycle,
  suspended,
  tier,
  tierRecorded,
  update,
} from './builders.ts'

const scenario = scenariosOf(membership)

describe('a membership', () => {
  scenario('is enrolled once', { given: [], when: enrol, then: [enrolled] })
  scenario('enrolled again stays as it is', { given: [enrolled], when: enrol, then: [] })

  scenario('pending, with active and external_member_ref: active, and its first cycle begins', {
    given: [enrolled],
    when: update({ status: 'active', external_member_ref: 'V-1' }),
    then: [confirmed],
  })
  scenario('pending, with external_member_ref only: stays pending, the reference is recorded', {
    given: [enrolled],
    when: update({ external_member_ref: 'V-1' }),
    then: [{ type: 'MemberReferenceRecorded', customer_id: null, external_member_ref: 'V-1' }],
  })
  scenario('pending with a recorded reference is confirmed with it', {
    given: [enrolled, { type: 'MemberReferenceRecorded', customer_id: null, external_member_ref: 'V-1' }],
    when: update({ status: 'active' }),
    then: [confirmed],
  })
  scenario('is not confirmed without external_member_ref', {
    given: [enrolled],
    when: update({ status: 'active' }),
    then: rejected('validation_failed', { external_member_ref: 'missing' }),
  })
  for (const status of ['suspended', 'cancelled'] as const)
    scenario(`pending, with ${status}: refused`, {
      given: [enrolled],
      when: update({ status }),
      then: rejected('invalid_transition'),
    })

  scenario('active, with suspended: suspended', {
    given: [enrolled, confirmed],
    when: update({ status: 'suspended' }),
    then: [suspended],
  })
  scenario('suspended, with active: reinstated', {
    given: [enrolled, confirmed, suspended],
    when: update({ status: 'active' }),
    then: [{ type: 'MembershipReinstated', membership_id }],
  })
  for (const [from, given] of [
    ['active', [enrolled, confirmed]],
    ['suspended', [enrolled, confirmed, suspended]],
  ] as const)
    scenario(`${from}, with cancelled: cancelled`, {
      given,
      when: update({ status: 'cancelled' }),
      then: [cancelled],
    })
  scenario('asked for the status that it has, changes nothing', {
    given: [enrolled, confirmed, cancelled],
    when: update({ status: 'cancelled' }),
    then: [],
  })
  for (const change of [{ status: 'active' }, { external_member_ref: 'V-2' }] as const)
    scenario(`cancelled, with ${JSON.stringify(change)}: refused`, {
      given: [enrolled, confirmed, cancelled],
      when: update(change),
      then: rejected('membership_cancelled'),
    })
  scenario('confirmed, with a different external_member_ref: refused', {
    given: [enrolled, confirmed],
    when: update({ status: 'suspended', external_member_ref: 'V-2' }),
    then: rejected('external_member_ref_mismatch', { external_member_ref: 'not the one' }),
  })
  scenario('confirmed, with the same external_member_ref: harmless', {
    given: [enrolled, confirmed],
    when: update({ external_member_ref: 'V-1' }),
    then: [],
  })
})

describe('events of the partner', () => {
  scenario('are recorded as a whole batch', {
    given: [enrolled, confirmed],
    when: record([points('a', 250), points('b', -50), tier('c')]),
    then: [pointsRecorded('a', 250), pointsRecorded('b', -50), tierRecorded('c')],
  })
  scenario('whose key is recorded already are skipped', {
    given: [enrolled, confirmed, pointsRecorded('a', 250)],
    when: record([points('a', 999), points('b', 1)]),
    then: [pointsRecorded('b', 1)],
  })
  scenario('of one key twice in a batch count once', {
    given: [enrolled, confirmed],
    when: record([points('a', 1), points('a', 1)]),
    then: [pointsRecorded('a', 1)],
  })
  scenario('with an unknown tier record nothing, and name the place', {
    given: [enrolled, confirmed],
    when: record([points('a', 1), tier('b', 'platinum')]),
    then: rejected('validation_failed', { 'events[1].tier_key': 'not a tier' }),
  })
  scenario('of a pending membership are refused', {
    given: [enrolled],
    when: record([points('a', 1)]),
    then: rejected('membership_pending'),
  })
  scenario('of a cancelled membership are refused', {
    given: [enrolled, confirmed, cancelled],
    when: record([points('a', 1)]),
    then: rejected('membership_cancelled'),
  })
  scenario('of a suspended membership are recorded', {
    given: [enrolled, confirmed, suspended],
    when: record([points('a', 1)]),
    then: [pointsRecorded('a', 1)],
  })
})

describe('a cycle', () => {
  const next = {
    cycle_started_on: '2027-01-16',
    cycle_ends_on: '2028-01-15',
    cycle_over_at: '2028-01-16T00:00:00.000Z',
  }

  scenario('that is over gives way to the next', {
    given: [enrolled, confirmed],
    when: startCycle('2027-01-16'),
    then: [{ type: 'CycleStarted', ...next }],
  })
  scenario('goes on to its last day', { given: [enrolled, confirmed], when: startCycle('2027-01-15'), then: [] })
  scenario('of a cancelled membership is the last', {
    given: [enrolled, confirmed, cancelled],
    when: startCycle('2027-01-16'),
    then: [],
  })
  scenario('has begun before events of its days are recorded, however late the timer is', {
    given: [enrolled, confirmed],
    when: record([points('a', 5, '2027-01-20')], '2027-01-20'),
    then: [{ type: 'CycleStarted', ...next }, pointsRecorded('a', 5, '2027-01-20')],
  })

  test('counts the points of its own days by occurred_at', () => {
    const state = stateOf(membership, [
      enrolled,
      confirmed,
      pointsRecorded('before', 1, '2026-01-15'),
      pointsRecorded('first', 10, '2026-01-16'),
      pointsRecorded('last', 100, '2027-01-15'),
      pointsRecorded('after', 1_000, '2027-01-16'),
    ])
    expect(state.membership?.cycle_points).toBe(110)
    const { membership: later } = membership.evolve(state, { type: 'CycleStarted', ...next }, { occurred_at: 'now' })
    expect(later?.cycle_points).toBe(1_000)
  })

  scenario('begins after the one before, also by a rule that was changed meanwhile: a day is in one cycle', {
    given: [enrolled, confirmed],
    when: { ...startCycle('2027-01-16'), cycle: { months: 12, starts: '04-06' } },
    then: [
      {
        type: 'CycleStarted',
        cycle_started_on: '2027-01-16',
        cycle_ends_on: '2027-04-05',
        cycle_over_at: '2027-04-05T23:00:00.000Z',
      },
    ],
  })

  test('leaves the tier as it is: only tier_asserted sets it, and the last recorded wins', () => {
    const tierOf = (given: readonly MembershipEvent[]) => stateOf(membership, given).membership?.current_tier_key
    const started: MembershipEvent = { type: 'CycleStarted', ...next }
    expect(tierOf([enrolled, confirmed, pointsRecorded('a', 9_000)])).toBeNull()
    expect(tierOf([enrolled, confirmed, tierRecorded('b', 'gold'), tierRecorded('c', 'silver'), started])).toBe(
      'silver',
    )
  })

  test('keeps one sum for each day after it, however many events there are', () => {
    const many = Array.from({ length: 50 }, (_, index) => pointsRecorded(`late-${index}`, 2, '2027-01-16'))
    const { membership: kept } = stateOf(membership, [enrolled, confirmed, ...many])
    expect(kept?.later).toEqual([{ day: '2027-01-16', points: 100 }])
  })

  test.each([
    [{ months: 12, starts: 'confirmation' }, '2024-02-29', '2025-03-01', '2025-02-28', '2026-02-27'],
    [{ months: 1, starts: 'confirmation' }, '2026-01-31', '2026-03-30', '2026-02-28', '2026-03-30'],
    [{ months: 12, starts: '04-06' }, '2026-01-16', '2026-04-05', '2025-04-06', '2026-04-05'],
    [{ months: 12, starts: '04-06' }, '2026-01-16', '2026-04-06', '2026-04-06', '2027-04-05'],
    [{ months: 3, starts: '01-01' }, '2026-01-16', '2026-12-31', '2026-10-01', '2026-12-31'],
  ] as const)('%j of a member of %s is on %s from %s to %s', (rule, confirmedOn, day, from, to) => {
    expect(cycleOf(rule, confirmedOn, day, 'Europe/London')).toMatchObject({
      cycle_started_on: from,
      cycle_ends_on: to,
    })
  })

  test('is over when the next day begins in the organisation’s time zone', () => {
    const over = (zone: string) =>
      cycleOf({ months: 12, starts: '04-06' }, '2026-01-16', '2026-01-16', zone).cycle_over_at
    expect(over('Europe/London')).toBe('2026-04-05T23:00:00.000Z')
    expect(over('America/New_York')).toBe('2026-04-06T04:00:00.000Z')
    expect(over('UTC')).toBe('2026-04-06T00:00:00.000Z')
  })
})

test('entries that a snapshot has taken are asked for as far as it goes, before anything is decided', () => {
  const state = { ...stateOf(membership, [enrolled, confirmed]), entries_after: 7 }
  const decideOn = (as_far_as: number) =>
    membership.decide({ ...record([points('a', 1)]), known: { as_far_as, entries: [] } }, state)
  expect(() => decideOn(6)).toThrow(EntriesUnknown)
  expect(() => decideOn(6)).toThrow('known as far as 6, and wanted as far as 7')
  expect(decideOn(7)).toEqual([pointsRecorded('a', 1)])
})

test('any interleaving of batches, repeats and status changes gives the sum of distinct keys in the cycle', () => {
  const entry = fc.record({
    key: fc.integer({ min: 0, max: 12 }),
    value: fc.integer({ min: -20, max: 20 }),
    day: fc.constantFrom('2026-01-15', '2026-01-16', '2026-08-01', '2027-01-15'),
  })
  const step = fc.oneof(
    fc.record({ entries: fc.array(entry, { minLength: 1, maxLength: 5 }) }),
    fc.record({ status: fc.constantFrom('active', 'suspended') }),
    fc.constant('snapshot' as const),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      let state = stateOf(membership, [enrolled, confirmed])
      let saved: readonly Entry[] = []
      const counted = new Map<number, number>()
      for (const each of steps) {
        if (each === 'snapshot') {
          saved = [...saved, ...entriesIn(state.entries)]
          state = { ...state, entries: noEntries, entries_after: state.entries_after + 1 }
          continue
        }
        const known = { as_far_as: state.entries_after, entries: saved }
        const command =
          'status' in each
            ? update({ status: each.status })
            : { ...record(each.entries.map(({ key, value, day }) => points(String(key), value, day))), known }
        if ('entries' in each)
          for (const { key, value, day } of each.entries)
            if (!counted.has(key))
              counted.set(key, day >= cycle.cycle_started_on && day <= cycle.cycle_ends_on ? value : 0)
        const events = membership.decide(command, state)
        state = events.reduce((before, event) => membership.evolve(before, event, { occurred_at: 'now' }), state)
      }
      expect(state.membership?.cycle_points).toBe([...counted.values()].reduce((sum, value) => sum + value, 0))
      expect(state.entries.size + saved.length).toBe(counted.size)
    }),
  )
})

test('and so it does while one cycle follows another, whenever each event comes', () => {
  const days = [
    '2026-01-16',
    '2026-06-30',
    '2027-01-15',
    '2027-01-16',
    '2027-09-01',
    '2028-01-16',
    '2028-01-17',
  ] as const
  const entry = fc.record({
    key: fc.integer({ min: 0, max: 20 }),
    value: fc.integer({ min: -20, max: 20 }),
    day: fc.constantFrom(...days),
  })
  const step = fc.record({
    today: fc.constantFrom(...days),
    entries: fc.array(entry, { maxLength: 4 }),
    act: fc.constantFrom('suspended', 'active', 'cycle' as const),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 15 }), (steps) => {
      let state = stateOf(membership, [enrolled, confirmed])
      let now: string = days[0]
      const counted = new Map<number, { readonly value: number; readonly day: string }>()
      for (const { today, entries, act } of steps) {
        now = today > now ? today : now
        // Nothing is told of the future but a day.
        const told = entries.filter(({ day }) => Date.parse(day) <= Date.parse(now) + 86_400_000)
        for (const { key, value, day } of told) if (!counted.has(key)) counted.set(key, { value, day })
        const commands = [
          act === 'cycle' ? startCycle(now) : update({ status: act }),
          record(
            told.map(({ key, value, day }) => points(String(key), value, day)),
            now,
          ),
        ]
        for (const command of commands)
          state = membership
            .decide(command, state)
            .reduce((before, event) => membership.evolve(before, event, { occurred_at: 'now' }), state)
      }
      const { cycle: last, cycle_points } = state.membership ?? {}
      const inCycle = [...counted.values()].filter(
        ({ day }) => last && day >= last.cycle_started_on && day <= last.cycle_ends_on,
      )
      expect(cycle_points).toBe(inCycle.reduce((sum, { value }) => sum + value, 0))
    }),
    { numRuns: 200 },
  )
})
