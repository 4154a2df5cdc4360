import { describe, expect, test } from 'vitest'
import { whoIsIt, type Findings } from '#domain/ingests/same-person.ts'
import { CustomerId } from '#domain/values.ts'
import { contact_id } from './builders.ts'

const other = CustomerId.parse('c0000000-0000-4000-8000-000000000002')

describe('who a lead is about', () => {
  const nobody: Findings = {
    contact_id: undefined,
    external_id: undefined,
    email: undefined,
    phone: [],
    name: [],
    sent: { email: null, external_id: null, isAnybody: true },
    heldExternalId: () => null,
  }
  const known = { contact_id, email: 'ada@example.com' }

  test.each<[string, Partial<Findings>, unknown]>([
    ['nobody known', {}, { known: undefined }],
    ['our id', { contact_id }, { known: contact_id, matched_by: 'contact_id' }],
    [
      'their id before the email address',
      { external_id: contact_id, email: contact_id },
      { matched_by: 'external_id' },
    ],
    [
      'an email address before a phone',
      { email: contact_id, phone: [{ contact_id: other, email: null }] },
      { known: contact_id, matched_by: 'email' },
    ],
    [
      'ids of different people',
      { external_id: contact_id, email: other },
      { review: 'conflicting_identifiers', candidates: [contact_id, other] },
    ],
    [
      'another external id than the one held',
      { email: contact_id, sent: { email: null, external_id: 'b', isAnybody: true }, heldExternalId: () => 'a' },
      { review: 'conflicting_identifiers' },
    ],
    [
      'another external id than the one held: it names who it is',
      { email: contact_id, sent: { email: null, external_id: 'b', isAnybody: true }, heldExternalId: () => 'a' },
      { candidates: [contact_id] },
    ],
    [
      'the external id that is held',
      { email: contact_id, sent: { email: null, external_id: 'a', isAnybody: true }, heldExternalId: () => 'a' },
      { known: contact_id, matched_by: 'email' },
    ],
    [
      'an external id where none is held',
      { email: contact_id, sent: { email: null, external_id: 'a', isAnybody: true } },
      { known: contact_id, matched_by: 'email' },
    ],
    [
      'no external id where one is held',
      { email: contact_id, heldExternalId: () => 'a' },
      { known: contact_id, matched_by: 'email' },
    ],
    [
      'an external id that leads to somebody with another main one',
      {
        external_id: contact_id,
        sent: { email: null, external_id: 'b', isAnybody: true },
        heldExternalId: () => 'a',
      },
      { known: contact_id, matched_by: 'external_id' },
    ],
    [
      'a phone of somebody without an email address',
      { phone: [{ contact_id, email: null }], sent: { email: 'b@example.com', external_id: null, isAnybody: true } },
      { known: contact_id, matched_by: 'phone' },
    ],
    ['a phone', { phone: [known] }, { known: contact_id, matched_by: 'phone' }],
    [
      'a phone, with the same email',
      { phone: [known], sent: { email: known.email, external_id: null, isAnybody: true } },
      { matched_by: 'phone' },
    ],
    [
      'a phone, with different emails',
      { phone: [known], sent: { email: 'b@example.com', external_id: null, isAnybody: true } },
      { review: 'different_emails', candidates: [contact_id] },
    ],
    [
      'a phone, with another external id than the one held',
      { phone: [known], sent: { email: null, external_id: 'b', isAnybody: true }, heldExternalId: () => 'a' },
      { review: 'conflicting_identifiers', candidates: [contact_id] },
    ],
    [
      'a name, with another external id than the one held',
      { name: [known], sent: { email: null, external_id: 'b', isAnybody: true }, heldExternalId: () => 'a' },
      { review: 'conflicting_identifiers', candidates: [contact_id] },
    ],
    [
      'a phone, with the external id that is held',
      { phone: [known], sent: { email: null, external_id: 'a', isAnybody: true }, heldExternalId: () => 'a' },
      { known: contact_id, matched_by: 'phone' },
    ],
    [
      'a phone, with an external id where none is held',
      { phone: [known], sent: { email: null, external_id: 'a', isAnybody: true } },
      { known: contact_id, matched_by: 'phone' },
    ],
    [
      'a phone of two people',
      { phone: [known, { contact_id: other, email: null }] },
      { review: 'several_people', candidates: [contact_id, other] },
    ],
    [
      'a phone before a name',
      { phone: [known], name: [{ contact_id: other, email: null }] },
      { known: contact_id, matched_by: 'phone' },
    ],
    ['a name', { name: [known] }, { known: contact_id, matched_by: 'name' }],
    ['a name of two people', { name: [known, { contact_id: other, email: null }] }, { review: 'several_people' }],
    [
      'nothing at all',
      { sent: { email: null, external_id: null, isAnybody: false } },
      { review: 'nobody_named', candidates: [] },
    ],
  ])('%s', (_name, findings, expected) => {
    expect(whoIsIt({ ...nobody, ...findings })).toMatchObject(expected as object)
  })
})
