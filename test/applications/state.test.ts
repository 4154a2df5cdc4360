import { describe, expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import { latestQuote, pricedInputs, type ApplicationState } from '#domain/applications/state.ts'
import { nothingKnown } from '#domain/customers/record.ts'
import { CustomerId, QuoteId } from '#domain/values.ts'
import { approximateBytes } from '#infra/size.ts'
import { after, applied, firstId, quote, secondId } from '../quotes/builders.ts'
import { stateOf } from '../scenario.ts'
import { answered, bertId, customerSaved, started } from './builders.ts'

const stateAfter = (events: readonly ApplicationStreamEvent[]): ApplicationState => {
  const state = stateOf(application, events)
  if (!state) throw new Error('The application was not started.')
  return state
}

const partnerAnswered = (saved: Record<string, boolean>, ...removed: string[]) =>
  ({ type: 'PartnerAnswersSaved', customer_id: CustomerId.parse(bertId), saved, removed }) as const
const partnerSaved = (by: 'browser' | 'server') =>
  ({
    type: 'PartnerSaved',
    customer_id: CustomerId.parse(bertId),
    partner: { ...nothingKnown, first_name: 'Bert', country: 'GB' },
    sent: { first_name: 'Bert' },
    by,
    joint: { mode: 'always', factor_key: null, joint_values: [] },
  }) satisfies ApplicationStreamEvent

test('what happens to one quote changes no other', () => {
  const twice = after([...after(applied(), quote()), answered({ wine: true })], quote({ quote_id: secondId }))

  const state = stateAfter([...twice, { type: 'QuoteAccepted', quote_id: secondId, via: 'accept_quote' }])

  expect(state.quotes[0]).toEqual({ quote: { id: firstId, status: 'replaced' }, inputs_digest: null })
  expect(latestQuote(state)?.quote).toMatchObject({
    id: secondId,
    status: 'current',
    accepted_at: expect.any(String) as unknown,
  })
})

test('an application that was quoted a thousand times stays small', () => {
  const first = stateAfter(after(applied(), quote()))
  const issued = after(applied(), quote()).find((event) => event.type === 'QuoteIssued')
  if (!issued) throw new Error('There is no quote.')
  const again = Array.from({ length: 1_000 }, (_, number): ApplicationStreamEvent[] => {
    const quote_id = QuoteId.parse(`d0000000-0000-4000-8000-${String(number).padStart(12, '0')}`)
    return [
      { ...issued, quote_id },
      { type: 'QuoteReplaced', quote_id, replaced_by: secondId },
    ]
  }).flat()

  const state = stateAfter([...applied(), ...again, issued])

  expect(state.quotes).toHaveLength(1_001)
  expect(approximateBytes(state)).toBeLessThan(approximateBytes(first) + 1_000 * 250)
  expect(latestQuote(state)).toEqual(latestQuote(first))
})

test('of a former quote that had expired it is still known what it was priced on', () => {
  const expired = { type: 'QuoteExpired', quote_id: firstId } as const
  const renewed = after([...after(applied(), quote()), expired], quote({ quote_id: secondId }))

  expect(stateAfter(renewed).quotes[0]).toEqual({
    quote: { id: firstId, status: 'expired' },
    inputs_digest: expect.stringMatching(/^digest of /) as unknown,
  })
})

test('the provenance that was saved last is held', () => {
  const { provenance } = stateAfter([started(), { type: 'ProvenanceSaved', provenance: { page_title: 'Life' } }])

  expect(provenance).toEqual({ page_title: 'Life' })
})

test("the second person's answers are added, changed and removed", () => {
  const { partner_answers } = stateAfter([
    started(),
    partnerAnswered({ smoker: true, wine: true, note: true }),
    partnerAnswered({ beer: false, wine: false }, 'smoker'),
  ])

  expect(partner_answers).toEqual({ wine: false, beer: false, note: true })
})

test('the opt-out boxes were shown once any answer to them came, and stay so', () => {
  const boxes = (consent_answers: Record<string, false> | null) => customerSaved(undefined, { consent_answers })

  expect(stateAfter([started(), boxes(null)]).boxes_shown).toBe(false)
  expect(stateAfter([started(), boxes({})]).boxes_shown).toBe(true)
  expect(stateAfter([started(), boxes({}), boxes(null)]).boxes_shown).toBe(true)
})

test('when the details of each person were last saved is known', () => {
  const at = '2026-01-15T12:00:00.000Z'
  const soft = { type: 'SoftCustomerSaved', soft_customer: nothingKnown, by: 'server' } as const

  expect(stateAfter([started(), soft])).toMatchObject({ customer_saved_at: null, partner_saved_at: null })
  expect(stateAfter([started(), customerSaved()])).toMatchObject({ customer_saved_at: at, partner_saved_at: null })
  expect(stateAfter([started(), partnerSaved('server')])).toMatchObject({
    customer_saved_at: null,
    partner_saved_at: at,
  })
})

test('early details that a visitor typed open an application to visitors', () => {
  const soft = { type: 'SoftCustomerSaved', soft_customer: nothingKnown, by: 'browser' } as const

  expect(stateAfter([started(), soft]).open_to_visitors).toBe(true)
})

describe('an application is open to visitors', () => {
  for (const [name, events, expected] of [
    ['when one started it', [started({ started_by: 'browser' })], true],
    ['not when a server started it', [started()], false],
    ['once one has saved the customer', [started(), customerSaved(undefined, { by: 'browser' })], true],
    ['once one has saved the second person', [started(), partnerSaved('browser')], true],
    ['not when a server has saved both', [started(), customerSaved(), partnerSaved('server')], false],
    ['also after a server has saved both', [started({ started_by: 'browser' }), partnerSaved('server')], true],
  ] satisfies [string, ApplicationStreamEvent[], boolean][])
    test(name, () => {
      expect(stateAfter(events).open_to_visitors).toBe(expected)
    })
})

describe("the second person's answers are part of what is priced", () => {
  const inputs = (...events: ApplicationStreamEvent[]) => pricedInputs(stateAfter([started(), ...events]))

  test('when there is a second person', () => {
    const without = inputs(partnerSaved('server'))

    expect(inputs(partnerSaved('server'), partnerAnswered({ wine: true }))).toContain('"partner_answers":{"wine":true}')
    expect(without).not.toContain('partner_answers')
  })

  test('and else they are not', () => {
    expect(inputs(partnerAnswered({ wine: true }))).toBe(inputs())
  })
})
