import { describe, expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import {
  Application,
  ApplicationRecord,
  ApplicationStatus,
  evolveRecord,
  journeyOfApplication,
  presentationOfApplication,
  renderApplication,
  type ApplicationStreamEvent,
} from '#domain/applications/record.ts'
import { JourneyId, QuoteId } from '#domain/values.ts'
import { stateOf } from '../scenario.ts'
import { answered, application_id, customerSaved, declined, otherApplicationId, referred, started } from './builders.ts'
import { fullJourney, plainJourney, release, shortPresentation, standardPresentation } from './release.ts'

const at = '2026-01-15T12:00:00.000Z'
const recordOf = (...events: readonly ApplicationStreamEvent[]) => {
  const state = stateOf(application, [started(), ...events], at)
  if (!state) throw new Error('The application was not started.')
  return state.record
}

test('an application is shown with everything that is known of it', () => {
  const record = recordOf(answered({ smoker: true }))
  const hidden = ['presentation', 'share_token', 'display_id']
  const names = Object.keys(Application.shape).filter((name) => !hidden.includes(name))
  const shown = Object.fromEntries(Object.entries(record).filter(([name]) => names.includes(name)))

  expect(renderApplication(record, standardPresentation)).toEqual({
    ...shown,
    display_id: `app_${application_id}`,
    presentation: standardPresentation,
  })
})

describe('the status of an application', () => {
  const quote_id = QuoteId.parse('d0000000-0000-4000-8000-000000000001')
  const accepted = { type: 'QuoteAccepted', quote_id, via: 'accept_quote' } as const
  const ended = { cause: 'answer', reason_code: null, reason_message: null } as const

  for (const [status, events] of [
    ['anonymous', []],
    ['in_capture', [customerSaved()]],
    ['quoted', [customerSaved(), accepted]],
    ['quoted', [customerSaved(), accepted, customerSaved()]],
    ['quoted', [accepted, { type: 'QuoteRejected', quote_id, reason: null }]],
    ['in_capture', [customerSaved(), accepted, { type: 'AcceptanceOutdated', application_id }]],
    ['declined', [declined]],
    ['postponed', [{ type: 'ApplicationPostponed', ...ended, until: null }]],
    ['referred', [referred]],
  ] satisfies [ApplicationStatus, ApplicationStreamEvent[]][])
    test(`is ${status} after ${events.map(({ type }) => type).join(', ') || 'the start'}`, () => {
      expect(recordOf(...events).status).toBe(status)
    })

  test('is abandoned, for a reason, once another application has superseded it', () => {
    const reason = 'superseded_by_retry'
    const superseded = { type: 'ApplicationAbandoned', reason, superseded_by: otherApplicationId } as const

    expect(recordOf(superseded)).toMatchObject({ status: 'abandoned', abandoned_reason: reason })
  })

  test('is one of ten', () => {
    for (const status of ['started', 'in_capture', 'quoted', 'referred', 'bound', 'declined', 'postponed'])
      expect(ApplicationStatus.safeParse(status).success).toBe(true)
    for (const status of ['abandoned', 'anonymous', 'handed_off'])
      expect(ApplicationStatus.safeParse(status).success).toBe(true)
    expect(ApplicationStatus.safeParse('').success).toBe(false)
  })
})

test('an answer that was removed is shown no more', () => {
  const { risk_factors } = recordOf(
    answered({ smoker: true, cigarettes: 20 }),
    answered({ smoker: false }, 'cigarettes'),
  )

  expect(risk_factors).toEqual({ smoker: false })
})

describe('the journey and the presentation of an application', () => {
  const placed = (journey_id: JourneyId, presentation_id: typeof standardPresentation.id | null = null) => ({
    journey_id,
    presentation_id,
  })

  test('are those that it was started with', () => {
    expect(journeyOfApplication(release, placed(plainJourney.id))).toBe(plainJourney)
    expect(presentationOfApplication(release, placed(fullJourney.id, shortPresentation.id))).toBe(shortPresentation)
  })

  test('may be no presentation', () => {
    expect(presentationOfApplication(release, placed(fullJourney.id))).toBeNull()
  })

  test('are a fault of ours when the release has no such journey', () => {
    const unknown = JourneyId.parse('30000000-0000-4000-8000-000000000099')

    expect(() => journeyOfApplication(release, placed(unknown))).toThrow(`has no journey ${unknown}`)
  })
})

test('nothing is known of an application before it was started', () => {
  for (const event of [declined, answered({ smoker: true }), customerSaved()]) {
    expect(evolveRecord(undefined, event, { occurred_at: at })).toBeUndefined()
    expect(application.evolve(undefined, event, { occurred_at: at })).toBeUndefined()
  }
  expect(application.category).toBe('application')
})

test('what the read model holds of an application is everything but what is worked out when it is shown', () => {
  const record = recordOf(answered({ smoker: true }), customerSaved())

  expect(ApplicationRecord.parse({ ...record, share_token: 'x', display_id: 'x', presentation: null })).toEqual(record)
})
