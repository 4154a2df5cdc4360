import { describe, expect, test } from 'vitest'
import { cycleOf } from '#domain/loyalty/cycle.ts'
import { membershipEvents, MemberReference } from '#domain/loyalty/events.ts'
import { memberReference } from '#domain/loyalty/member-reference.ts'
import { membership } from '#domain/loyalty/membership.ts'
import { CustomerId, MembershipId } from '#domain/values.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { enrol, enrolled, membership_id, update } from './builders.ts'

/** In which cycle a day is, and whose a reference is. */

test.each([
  ['confirmation', 12, '2026-01-16', '2026-01-16', '2026-01-16', '2027-01-15'],
  ['confirmation', 12, '2026-01-16', '2027-01-15', '2026-01-16', '2027-01-15'],
  ['confirmation', 12, '2026-01-16', '2027-01-16', '2027-01-16', '2028-01-15'],
  ['confirmation', 1, '2026-01-31', '2031-03-01', '2031-02-28', '2031-03-30'],
  ['confirmation', 60, '2020-02-29', '2026-03-01', '2025-02-28', '2030-02-27'],
  ['04-06', 12, '2026-01-16', '2026-04-05', '2025-04-06', '2026-04-05'],
  ['04-06', 12, '2026-04-06', '2026-04-06', '2026-04-06', '2027-04-05'],
  ['04-06', 3, '2026-01-16', '2026-01-16', '2026-01-06', '2026-04-05'],
  ['12-28', 6, '2026-01-16', '2046-07-01', '2046-06-28', '2046-12-27'],
])('cycles from %s of %i months, confirmed on %s: %s is in that from %s to %s', (starts, months, on, day, from, to) => {
  expect(cycleOf({ months, starts }, on, day, 'UTC')).toMatchObject({ cycle_started_on: from, cycle_ends_on: to })
})

describe('a reference of the partner’s', () => {
  const claim = (id: MembershipId, instead_of?: MembershipId) =>
    ({
      type: 'ClaimReference',
      organisation_id: enrol.organisation_id,
      programme_id: enrol.programme_id,
      membership_id: id,
      instead_of,
    }) as const
  const other = MembershipId.parse('ae000000-0000-4000-8000-000000000002')
  const claimed = (id: MembershipId) =>
    ({
      type: 'MemberReferenceClaimed',
      organisation_id: enrol.organisation_id,
      programme_id: enrol.programme_id,
      membership_id: id,
    }) as const
  const claims = scenariosOf(memberReference)

  claims('is the member’s who is confirmed with it', {
    given: [],
    when: claim(membership_id),
    then: [claimed(membership_id)],
  })
  claims('is claimed once', { given: [claimed(membership_id)], when: claim(membership_id), then: [] })
  claims('is one member’s', {
    given: [claimed(other)],
    when: claim(membership_id),
    then: rejected('external_member_ref_mismatch', undefined, 'belongs to one member of the programme'),
  })
  claims('is given up by a member who was confirmed with another after all', {
    given: [claimed(other)],
    when: claim(membership_id, other),
    then: [claimed(membership_id)],
  })
  claims('is given up by nobody else', {
    given: [claimed(other)],
    when: claim(membership_id, membership_id),
    then: rejected('external_member_ref_mismatch'),
  })

  test('has up to 200 characters without space around them', () => {
    expect(MemberReference.parse(' V-1 ')).toBe('V-1')
    expect(MemberReference.parse('v'.repeat(200))).toHaveLength(200)
    expect(MemberReference.safeParse('v'.repeat(201)).success).toBe(false)
    expect(MemberReference.safeParse('  ').success).toBe(false)
  })
})

test('what a member did is encrypted under their own key', () => {
  const customer_id = CustomerId.parse('c0000000-0000-4000-8000-000000000001')

  expect(membershipEvents.PointsAwarded.subject({ customer_id }, 'membership-1')).toBe(customer_id)
  expect(membershipEvents.PointsAwarded.subject({ customer_id: null }, 'membership-1')).toBeNull()
})

test('a pending membership without a reference that is asked for nothing stays as it is', () => {
  const pending = stateOf(membership, [enrolled])

  expect(membership.decide(update({}), pending)).toEqual([])
})
