import { describe, expect, test } from 'vitest'
import type { LeadReference, OutcomeReportEvent, Report } from '#domain/outcomes/events.ts'
import { outcomeReport, refuseOtherContent, type OutcomeReportCommand } from '#domain/outcomes/report.ts'
import { CustomerId } from '#domain/values.ts'
import { organisation_id } from '../applications/release.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'

/** An outcome as it was reported: matched to a lead, or held until somebody has looked at it. */

const scenario = scenariosOf(outcomeReport)
const contact_id = CustomerId.parse('c0000000-0000-4000-8000-000000000001')
const another = CustomerId.parse('c0000000-0000-4000-8000-000000000002')
const by = { type: 'api', name: 'Website' } as const
const origin = {
  organisation_id,
  outcome_id: '0c000000-0000-4000-8000-000000000001',
  api_application_id: null,
  source: 'webhook',
  event_id: 'E-1',
} as const
const report: Report = {
  type: 'sold',
  occurred_at: '2026-01-16T08:00:00.000Z',
  deal_ref: 'D-1',
  product: null,
  reason: null,
  note: null,
  currency: 'GBP',
  values: { premium: 1250 },
}
const lead: LeadReference = { contact_id: null, external_id: null, email: 'anna@example.org', phone: null }

type Reported = Extract<OutcomeReportEvent, { type: 'OutcomeReported' }>
const reported = (changes: Partial<Reported> = {}): Reported => ({
  type: 'OutcomeReported',
  ...origin,
  report,
  lead,
  contact_id: null,
  held: 'no_match',
  by,
  ...changes,
})
const matchedAtOnce = reported({ contact_id, held: null })
const send = (changes: Partial<Reported> = {}): OutcomeReportCommand => ({
  ...reported(changes),
  type: 'ReportOutcome',
})

const sent = {
  type: 'sold',
  occurred_at: null,
  lead: { id: null, external_id: null, email: 'anna@example.org', phone: null, match_on_details: true },
  deal_ref: 'D-1',
  product: null,
  reason: null,
  note: null,
  values: { premium: '12.50' },
  unreadable: [],
}
const invalid: OutcomeReportEvent = {
  type: 'InvalidOutcomeReported',
  ...origin,
  sent,
  faults: { occurred_at: 'is missing' },
  by,
}
const matched: OutcomeReportEvent = { type: 'HeldOutcomeMatched', contact_id, by }
const discarded: OutcomeReportEvent = { type: 'HeldOutcomeDiscarded', by }
const corrected = (changes: Partial<Extract<OutcomeReportEvent, { type: 'HeldOutcomeCorrected' }>> = {}) =>
  ({ type: 'HeldOutcomeCorrected', report, lead, contact_id, held: null, by, ...changes }) as const

const match = (to = contact_id): OutcomeReportCommand => ({ type: 'MatchHeldOutcome', contact_id: to, by })
const discard: OutcomeReportCommand = { type: 'DiscardHeldOutcome', by }
const correct: OutcomeReportCommand = { ...corrected(), type: 'CorrectHeldOutcome' }
const hold: OutcomeReportCommand = { type: 'HoldMatchedOutcome', faults: { deal_ref: 'is cancelled already' } }

describe('a report', () => {
  scenario('is recorded', { given: [], when: send(), then: [reported()] })
  scenario('once', { given: [reported()], when: send(), then: [] })
  scenario('once although its lead was found meanwhile', { given: [reported()], when: send({ contact_id }), then: [] })
  scenario('409 event_id_conflict: the event id was used for another report', {
    given: [reported()],
    when: send({ report: { ...report, deal_ref: 'D-2' } }),
    then: rejected('event_id_conflict', { event_id: 'other content' }, 'event_id'),
  })
  scenario('409 event_id_conflict: the event id was used for another lead', {
    given: [reported()],
    when: send({ lead: { ...lead, email: 'ben@example.org' } }),
    then: rejected('event_id_conflict', { event_id: 'other content' }),
  })
  scenario('is known by what was sent, also after it was corrected', {
    given: [reported(), corrected({ report: { ...report, deal_ref: 'D-2' }, lead: { ...lead, email: null } })],
    when: send(),
    then: [],
  })
  scenario('that cannot be recorded is held', {
    given: [],
    when: { ...invalid, type: 'ReportInvalidOutcome' },
    then: [invalid],
  })
  scenario('and once', { given: [invalid], when: { ...invalid, type: 'ReportInvalidOutcome' }, then: [] })
})

describe('a held report', () => {
  scenario('is matched', { given: [reported()], when: match(), then: [matched] })
  scenario('once', { given: [reported(), matched], when: match(), then: [] })
  scenario('409 conflict: it is matched to another lead', {
    given: [reported(), matched],
    when: match(another),
    then: rejected('conflict', undefined, 'matched'),
  })
  scenario('is discarded', { given: [reported()], when: discard, then: [discarded] })
  scenario('and that once', { given: [reported(), discarded], when: discard, then: [] })
  scenario('409 conflict: it is matched, so it is not discarded', {
    given: [matchedAtOnce],
    when: discard,
    then: rejected('conflict', undefined, 'matched'),
  })
  scenario('409 conflict: it is discarded, so it is not matched', {
    given: [reported(), discarded],
    when: match(),
    then: rejected('conflict', undefined, 'discarded'),
  })
  scenario('409 conflict: there is nothing in it that could be recorded', {
    given: [invalid],
    when: match(),
    then: rejected('conflict', undefined, 'Correct it'),
  })
  scenario('is corrected', { given: [invalid], when: correct, then: [corrected()] })
  scenario('with what was sent before', { given: [invalid, corrected()], when: correct, then: [] })
  scenario('409 conflict: it was corrected otherwise', {
    given: [invalid, corrected()],
    when: { ...corrected({ report: { ...report, deal_ref: null } }), type: 'CorrectHeldOutcome' },
    then: rejected('conflict', undefined, 'matched'),
  })
  scenario('is corrected again while it is held', {
    given: [invalid, corrected({ contact_id: null, held: 'no_match' })],
    when: correct,
    then: [corrected()],
  })
  scenario('is then matched', {
    given: [invalid, corrected({ contact_id: null, held: 'no_match' })],
    when: match(),
    then: [matched],
  })
  for (const when of [match(), discard, correct, hold])
    scenario(`404 not_found: ${when.type} of a report that there is not`, {
      given: [],
      when,
      then: rejected('not_found', undefined, 'no held outcome'),
    })
})

describe('a matched report that its lead does not allow', () => {
  const held: OutcomeReportEvent = {
    type: 'MatchedOutcomeHeld',
    ...origin,
    report,
    lead,
    faults: { deal_ref: 'is cancelled already' },
    by,
  }
  scenario('is held', { given: [matchedAtOnce], when: hold, then: [held] })
  scenario('once', { given: [matchedAtOnce, held], when: hold, then: [] })
  scenario('is not held when it was discarded', { given: [reported(), discarded], when: hold, then: [] })
  scenario('can be matched to another', {
    given: [matchedAtOnce, held],
    when: match(another),
    then: [{ ...matched, contact_id: another }],
  })
  scenario('or to the same', { given: [matchedAtOnce, held], when: match(), then: [matched] })
})

test.each<[string, readonly OutcomeReportEvent[], object]>([
  ['reported without a lead', [reported()], { status: 'held', held: 'no_match', contact_id: null, report }],
  ['reported with one', [matchedAtOnce], { status: 'matched', held: null, contact_id, report }],
  [
    'not to be recorded',
    [invalid],
    {
      status: 'held',
      held: 'invalid',
      contact_id: null,
      report: null,
      lead: { contact_id: null, external_id: null, email: null, phone: null },
    },
  ],
  ['corrected', [invalid, corrected()], { status: 'matched', held: null, contact_id, report, lead }],
  [
    'corrected, and its lead is not known',
    [invalid, corrected({ contact_id: null, held: 'several_matches' })],
    { status: 'held', held: 'several_matches', contact_id: null },
  ],
  ['matched', [reported(), matched], { status: 'matched', held: null, contact_id }],
  ['discarded', [reported(), discarded], { status: 'discarded' }],
  [
    'held after all',
    [matchedAtOnce, { type: 'MatchedOutcomeHeld', ...origin, report, lead, faults: {}, by }],
    { status: 'held', held: 'invalid', contact_id: null, report },
  ],
])('what was %s stands so', (_how, given, stands) => {
  expect(stateOf(outcomeReport, given, '2026-01-16T09:00:00.000Z')).toMatchObject({
    ...origin,
    by,
    reported_at: '2026-01-16T09:00:00.000Z',
    ...stands,
  })
})

test('the same content is accepted, whatever else stands beside it', () => {
  expect(() => refuseOtherContent({ report, lead }, { sent: { report, lead } })).not.toThrow()
})
