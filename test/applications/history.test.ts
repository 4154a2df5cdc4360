import { describe, expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import type { ApplicationEvent } from '#domain/applications/events.ts'
import { ApplicationRecord, type ApplicationStreamEvent } from '#domain/applications/record.ts'
import type { TeamAct } from '#domain/applications/team.ts'
import type { ConfirmedStep } from '#domain/checkout/events.ts'
import { after, applied, decided, firstId, now, quote } from '../quotes/builders.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { customerSaved, declined, referred, save, started } from './builders.ts'

/** What became of an application, by whom, and what of its past is still held. */

const scenario = scenariosOf(application)
const days = { inactive_after_days: 30 }
const recordOf = (...events: readonly ApplicationStreamEvent[]) => {
  const state = stateOf(application, [started(), ...events])
  if (!state) throw new Error('The application was not started.')
  return state.record
}
const why = { reason_code: null, reason_message: null }
const postponed: ApplicationEvent = { type: 'ApplicationPostponed', cause: 'team', ...why, until: null }
const accepted = (status: 'in_capture' | 'quoted'): ApplicationEvent => ({
  type: 'ApplicationAccepted',
  status,
  inputs_digest: 'x',
  loadings: [],
  reason_message: null,
  ...days,
})
const givenBack: ApplicationEvent = { type: 'ApplicationGivenBack', reason_message: null, ...days }
const reopened = (from: 'postponed' | 'abandoned'): ApplicationEvent => ({
  type: 'ApplicationReopened',
  from,
  status: 'in_capture',
  reason_message: null,
  ...days,
})
const abandoned = (reason: 'superseded_by_retry' | 'inactive' | 'withdrawn'): ApplicationEvent => ({
  type: 'ApplicationAbandoned',
  reason,
  superseded_by: null,
})
const quoteAccepted: ApplicationStreamEvent = { type: 'QuoteAccepted', quote_id: firstId, via: 'accept_quote' }

describe('what became of an application', () => {
  test.each([
    [referred, 'referred', 'answer'],
    [declined, 'declined', 'answer'],
    [{ ...declined, cause: 'underwriting' }, 'declined', 'underwriting'],
    [postponed, 'postponed', 'team'],
    [accepted('in_capture'), 'accepted', 'team'],
    [givenBack, 'given_back', 'team'],
    [reopened('postponed'), 'reopened', 'team'],
    [reopened('abandoned'), 'reopened', 'customer'],
    [abandoned('superseded_by_retry'), 'abandoned', 'customer'],
    [abandoned('inactive'), 'abandoned', 'time'],
    [abandoned('withdrawn'), 'abandoned', 'team'],
  ] as readonly (readonly [ApplicationEvent, string, string])[])('%j is held as %s by %s', (event, outcome, cause) => {
    const record = recordOf(event)

    expect(record.decisions).toMatchObject([{ outcome, cause }])
    expect(ApplicationRecord.parse(record)).toEqual(record)
  })

  test('is held for the last fifty times', () => {
    const referrals = Array.from({ length: 51 }, (_, index) => ({ ...referred, reason_code: `reason ${index}` }))

    const { decisions } = recordOf(...(referrals as ApplicationEvent[]))

    expect(decisions).toHaveLength(50)
    expect(decisions.at(0)?.reason_code).toBe('reason 1')
    expect(decisions.at(-1)?.reason_code).toBe('reason 50')
  })

  test('is one of seven, for one of five causes', () => {
    const { outcome, cause } = ApplicationRecord.shape.decisions.element.shape

    expect(outcome.safeParse('').success).toBe(false)
    expect(cause.safeParse('').success).toBe(false)
  })
})

test('what was confirmed before buying is held for the last fifty steps', () => {
  const step = (index: number): ConfirmedStep => ({
    step: 'confirm_before_purchase',
    content_sha256: String(index).padStart(64, '0'),
    statement_sha256: null,
    documents: [],
    cancellation_days: null,
  })
  const confirmed = Array.from({ length: 51 }, (_, index): ApplicationStreamEvent => ({
    type: 'StepsConfirmed',
    quote_id: firstId,
    product_release_id: recordOf().release_id,
    steps: [step(index)],
  }))

  expect(recordOf(...confirmed).confirmed).toEqual(confirmed.slice(1).map((_, index) => step(index + 1)))
})

test.each([
  ['anonymous', []],
  ['in_capture', [customerSaved()]],
  ['quoted', [customerSaved(), quoteAccepted]],
  [null, [referred]],
] as const)('of an abandoned application the former status %s is held, to which it can come back', (former, events) => {
  const record = recordOf(...events, abandoned('inactive'))

  expect(record).toMatchObject({ status: 'abandoned', former_status: former })
  expect(ApplicationRecord.parse(record)).toEqual(record)
  expect(ApplicationRecord.shape.former_status.safeParse('').success).toBe(false)
})

describe('what the team can do', () => {
  const act = (type: 'DeclineReferred' | 'PostponeReferred' | 'GiveBackReferred' | 'ReopenPostponed'): TeamAct => ({
    type,
    ...why,
    until: null,
    now,
    today: '2026-06-01',
  })
  const { type: _type, ...quoting } = quote()
  const accept: TeamAct = { ...quoting, type: 'AcceptReferred', loadings: [], reason_message: null }
  const withdraw: TeamAct = { type: 'WithdrawApplication', now }
  const refuses = (command: TeamAct, given: readonly ApplicationStreamEvent[], says: string) =>
    scenario(`${command.type} of what is ${recordOf(...given).status}: 409 conflict`, {
      given: [started(), ...given],
      when: command,
      then: rejected('conflict', undefined, says),
    })

  const inCapture = [customerSaved()]
  refuses(accept, inCapture, 'This application is in_capture. Only a referred application can be accepted.')
  refuses(act('DeclineReferred'), inCapture, 'Only a referred application can be declined.')
  refuses(act('PostponeReferred'), inCapture, 'Only a referred application can be postponed.')
  refuses(act('GiveBackReferred'), inCapture, 'Only a referred application can be given back.')
  refuses(act('ReopenPostponed'), inCapture, 'Only a postponed application can be opened again.')
  refuses(withdraw, [referred], 'Only an open application can be withdrawn.')
  refuses(withdraw, [declined], 'This application is declined.')

  // What the team did last is not what it is asked for, or something has happened since.
  refuses(act('GiveBackReferred'), [referred, accepted('in_capture')], 'can be given back')
  refuses(act('GiveBackReferred'), [referred, givenBack, quoteAccepted], 'can be given back')
  refuses(act('ReopenPostponed'), [referred, givenBack], 'can be opened again')
  refuses(act('ReopenPostponed'), [postponed, reopened('postponed'), quoteAccepted], 'can be opened again')
})

describe('the quote of an application that ends cannot be bought any more', () => {
  const quoted = after(applied(), quote())
  const ended: ApplicationStreamEvent = { type: 'QuoteRejected', quote_id: firstId, reason: 'application_closed' }
  const first = (given: readonly ApplicationStreamEvent[], command: Parameters<typeof decided>[1]) =>
    decided(given, command)[0]

  test('when the team declines, postpones or withdraws it', () => {
    expect(first([...quoted, referred], { type: 'DeclineReferred', ...why, now })).toEqual(ended)
    expect(first([...quoted, referred], { type: 'PostponeReferred', ...why, until: null, now })).toEqual(ended)
    expect(first(quoted, { type: 'WithdrawApplication', now })).toEqual(ended)
  })

  test('when an answer ends it', () => {
    expect(decided(quoted, save({ answers: { work: 'stuntman' }, now })).slice(1)).toMatchObject([
      ended,
      { type: 'ApplicationDeclined' },
    ])
  })

  test('and has expired where its time was over', () => {
    expect(first(quoted, { type: 'WithdrawApplication', now: '2026-07-01T09:00:00.000Z' })).toEqual({
      type: 'QuoteExpired',
      quote_id: firstId,
    })
  })
})

test('a quote that only the team has accepted is not accepted by the customer before other answers', () => {
  const quoted = [...after(applied(), quote()), referred, accepted('quoted')]

  const events = decided(quoted, save({ answers: { wine: true }, now }))

  expect(events.map(({ type }) => type)).toEqual(['AnswersSaved', 'AcceptanceOutdated'])
})
