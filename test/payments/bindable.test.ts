import { describe, expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import { requireBindable } from '#domain/applications/bindable.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import type { ErrorCode } from '#domain/rejection.ts'
import { PolicyId, QuoteId } from '#domain/values.ts'
import { answered, api_application_id, declined, referred } from '../applications/builders.ts'
import { after, applied, digest, firstId, now, quote, secondId } from '../quotes/builders.ts'
import { stateOf } from '../scenario.ts'

const quoted = () => after(applied(), quote())
const later = '2026-07-01T09:00:00.000Z'

const givenUp: ApplicationStreamEvent = { type: 'ApplicationAbandoned', reason: 'inactive', superseded_by: null }

const check = (given: readonly ApplicationStreamEvent[], { id = firstId, at = now } = {}) => {
  const state = stateOf(application, given, now)
  if (!state) throw new Error('The application was not started.')
  return requireBindable(state, id, { now: at, digest })
}
const refused = (code: ErrorCode, says: string) =>
  expect.objectContaining({ name: 'Rejection', code, message: expect.stringContaining(says) as unknown }) as Error

describe('a quote can be bought', () => {
  test('while it is current, in time, and priced on the answers as they are', () => {
    expect(check(quoted()).quote.id).toBe(firstId)
    expect(check(quoted(), { at: '2026-07-01T08:59:59.999Z' }).quote.id).toBe(firstId)
  })

  test('again after answers were changed and changed back', () => {
    const given = [...quoted(), answered({ wine: true }), answered({}, 'wine')]
    expect(check(given).quote.id).toBe(firstId)
  })
})

describe('quote_not_bindable', () => {
  test('when it was replaced', () => {
    const given = after([...quoted(), answered({ wine: true })], quote({ quote_id: secondId }))
    expect(() => check(given)).toThrow(
      refused('quote_not_bindable', 'replaced by a newer one. Quote the application again'),
    )
    expect(check(given, { id: secondId }).quote.id).toBe(secondId)
  })

  test('when it was rejected, even if it has expired too', () => {
    const given = [...quoted(), { type: 'QuoteRejected', quote_id: firstId, reason: null } as const]
    expect(() => check(given, { at: later })).toThrow(refused('quote_not_bindable', 'rejected'))
  })

  test('when the answers have changed since it was priced, even if it has expired too', () => {
    const given = [...quoted(), answered({ wine: true })]
    expect(() => check(given)).toThrow(refused('quote_not_bindable', 'answers have changed'))
    expect(() => check(given, { at: later })).toThrow(refused('quote_not_bindable', 'answers have changed'))
  })

  test('when it was bought', () => {
    const sold: ApplicationStreamEvent = {
      type: 'QuoteBought',
      quote_id: firstId,
      policy_id: PolicyId.parse('b0000000-0000-4000-8000-000000000001'),
      policy_number: 'POL-123456782',
      start_date: '2026-06-02',
      collection_day: 1,
      expires_on: [],
      bought_on: '2026-06-01',
      test: false,
      asked: { start_date: null, collection_day: null },
      bought_by: api_application_id,
      idempotency_key: null,
    }
    expect(() => check([...quoted(), sold], { at: later })).toThrow(
      refused('quote_not_bindable', 'This quote was already bought. Read the policy that its policy_id names.'),
    )
  })

  test('when the application has ended, and the refusal says what to do', () => {
    expect(() => check([...quoted(), declined])).toThrow(
      refused('quote_not_bindable', 'This application has ended: declined. Start another one.'),
    )
  })

  test('when the application is with the team, and the refusal says to wait', () => {
    expect(() => check([...quoted(), referred])).toThrow(
      refused('quote_not_bindable', 'This application is with our team. Wait for what they decide.'),
    )
  })
})

describe('quote_expired', () => {
  test('when only its time is over, whether or not that is recorded yet', () => {
    expect(() => check(quoted(), { at: later })).toThrow(refused('quote_expired', 'has expired'))
    const given = [...quoted(), { type: 'QuoteExpired', quote_id: firstId } as const]
    expect(() => check(given)).toThrow(refused('quote_expired', 'has expired'))
  })

  test('also when nobody came back meanwhile, and the application was given up', () => {
    expect(() => check([...quoted(), givenUp], { at: later })).toThrow(
      refused('quote_expired', 'Save something on it to open it again.'),
    )
    expect(() => check([...quoted(), givenUp])).toThrow(
      refused('quote_not_bindable', 'Save something on it to open it again.'),
    )
  })
})

test('a quote of another application is not found', () => {
  const id = QuoteId.parse('d0000000-0000-4000-8000-000000000009')
  expect(() => check(quoted(), { id })).toThrow(refused('not_found', 'no quote with this id'))
})
