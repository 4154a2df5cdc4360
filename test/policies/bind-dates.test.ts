import { describe, expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import { answered, covered, customerSaved, started } from '../applications/builders.ts'
import { checkoutRelease, confirm, sha256 } from '../checkout/builders.ts'
import { after, decided, firstId, now, quote } from '../quotes/builders.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { bind, bought, confirmed, quoted, ready } from './bind-builders.ts'
import { anna, bankDetailsSaved } from './builders.ts'

/** When cover starts that is bought, and on which day it is paid for. */

const scenario = scenariosOf(application)

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
