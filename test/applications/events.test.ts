import { expect, test } from 'vitest'
import { AbandonedReason, applicationEvents } from '#domain/applications/events.ts'
import { nothingKnown } from '#domain/customers/record.ts'
import { fromStored, toStored } from '#domain/event.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import { QuoteId } from '#domain/values.ts'
import { applied, decided, issuedQuote, quote } from '../quotes/builders.ts'
import { anna, annaId, customerSaved, declined } from './builders.ts'

const details = { ...nothingKnown, ...anna }

test.each([
  ['CustomerSaved', 'customer', { consent_answers: null, marketing_answers: null }],
  ['PartnerSaved', 'partner', { joint: { mode: 'always', factor_key: null, joint_values: [] } }],
] as const)('the person of %s had their id among their details in version 1', (type, name, rest) => {
  const stored = { [name]: { id: annaId, ...details }, sent: anna, by: 'server', ...rest }

  const read = fromStored(applicationEvents, { type, schema_version: 1, data: stored })

  expect(read).toEqual({ type, customer_id: annaId, [name]: details, sent: anna, by: 'server', ...rest })
})

test('what is told of a person is encrypted under their own key', () => {
  const { type: _type, ...data } = customerSaved()

  expect(applicationEvents.CustomerSaved.subject(data, 'stream')).toBe(annaId)
  expect(applicationEvents.PartnerSaved.subject(data, 'stream')).toBe(annaId)
  expect(applicationEvents.AnswersSaved.subject({}, 'stream')).toBeNull()
})

test('an application ends by an answer or by underwriting, or is abandoned for one of three reasons', () => {
  const byUnderwriting = { ...declined, cause: 'underwriting' } as typeof declined

  for (const event of [declined, byUnderwriting])
    expect(fromStored(applicationEvents, toStored(applicationEvents, event))).toEqual(event)
  expect(AbandonedReason.options).toEqual(['superseded_by_retry', 'inactive', 'withdrawn'])
})

test('a quote is standard or loaded, and accepted by itself or by what binds it', () => {
  const issued = issuedQuote(decided(applied(), quote()))
  const quote_id = QuoteId.parse(issued.quote_id)

  for (const event of [
    issued,
    { ...issued, decision: 'loaded' },
    { type: 'QuoteAccepted', quote_id, via: 'accept_quote' },
    { type: 'QuoteAccepted', quote_id, via: 'bind' },
  ] as const)
    expect(fromStored(quoteEvents, toStored(quoteEvents, event))).toEqual(event)
})
