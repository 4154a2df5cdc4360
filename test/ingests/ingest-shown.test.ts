import { describe, expect, test } from 'vitest'
import { ingest, isIngest } from '#domain/ingests/ingest.ts'
import type { IngestEvent } from '#domain/ingests/events.ts'
import { evolveRecord, explain, Ingest, IngestRecord, namedIn, renderIngest } from '#domain/ingests/record.ts'
import { CampaignId } from '#domain/values.ts'
import { scenariosOf, stateOf } from '../scenario.ts'
import {
  applied,
  contact_id,
  content,
  extracting,
  held,
  inReview,
  received,
  resolved,
  resolving,
  states,
} from './builders.ts'

/** How an ingest begins, what is kept of it, and the whole of what is said about it. */

const scenario = scenariosOf(ingest)
const { type: _type, ...sent } = received
const at = '2026-01-15T12:00:05.000Z'
const recordOf = (...events: readonly IngestEvent[]): IngestRecord => {
  const state = stateOf(ingest, events, at)
  if (!isIngest(state)) throw new Error('It is no ingest.')
  return state.record
}

scenario('a lead that is sent is received', { given: [], when: { ...sent, type: 'ReceiveIngest' }, then: [received] })
scenario('it is received once', { given: [received], when: { ...sent, type: 'ReceiveIngest' }, then: [] })

test('a key that stands for another ingest leads to it', () => {
  const used: IngestEvent = { type: 'IngestKeyUsed', first_ingest_id: received.ingest_id }

  expect(stateOf(ingest, [used])).toEqual({ first_ingest_id: received.ingest_id })
  expect(evolveRecord(recordOf(received), used, { occurred_at: '2026-02-01T00:00:00.000Z' })).toEqual(
    recordOf(received),
  )
})

test('nothing is known of an ingest that was never received', () => {
  for (const event of [held, resolved, applied]) {
    expect(evolveRecord(undefined, event, { occurred_at: at })).toBeUndefined()
    expect(stateOf(ingest, [event])).toBeUndefined()
  }
})

test('whom the team picked stays picked while the lead is worked on', () => {
  const picked: IngestEvent = { type: 'IngestPersonPicked', contact_id: null }

  expect(stateOf(ingest, [...resolving, inReview, picked, resolved])).toMatchObject({ picked: null })
  expect(stateOf(ingest, extracting)).toMatchObject({ picked: undefined })
})

test.each(Object.entries(states))('what is %s can be kept and shown', (status, events) => {
  const campaign = { id: CampaignId.parse('c1000000-0000-4000-8000-000000000001'), key: 'spring' }
  const record = { ...recordOf(...events), campaign }
  const shown = renderIngest(record)

  expect(record.status).toBe(status)
  expect(IngestRecord.parse(record)).toEqual(record)
  expect(Ingest.parse(shown)).toEqual(shown)
})

test('whom a lead names in its identity is known in one spelling', () => {
  const identity = { email: ' Ada@Example.COM ', phone: ' 07700 900123 ' }

  expect(namedIn({ ...content, identity })).toMatchObject({ email: 'ada@example.com', phone_digits: '700900123' })
})

describe('what is said of a lead that was applied', () => {
  const said = (changes: Partial<IngestRecord>) =>
    explain({
      ...recordOf(...extracting, applied),
      facts_written: 0,
      fields_proposed: 0,
      activities_written: 0,
      ...changes,
    })

  test.each<[Partial<IngestRecord>, string]>([
    [
      { facts_written: 2, activities_written: 1, fields_proposed: 1, contact_id },
      'The lead is about somebody we know by the email address. We recorded 2 facts, wrote 1 activity to the timeline and put 1 value that differs to the team.',
    ],
    [
      { facts_written: 1, activities_written: 3 },
      'The lead is about somebody we know by the email address. We recorded 1 fact and wrote 3 activities to the timeline.',
    ],
    [
      { facts_written: 1, is_new_lead: true, truncated: true },
      'The lead is about somebody we know by the email address. We recorded 1 fact. They are a lead for the first time. It was too long to be read in full.',
    ],
    [{ matched_by: 'nothing', facts_written: 1 }, 'The lead is about somebody new. We recorded 1 fact.'],
    [{ matched_by: null }, 'The lead is about somebody new, and told us nothing that we did not know.'],
  ])('with %o', (changes, whole) => {
    expect(said(changes)).toBe(whole)
  })
})
