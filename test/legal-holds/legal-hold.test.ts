import { describe } from 'vitest'
import { LegalHoldId, type LegalHoldEvent } from '#domain/legal-holds/events.ts'
import { legalHold } from '#domain/legal-holds/legal-hold.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { rejected, scenariosOf } from '../scenario.ts'

const scenario = scenariosOf(legalHold)
const idOf = (number: number) => LegalHoldId.parse(`40000000-0000-4000-8000-${String(number).padStart(12, '0')}`)
const hold_id = idOf(1)
const given = {
  hold_id,
  organisation_id: OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f'),
  contact_id: CustomerId.parse('c0000000-0000-4000-8000-000000000001'),
  record: null,
  reason: 'A court has asked for the file.',
}
const place = { type: 'PlaceLegalHold', ...given } as const
const placed: LegalHoldEvent = { type: 'LegalHoldPlaced', ...given }
const end = { type: 'EndLegalHold', hold_id, reason: 'The case is closed.' } as const
const ended: LegalHoldEvent = { ...end, type: 'LegalHoldEnded' }
const many = (count: number): readonly LegalHoldEvent[] =>
  Array.from({ length: count }, (_, index) => ({ ...placed, hold_id: idOf(index + 2) }))

describe('a legal hold', () => {
  scenario('is placed', { given: [], when: place, then: [placed] })
  scenario('is placed once by the same request', { given: [placed], when: place, then: [] })
  scenario('409 idempotency_key_conflict: its key has placed it for another reason', {
    given: [placed],
    when: { ...place, reason: 'Another.' },
    then: rejected('idempotency_key_conflict', { reason: 'differs' }),
  })
  scenario('409 idempotency_key_conflict: its key has placed it for another record', {
    given: [{ ...placed, record: { type: 'policy', id: idOf(1) } }],
    when: place,
    then: rejected('idempotency_key_conflict', { record: 'differs' }),
  })
  scenario('that has ended is not placed again by the same request', { given: [placed, ended], when: place, then: [] })
  scenario('is ended', { given: [placed], when: end, then: [ended] })
  scenario('is ended once, for the first reason', {
    given: [placed, ended],
    when: { ...end, reason: 'Another.' },
    then: [],
  })
  scenario('404 not_found: nobody has placed it', { given: [], when: end, then: rejected('not_found') })
  scenario('can be one of a hundred on a person', { given: many(99), when: place, then: [placed] })
  scenario('409 conflict: of the hundred on the person, one has ended', {
    given: [...many(100), { ...ended, hold_id: idOf(2) }],
    when: place,
    then: rejected('conflict'),
  })
  scenario('409 conflict: there are a hundred on the person', {
    given: many(100),
    when: place,
    then: rejected('conflict'),
  })
})
