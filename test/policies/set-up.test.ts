import { describe, expect, test } from 'vitest'
import { byCard, collection_days, mandate_id, mandated, setUp } from './sold.ts'

describe('the first collection', () => {
  test('is on the first allowed day from the start of cover on, when none was chosen', () => {
    // Cover starts on the 2nd; the days are 1, 7, 14, 21 and 28.
    expect(setUp().bound.collection_day).toBe(collection_days.find((day) => day >= 2))
  })

  test('is at least ten days after the sale', () => {
    expect(setUp({ collection_day: 7 }).bound.first_collection_on).toBe('2026-07-07')
    expect(setUp({ collection_day: 14 }).bound.first_collection_on).toBe('2026-06-14')
  })

  test('is a month later where a card has paid for the first', () => {
    const { bound, others } = setUp({ collection_day: 14, direct_debit_first: false, paid: byCard })

    expect(bound).toMatchObject({ first_collection_on: '2026-07-14', first_premium: { method: 'card' } })
    expect(others).toMatchObject([
      { type: 'PremiumDue', number: 1, method: 'card', covers_from: '2026-06-02', next_due_on: '2026-07-14' },
      { type: 'PremiumCollected', number: 1, amount_pence: 1250, payment_intent_id: 'pi_1' },
    ])
  })
})

describe('the mandate', () => {
  test('that was set up before the sale is the policy’s', () => {
    const { bound } = setUp({ paid: [mandated, { type: 'MandateActivated', mandate_id }] })

    expect(bound).toMatchObject({
      mandate_id,
      mandate_status: 'active',
      account_number_last4: '2345',
      provider_mandate: { provider_mandate_id: 'mandate_1' },
    })
  })

  test.each([
    { type: 'MandateFailed', mandate_id },
    { type: 'MandateCancelled', mandate_id, end: 'revoked' },
  ] as const)('after $type is made again from the bank details that were sent', (ended) => {
    expect(setUp({ paid: [mandated, ended] }).bound).toMatchObject({
      mandate_id: null,
      mandate_status: 'pending',
      account_number_last4: '4958',
      provider_mandate: null,
    })
  })
})

describe('a year on', () => {
  test.each([
    ['none', null],
    ['decreasing', null],
    ['rpi', '2027-06-02'],
    ['fixed_percent', '2027-06-02'],
  ] as const)('cover with indexation %s follows prices: %s', (indexation_method, date) => {
    expect(setUp({ indexation_method }).bound.next_indexation_on).toBe(date)
  })

  test('and after its period a reviewable premium is reviewed', () => {
    expect(setUp().bound.next_review_on).toBeNull()
    expect(setUp({ review_period_years: 5 }).bound.next_review_on).toBe('2031-06-02')
  })
})
