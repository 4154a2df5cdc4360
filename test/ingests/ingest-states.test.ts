import { describe, expect, test } from 'vitest'
import type { IngestEvent } from '#domain/ingests/events.ts'
import { ingest, isIngest, type IngestCommand } from '#domain/ingests/ingest.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import {
  ingest_id,
  contact_id,
  received,
  started,
  resolved,
  applied,
  held,
  inReview,
  spam,
  failedAt,
  later,
  deferred,
  resolving,
  extracting,
  states,
} from './builders.ts'

/** Each command in each state of an ingest. */

const scenario = scenariosOf(ingest)

const { type: _held, ...holding } = held
const { type: _review, ...reviewing } = inReview
const { type: _spam, ...discarding } = spam
const { type: _applied, ...applying } = applied
const { type: _resolved, ...resolution } = resolved
/** What the processing says, in which state it is heard, and what follows. */
const told: readonly (readonly [IngestCommand, string, readonly IngestEvent[]])[] = [
  [{ type: 'HoldIngest', ...holding } as IngestCommand, 'resolving', [held]],
  [{ type: 'ReviewIngest', ...reviewing } as IngestCommand, 'resolving', [inReview]],
  [{ type: 'DiscardSpam', ...discarding } as IngestCommand, 'resolving', [spam]],
  [{ type: 'ResolveIngest', ...resolution } as IngestCommand, 'resolving', [resolved]],
  [{ type: 'ResolveIngest', ...resolution, read: applying } as IngestCommand, 'resolving', [resolved, applied]],
  [{ type: 'FailIngest', step: 'resolving', reason: 'It broke.' }, 'resolving', [failedAt('resolving')]],
  [{ type: 'ApplyIngest', ...applying }, 'extracting', [applied]],
  [{ type: 'FailIngest', step: 'extracting', reason: 'It broke.' }, 'extracting', [failedAt('extracting')]],
  [
    { type: 'DeferIngest', step: 'resolving', reason: 'It broke.', retry_after: later, isTry: true },
    'resolving',
    [deferred('resolving', 1)],
  ],
  [
    { type: 'DeferIngest', step: 'extracting', reason: 'It broke.', retry_after: later, isTry: false },
    'extracting',
    [deferred('extracting', 0)],
  ],
  [{ type: 'RetryIngest', now: later }, 'deferred', [{ type: 'IngestRetried', step: 'resolving', attempt: 2 }]],
]
for (const [when, heardIn, events] of told)
  describe(`${when.type} of what is ${heardIn}`, () => {
    for (const [status, given] of Object.entries(states)) {
      const first = status === 'received' && heardIn === 'resolving' ? [started, ...events] : []
      scenario(`is said of what is ${status}`, { given, when, then: status === heardIn ? events : first })
    }
    scenario('404 not_found: it was never received', {
      given: [],
      when,
      then: rejected('not_found', undefined, 'no ingest with this id'),
    })
  })

/** What a person of the team does, in which states it can be done, and what follows. */
const done: readonly (readonly [IngestCommand, readonly string[], string, IngestEvent, string | undefined])[] = [
  [{ type: 'AcceptIngest' }, ['held'], 'held', { type: 'IngestAccepted', ingest_id }, undefined],
  [
    { type: 'PickPerson', contact_id },
    ['needs_review'],
    'in review',
    { type: 'IngestPersonPicked', contact_id },
    undefined,
  ],
  [
    { type: 'DiscardIngest', note: 'A joke.' },
    ['held', 'needs_review'],
    'held or in review',
    { type: 'IngestDiscarded', reason: 'person', note: 'A joke.' },
    'discarded',
  ],
]
for (const [when, possibleIn, says, event, already] of done)
  describe(`${when.type} of the team`, () => {
    for (const [status, given] of Object.entries(states))
      scenario(`of what is ${status}`, {
        given,
        when,
        then: possibleIn.includes(status)
          ? [event]
          : status === already
            ? []
            : rejected('invalid_transition', undefined, says),
      })
  })
scenario('what was accepted once is not accepted again', {
  given: [...resolving, held, { type: 'IngestAccepted', ingest_id }],
  when: { type: 'AcceptIngest' },
  then: [],
})
const picked: IngestEvent = { type: 'IngestPersonPicked', contact_id }
scenario('who was picked is not picked again', {
  given: [...resolving, inReview, picked],
  when: { type: 'PickPerson', contact_id },
  then: [],
})
scenario('another than who was picked is not picked any more', {
  given: [...resolving, inReview, picked],
  when: { type: 'PickPerson', contact_id: null },
  then: rejected('invalid_transition', undefined, 'in review'),
})
scenario('who was picked is picked again when the lead is in review again', {
  given: [...resolving, inReview, picked, inReview],
  when: { type: 'PickPerson', contact_id },
  then: [picked],
})
scenario('the refusal names the state', {
  given: extracting,
  when: { type: 'AcceptIngest' },
  then: rejected('invalid_transition', undefined, 'extracting'),
})
scenario('what is deferred is not tried a moment before its time', {
  given: [...resolving, deferred('resolving', 1)],
  when: { type: 'RetryIngest', now: '2026-01-15T12:00:09.999Z' },
  then: [],
})
scenario('the fifth try of a step is its last', {
  given: [...resolving, deferred('resolving', 4), { type: 'IngestRetried', step: 'resolving', attempt: 5 }],
  when: { type: 'DeferIngest', step: 'resolving', reason: 'It broke.', retry_after: later, isTry: true },
  then: [failedAt('resolving')],
})
scenario('the fourth is not', {
  given: [...resolving, deferred('resolving', 3), { type: 'IngestRetried', step: 'resolving', attempt: 4 }],
  when: { type: 'DeferIngest', step: 'resolving', reason: 'It broke.', retry_after: later, isTry: true },
  then: [deferred('resolving', 4)],
})

describe('a key', () => {
  const used: IngestEvent = { type: 'IngestKeyUsed', first_ingest_id: ingest_id }
  const use: IngestCommand = { type: 'UseKeyFor', first_ingest_id: ingest_id }
  const { type: _type, ...sent } = received

  scenario('stands for the ingest that was first', { given: [], when: use, then: [used] })
  scenario('once', { given: [used], when: use, then: [] })
  scenario('of an ingest stands for itself', { given: [received], when: use, then: [] })
  scenario('that stands for another receives none', {
    given: [used],
    when: { ...sent, type: 'ReceiveIngest' },
    then: [],
  })
  scenario('404 not_found: nothing is done to it', {
    given: [used],
    when: { type: 'AcceptIngest' },
    then: rejected('not_found'),
  })
  test('is no ingest', () => {
    expect(isIngest(stateOf(ingest, [used]))).toBe(false)
    expect(isIngest(undefined)).toBe(false)
  })
})
