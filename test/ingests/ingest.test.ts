import { describe, expect, test } from 'vitest'
import { ingestEvents, type IngestEvent } from '#domain/ingests/events.ts'
import { ingest, isIngest, mostAttempts } from '#domain/ingests/ingest.ts'
import { explain, renderIngest } from '#domain/ingests/record.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { contact_id, ingest_id, received, started } from './builders.ts'

const scenario = scenariosOf(ingest)

const written = { facts_written: 2, fields_proposed: 1, activities_written: 0 }
const resolved: IngestEvent = {
  type: 'IngestResolved',
  contact_id,
  matched_by: 'email',
  is_new_lead: false,
  ...written,
}
const retry_after = '2026-01-15T12:00:10.000Z'
const deferred = (attempt: number): IngestEvent => ({
  type: 'IngestDeferred',
  step: 'extracting',
  attempt,
  reason: 'The reader did not answer.',
  retry_after,
})
const retried = (attempt: number): IngestEvent => ({ type: 'IngestRetried', step: 'extracting', attempt })
const defer = {
  type: 'DeferIngest',
  step: 'extracting',
  reason: 'The reader did not answer.',
  retry_after,
  isTry: true,
} as const

const recordOf = (...events: readonly IngestEvent[]) => {
  const state = stateOf(ingest, events)
  if (!isIngest(state)) throw new Error('There is no ingest.')
  return state.record
}

describe('an ingest', () => {
  scenario('is received once', {
    given: [received],
    when: { ...received, type: 'ReceiveIngest', source: 'other' },
    then: [],
  })

  scenario('starts with its first step', {
    given: [received],
    when: { type: 'HoldIngest', failures: [] },
    then: [started, { type: 'IngestHeld', failures: [] }],
  })

  scenario('whose first step has to wait has started', {
    given: [received],
    when: { ...defer, step: 'resolving' },
    then: [
      started,
      { type: 'IngestDeferred', step: 'resolving', attempt: 1, reason: 'The reader did not answer.', retry_after },
    ],
  })

  scenario('is read in the step that finds out who it is about, where nobody must be asked', {
    given: [received],
    when: { ...resolved, type: 'ResolveIngest', read: { ...written, truncated: false } },
    then: [started, resolved, { type: 'IngestApplied', ...written, truncated: false }],
  })

  scenario('is not read before it is known who it is about', {
    given: [received],
    when: { type: 'ApplyIngest', ...written, truncated: false },
    then: [],
  })

  scenario('that is deferred goes back to the step that it left', {
    given: [received, started, resolved, deferred(1)],
    when: { type: 'RetryIngest', now: retry_after },
    then: [retried(2)],
  })

  scenario('is not tried again before its time', {
    given: [received, started, resolved, deferred(1)],
    when: { type: 'RetryIngest', now: '2026-01-15T12:00:09.999Z' },
    then: [],
  })

  scenario('is deferred while there are tries left', {
    given: [received, started, resolved, deferred(1), retried(2)],
    when: defer,
    then: [deferred(2)],
  })

  scenario('has failed after five tries, with the reason', {
    given: [received, started, resolved, deferred(4), retried(mostAttempts)],
    when: defer,
    then: [{ type: 'IngestFailed', step: 'extracting', reason: 'The reader did not answer.' }],
  })

  scenario('that had to wait is deferred without using up a try', {
    given: [received, started, resolved, deferred(4), retried(mostAttempts)],
    when: { ...defer, isTry: false },
    then: [deferred(4)],
  })

  scenario('that is applied is not applied again', {
    given: [received, started, resolved, { type: 'IngestApplied', ...written, truncated: false }],
    when: { type: 'ApplyIngest', ...written, truncated: false },
    then: [],
  })

  scenario('that nobody received cannot be accepted', {
    given: [],
    when: { type: 'AcceptIngest' },
    then: rejected('not_found'),
  })

  scenario('that is applied cannot be discarded', {
    given: [received, started, resolved],
    when: { type: 'DiscardIngest', note: null },
    then: rejected('invalid_transition', undefined, 'extracting'),
  })

  test('that is deferred says why, and when it carries on', () => {
    const shown = renderIngest(recordOf(received, started, resolved, deferred(1)))
    expect(shown).toMatchObject({
      status: 'deferred',
      error: 'The reader did not answer.',
      retry_after,
      contact_id,
      facts_written: 2,
    })
    expect(shown.explanation).toBe(
      `We could not read the lead just now and will try again by ourselves at ${retry_after}.`,
    )
    expect(renderIngest(recordOf(received, started, resolved, deferred(1), retried(2)))).not.toHaveProperty('error')
  })

  test('that failed while it was read is still on the lead', () => {
    const failed: IngestEvent = { type: 'IngestFailed', step: 'extracting', reason: 'The reader cannot read it.' }
    const shown = renderIngest(recordOf(received, started, resolved, failed))
    expect(shown).toMatchObject({ status: 'failed', contact_id, error: 'The reader cannot read it.' })
    expect(shown.explanation).toContain('recorded with what was declared')
  })

  test('adds up what both steps wrote', () => {
    const record = recordOf(received, started, resolved, { type: 'IngestApplied', ...written, truncated: true })
    expect(record).toMatchObject({ facts_written: 4, fields_proposed: 2, truncated: true })
    expect(explain(record)).toBe(
      'The lead is about somebody we know by the email address. We recorded 4 facts and put 2 values that differ to the team. It was too long to be read in full.',
    )
  })

  test('keeps what was sent under a key of its own', () => {
    expect(ingestEvents.IngestReceived.personal).toEqual(['source_reference', 'content'])
    expect(ingestEvents.IngestReceived.subject({}, ingest_id)).toBeNull()
  })
})
