import { describe, expect, test } from 'vitest'
import { nothingKnown } from '#domain/customers/record.ts'
import { dateIn } from '#domain/time-zone.ts'
import { answered, application_id, covered, customerSaved, started } from '../applications/builders.ts'
import { fullJourney, illnessCover, lifeCover, organisation_id, product_id, release } from '../applications/release.ts'
import { after, applied, born, decided, firstId, issuedQuote, quote, secondId, termRelease } from './builders.ts'
import { quoteComponent, quoteIssued } from './issued.ts'

const bothCovers = {
  ...termRelease,
  product_type: 'bundled' as const,
  covers: [lifeCover, illnessCover],
  rate_tables: { 'life.level': 3, 'ci.standalone': 3 },
}

test('a quote says what it is for, what it costs and what the price was made of', () => {
  const events = decided(applied(), quote())

  const placed = { quote_id: firstId, organisation_id, application_id, product_id }
  expect(events).toEqual([
    quoteIssued(
      { ...placed, journey_id: fullJourney.id, product_release_id: release.id },
      {
        inputs_digest: expect.stringContaining('"dob":"1992-03-10"') as string,
        components: [quoteComponent({ cover_id: lifeCover.id })],
      },
    ),
  ])
})

test('a quote names each cover that is priced, each that is not and why, each loading and each rate table', () => {
  const given = [
    ...applied(born.dob, { height_cm: 170, weight_kg: 100 }),
    covered({
      cover_amount_pence: 25_000_000,
      term_years: 25,
      components: [{ cover_id: illnessCover.id, cover_amount_pence: null, term_years: null, selected: false }],
    }),
  ]

  const issued = issuedQuote(decided(given, quote({ release: bothCovers })))

  expect(issued).toMatchObject({
    decision: 'loaded',
    components: [{ cover_id: lifeCover.id, cover_amount_pence: 25_000_000, term_years: 25, loading_percent: 25 }],
    excluded_covers: [
      {
        cover_id: illnessCover.id,
        cover_type: 'critical_illness',
        reason: 'not_selected',
        message: 'This cover was not chosen.',
      },
    ],
    loadings: [{ code: 'bmi_30', label: 'Body mass index 30 to 34.9', basis: 'percent', value: '25' }],
    rate_tables: [{ key: 'life.level', version: 3 }],
  })
})

test("a cover is priced for its own amount and term, and else for the application's", () => {
  const choice = { cover_id: illnessCover.id, selected: null }
  const components = [{ ...choice, cover_amount_pence: 5_000_000, term_years: 10 }]
  const given = [...applied(), covered({ cover_amount_pence: 25_000_000, term_years: 25, components })]

  const issued = issuedQuote(decided(given, quote({ release: bothCovers })))

  expect(issued.components).toMatchObject([
    { cover_id: lifeCover.id, cover_amount_pence: 25_000_000, term_years: 25 },
    { cover_id: illnessCover.id, cover_amount_pence: 5_000_000, term_years: 10 },
  ])
})

describe('the start date', () => {
  for (const [name, start_date] of [
    ['today', '2026-06-01'],
    ['tomorrow', '2026-06-02'],
    ['the ninetieth day from today', '2026-08-30'],
  ] as const)
    test(`can be ${name}`, () => {
      expect(issuedQuote(decided(applied(), quote({ start_date }))).start_date).toBe(start_date)
    })

  test('is tomorrow when none is given', () => {
    expect(issuedQuote(decided(applied(), quote())).start_date).toBe('2026-06-02')
  })

  test('that the current quote already has issues no new quote', () => {
    const given = after(applied(), quote({ start_date: '2026-06-10' }))

    expect(decided(given, quote({ quote_id: secondId, start_date: '2026-06-10' }))).toEqual([])
  })
})

describe('a quote expires', () => {
  const expiry = (dob: string, changes = {}) => issuedQuote(decided(applied(dob), quote(changes))).expires_at

  test('thirty days after it was issued', () => {
    expect(expiry('1992-03-10')).toBe('2026-07-01T09:00:00.000Z')
  })

  test('as a birthday begins that changes the price', () => {
    expect(expiry('1992-06-20')).toBe('2026-06-20T00:00:00.000Z')
  })

  test('as the last day of its thirty begins, when that is the birthday', () => {
    expect(expiry('1992-07-01')).toBe('2026-07-01T00:00:00.000Z')
  })

  test('after thirty days, when the birthday is the day after', () => {
    expect(expiry('1992-07-02')).toBe('2026-07-01T09:00:00.000Z')
  })

  test('after thirty days, when it ends at midnight and that is the beginning of the birthday', () => {
    const midnight = { now: '2026-06-01T00:00:00.000Z' }

    expect(expiry('1992-07-01', midnight)).toBe('2026-07-01T00:00:00.000Z')
  })

  test('after thirty days, when the birthday is later than that, though soon after the start date', () => {
    expect(expiry('1992-08-20', { start_date: '2026-08-15' })).toBe('2026-07-01T09:00:00.000Z')
  })

  test('after thirty days, when cover starts on the birthday', () => {
    expect(expiry('1992-06-01', { start_date: '2026-06-01' })).toBe('2026-07-01T09:00:00.000Z')
  })

  // West of Greenwich the date is still the day before.
  for (const at of ['2026-06-02T00:00:00.000Z', '2026-06-02T03:00:00.000Z'])
    test(`after thirty days, when the birthday begins where the organisation is, and has begun in UTC at ${at}`, () => {
      const changes = { now: at, start_date: '2026-06-01' }

      expect(expiry('1992-06-02', changes)).toBe(at.replace('06-02', '07-02'))
    })
})

describe('a quote is kept', () => {
  const again = (at: string) =>
    decided(after(applied(), quote()), quote({ quote_id: secondId, now: at, today: at.slice(0, 10) }))

  test('while it has more than 24 hours to run', () => {
    expect(again('2026-06-30T08:59:59.999Z')).toEqual([])
  })

  test('no longer with exactly 24 hours to run', () => {
    expect(again('2026-06-30T09:00:00.000Z')).toMatchObject([
      { type: 'QuoteReplaced', quote_id: firstId, replaced_by: secondId },
      { type: 'QuoteIssued', quote_id: secondId },
    ])
  })
})

describe('once the start date of a quote has passed', () => {
  const given = after(applied('1992-06-10'), quote())
  const { premium_pence: before } = issuedQuote(given)
  const again = (now: string) => decided(given, quote({ quote_id: secondId, now, today: dateIn('Europe/London', now) }))

  test('it is answered again on its day, and on the days after it on which cover costs the same', () => {
    for (const now of ['2026-06-02T09:00:00.000Z', '2026-06-03T09:00:00.000Z', '2026-06-08T22:59:59.999Z'])
      expect(again(now)).toEqual([])
  })

  test('another is issued from the moment on at which cover that starts tomorrow costs more', () => {
    const issued = issuedQuote(again('2026-06-08T23:00:00.000Z'))

    expect(issued).toMatchObject({ quote_id: secondId, start_date: '2026-06-10' })
    expect(issued.premium_pence).toBeGreaterThan(before)
  })
})

test('after an application was quoted twice, only the second quote is replaced by a third', () => {
  const twice = [...after(applied(), quote()), answered({ wine: true })]
  const given = [...after(twice, quote({ quote_id: secondId })), customerSaved({ ...born, dob: '1985-03-10' })]

  expect(decided(given, quote({ quote_id: firstId })).slice(0, 1)).toEqual([
    { type: 'QuoteReplaced', quote_id: secondId, replaced_by: firstId },
  ])
})

test('a quote can exist before a customer: the date of birth told early is priced', () => {
  const early = { type: 'SoftCustomerSaved', soft_customer: { ...nothingKnown, dob: born.dob }, by: 'browser' } as const
  const anonymous = [started(), early, answered({ smoker: false }), ...applied().slice(-1)]
  expect(issuedQuote(decided(anonymous, quote())).premium_pence).toBe(1250)
})
