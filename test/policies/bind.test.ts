import { describe, expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import { requireSale, type BindQuote } from '#domain/applications/bind.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import type { Release } from '#domain/catalogue/events.ts'
import { nothingKnown } from '#domain/customers/record.ts'
import { PaymentId, type PaymentEvent } from '#domain/payments/events.ts'
import { ApiApplicationId, PolicyId } from '#domain/values.ts'
import { answered, covered, customerSaved, declined, started } from '../applications/builders.ts'
import { jointJourney } from '../applications/release.ts'
import { bindableAt, checkoutRelease, confirm, sha256 } from '../checkout/builders.ts'
import { accept, after, decided, firstId, journeyWith, now, quote, secondId } from '../quotes/builders.ts'
import { tables } from '../rating/request.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { anna, bankDetailsSaved } from './builders.ts'

const scenario = scenariosOf(application)
const caller = ApiApplicationId.parse('d0000000-0000-4000-8000-000000000001')
const policy_id = PolicyId.parse('b0000000-0000-4000-8000-000000000001')
const policy_number = 'POL-123456782'

const bind = (changes: Partial<BindQuote> = {}): BindQuote => ({
  type: 'BindQuote',
  quote_id: firstId,
  release: checkoutRelease(),
  journey: journeyWith('smoker'),
  rate_tables: tables,
  ...bindableAt(),
  today: '2026-06-01',
  asked: { start_date: null, collection_day: null },
  caller,
  idempotency_key: null,
  policy_id,
  policy_number,
  is_sandbox: false,
  ...changes,
})

type Changes = {
  readonly started?: Parameters<typeof started>[0]
  readonly customer?: Partial<typeof anna>
  readonly release?: Release
  readonly start_date?: string
}

/** An application that was quoted, with bank details and without anything confirmed. */
const quoted = ({ release = checkoutRelease(), customer = anna, start_date, ...changes }: Changes = {}) => {
  const given = [
    started({ inline_bacs_mandate: false, direct_debit_first: true, ...changes.started }),
    customerSaved(customer),
    answered({ smoker: false }),
    covered({ cover_amount_pence: 25_000_000, term_years: 25 }),
  ]
  return after(given, quote({ release, digest: sha256, start_date: start_date ?? null }))
}
const confirmed = (changes: Changes = {}) => after(quoted(changes), confirm(changes.release))
const ready = (changes: Changes = {}) => [...confirmed(changes), bankDetailsSaved(firstId)]
const bought = (given = ready(), command = bind()) => {
  const event = decided(given, command).find(({ type }) => type === 'QuoteBought')
  if (event?.type !== 'QuoteBought') throw new Error('The quote was not bought.')
  return event
}

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

describe('the start date', () => {
  const asked = (start_date: string) => ({ start_date, collection_day: null })
  const wide = quoted({ start_date: '2026-06-20' })
  const later = [...after(wide, confirm()), bankDetailsSaved(firstId)]

  test('is that of the quote when none is sent', () => {
    expect(bought(later).start_date).toBe('2026-06-20')
  })

  test('is tomorrow when that of the quote has passed', () => {
    const at = { now: '2026-06-25T09:00:00.000Z', today: '2026-06-25' }

    expect(bought(later, bind(at)).start_date).toBe('2026-06-26')
  })

  test('is where it has passed one on which cover costs what was quoted, and ends as many years later', () => {
    const given = [...confirmed({ customer: { ...anna, dob: '1992-06-10' } }), bankDetailsSaved(firstId)]
    const on = (today: string, time: string) => bind({ now: `${today}T${time}Z`, today })

    for (const [today, start_date] of [
      ['2026-06-02', '2026-06-02'],
      ['2026-06-03', '2026-06-04'],
      ['2026-06-08', '2026-06-09'],
    ] as const) {
      const sold = bought(given, on(today, '12:00:00.000'))
      expect(sold).toMatchObject({ start_date, expires_on: [{ expires_on: `2051${start_date.slice(4)}` }] })
    }
    expect(() => decided(given, on('2026-06-09', '12:00:00.000'))).toThrow(
      expect.objectContaining({
        code: 'quote_not_bindable',
        message: expect.stringContaining('2026-06-10') as unknown,
      }),
    )
  })

  test('is that of the quote on that very day', () => {
    const at = { now: '2026-06-20T09:00:00.000Z', today: '2026-06-20' }

    expect(bought(later, bind(at)).start_date).toBe('2026-06-20')
  })

  test.each(['2026-06-01', '2026-08-30'])('may be %s: from today to 90 days on', (start_date) => {
    const sold = bought(ready(), bind({ asked: asked(start_date) }))

    expect(sold.start_date).toBe(start_date)
    // A later start is a later end.
    expect(sold.expires_on).toEqual([{ cover_index: 0, expires_on: `2051${start_date.slice(4)}` }])
  })

  test.each(['2026-05-31', '2026-08-31'])('may not be %s', (start_date) => {
    expect(() => decided(ready(), bind({ asked: asked(start_date) }))).toThrow(
      expect.objectContaining({
        code: 'validation_failed',
        message: 'Correct start_date and send the request again.',
        fields: { start_date: 'must be from 2026-06-01 to 2026-08-30' },
      }),
    )
  })

  test('may be another for what the team accepted, though the rules refer it: the price is the one of its terms', () => {
    const referred = after(
      [
        started({ inline_bacs_mandate: false, direct_debit_first: true }),
        customerSaved(anna),
        answered({ smoker: false, alcohol_units: 40 }),
        covered({ cover_amount_pence: 25_000_000, term_years: 25 }),
      ],
      quote({ release: checkoutRelease(), digest: sha256 }),
    )
    const { type: _type, ...quoting } = quote({ release: checkoutRelease(), digest: sha256 })
    const loadings = [
      { code: 'team', label: 'Agreed', basis: 'percent', value: '50', cover_types: null, life: 1 },
    ] as const
    const accepted = after(referred, {
      ...quoting,
      type: 'AcceptReferred',
      loadings: [...loadings],
      reason_message: null,
    })
    const given = [...after(accepted, confirm()), bankDetailsSaved(firstId)]

    expect(bought(given, bind({ asked: asked('2026-06-20') })).start_date).toBe('2026-06-20')
    // Nobody asked for a day, and that of the quote has passed.
    const at = { now: '2026-06-05T09:00:00.000Z', today: '2026-06-05' }
    expect(bought(given, bind(at)).start_date).toBe('2026-06-06')
  })

  scenario('409 quote_not_bindable: cover that starts after a birthday has another price', {
    given: [...confirmed({ customer: { ...anna, dob: '1992-07-10' } }), bankDetailsSaved(firstId)],
    at: now,
    when: bind({ asked: asked('2026-07-10') }),
    then: rejected('quote_not_bindable', undefined, 'another price'),
  })
})

describe('the day of collection', () => {
  const asked = (collection_day: number) => ({ start_date: null, collection_day })

  test('is what was asked for, where the product allows it', () => {
    expect(bought(ready(), bind({ asked: asked(28) })).collection_day).toBe(28)
  })

  test.each([
    ['2026-06-20', 21],
    ['2026-06-21', 21],
    ['2026-06-22', 28],
    ['2026-06-28', 28],
    ['2026-06-29', 1],
    ['2026-06-30', 1],
  ])('is else the first possible one from the day on which cover starts: %s gives %i', (start_date, day) => {
    expect(bought(ready({ start_date })).collection_day).toBe(day)
  })

  scenario('422 validation_failed: a day that the product does not allow', {
    given: ready(),
    at: now,
    when: bind({ asked: asked(2) }),
    then: rejected('validation_failed', { collection_day: 'must be one of 1, 7, 14, 21, 28' }),
  })
})

describe('a card payment of the first premium', () => {
  const payment_id = PaymentId.parse('f0000000-0000-4000-8000-000000000001')
  const card: PaymentEvent[] = [
    {
      type: 'CardPaymentOpened',
      payment_id,
      quote_id: firstId,
      payment_intent_id: 'pi_1',
      provider_customer_id: 'cus_1',
      amount_pence: 1234,
      currency_code: 'GBP',
      idempotency_key: null,
    },
    {
      type: 'CardPaymentTaken',
      payment_id,
      status: 'succeeded',
      card_brand: 'visa',
      card_last4: '4242',
      idempotency_key: null,
      paid_at: now,
    },
  ]
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

describe('binding is refused, the first thing that stands in the way first', () => {
  const nobody = { ...anna, address_line1: null as unknown as string }
  const unsellable = checkoutRelease({ demands_and_needs: { required: true, statement: null } })
  const missing = { started: { inline_bacs_mandate: false } }

  test.each<[string, readonly ApplicationStreamEvent[], Partial<BindQuote>]>([
    ['quote_not_bindable', [...ready(), declined], {}],
    ['quote_not_bindable', [...ready(), covered({ cover_amount_pence: 1_000_000, term_years: 25 })], {}],
    ['quote_expired', ready(), { now: '2026-07-01T09:00:00.000Z', today: '2026-07-01' }],
    ['not_sellable', quoted({ release: unsellable }), { release: unsellable }],
    ['steps_owed', quoted({ customer: nobody }), {}],
    ['customer_missing', confirmed({ customer: nobody }), {}],
    ['direct_debit_missing', confirmed(missing), {}],
    ['direct_debit_missing', ready({ started: { inline_bacs_mandate: true } }), {}],
  ])('%s', (code, given, changes) => {
    expect(() => decided(given, bind(changes))).toThrow(expect.objectContaining({ name: 'Rejection', code }))
  })

  test('what is owed, and what is missing of the customer, is named', () => {
    expect(() => decided(quoted(), bind())).toThrow(/initial_disclosure, demands_and_needs/)
    expect(() => decided(confirmed({ customer: nobody }), bind())).toThrow(
      expect.objectContaining({ fields: { 'customer.address_line1': 'required' } }),
    )
  })

  test('whoever pays by Direct Debit needs an address, of their own or of the account', () => {
    const bank = bankDetailsSaved(firstId)
    if (bank.type !== 'BankDetailsSaved') throw new Error('These are no bank details.')
    const at = (address_line1: string | null, address_postal_code: string | null) => [
      ...confirmed({ customer: nobody }),
      { ...bank, bank_details: { ...bank.bank_details, address_line1, address_postal_code } },
    ]

    expect(bought(at('1 High Street', 'SW1A 1AA')).quote_id).toBe(firstId)
    expect(() => decided(at('1 High Street', null), bind())).toThrow('customer.address_line1')
    expect(() => decided(at(null, 'SW1A 1AA'), bind())).toThrow('customer.address_line1')
  })

  test('customer_missing: all that a sale needs of the customer is named', () => {
    const soft = { type: 'SoftCustomerSaved', soft_customer: { ...nothingKnown, dob: anna.dob }, by: 'server' } as const
    const [first, , ...rest] = after(
      [
        started({ inline_bacs_mandate: false, direct_debit_first: true }),
        soft,
        answered({ smoker: false }),
        covered({ cover_amount_pence: 25_000_000, term_years: 25 }),
      ],
      quote({ release: checkoutRelease(), digest: sha256 }),
    )
    if (!first) throw new Error('The application was not started.')

    expect(() => decided(after([first, soft, ...rest], confirm()), bind())).toThrow(
      expect.objectContaining({
        code: 'customer_missing',
        message:
          'Save customer.first_name, customer.last_name, customer.email, customer.dob, customer.address_line1, customer.postal_code on the application first.',
      }),
    )
  })

  test('direct_debit_missing says how one is set up', () => {
    expect(() => decided(confirmed(missing), bind())).toThrow('Send direct_debit_details first')
    expect(() => decided(ready({ started: { inline_bacs_mandate: true } }), bind())).toThrow('bacs_mandate first')
  })

  test('partner_missing: cover for two without the second person', () => {
    const release: Release = {
      ...checkoutRelease(),
      journeys: [jointJourney],
      joint: { mode: 'always', factor_key: null, joint_values: [] },
    }

    expect(() => decided(ready(), bind({ release }))).toThrow(
      expect.objectContaining({
        code: 'partner_missing',
        message: expect.stringContaining('second person') as unknown,
      }),
    )
  })
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
