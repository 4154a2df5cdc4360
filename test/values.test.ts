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
  SentInstant,
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
  expect(reasonFor(CalendarDate, '2027-02-29')).toBe('must be a date that is in the calendar')
  expect(reasonFor(CalendarDate, '29.2.2028')).toBe('must be a date, as YYYY-MM-DD')
  expect(reasonFor(CalendarDate, '0001-01-01')).toBeUndefined()
  expect(reasonFor(CalendarDate, '0000-02-29')).toBe('must be a date after the year 0000')
})

test.each([
  ['2026-03-01T10:00:00Z', '2026-03-01T10:00:00.000Z'],
  ['2026-03-01T10:00:00.5-17:42', '2026-03-02T03:42:00.500Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59+21:43', '9999-12-31T02:16:59.000Z'],
  ['2026-01-12T08:49:14+0000', '2026-01-12T08:49:14.000Z'],
  ['2026-01-12T08:49:14.000+0000', '2026-01-12T08:49:14.000Z'],
  ['2026-07-12T08:49:14-0530', '2026-07-12T14:19:14.000Z'],
  ['2026-01-12T10:00Z', '2026-01-12T10:00:00.000Z'],
  ['2026-01-12T10:00+01', '2026-01-12T09:00:00.000Z'],
])('a moment that is sent as %s is read as %s', (sent, read) => {
  expect(SentInstant.parse(sent)).toBe(read)
})

test.each([
  '2026-01-12',
  '2026-01-12T10:00',
  '2026-13-12T10:00Z',
  '2026-01-12T24:00Z',
  '2026-01-12T10Z',
  '2026-01-12T10:00+00000',
])('what is no moment is refused: %s', (sent) => {
  expect(reasonFor(SentInstant, sent)).toBe('must be a date and time, as YYYY-MM-DDTHH:MM:SSZ')
})

test.each(['0000-12-31T23:59:59Z', '0001-01-01T00:00:00+00:01', '9999-12-31T23:59:00-00:01'])(
  'a moment that no store can keep is refused: %s',
  (sent) => {
    expect(reasonFor(SentInstant, sent)).toBe('must be a moment in the years 1 to 9999')
  },
)

test('products, covers and channels are of these kinds', () => {
  expect(ProductType.options.join(' ')).toBe(
    'term decreasing_term whole_of_life critical_illness income_protection bundled child_cover healthcare',
  )
  expect(CoverType.options.join(' ')).toBe(
    'life critical_illness income_protection accidental_death child_benefit healthcare',
  )
  expect(Channel.options.join(' ')).toBe('email sms whatsapp phone post')
})
