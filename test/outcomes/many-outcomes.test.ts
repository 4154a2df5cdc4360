import { expect, test } from 'vitest'
import { outcomes, type OutcomesState, type RecordOutcome } from '#domain/outcomes/outcomes.ts'
import { seededModel } from '#domain/outcomes/record.ts'
import { Rejection } from '#domain/rejection.ts'
import { contact_id, organisation_id, partner, website } from '../leads/builders.ts'

const [quoted] = seededModel.types
if (!quoted) throw new Error('Nothing can be reported.')

const report = (changes: Partial<RecordOutcome> = {}): RecordOutcome => ({
  type: 'RecordOutcome',
  organisation_id,
  contact_id,
  outcome_id: crypto.randomUUID(),
  api_application_id: website,
  source: 'api',
  event_id: null,
  by: { type: 'api', name: 'Website' },
  seen_by: [website],
  outcome_type: quoted,
  model: seededModel,
  report: {
    type: 'quoted',
    occurred_at: '2026-01-15T12:00:00.000Z',
    deal_ref: null,
    product: null,
    reason: null,
    note: null,
    currency: 'GBP',
    values: { premium: 100 },
  },
  ...changes,
})
const at = { occurred_at: '2026-01-15T12:00:00.000Z' }
const after = (state: OutcomesState, command: Parameters<typeof outcomes.decide>[0]) => {
  const events = outcomes.decide(command, state)
  return { events, state: events.reduce((before, event) => outcomes.evolve(before, event, at), state) }
}
const withMany = (count: number): OutcomesState => {
  const [recorded] = outcomes.decide(report(), outcomes.initialState)
  if (recorded?.type !== 'OutcomeRecorded') throw new Error('Nothing was recorded.')
  const one = outcomes.evolve(outcomes.initialState, recorded, at).known.slice(0, 1)
  const known = Array.from({ length: count }, () =>
    one.map((each) => ({ ...each, outcome: { ...each.outcome, id: crypto.randomUUID() } })),
  )
  return { known: known.flat(), seen_by: [website] }
}

test('2,000 outcomes of a lead can be reported, and no more; each can be reversed, and a policy reports its own sale', () => {
  const { state } = after(withMany(1_999), report())

  expect(() => outcomes.decide(report(), state)).toThrow(
    expect.objectContaining({
      code: 'validation_failed',
      message: expect.stringContaining('This lead has 2000 outcomes, the most that can be reported') as string,
      fields: { lead: 'has as many outcomes as a lead can have' },
    }) as Error,
  )
  expect(outcomes.decide(report({ source: 'policy' }), state)).toHaveLength(1)
  const [{ outcome } = { outcome: undefined }] = state.known
  const reverse = { outcome_id: outcome?.id ?? '', reversal_id: crypto.randomUUID(), now: at.occurred_at, note: null }
  const { api_application_id, source, by } = report()
  const reversed = after(state, { type: 'ReverseOutcome', ...reverse, api_application_id, source, by })
  expect(reversed.events).toHaveLength(1)
  expect(() => outcomes.decide(report(), reversed.state)).toThrow(Rejection)
})

test('reversals are not among the 2,000', () => {
  const { known, seen_by } = withMany(1_999)
  const [last] = known
  const reversal = last && { ...last, recorded: undefined }

  expect(outcomes.decide(report(), { known: reversal ? [...known, reversal] : [], seen_by })).toHaveLength(1)
})

test('an application that sends the lead later is shown what was recorded, each once, before anything new', () => {
  const show = { type: 'ShowOutcomes', organisation_id, contact_id, to: [website, partner] } as const
  const many = withMany(1_200)
  const shown = after(many, show)

  expect(shown.events.map((event) => [event.type, event.seen_by])).toEqual(Array(3).fill(['OutcomesShown', [partner]]))
  const ids = shown.events.flatMap((event) => (event.type === 'OutcomesShown' ? event.outcomes : []))
  expect(ids.map(({ outcome_id }) => outcome_id)).toEqual(many.known.map(({ outcome }) => outcome.id))
  expect(outcomes.decide(show, shown.state)).toEqual([])
  expect(outcomes.decide(show, outcomes.initialState)).toEqual([])

  const found = after(withMany(1), report({ seen_by: [partner] }))
  expect(found.events.map(({ type, seen_by }) => [type, seen_by])).toEqual([
    ['OutcomesShown', [partner]],
    ['OutcomeRecorded', [website, partner]],
  ])
})
