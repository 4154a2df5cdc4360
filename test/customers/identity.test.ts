import { expect, test } from 'vitest'
import { identity, type ClaimIdentity } from '#domain/customers/identity.ts'
import { IdentityKind, type IdentityEvent } from '#domain/customers/events.ts'
import { annaId, bertId } from '../applications/builders.ts'
import { organisation_id } from '../applications/release.ts'
import { scenariosOf, stateOf } from '../scenario.ts'

const scenario = scenariosOf(identity)
const claim = (customer_id: typeof annaId): ClaimIdentity => ({
  type: 'ClaimIdentity',
  organisation_id,
  kind: 'email',
  customer_id,
})
const claimedBy = (customer_id: typeof annaId): IdentityEvent => ({
  type: 'IdentityClaimed',
  organisation_id,
  kind: 'email',
  customer_id,
})
const claimed = claimedBy(annaId)
const claimed_at = '2026-06-01T09:00:01.000Z'

scenario('an identity becomes that of the person who claims it first', {
  given: [],
  when: claim(annaId),
  then: [claimed],
})
scenario('it stays theirs when another claims it', { given: [claimed], when: claim(bertId), then: [] })
scenario('it is claimed once', { given: [claimed], when: claim(annaId), then: [] })

scenario('an identity of a person who has it no more becomes that of the next who claims it', {
  given: [claimed],
  at: claimed_at,
  when: { ...claim(bertId), former: { customer_id: annaId, claimed_at } },
  then: [claimedBy(bertId)],
})

scenario('an identity that has become another’s since stays theirs', {
  given: [claimedBy(bertId)],
  at: claimed_at,
  when: { ...claim(annaId), former: { customer_id: annaId, claimed_at } },
  then: [],
})

scenario('an identity that its former person has claimed again since stays theirs', {
  given: [claimed],
  at: claimed_at,
  when: { ...claim(bertId), former: { customer_id: annaId, claimed_at: '2026-06-01T09:00:00.000Z' } },
  then: [],
})

test('an identity says whose it is, and since when', () => {
  expect(stateOf(identity, [claimed], claimed_at)).toEqual({ customer_id: annaId, claimed_at })
  expect(IdentityKind.options).toEqual(['email', 'external_id'])
  expect(identity.category).toBe('identity')
})
