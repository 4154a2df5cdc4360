import { describe, expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import { requireSale } from '#domain/applications/bind.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import { MandateId } from '#domain/payments/events.ts'
import { ApiApplicationId } from '#domain/values.ts'
import { started } from '../applications/builders.ts'
import { product_id } from '../applications/release.ts'
import { sha256 } from '../checkout/builders.ts'
import { accept, after, decided, firstId, now, secondId } from '../quotes/builders.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { bind, bought, confirmed, policy_id, policy_number, ready } from './bind-builders.ts'
import { bankDetailsSaved } from './builders.ts'
import { cardPaid, payment_id } from '../premiums/paid-by-card.ts'

const scenario = scenariosOf(application)

describe('a quote is accepted by binding it', () => {
  const accepted: ApplicationStreamEvent = { type: 'QuoteAccepted', quote_id: firstId, via: 'bind' }

  test('when only the team has accepted the application', () => {
    const referred: ApplicationStreamEvent = {
      type: 'ApplicationReferred',
      cause: 'answer',
      reason_code: null,
      reason_message: null,
    }
    const byTeam: ApplicationStreamEvent = {
      type: 'ApplicationAccepted',
      status: 'quoted',
      inputs_digest: 'x',
      loadings: [],
      reason_message: null,
      inactive_after_days: 30,
    }

    expect(decided([...ready(), referred, byTeam], bind())[0]).toEqual(accepted)
  })

  test('when the answers were others meanwhile', () => {
    const { application_id } = started() as Extract<ApplicationStreamEvent, { type: 'ApplicationStarted' }>
    const given = [
      ...after(ready(), { ...accept(), digest: sha256 }),
      { type: 'AcceptanceOutdated', application_id } as const,
    ]

    expect(decided(given, bind())[0]).toEqual(accepted)
  })
})

describe('the sale is decided in one append', () => {
  test('a quote that was not accepted is accepted by binding it, bought, and its application bound', () => {
    expect(decided(ready(), bind())).toEqual([
      { type: 'QuoteAccepted', quote_id: firstId, via: 'bind' },
      expect.objectContaining({
        type: 'QuoteBought',
        policy_id,
        policy_number,
        start_date: '2026-06-02',
        collection_day: 7,
        bought_on: '2026-06-01',
        test: false,
      }),
      { type: 'ApplicationBound', policy_id, policy_number },
    ])
  })

  test('an accepted one is not accepted again', () => {
    const given = after(ready(), { ...accept(), digest: sha256 })

    expect(decided(given, bind()).map(({ type }) => type)).toEqual(['QuoteBought', 'ApplicationBound'])
  })

  test('a policy of a sandbox product, or sold with the test account, is a test', () => {
    expect(bought(ready(), bind({ is_sandbox: true })).test).toBe(true)
    expect(bought(ready({ started: { stripe_test_mode: true } })).test).toBe(true)
  })
})

describe('a card payment of the first premium', () => {
  const card = cardPaid({ quote_id: firstId, amount_pence: 1234, paid_at: now })
  const byCard = { started: { direct_debit_first: false } }

  scenario('422 first_payment_missing: it is not taken', {
    given: ready(byCard),
    at: now,
    when: bind(),
    then: rejected('first_payment_missing', undefined, 'payment_intent and card_payment'),
  })

  test('is used for the policy in the same append', () => {
    expect(decided([...ready(byCard), ...card], bind()).at(-1)).toEqual({
      type: 'CardPaymentUsed',
      payment_id,
      policy_id,
    })
  })
})

const made: ApplicationStreamEvent = {
  type: 'MandateCreated',
  quote_id: firstId,
  session_id: 'cs_1',
  mandate_id: MandateId.parse('f1000000-0000-4000-8000-000000000001'),
  provider_mandate_id: 'mandate_1',
  provider_customer_id: 'cus_1',
  provider_payment_method_id: 'pm_1',
  account_number_last4: '2345',
  product_id,
}

test('a mandate that was made on the provider’s form is enough, without bank details', () => {
  const onForm = { started: { inline_bacs_mandate: true } }

  expect(bought([...confirmed(onForm), made])).toMatchObject({ quote_id: firstId })
})

test('the account of a sale that is sent again is the same, also once a mandate was made from it', () => {
  const saved = bankDetailsSaved(firstId)
  if (saved.type !== 'BankDetailsSaved') throw new Error('There are no bank details.')
  const again = { type: 'ReplaceBankDetails', bank_details: saved.bank_details } as const

  expect(decided([...after(ready(), bind()), made], again)).toEqual([])
})

describe('a bought quote', () => {
  const sold = after(ready(), bind({ idempotency_key: 'key-1' }))
  const other = ApiApplicationId.parse('d0000000-0000-4000-8000-000000000002')
  const asked = { start_date: null, collection_day: 14 }

  test('is not bought again by the same key, or by the same caller with the same inputs', () => {
    expect(decided(sold, bind({ idempotency_key: 'key-1', caller: other, asked }))).toEqual([])
    expect(decided(sold, bind({ idempotency_key: 'key-2' }))).toEqual([])
    expect(decided(sold, bind({ now: '2027-06-01T09:00:00.000Z', today: '2027-06-01' }))).toEqual([])
  })

  test('is found again although the start date that was asked for has passed since', () => {
    const started_on = { start_date: '2026-06-10', collection_day: null }
    const then = after(ready({ start_date: '2026-06-10' }), bind({ asked: started_on }))

    expect(decided(then, bind({ asked: started_on, today: '2026-07-01' }))).toEqual([])
  })

  test('is not found again by nobody’s key', () => {
    const keyless = after(ready(), bind())

    expect(decided(keyless, bind())).toEqual([])
    expect(() => decided(keyless, bind({ caller: other }))).toThrow('already bought')
    expect(() => decided(sold, bind({ caller: other, idempotency_key: 'key-2' }))).toThrow('already bought')
  })

  test('is the sale by which the policy is found', () => {
    const of = (given: readonly ApplicationStreamEvent[], id = firstId) => {
      const state = stateOf(application, given, now)
      return state && requireSale(state, id)
    }

    expect(of(sold)).toMatchObject({ quote_id: firstId, policy_id })
    expect(() => of(ready())).toThrow('no quote with this id')
    expect(() => of(sold, secondId)).toThrow('no quote with this id')
  })

  test.each([{ caller: other }, { asked }, { asked: { start_date: '2026-06-03', collection_day: null } }])(
    'is quote_not_bindable for another request',
    (changes) => {
      expect(() => decided(sold, bind(changes))).toThrow(expect.objectContaining({ code: 'quote_not_bindable' }))
    },
  )
})
