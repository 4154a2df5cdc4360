import { describe, expect, test } from 'vitest'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import type { PolicyEvent } from '#domain/policies/events.ts'
import type { SetUpPolicy } from '#domain/policies/set-up.ts'
import { CustomerId } from '#domain/values.ts'
import { disclosure, terms } from '../checkout/builders.ts'
import { payment_id } from '../premiums/paid-by-card.ts'
import { byCard, setUp } from './sold.ts'

/** What a sale on 1 June 2026 makes of a policy whose cover starts on the 2nd. */

type Component = SetUpPolicy['sale']['quote']['components'][number]
type Release = SetUpPolicy['release']

const withRelease = (change: (release: Release) => Partial<Release>) =>
  setUp({ otherwise: (command) => ({ ...command, release: { ...command.release, ...change(command.release) } }) })

/** A policy of several covers, each with an end of its own. */
const withCovers = (...covers: readonly (Partial<Component> & { readonly ends: string | null })[]) =>
  setUp({
    otherwise: (command) => {
      const { quote, bought } = command.sale
      const [first] = quote.components
      if (!first) throw new Error('Nothing is covered.')
      const components = covers.map(({ ends: _ends, ...changes }, cover_index) => ({
        ...first,
        ...changes,
        cover_index,
      }))
      const expires_on = covers.map(({ ends }, cover_index) => ({ cover_index, expires_on: ends }))
      const sale = { ...command.sale, quote: { ...quote, components }, bought: { ...bought, expires_on } }
      return { ...command, sale }
    },
  }).bound

describe('the end of cover', () => {
  test.each([
    [['2051-06-02'], '2051-06-02'],
    [['2051-06-02', '2046-06-02'], '2051-06-02'],
    [['2046-06-02', '2051-06-02'], '2051-06-02'],
    [['2046-06-02', null], null],
    [[null, '2046-06-02'], null],
    [[null, '2046-06-02', '2051-06-02'], null],
    [[null], null],
    [[], null],
  ] as const)('covers that end on %j end on %s', (ends, end_date) => {
    const bound = withCovers(...ends.map((each) => ({ ends: each })))
    expect(bound.end_date).toBe(end_date)
    expect(bound.components.map(({ expires_on }) => expires_on)).toEqual(ends)
  })

  test('a cover of which the sale says no end has none', () => {
    const { bound } = setUp({
      otherwise: (command) => ({
        ...command,
        sale: { ...command.sale, bought: { ...command.sale.bought, expires_on: [] } },
      }),
    })
    expect([bound.end_date, bound.components[0]?.expires_on]).toEqual([null, null])
  })
})

describe('reviews and indexation', () => {
  const reviewable = (review_period_years: number | null) =>
    ({ ends: null, premium_basis: 'reviewable', review_period_years }) as const
  const guaranteed = { ends: null, premium_basis: 'guaranteed', review_period_years: 1 } as const
  test('the first review is after the shortest period of a reviewable cover', () => {
    expect(withCovers(reviewable(10), reviewable(5), reviewable(7)).next_review_on).toBe('2031-06-02')
    expect(withCovers(guaranteed, reviewable(10)).next_review_on).toBe('2036-06-02')
    expect(withCovers(guaranteed, reviewable(null)).next_review_on).toBeNull()
  })
  test('one cover that follows prices is enough', () => {
    const cover = (indexation_method: Component['indexation_method']) => ({ ends: null, indexation_method })
    expect(withCovers(cover('none'), cover('rpi')).next_indexation_on).toBe('2027-06-02')
    expect(withCovers(cover('none'), cover('decreasing')).next_indexation_on).toBeNull()
  })
})

test.each([
  [30, '2026-07-02'],
  [1, '2026-06-03'],
  [0, null],
])('with %s days to cool off they end on %s', (cooldown_days, date) => {
  expect(withRelease(() => ({ cooldown_days })).bound.cooling_off_ends_on).toBe(date)
})

describe('what is given after the sale', () => {
  const given = (
    key_documents: Release['checkout']['key_documents'],
    cancellation: 'before_bind' | 'after_bind' | null,
  ) =>
    withRelease(({ checkout }) => ({
      cooldown_days: 14,
      checkout: {
        ...checkout,
        key_documents,
        cancellation: cancellation && { statement: 'You can cancel.', given: cancellation },
      },
    })).bound.given_after_bind
  const documents = {
    step: 'key_documents_after_bind',
    documents: [{ document_id: terms.document_id, version_id: terms.version_id }],
    cancellation_days: null,
  }
  const rights = { step: 'cancellation_rights_after_bind', documents: [], cancellation_days: 14 }
  test.each([
    ['nothing where all was given before', [disclosure], 'before_bind', []],
    ['nothing where there is nothing', [], null, []],
    ['the documents that are given then', [disclosure, terms], 'before_bind', [documents]],
    ['the right to cancel', [disclosure], 'after_bind', [rights]],
    ['both', [terms], 'after_bind', [documents, rights]],
  ] as const)('%s', (_name, key_documents, cancellation, then) => {
    expect(given([...key_documents], cancellation)).toEqual(then)
  })
})

describe('the first premium', () => {
  const authorised = byCard.map((event): ApplicationStreamEvent =>
    event.type === 'CardPaymentTaken' ? { ...event, status: 'authorised' } : event,
  )
  const paidBy = (paid: readonly ApplicationStreamEvent[]) => setUp({ paid, direct_debit_first: paid.length === 0 })
  test('is to be collected by Direct Debit where no card paid', () => {
    const { bound, others } = paidBy([])
    expect(bound).toMatchObject({
      card_payment_id: null,
      first_premium: { method: 'direct_debit', status: 'pending', paid_at: null },
    })
    expect(others).toEqual([])
  })
  test('is paid by the card that was charged', () => {
    const { bound, others } = paidBy(byCard)
    expect(bound).toMatchObject({ card_payment_id: payment_id, first_premium: { method: 'card', status: 'succeeded' } })
    expect(others).toMatchObject([
      { type: 'PremiumDue', due_on: '2026-06-01', method: 'card' },
      { type: 'PremiumCollected', due_on: '2026-06-01', method: 'card', attempt: 1 },
    ])
  })
  test('is due by the card that is only authorised, and not collected yet', () => {
    const { bound, others } = paidBy(authorised)
    expect(bound).toMatchObject({
      card_payment_id: payment_id,
      first_premium: { method: 'card', status: 'authorised' },
    })
    expect(others.map(({ type }) => type)).toEqual(['PremiumDue'])
  })
  test('is not collected while nobody knows when it was paid', () => {
    const { others } = setUp({
      paid: byCard,
      direct_debit_first: false,
      otherwise: (command) => {
        const { payments } = command.sale
        const cards = payments.cards.map((card) => ({ ...card, paid_at: null }))
        return { ...command, sale: { ...command.sale, payments: { ...payments, cards } } }
      },
    })
    expect(others.map(({ type }) => type)).toEqual(['PremiumDue'])
  })
})

describe('the people', () => {
  const withPeople = (people: (record: SetUpPolicy['sale']['record']) => Partial<SetUpPolicy['sale']['record']>) =>
    setUp({
      otherwise: (command) => {
        const { record } = command.sale
        return { ...command, sale: { ...command.sale, record: { ...record, ...people(record) } } }
      },
    })
  test('a partner is recorded under a key of their own', () => {
    const id = CustomerId.parse('c0000000-0000-4000-8000-000000000002')
    const { others } = withPeople(({ customer }) => ({
      joint_customer: customer && { ...customer, id, first_name: 'Ben' },
    }))
    const [partner] = others as PolicyEvent[]
    expect(others).toHaveLength(1)
    expect(partner).toMatchObject({ type: 'PolicyPartnerRecorded', customer_id: id, partner: { first_name: 'Ben' } })
  })
  test('nothing is set up for nobody', () => {
    expect(() => withPeople(() => ({ customer: null }))).toThrow('was bound without a customer')
  })
  test('a policy without bank details tells no account', () => {
    const { bound } = setUp({
      otherwise: (command) => ({
        ...command,
        sale: { ...command.sale, payments: { ...command.sale.payments, bank_details: null } },
      }),
    })
    expect(bound).toMatchObject({ account_number_last4: null, mandate_id: null })
  })
})
