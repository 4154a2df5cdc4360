import { expect, test } from 'vitest'
import type { z } from 'zod'
import { plainWords } from '#domain/reasons.ts'
import {
  ApiApplicationId,
  ApplicationId,
  CalendarDate,
  Channel,
  CoverId,
  CoverType,
  CurrencyCode,
  CustomerId,
  JourneyId,
  OrganisationId,
  Pence,
  PresentationId,
  ProductId,
  ProductType,
  QuoteId,
  ReleaseId,
  Slug,
} from '#domain/values.ts'

const reasonFor = (schema: z.ZodType, value: unknown): string | undefined =>
  schema.safeParse(value, { error: plainWords }).error?.issues[0]?.message

test('the same id in any case is one id', () => {
  const id = '6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f'

  for (const schema of [
    ApiApplicationId,
    ApplicationId,
    CoverId,
    CustomerId,
    JourneyId,
    OrganisationId,
    PresentationId,
    ProductId,
    QuoteId,
    ReleaseId,
  ]) {
    expect(schema.parse(id.toUpperCase())).toBe(id)
    expect(reasonFor(schema, 'x')).toBe('must be a UUID')
  }
})

test('pence are whole', () => {
  expect(reasonFor(Pence, -1)).toBeUndefined()
  expect(reasonFor(Pence, 0.5)).toBe('must be a whole number')
})

test.each([
  ['GBP', true],
  ['GB', false],
  ['GBPX', false],
  ['xGBP', false],
  ['gbp', false],
])('%s is a currency code: %s', (code, isOne) => {
  const reason = 'must be a currency code of three capital letters, such as GBP'
  expect(reasonFor(CurrencyCode, code)).toBe(isOne ? undefined : reason)
})

test.each([
  ['term-life-2', true],
  ['a', true],
  ['', false],
  ['-term', false],
  ['term-', false],
  ['term--life', false],
  ['Term', false],
  ['term life', false],
])('“%s” is a name in an address: %s', (slug, isOne) => {
  expect(reasonFor(Slug, slug)).toBe(isOne ? undefined : 'must be lower-case letters, digits and single dashes')
})

test('a date is of the calendar', () => {
  expect(reasonFor(CalendarDate, '2028-02-29')).toBeUndefined()
  expect(reasonFor(CalendarDate, '2027-02-29')).toBe('must be a date, as YYYY-MM-DD')
})

test('products, covers and channels are of these kinds', () => {
  expect(ProductType.options.join(' ')).toBe(
    'term decreasing_term whole_of_life critical_illness income_protection bundled child_cover healthcare',
  )
  expect(CoverType.options.join(' ')).toBe(
    'life critical_illness income_protection accidental_death child_benefit healthcare',
  )
  expect(Channel.options.join(' ')).toBe('email sms whatsapp phone post')
})
