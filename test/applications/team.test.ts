import { describe, expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import type { ApplicationEvent, TeamLoading } from '#domain/applications/events.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import type { TeamAct } from '#domain/applications/team.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { after, applied, decided, issuedQuote, now, quote, secondId } from '../quotes/builders.ts'
import { because, customerSaved, declined, referred, save, saveCustomer, given, answered, started } from './builders.ts'

const scenario = scenariosOf(application)
const why = { reason_code: 'report', reason_message: 'We need a report.' }
const loading: TeamLoading = {
  code: 'team',
  label: 'Agreed',
  basis: 'percent',
  value: '50',
  cover_types: null,
  life: 1,
}

const { type: _type, ...quoting } = quote()
const accept = (loadings: readonly TeamLoading[] = []): TeamAct => ({
  ...quoting,
  type: 'AcceptReferred',
  loadings,
  reason_message: null,
})
const days = { inactive_after_days: 30 }
const recordOf = (events: readonly ApplicationStreamEvent[]) => {
  const state = stateOf(application, events)
  if (!state) throw new Error('The application was not started.')
  return state.record
}

/** Drinks more than the rules let pass without a look. */
const heavy = [...applied('1992-03-10', { alcohol_units: 40 })]
const withTeam = after(heavy, quote())

describe('the team accepts what was referred', () => {
  test('and its quote is issued at once, though a rule refers these answers', () => {
    expect(recordOf(withTeam).status).toBe('referred')
    const events = decided(withTeam, accept())
    expect(events.map(({ type }) => type)).toEqual(['ApplicationAccepted', 'QuoteIssued'])
    expect(issuedQuote(events)).toMatchObject({ premium_pence: 1250, decision: 'standard', loadings: [] })
    expect(recordOf([...withTeam, ...events]).status).toBe('quoted')
  })

  test('with loadings, which are part of the price and shown', () => {
    const { cover_types: _covers, life: _life, ...shown } = loading
    expect(issuedQuote(decided(withTeam, accept([loading])))).toMatchObject({
      premium_pence: 1799,
      decision: 'loaded',
      loadings: [shown],
    })
  })

  test('and a loading for other covers, or for a second person, changes nothing', () => {
    const others: readonly TeamLoading[] = [
      { ...loading, cover_types: ['critical_illness'] },
      { ...loading, life: 2 },
    ]
    expect(issuedQuote(decided(withTeam, accept(others))).premium_pence).toBe(1250)
  })

  test('and accepting on the same terms again changes nothing', () => {
    const accepted = after(withTeam, accept([loading]))
    expect(decided(accepted, accept([loading]))).toEqual([])
  })

  test('and a new quote is on the same terms as long as the answers are the same', () => {
    const accepted = after(withTeam, accept([loading]))
    const later = '2026-06-20T09:00:00.000Z'
    const again = decided(
      accepted,
      quote({ quote_id: secondId, now: later, today: '2026-06-20', start_date: '2026-07-01' }),
    )
    expect(issuedQuote(again).premium_pence).toBe(1799)
  })

  test('but other answers are judged by the rules again', () => {
    const changed = [...after(withTeam, accept()), answered({ alcohol_units: 50 })]
    expect(decided(changed, quote({ quote_id: secondId })).at(-1)).toMatchObject({ type: 'ApplicationReferred' })
  })

  test('without a price when something is missing still', () => {
    const unpriced = [started(), referred]
    expect(decided(unpriced, accept())).toMatchObject([{ type: 'ApplicationAccepted', status: 'in_capture' }])
  })
})

scenario('the team declines what was referred, for a reason', {
  given: [started(), referred],
  when: { type: 'DeclineReferred', ...why, now },
  then: [{ type: 'ApplicationDeclined', cause: 'team', ...why }],
})
scenario('the team postpones what was referred, until a day', {
  given: [started(), referred],
  when: { type: 'PostponeReferred', ...why, until: '2026-09-01', now },
  then: [{ type: 'ApplicationPostponed', cause: 'team', ...why, until: '2026-09-01' }],
})
scenario('the team gives back what was referred', {
  given: [started(), customerSaved(), referred],
  when: { type: 'GiveBackReferred', reason_message: 'Please check your weight.' },
  then: [{ type: 'ApplicationGivenBack', reason_message: 'Please check your weight.', ...days }],
})
const postponed: ApplicationEvent = { type: 'ApplicationPostponed', cause: 'team', ...why, until: '2026-09-01' }
const reopened: ApplicationEvent = {
  type: 'ApplicationReopened',
  from: 'postponed',
  status: 'in_capture',
  reason_message: null,
  ...days,
}
const reopen = (today: string): TeamAct => ({ type: 'ReopenPostponed', reason_message: null, today })
scenario('the team opens again what was postponed, from the day on', {
  given: [started(), postponed],
  when: reopen('2026-09-01'),
  then: [reopened],
})
scenario('but not before that day', {
  given: [started(), postponed],
  when: reopen('2026-08-31'),
  then: rejected('conflict', undefined, '2026-09-01'),
})
scenario('the team withdraws an open application', {
  given: [started()],
  when: { type: 'WithdrawApplication', now },
  then: [{ type: 'ApplicationAbandoned', reason: 'withdrawn', superseded_by: null }],
})

const acts: readonly (readonly [TeamAct, ApplicationEvent])[] = [
  [{ type: 'DeclineReferred', ...why, now }, declined],
  [{ type: 'PostponeReferred', ...why, until: null, now }, postponed],
  [
    { type: 'GiveBackReferred', reason_message: null },
    { type: 'ApplicationGivenBack', reason_message: null, ...days },
  ],
  [reopen('2026-09-01'), reopened],
  [
    { type: 'WithdrawApplication', now },
    { type: 'ApplicationAbandoned', reason: 'withdrawn', superseded_by: null },
  ],
]
for (const [act, done] of acts)
  scenario(`${act.type}: what is so already is not done again`, { given: [started(), done], when: act, then: [] })
for (const act of [accept(), ...acts.slice(0, 4).map(([each]) => each)])
  scenario(`${act.type}: an application that is simply open is refused`, {
    given: [started()],
    when: act,
    then: rejected('conflict', undefined, 'anonymous'),
  })

describe('an answer that ended an application', () => {
  const given_back: ApplicationEvent = { type: 'ApplicationGivenBack', reason_message: null, ...days }
  const miner = [...applied('1992-03-10', { work: 'miner' }), referred]

  test('ends it again when it is quoted after it was given back unchanged', () => {
    expect(decided([...miner, given_back], quote())).toEqual([
      { type: 'ApplicationReferred', ...because('miner', 'refer') },
    ])
  })
  test('does not once the team has accepted it', () => {
    expect(issuedQuote(decided(miner, accept())).premium_pence).toBe(1250)
  })
  test('does not once it is another answer', () => {
    const changed = [...miner, given_back, answered({ work: 'clerk' })]
    expect(issuedQuote(decided(changed, quote())).premium_pence).toBe(1250)
  })
})

const startedAt = '2026-01-15T12:00:00.000Z'
const due = '2026-02-14T12:00:00.000Z'
const abandoned: ApplicationEvent = { type: 'ApplicationAbandoned', reason: 'inactive', superseded_by: null }
scenario('an application that nobody works on for 30 days is abandoned', {
  given: [started()],
  at: startedAt,
  when: { type: 'AbandonInactive', now: due },
  then: [abandoned],
})
scenario('not a moment earlier', {
  given: [started()],
  at: startedAt,
  when: { type: 'AbandonInactive', now: '2026-02-14T11:59:59.999Z' },
  then: [],
})
for (const closed of [referred, declined, abandoned])
  scenario(`not when it is not open: ${closed.type}`, {
    given: [started(), closed],
    at: startedAt,
    when: { type: 'AbandonInactive', now: due },
    then: [],
  })

const back: ApplicationEvent = {
  type: 'ApplicationReopened',
  from: 'abandoned',
  status: 'anonymous',
  reason_message: null,
  ...days,
}
scenario('a customer who comes back and saves finds it in its former status', {
  given: [started(), abandoned],
  when: save({ answers: { smoker: false } }),
  then: [back, answered({ smoker: false })],
})
scenario('whatever is saved', {
  given: [started(), abandoned],
  when: saveCustomer(given()),
  then: [back, customerSaved()],
})
scenario('even if nothing changes by it', {
  given: [started(), answered({ smoker: false }), abandoned],
  when: save({ answers: { smoker: false } }),
  then: [back],
})
scenario('what was withdrawn or superseded stays closed', {
  given: [started(), { type: 'ApplicationAbandoned', reason: 'withdrawn', superseded_by: null }],
  when: save({ answers: { smoker: false } }),
  then: rejected('application_closed'),
})

test('the team sees what was decided and why', () => {
  const { decisions } = recordOf([started(), { ...referred, ...because('miner', 'refer') }, postponed])
  expect(decisions).toMatchObject([
    { outcome: 'referred', cause: 'answer', reason_code: 'miner_refer' },
    { outcome: 'postponed', cause: 'team', ...why, until: '2026-09-01' },
  ])
})
