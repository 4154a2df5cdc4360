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

scenario('an identity becomes that of the person who claims it first', {
  given: [],
  when: claim(annaId),
  then: [claimed],
})
scenario('it stays theirs when another claims it', { given: [claimed], when: claim(bertId), then: [] })
scenario('it is claimed once', { given: [claimed], when: claim(annaId), then: [] })

scenario('an identity of a person who has it no more becomes that of the next who claims it', {
  given: [claimed],
  when: { ...claim(bertId), former: annaId },
  then: [claimedBy(bertId)],
})

scenario('an identity that has become another’s since stays theirs', {
  given: [claimedBy(bertId)],
  when: { ...claim(annaId), former: annaId },
  then: [],
})

test('an identity says whose it is', () => {
  expect(stateOf(identity, [claimed])).toEqual({ customer_id: annaId })
  expect(IdentityKind.options).toEqual(['email', 'external_id'])
  expect(identity.category).toBe('identity')
})
