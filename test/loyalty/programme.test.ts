import { describe, expect, test } from 'vitest'
import { cycleOf } from '#domain/loyalty/cycle.ts'
import { entriesIn, findEntry, noEntries, withEntry, type Entry } from '#domain/loyalty/entry-set.ts'
import { memberReference } from '#domain/loyalty/member-reference.ts'
import { membership } from '#domain/loyalty/membership.ts'
import { programme, type ProgrammeChoices } from '#domain/loyalty/programme.ts'
import type { MembershipEvent } from '#domain/loyalty/events.ts'
import { EntryType, programmesOf, renderMembership, ShownMembership, type Programme } from '#domain/loyalty/record.ts'
import { MembershipId, ProgrammeId } from '#domain/values.ts'
import { organisation_id } from '../applications/release.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import {
  cancelled,
  confirmed,
  cycle,
  enrolled,
  entryIdOf,
  points,
  pointsRecorded,
  record,
  startCycle,
  suspended,
  tier,
  tierRecorded,
  today,
  update,
} from './builders.ts'

/** What a programme may be, whose a reference is, and what a membership refuses. */

const programme_id = ProgrammeId.parse('ad000000-0000-4000-8000-000000000001')

describe('a programme', () => {
  const scenario = scenariosOf(programme)
  const gold = { key: 'gold', name: 'Gold', threshold: 5000 }
  const silver = { key: 'silver', name: 'Silver', threshold: 1000 }
  const choices: ProgrammeChoices = {
    name: 'Vitality',
    tiers: [silver, gold],
    cycle: { months: 12, starts: 'confirmation' },
    products: [],
  }
  const identity = { programme_id, organisation_id, slug: 'vitality' }
  const create = (changes: Partial<ProgrammeChoices> = {}) =>
    ({ type: 'CreateProgramme', ...identity, choices: { ...choices, ...changes } }) as const
  const created = { type: 'ProgrammeCreated', ...identity, ...choices } as const
  const change = (changes: Partial<ProgrammeChoices>) => ({ type: 'ChangeProgramme', choices: changes }) as const

  scenario('is created', { given: [], when: create(), then: [created] })
  scenario('409 conflict: its slug is taken', {
    given: [created],
    when: create(),
    then: rejected('conflict', { slug: 'taken' }, 'vitality'),
  })
  scenario('is changed in part, and keeps the rest', {
    given: [created],
    when: change({ name: 'Vitality Plus' }),
    then: [{ type: 'ProgrammeChanged', ...choices, name: 'Vitality Plus' }],
  })
  scenario('once', {
    given: [created, { type: 'ProgrammeChanged', ...choices, name: 'Vitality Plus' }],
    when: change({ name: 'Vitality Plus' }),
    then: [],
  })
  scenario('changed to what it is, stays as it is', { given: [created], when: change(choices), then: [] })
  scenario('404 not_found: there is none to change', {
    given: [],
    when: change({}),
    then: rejected('not_found', undefined, 'no programme with this id'),
  })
  scenario('422 validation_failed: two tiers have one key', {
    given: [],
    when: create({ tiers: [silver, gold, { ...gold, name: 'More gold' }] }),
    then: rejected('validation_failed', { 'tiers[2].key': 'earlier tier' }, 'same key'),
  })
  scenario('422 validation_failed: also when it is changed so, from the first tier on', {
    given: [created],
    when: change({ tiers: [silver, silver] }),
    then: rejected('validation_failed', { 'tiers[1].key': 'earlier tier' }),
  })
  for (const months of [1, 2, 3, 4, 6, 12])
    scenario(`may have cycles of ${months} months from a fixed day of the year`, {
      given: [created],
      when: change({ cycle: { months, starts: '04-01' } }),
      then: [{ type: 'ProgrammeChanged', ...choices, cycle: { months, starts: '04-01' } }],
    })
  for (const months of [5, 24])
    scenario(`422 validation_failed: cycles of ${months} months do not fill a year`, {
      given: [created],
      when: change({ cycle: { months, starts: '04-01' } }),
      then: rejected('validation_failed', { 'cycle.months': 'divide a year' }, '12 months'),
    })
  scenario('may have cycles of five months from the confirmation', {
    given: [created],
    when: change({ cycle: { months: 5, starts: 'confirmation' } }),
    then: [{ type: 'ProgrammeChanged', ...choices, cycle: { months: 5, starts: 'confirmation' } }],
  })
})

describe('a reference of the partner’s', () => {
  const scenario = scenariosOf(memberReference)
  const idOf = (number: number) => MembershipId.parse(`ae000000-0000-4000-8000-00000000000${number}`)
  const claim = (number: number, instead_of?: number) =>
    ({
      type: 'ClaimReference',
      organisation_id,
      programme_id,
      membership_id: idOf(number),
      instead_of: instead_of === undefined ? undefined : idOf(instead_of),
    }) as const
  const claimed = (number: number) =>
    ({ type: 'MemberReferenceClaimed', organisation_id, programme_id, membership_id: idOf(number) }) as const

  scenario('is the member’s who claims it first', { given: [], when: claim(1), then: [claimed(1)] })
  scenario('once', { given: [claimed(1)], when: claim(1), then: [] })
  scenario('409 external_member_ref_mismatch: it is another’s', {
    given: [claimed(1)],
    when: claim(2),
    then: rejected('external_member_ref_mismatch', { external_member_ref: 'not the one' }, 'one member'),
  })
  scenario('goes to another when its holder has given it up', {
    given: [claimed(1)],
    when: claim(2, 1),
    then: [claimed(2)],
  })
  scenario('409 external_member_ref_mismatch: somebody else has given it up', {
    given: [claimed(1)],
    when: claim(2, 3),
    then: rejected('external_member_ref_mismatch'),
  })
})

describe('a membership', () => {
  const scenario = scenariosOf(membership)

  for (const when of [update({ status: 'active' }), record([points('a', 1)]), startCycle(today)])
    scenario(`404 not_found: ${when.type} of one that there is not`, {
      given: [],
      when,
      then: rejected('not_found', undefined, 'no membership'),
    })
  for (const status of ['suspended', 'cancelled'] as const)
    scenario(`409 invalid_transition: pending, it is not ${status}`, {
      given: [enrolled],
      when: update({ status }),
      then: rejected('invalid_transition', { status: 'pending' }, status),
    })
  scenario('pending, asked for nothing, stays as it is', { given: [enrolled], when: update({}), then: [] })
  scenario('pending, asked for what it is, stays as it is', {
    given: [enrolled, { type: 'MemberReferenceRecorded', customer_id: null, external_member_ref: 'V-1' }],
    when: update({ external_member_ref: 'V-1' }),
    then: [],
  })
  scenario('pending, with another reference: the other is recorded', {
    given: [enrolled, { type: 'MemberReferenceRecorded', customer_id: null, external_member_ref: 'V-1' }],
    when: update({ external_member_ref: 'V-2' }),
    then: [{ type: 'MemberReferenceRecorded', customer_id: null, external_member_ref: 'V-2' }],
  })
  scenario('422 validation_failed: it is not confirmed without a reference', {
    given: [enrolled],
    when: update({ status: 'active' }),
    then: rejected('validation_failed', { external_member_ref: 'missing' }, 'external_member_ref'),
  })
  scenario('active, with its own reference and suspended: suspended', {
    given: [enrolled, confirmed],
    when: update({ status: 'suspended', external_member_ref: 'V-1' }),
    then: [suspended],
  })
  scenario('suspended, with its own status and reference: stays as it is', {
    given: [enrolled, confirmed, suspended],
    when: update({ status: 'suspended', external_member_ref: 'V-1' }),
    then: [],
  })
  scenario('409 external_member_ref_mismatch: the status that it has does not excuse another reference', {
    given: [enrolled, confirmed],
    when: update({ status: 'active', external_member_ref: 'V-2' }),
    then: rejected('external_member_ref_mismatch', { external_member_ref: 'not the one' }, 'confirmed reference'),
  })
  scenario('409 membership_cancelled: nothing of it changes', {
    given: [enrolled, confirmed, cancelled],
    when: record([points('a', 1)]),
    then: rejected('membership_cancelled', undefined, 'cancelled'),
  })
  scenario('409 membership_pending: it is confirmed first', {
    given: [enrolled],
    when: record([points('a', 1)]),
    then: rejected('membership_pending', undefined, 'not confirmed'),
  })
  scenario('422 validation_failed: of several unknown tiers each is named, with those that there are', {
    given: [enrolled, confirmed],
    when: record([tier('a', 'iron'), points('b', 1), tier('c', 'tin'), tier('d', 'gold')]),
    then: rejected(
      'validation_failed',
      { 'events[0].tier_key': 'not a tier', 'events[2].tier_key': 'not a tier' },
      'are gold.',
    ),
  })
  scenario('422 validation_failed: a programme without tiers has none to assert', {
    given: [enrolled, confirmed],
    when: { ...record([tier('a')]), programme: { tiers: [], cycle: { months: 12, starts: 'confirmation' } } },
    then: rejected('validation_failed', { 'events[0].tier_key': 'not a tier' }, 'are none.'),
  })
  scenario('422 validation_failed: several tiers are named apart', {
    given: [enrolled, confirmed],
    when: {
      ...record([tier('a', 'iron')]),
      programme: {
        tiers: [
          { key: 'silver', name: 'Silver', threshold: null },
          { key: 'gold', name: 'Gold', threshold: null },
        ],
        cycle: { months: 12, starts: 'confirmation' },
      },
    },
    then: rejected('validation_failed', { 'events[0].tier_key': 'not a tier' }, 'silver, gold'),
  })
  scenario('whose cycle is over begins none for an event that it has', {
    given: [enrolled, confirmed, pointsRecorded('a', 1)],
    when: { ...record([points('a', 1)]), today: '2027-01-16' },
    then: [],
  })
  scenario('that is cancelled has no further cycle', {
    given: [enrolled, confirmed, cancelled],
    when: startCycle('2027-01-16'),
    then: [],
  })
  scenario('that is pending has none', { given: [enrolled], when: startCycle('2027-01-16'), then: [] })

  test('counts only what it has recorded', () => {
    const { entries } = stateOf(membership, [enrolled, confirmed, pointsRecorded('a', 250), suspended])

    expect(entries).toMatchObject({ size: 1 })
    expect(entries.approximate_bytes).toBeGreaterThan(0)
  })
})

describe('the entries of a membership', () => {
  const entry = (id: string): Entry => ({ id, entry_type: 'points_awarded', points: 1, tier_key: null })
  const ids = ['aaaa', 'aaab', 'aaba', 'abaa', 'baaa']
  const set = ids.map(entry).reduce(withEntry, noEntries)

  test.each(ids)('%s is found', (id) => {
    expect(findEntry(set, id)).toEqual(entry(id))
  })
  test.each(['aaac', 'aaca', 'acaa', 'caaa'])('%s is not', (id) => {
    expect(findEntry(set, id)).toBeUndefined()
  })
  test('are stored in nodes of sixteen children at most', () => {
    const widths = (node: object, depth: number): readonly number[] =>
      depth === 0
        ? []
        : [Object.keys(node).length, ...Object.values(node).flatMap((each: object) => widths(each, depth - 1))]
    const all = Array.from({ length: 4096 }, (_, index) =>
      entry(index.toString(16).padStart(8, '0').split('').toReversed().join('')),
    )

    expect(Math.max(...widths(all.reduce(withEntry, noEntries).nodes, 3))).toBe(16)
  })
})

describe('the cycle of a day', () => {
  test.each([
    ['04-01', '2026-04-01', '2026-04-01', '2026-04-01', '2027-03-31'],
    ['04-01', '2026-03-31', '2026-03-31', '2025-04-01', '2026-03-31'],
    ['04-01', '2026-04-02', '2028-06-01', '2028-04-01', '2029-03-31'],
    ['04-01', '2026-01-16', '2126-03-31', '2125-04-01', '2126-03-31'],
  ])('from %s, confirmed on %s: %s is in that from %s to %s', (starts, confirmedOn, day, from, to) => {
    expect(cycleOf({ months: 12, starts }, confirmedOn, day, 'Europe/London')).toMatchObject({
      cycle_started_on: from,
      cycle_ends_on: to,
    })
  })
  test('begins when the former is over, although the rule has changed', () => {
    const state = stateOf(membership, [enrolled, confirmed])
    const [started] = membership.decide(
      { type: 'StartCycle', cycle: { months: 12, starts: '04-01' }, today: '2027-01-16', time_zone: 'Europe/London' },
      state,
    )

    expect(started).toMatchObject({ cycle_started_on: '2027-01-16', cycle_ends_on: '2027-03-31' })
    expect(cycle.cycle_ends_on).toBe('2027-01-15')
  })
})

describe('a membership is shown', () => {
  const shownAs = (...events: readonly MembershipEvent[]) => events
  test.each([
    ['pending', shownAs(enrolled), { status: 'pending', external_member_ref: null, cycle_points: 0 }],
    [
      'with the points of its cycle',
      shownAs(enrolled, confirmed, pointsRecorded('a', 250), pointsRecorded('b', -50)),
      { status: 'active', external_member_ref: 'V-1', cycle_points: 200 },
    ],
    ['suspended', shownAs(enrolled, confirmed, suspended), { status: 'suspended' }],
    ['cancelled', shownAs(enrolled, confirmed, cancelled), { status: 'cancelled' }],
  ])('%s', (_how, events, shown) => {
    const { membership: member } = stateOf(membership, events)
    if (!member) throw new Error('There is no membership.')
    const view = renderMembership(member, { slug: 'vitality', name: 'Vitality' })
    const { cycle_started_on, cycle_ends_on } = cycle

    expect(ShownMembership.parse(view)).toEqual({
      id: member.id,
      programme_slug: 'vitality',
      programme_name: 'Vitality',
      policy_number: 'NL-123456782',
      current_tier_key: null,
      cycle_points: 0,
      external_member_ref: 'V-1',
      ...(shown.status === 'pending'
        ? { cycle_started_on: null, cycle_ends_on: null }
        : { cycle_started_on, cycle_ends_on }),
      ...shown,
    })
  })
  test('what it has recorded is answered as it was', () => {
    const { entries } = stateOf(membership, [enrolled, confirmed, pointsRecorded('a', 250), tierRecorded('b')])

    expect(entriesIn(entries)).toHaveLength(2)
    expect(findEntry(entries, entryIdOf('a'))).toMatchObject({
      entry_type: 'points_awarded',
      points: 250,
      tier_key: null,
    })
    expect(findEntry(entries, entryIdOf('b'))).toMatchObject({
      entry_type: 'tier_asserted',
      points: null,
      tier_key: 'gold',
    })
    for (const { entry_type } of entriesIn(entries)) expect(EntryType.safeParse(entry_type).success).toBe(true)
    expect([EntryType.safeParse('points_adjusted').success, EntryType.safeParse('').success]).toEqual([true, false])
  })
  test('points of two later days stand apart until their cycle begins', () => {
    const { membership: member } = stateOf(membership, [
      enrolled,
      confirmed,
      pointsRecorded('a', 1, '2027-01-16'),
      pointsRecorded('b', 2, '2027-01-17'),
      pointsRecorded('c', 4, '2027-01-16'),
    ])

    expect(member?.later).toEqual([
      { day: '2027-01-16', points: 5 },
      { day: '2027-01-17', points: 2 },
    ])
    expect(member?.cycle_points).toBe(0)
  })
  test('a cycle that begins late begins on its own day', () => {
    const [started] = membership.decide(startCycle('2029-02-01'), stateOf(membership, [enrolled, confirmed]))

    expect(started).toMatchObject({ cycle_started_on: '2029-01-16', cycle_ends_on: '2030-01-15' })
  })
})

test('the programmes of a firm are listed by slug, and no other firm’s', () => {
  const programmeOf = (slug: string, of: string) => ({ slug, organisation_id: of }) as unknown as Programme
  const all = [programmeOf('b', organisation_id), programmeOf('c', 'another'), programmeOf('a', organisation_id)]
  const programmes = new Map(all.map((each) => [each.slug, each]))

  expect(programmesOf(programmes, organisation_id).map(({ slug }) => slug)).toEqual(['a', 'b'])
})
