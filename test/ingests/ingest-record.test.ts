import { describe, expect, test } from 'vitest'
import type { IngestEvent } from '#domain/ingests/events.ts'
import type { CustomerId } from '#domain/values.ts'
import { ingest, isIngest } from '#domain/ingests/ingest.ts'
import { explain, namedIn, renderIngest, type IngestRecord } from '#domain/ingests/record.ts'
import { stateOf } from '../scenario.ts'
import {
  alwaysShown,
  ingest_id,
  contact_id,
  content,
  received,
  started,
  written,
  who,
  applied,
  failures,
  held,
  spam,
  failedAt,
  later,
  resolving,
  extracting,
  states,
} from './builders.ts'

/** What is known of an ingest, and what its sender sees. */

const at = '2026-01-15T12:00:05.000Z'
const recordOf = (...events: readonly IngestEvent[]): IngestRecord => {
  const state = stateOf(ingest, events, at)
  if (!isIngest(state)) throw new Error('It is no ingest.')
  return state.record
}

test.each<[string, readonly IngestEvent[], Partial<IngestRecord>]>([
  [
    'received',
    [received],
    { status: 'received', step: null, attempt: 0, processed_at: null, accepted: false, truncated: false },
  ],
  ['started', resolving, { status: 'resolving', step: 'resolving', attempt: 1, error: null, retry_after: null }],
  ['held', states['held'] ?? [], { status: 'held', failures: [...failures], processed_at: at, step: null }],
  [
    'accepted',
    [...(states['held'] ?? []), { type: 'IngestAccepted', ingest_id }],
    { status: 'resolving', step: 'resolving', attempt: 1, accepted: true, failures: [], processed_at: null },
  ],
  [
    'in review',
    states['needs_review'] ?? [],
    {
      status: 'needs_review',
      review: { reason: 'several_people', candidates: [contact_id] },
      processed_at: at,
      step: null,
    },
  ],
  [
    'picked',
    [...(states['needs_review'] ?? []), { type: 'IngestPersonPicked', contact_id }],
    { status: 'resolving', step: 'resolving', attempt: 1, review: null, processed_at: null },
  ],
  ['resolved', extracting, { status: 'extracting', step: 'extracting', attempt: 1, ...who, ...written }],
  [
    'applied',
    states['applied'] ?? [],
    { status: 'applied', facts_written: 4, fields_proposed: 2, activities_written: 6, processed_at: at, step: null },
  ],
  ['applied in part', [...extracting, { ...applied, truncated: true }], { status: 'applied', truncated: true }],
  [
    'deferred',
    states['deferred'] ?? [],
    { status: 'deferred', step: 'resolving', attempt: 1, error: 'It broke.', retry_after: later, processed_at: null },
  ],
  [
    'retried',
    [...(states['deferred'] ?? []), { type: 'IngestRetried', step: 'resolving', attempt: 2 }],
    { status: 'resolving', step: 'resolving', attempt: 2, error: null, retry_after: null, processed_at: null },
  ],
  [
    'failed after it was deferred',
    [...(states['deferred'] ?? []), failedAt('resolving')],
    { status: 'failed', error: 'It broke.', retry_after: null, processed_at: at, step: null },
  ],
  [
    'discarded after it was held',
    [...(states['held'] ?? []), spam],
    {
      status: 'discarded',
      discarded: { reason: 'trap_field', note: null },
      failures: [],
      processed_at: at,
      step: null,
    },
  ],
])('what was %s stands so', (_how, events, stands) => {
  expect(recordOf(...events)).toMatchObject({ ...stands, received_at: at, updated_at: at })
})

test('a person who was picked is remembered, also as somebody new', () => {
  const picked = (id: CustomerId | null) =>
    stateOf(ingest, [...(states['needs_review'] ?? []), { type: 'IngestPersonPicked', contact_id: id }])

  expect(stateOf(ingest, resolving)).toMatchObject({
    picked: undefined,
    content,
    accepted_at: '2026-01-15T12:00:00.000Z',
  })
  expect(picked(contact_id)).toMatchObject({ picked: contact_id })
  expect(picked(null)).toMatchObject({ picked: null })
})

describe('a sender sees', () => {
  test('only what there is something to say about', () => {
    expect(Object.keys(renderIngest(recordOf(received)))).toEqual(alwaysShown)
  })
  test('all that there is', () => {
    const record = recordOf({ ...received, source_reference: 'r-1' }, started, held)

    expect(
      renderIngest({ ...record, contact_id, retry_after: later, error: 'It broke.', provenance: {} }),
    ).toMatchObject({
      source_reference: 'r-1',
      processed_at: at,
      contact_id,
      retry_after: later,
      error: 'It broke.',
      validation_failures: failures,
      provenance: {},
    })
  })

  const record = recordOf(...extracting)
  test.each<[string, Partial<IngestRecord>, readonly string[]]>([
    ['received', { status: 'received' }, ['have the lead']],
    ['resolving', { status: 'resolving' }, ['checking the lead']],
    ['extracting', { status: 'extracting' }, ['reading what was sent']],
    ['in review', { status: 'needs_review' }, ['Somebody must decide who']],
    [
      'conflicting',
      { status: 'needs_review', review: { reason: 'conflicting_identifiers', candidates: [] } },
      ['different people'],
    ],
    [
      'of several',
      { status: 'needs_review', review: { reason: 'several_people', candidates: [] } },
      ['More than one person'],
    ],
    [
      'of two emails',
      { status: 'needs_review', review: { reason: 'different_emails', candidates: [] } },
      ['another email address'],
    ],
    [
      'of nobody',
      { status: 'needs_review', review: { reason: 'nobody_named', candidates: [] } },
      ['Nothing in the lead'],
    ],
    [
      'deferred while it is read',
      { status: 'deferred', step: 'extracting', retry_after: later },
      ['read the lead', later],
    ],
    ['deferred', { status: 'deferred', step: 'resolving', retry_after: null }, ['go on', 'a later time']],
    ['failed', { status: 'failed', contact_id: null, error: 'It broke.' }, ['could not process', 'It broke.']],
    ['failed for no reason', { status: 'failed', contact_id: null, error: null }, ['reason is not known']],
    ['failed while it was read', { status: 'failed', error: 'It broke.' }, ['could not be read', 'It broke.']],
    [
      'failed while it was read, for no reason',
      { status: 'failed', error: null },
      ['could not be read', 'reason is not known'],
    ],
    ['blocked', { status: 'discarded', discarded: { reason: 'blocked_source', note: null } }, ['website are blocked']],
    ['spam', { status: 'discarded', discarded: { reason: 'trap_field', note: null } }, ['no person can see']],
    [
      'discarded',
      { status: 'discarded', discarded: { reason: 'person', note: 'A joke.' } },
      ['discarded the lead: A joke.'],
    ],
    [
      'discarded silently',
      { status: 'discarded', discarded: { reason: 'person', note: null } },
      ['discarded the lead.'],
    ],
    ['discarded by nobody known', { status: 'discarded', discarded: null }, ['discarded the lead.']],
    [
      'held',
      {
        status: 'held',
        failures: [
          { field: 'email', rule: 'required', reason: 'is missing' },
          { field: 'q7', rule: 'required', reason: null },
        ],
      },
      ['email is missing; q7)', 'accepts or discards'],
    ],
    [
      'held, of somebody who was erased',
      { status: 'held', failures: [] },
      ['The lead does not meet the rules. It is held until'],
    ],
    ['applied by id', { status: 'applied', matched_by: 'contact_id' }, ['know by the id']],
    ['applied by external id', { status: 'applied', matched_by: 'external_id' }, ['by the external id']],
    ['applied by email', { status: 'applied', matched_by: 'email' }, ['by the email address']],
    ['applied by phone', { status: 'applied', matched_by: 'phone' }, ['by the phone number']],
    ['applied by name', { status: 'applied', matched_by: 'name' }, ['by the name']],
    ['applied by a person', { status: 'applied', matched_by: 'person' }, ['somebody of the team said so']],
    ['applied to somebody new', { status: 'applied', matched_by: 'nothing', is_new_lead: true }, ['somebody new. We']],
    ['applied to nobody known', { status: 'applied', matched_by: null }, ['somebody new']],
    ['applied for the first time', { status: 'applied', is_new_lead: true }, ['lead for the first time.']],
    ['applied in part', { status: 'applied', truncated: true }, ['too long']],
    [
      'applied with all',
      { status: 'applied', facts_written: 2, activities_written: 2, fields_proposed: 2 },
      ['. We recorded 2 facts, wrote 2 activities to the timeline and put 2 values that differ to the team.'],
    ],
    [
      'applied with one of each',
      { status: 'applied', facts_written: 1, activities_written: 1, fields_proposed: 1 },
      ['recorded 1 fact, wrote 1 activity to the timeline and put 1 value that differs to the team.'],
    ],
    [
      'applied with facts',
      { status: 'applied', facts_written: 2, activities_written: 0, fields_proposed: 0 },
      ['. We recorded 2 facts.'],
    ],
    [
      'applied with nothing',
      { status: 'applied', facts_written: 0, activities_written: 0, fields_proposed: 0 },
      ['told us nothing that we did not know.'],
    ],
  ])('why it is %s', (_how, changes, says) => {
    const said = explain({ ...record, ...changes })

    for (const part of says) expect(said).toContain(part)
  })
  test('nothing that is not so', () => {
    for (const matched_by of ['nothing', 'email'] as const) {
      const said = explain({ ...record, status: 'applied', matched_by, is_new_lead: false })
      expect(said).not.toContain('first time')
      expect(said).not.toContain('too long')
    }
    expect(explain({ ...record, status: 'applied', matched_by: 'nothing', is_new_lead: true })).not.toContain(
      'first time',
    )
    expect(explain({ ...record, status: 'applied', is_new_lead: null })).not.toContain('first time')
  })
})

test('whom a lead names is known in one spelling', () => {
  const named = (data: Record<string, unknown>) => namedIn({ ...content, identity: null, data })

  expect(
    named({ email: ' Ada@Example.COM ', phone: '+44 (0) 7700-900123', crm_id: ' A-1 ', contact_id: 'C0' }),
  ).toEqual({
    named_id: 'c0',
    external_id: 'A-1',
    email: 'ada@example.com',
    phone_digits: named({ phone: '+4407700900123' }).phone_digits,
  })
  expect(named({})).toEqual({ named_id: null, external_id: null, email: null, phone_digits: null })
})
