import { describe, expect, test } from 'vitest'
import { birthdayThatChangesPrice, price } from '#domain/rating/price.ts'
import { standardUnderwriting } from '#domain/rating/underwriting.ts'
import { quoteComponent } from '../quotes/issued.ts'
import { aged, coverOf, incomeProtection, levelLife, priced, requestOf, wholeOfLife } from './request.ts'
import { type RatedCover, QuoteComponent, type UnderwritingRule } from '#domain/rating/events.ts'

const illness = coverOf(1, { cover_type: 'critical_illness', rate_table: 'ci.standalone', max_age_at_expiry: 70 })
const bundle = { product_type: 'bundled', covers: [levelLife, illness] } as const
const priceOf = (changes: Parameters<typeof requestOf>[0]) => price(requestOf(changes))

test('a quote has the components of the specification', () => {
  const { components } = priced({})
  expect(components.map((component) => QuoteComponent.parse(component))).toEqual([
    quoteComponent({ cover_id: levelLife.id, expires_on: '2052-01-01' }),
  ])
})

describe('what is missing is named', () => {
  test.each([
    ['the date of birth', { lives: [{ dob: null, answers: { smoker: false } }] }, ['customer.dob']],
    ['whether one smokes', { lives: [aged(34, {})] }, ['answers.smoker']],
    ['whether the second person smokes', { lives: [aged(34), aged(36, {})] }, ['partner.answers.smoker']],
    ['the date of birth of the second', { lives: [aged(34), { dob: null, answers: {} }] }, ['partner.dob']],
  ] as const)('%s', (_, changes, fields) => {
    expect(priceOf(changes)).toEqual({ outcome: 'details_missing', fields })
  })

  test('the answers that choose a table or a factor', () => {
    const release = { covers: [coverOf(0, incomeProtection)] }
    const fields = ['answers.deferred_weeks', 'answers.occupation_class']
    expect(priceOf({ release })).toEqual({ outcome: 'details_missing', fields })
  })

  test('the answers of the second person that a factor goes by, and not those that choose a table', () => {
    const answers = { smoker: false, deferred_weeks: 4, occupation_class: 1 }
    const release = { covers: [coverOf(0, incomeProtection)] }
    const lives = [aged(30, answers), aged(30, { smoker: false })] as const
    const fields = ['partner.answers.occupation_class']
    expect(priceOf({ release, lives })).toEqual({ outcome: 'details_missing', fields })
  })

  test('the answer that a missing one follows from', () => {
    const derived = [{ key: 'occupation_class', kind: 'mapped', from: 'occupation', values: { Clerk: '1' } }] as const
    const release = {
      covers: [coverOf(0, incomeProtection)],
      underwriting: { ...standardUnderwriting, derived: [...derived] },
    }
    const lives = [aged(30, { smoker: false, deferred_weeks: 4 })] as const
    expect(priceOf({ release, lives })).toEqual({ outcome: 'details_missing', fields: ['answers.occupation'] })
    const answered = [aged(30, { smoker: false, deferred_weeks: 4, occupation: 'Clerk' })] as const
    expect(priced({ release, lives: answered, cover_amount_pence: 1_800_000 }).premium_pence).toBe(2926)
  })

  test('amount and term, where they are to be saved', () => {
    const unsaved = { cover_amount_pence: null, term_years: null }
    expect(priceOf(unsaved)).toEqual({ outcome: 'cover_missing', fields: ['cover_amount_pence', 'term_years'] })
    const components = [{ cover_id: illness.id, cover_amount_pence: 5_000_000 }]
    expect(priceOf({ ...unsaved, release: bundle, components })).toEqual({
      outcome: 'cover_missing',
      fields: ['cover_amount_pence', 'term_years', 'components[0].term_years'],
    })
  })

  test('no term where the cover has none', () => {
    const release = { covers: [coverOf(0, wholeOfLife)] }
    expect(priced({ release, term_years: null }).components[0]).toMatchObject({ term_years: null, expires_on: null })
  })
})

describe('a cover out of bounds is left out', () => {
  const only = (cover: Partial<RatedCover>, changes: Parameters<typeof requestOf>[0]) => {
    const result = priceOf({ ...changes, release: { covers: [coverOf(0, cover)] } })
    return result.outcome === 'no_quotable_cover'
      ? result.excluded_covers.map(({ reason, message }) => [reason, message])
      : result.outcome
  }

  test.each([
    ['17 years', { lives: [aged(17)] }, [['age', 'Life cover starts at ages 18 to 70; the age would be 17.']]],
    ['18 years', { lives: [aged(18)] }, 'priced'],
    ['70 years', { lives: [aged(70)], term_years: 10 }, 'priced'],
    [
      '71 years',
      { lives: [aged(71)], term_years: 5 },
      [['age', 'Life cover starts at ages 18 to 70; the age would be 71.']],
    ],
    ['a second person of 71', { lives: [aged(34), aged(71)] }, [['age', expect.stringContaining('71')]]],
    ['£9,999.99', { cover_amount_pence: 999_999 }, [['amount', 'Life cover can be £10,000 to £1,000,000.']]],
    ['£10,000', { cover_amount_pence: 1_000_000 }, 'priced'],
    ['£1,000,000', { cover_amount_pence: 100_000_000 }, 'priced'],
    ['£1,000,000.01', { cover_amount_pence: 100_000_001 }, [['amount', expect.any(String)]]],
    ['4 years', { term_years: 4 }, [['term', 'Life cover runs for 5 to 40 years.']]],
    ['5 years', { term_years: 5 }, 'priced'],
    ['40 years', { term_years: 40 }, 'priced'],
    ['41 years', { term_years: 41 }, [['term', expect.any(String)]]],
    ['up to 80', { lives: [aged(60)], term_years: 20 }, 'priced'],
    ['up to 81', { lives: [aged(61)], term_years: 20 }, [['expiry_age', 'Life cover must end by the age of 80.']]],
  ] as const)('%s', (_, changes, expected) => {
    expect(only({}, changes)).toEqual(expected)
  })

  test('cover to an age must start below it', () => {
    const lives = [aged(60, { smoker: false, occupation_class: 1, deferred_weeks: 4 })] as const
    const changes = { lives, cover_amount_pence: 1_800_000 }
    expect(only(incomeProtection, changes)).toBe('priced')
    expect(only({ ...incomeProtection, max_age_at_expiry: 60 }, changes)).toEqual([['expiry_age', expect.any(String)]])
  })

  test('its own title is used to name it', () => {
    expect(only({ title: 'Family cover' }, { term_years: 4 })).toEqual([
      ['term', 'Family cover runs for 5 to 40 years.'],
    ])
  })

  test('the others are priced, and the first of them bears the fee', () => {
    const release = { product_type: 'bundled', covers: [coverOf(0, { age_at_entry_max: 30 }), illness] } as const
    const result = priced({ release, cover_amount_pence: 5_000_000 })
    const message = 'Life cover starts at ages 18 to 30; the age would be 34.'
    expect(result.excluded_covers).toEqual([{ cover_id: levelLife.id, cover_type: 'life', reason: 'age', message }])
    // 243716 × £50,000 × 1.050, without the reduction for a second cover.
    expect(result).toMatchObject({ policy_fee_pence: 150, premium_pence: 1280 + 150 })
  })

  test('accelerated illness cover is never more than the life cover that it is paid from', () => {
    const accelerated = { ...illness, ci_payout_basis: 'accelerated', rate_table: 'ci.accelerated' } as const
    const result = priced({
      release: { product_type: 'critical_illness', covers: [levelLife, accelerated] },
      components: [{ cover_index: 1, cover_amount_pence: 25_000_001 }],
    })
    expect(result.excluded_covers).toMatchObject([{ cover_id: illness.id, reason: 'amount' }])
    expect(result.premium_pence).toBe(1250)
  })
})

test('a cover that was deselected is left out', () => {
  const result = priced({ release: bundle, components: [{ cover_index: 1, selected: false }] })
  expect(result.excluded_covers).toMatchObject([{ cover_id: illness.id, reason: 'not_selected' }])
  expect(result.premium_pence).toBe(1250)
})

describe('underwriting', () => {
  const rulesOf = (rule: Partial<UnderwritingRule>) => ({
    ...standardUnderwriting,
    rules: [{ code: 'x', label: 'X', when: { key: 'x', equals: true }, ...rule }],
  })
  const lives = [aged(34, { smoker: false, x: true })] as const

  test.each(['decline', 'postpone', 'refer'] as const)(
    '%s ends the application before its bounds are looked at',
    (decision) => {
      const release = { underwriting: rulesOf({ decision, message: 'So it is.' }) }
      const reason = { code: 'x', message: 'So it is.' }
      expect(priceOf({ release, lives, term_years: 99 })).toEqual({ outcome: 'not_accepted', decision, reason })
    },
  )

  test.each(['decline', 'postpone'] as const)('%s for one cover leaves the others', (decision) => {
    const underwriting = rulesOf({ decision, cover_types: ['critical_illness'] })
    const result = priced({ release: { ...bundle, underwriting }, lives })
    expect(result.excluded_covers).toMatchObject([{ cover_id: illness.id, reason: 'declined' }])
    expect(result.premium_pence).toBe(1250)
  })

  test('an underwriter who must look at one cover looks at all', () => {
    const underwriting = rulesOf({ decision: 'refer', cover_types: ['critical_illness'] })
    expect(priceOf({ release: { ...bundle, underwriting }, lives })).toMatchObject({ decision: 'refer' })
  })

  test('what is not applied for is not underwritten', () => {
    const underwriting = rulesOf({ decision: 'refer', cover_types: ['critical_illness'] })
    const components = [{ cover_index: 1, selected: false }]
    expect(priced({ release: { ...bundle, underwriting }, lives, components }).decision).toBe('standard')
  })

  test('the second person can be declined', () => {
    const release = { underwriting: rulesOf({ decision: 'decline' }) }
    expect(priceOf({ release, lives: [aged(34), ...lives] })).toMatchObject({ outcome: 'not_accepted' })
  })

  test('a loading raises the rate of the person that it belongs to', () => {
    const release = { underwriting: rulesOf({ extra_percent: 100 }) }
    const result = priced({ release, lives: [...lives, aged(36, { smoker: true })] })
    // (45818 × 2 + 128875) × 0.970 × 0.960 × £250,000; 100 % on about a quarter of the rates.
    expect(result.premium_pence).toBe(5133 + 150)
    expect(result.components[0]?.loading_percent).toBe(26)
    expect(result.loadings).toEqual([{ code: 'x', label: 'X', basis: 'percent', value: '100' }])
  })

  test('an extra per mille is charged as it is shown', () => {
    const release = { underwriting: rulesOf({ extra_per_mille: '1.50' }) }
    // £1.50 a year for each of 250 thousand pounds is £31.25 a month, whatever the size of the policy.
    expect(priced({ release, lives }).premium_pence).toBe(Math.round(1099.632 + 3125) + 150)
    expect(priced({ release, lives, journey_loading: '1.10' }).premium_pence).toBe(Math.round(4224.632 * 1.1) + 150)
  })

  test('extras per mille of two people add up', () => {
    const release = { underwriting: rulesOf({ extra_per_mille: '1.50' }) }
    const two = [...lives, aged(36, { smoker: true, x: true })] as const
    expect(priced({ release, lives: two }).premium_pence).toBe(Math.round(4066.853 + 2 * 3125) + 150)
  })

  test('a loading for several covers is shown once', () => {
    const release = { ...bundle, underwriting: rulesOf({ extra_percent: 25 }) }
    expect(priced({ release, lives }).loadings).toHaveLength(1)
  })
})

test('acceptable details without a published rate have no price', () => {
  const release = { covers: [coverOf(0, { term_years_max: 50, max_age_at_expiry: 99 })] }
  const place = { cover_id: levelLife.id, rate_table: 'life.level', age: 34, term_years: 45, answer_key: null }
  expect(priceOf({ release, term_years: 45 })).toEqual({ outcome: 'rate_unavailable', missing_rates: [place] })
  expect(priceOf({ rate_tables: new Map() })).toMatchObject({ outcome: 'rate_unavailable' })
})

test('an answer without a factor has no price', () => {
  const release = { covers: [coverOf(0, incomeProtection)] }
  const lives = [aged(34, { smoker: false, occupation_class: 5, deferred_weeks: 13 })] as const
  expect(priceOf({ release, lives, cover_amount_pence: 1_800_000 })).toMatchObject({
    outcome: 'rate_unavailable',
    missing_rates: [{ answer_key: 'occupation_class' }],
  })
})

test('a release that contradicts itself is our fault and not the customer’s', () => {
  expect(() => priceOf({ release: { covers: [coverOf(0, { rate_table: null })] } })).toThrow('names no rate table')
  expect(() => priceOf({ release: { smoker: null } })).toThrow('never asks')
  expect(() => priceOf({ journey_loading: '1,10' })).toThrow('no decimal number')
})

describe('a birthday that changes the price', () => {
  // The person is 34 until 1 July 2027.
  test('is the day from which the quote would be wrong', () => {
    expect(birthdayThatChangesPrice(requestOf({ start_date: '2027-06-15' }), '2027-07-15')).toBe('2027-07-01')
  })

  test('does not matter after the quote has run out', () => {
    expect(birthdayThatChangesPrice(requestOf({ start_date: '2027-06-15' }), '2027-06-30')).toBeNull()
  })

  test('does not matter while the price stays the same', () => {
    const cheap = requestOf({ start_date: '2027-06-15', cover_amount_pence: 1_000_000, term_years: 5 })
    expect(birthdayThatChangesPrice(cheap, '2027-07-15')).toBeNull()
  })

  test('matters when nothing can be had after it', () => {
    const oldest = requestOf({ start_date: '2027-06-15', lives: [aged(69)], term_years: 10 })
    expect(price({ ...oldest, start_date: '2027-07-01' }).outcome).toBe('priced')
    const release = { covers: [coverOf(0, { age_at_entry_max: 69 })] }
    const last = requestOf({ release, start_date: '2027-06-15', lives: [aged(69)], term_years: 10 })
    expect(birthdayThatChangesPrice(last, '2027-07-15')).toBe('2027-07-01')
  })

  test('may be the second person’s', () => {
    const lives = [aged(34), { dob: '1990-06-20', answers: { smoker: false } }] as const
    expect(birthdayThatChangesPrice(requestOf({ start_date: '2027-06-15', lives }), '2027-07-15')).toBe('2027-06-20')
  })
})
