import { describe, expect, test } from 'vitest'
import type { BindQuote } from '#domain/applications/bind.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import type { Release } from '#domain/catalogue/events.ts'
import { nothingKnown } from '#domain/customers/record.ts'
import { answered, covered, declined, started } from '../applications/builders.ts'
import { jointJourney } from '../applications/release.ts'
import { checkoutRelease, confirm, sha256 } from '../checkout/builders.ts'
import { after, decided, firstId, quote } from '../quotes/builders.ts'
import { bind, bought, confirmed, quoted, ready } from './bind-builders.ts'
import { anna, bankDetailsSaved } from './builders.ts'

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
