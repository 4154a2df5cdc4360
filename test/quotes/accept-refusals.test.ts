import { describe, expect, test } from 'vitest'
import { acceptQuote } from '#domain/applications/accept.ts'
import { application } from '#domain/applications/application.ts'
import type { Fields } from '#domain/rejection.ts'
import { QuoteId } from '#domain/values.ts'
import { answered, application_id, declined, referred } from '../applications/builders.ts'
import { stateOf } from '../scenario.ts'
import { accept, after, applied, decided, firstId, now, quote, secondId } from './builders.ts'

const quoted = () => after(applied(), quote())
const refused = (message: string, fields?: Fields) =>
  expect.objectContaining({ name: 'Rejection', code: 'accept_failed', message, fields }) as Error

describe('a quote is accepted', () => {
  test('once', () => {
    const accepted = { type: 'QuoteAccepted', quote_id: firstId, via: 'accept_quote' }

    expect(decided(quoted(), accept())).toEqual([accepted])
    expect(decided(after(quoted(), accept()), accept())).toEqual([])
  })

  test('a millisecond before it expires', () => {
    expect(decided(quoted(), accept(null, '2026-07-01T08:59:59.999Z'))).toHaveLength(1)
  })

  test('again after answers were changed and changed back', () => {
    const outdated = { type: 'AcceptanceOutdated', application_id } as const
    const given = [...after(quoted(), accept()), outdated]

    expect(decided(given, accept())).toMatchObject([{ type: 'QuoteAccepted' }])
  })

  test('when a former quote was accepted and the new one was not', () => {
    const given = after([...after(quoted(), accept()), answered({ wine: true })], quote({ quote_id: secondId }))

    expect(decided(given, accept())).toMatchObject([{ type: 'QuoteAccepted', quote_id: secondId }])
  })
})

describe('a refusal to accept says why', () => {
  const again = 'Quote the application again and accept the new quote.'

  test('the application has ended', () => {
    const says = 'This application has ended: declined. Start another one.'
    expect(() => decided([...quoted(), declined], accept())).toThrow(refused(says))
  })

  test('the application is with the team', () => {
    const says = 'This application is with our team. Wait for what they decide.'
    expect(() => decided([...quoted(), referred], accept())).toThrow(refused(says))
  })

  test('there is no quote yet', () => {
    expect(() => decided(applied(), accept())).toThrow(refused('There is no quote yet. Quote the application first.'))
  })

  test('the application has no such quote, and then the input is named', () => {
    const command = accept(QuoteId.parse('d0000000-0000-4000-8000-000000000009'))
    const says = 'This application has no such quote. Leave it out to accept the current one.'

    for (const given of [quoted(), applied()])
      expect(() => decided(given, command)).toThrow(refused(says, { quote_id: says }))
  })

  test('the quote was replaced', () => {
    const given = after([...quoted(), answered({ wine: true })], quote({ quote_id: secondId }))
    expect(() => decided(given, accept(firstId))).toThrow(refused(`This quote was replaced by a newer one. ${again}`))
  })

  test('the quote has expired, whether or not that is recorded yet', () => {
    expect(() => decided(quoted(), accept(null, '2026-07-01T09:00:00.000Z'))).toThrow(
      refused(`This quote has expired. ${again}`),
    )
    expect(() => decided([...quoted(), { type: 'QuoteExpired', quote_id: firstId }], accept())).toThrow(
      refused(`This quote has expired. ${again}`),
    )
  })

  test('the quote was rejected', () => {
    const rejection = { type: 'QuoteRejected', quote_id: firstId, reason: null } as const
    expect(() => decided([...quoted(), rejection], accept())).toThrow(refused(`This quote was rejected. ${again}`))
  })

  test('the quote was bought', () => {
    const state = stateOf(application, quoted(), now)
    if (!state) throw new Error('The application was not started.')
    // No event says so until there are policies.
    const quotes = state.quotes.map((issued) => ({ ...issued, quote: { ...issued.quote, status: 'bought' as const } }))

    const accepting = () => acceptQuote(accept(), { ...state, quotes })

    expect(accepting).toThrow(refused(`This quote was already bought. ${again}`))
  })

  test('the answers have changed since it was priced', () => {
    const says = `The answers have changed since this quote was priced. ${again}`
    expect(() => decided([...quoted(), answered({ wine: true })], accept())).toThrow(refused(says))
  })
})
