import { expect, test } from 'vitest'
import { z } from 'zod'
import { plainWords, reasonsOf } from '#domain/reasons.ts'

const reasonFor = (schema: z.ZodType, value: unknown) => {
  const { error } = schema.safeParse(value, { error: plainWords })
  return reasonsOf(error?.issues ?? []).map(({ path, reason }) => (path.length > 0 ? [path.join('.'), reason] : reason))
}

const Shape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('circle'), radius: z.number() }),
  z.object({ kind: z.literal('square'), side: z.number() }),
])
const Nested = z.union([z.string(), z.object({ from: z.object({ key: z.string(), above: z.int() }) })])
const May = (day: number) => new Date(Date.UTC(2026, 4, day))

test.each<[title: string, schema: z.ZodType, value: unknown, reason: unknown]>([
  // A value that is not there.
  ['nothing', z.string(), undefined, 'required'],
  ['null where it is not allowed', z.int(), null, 'must not be null'],
  ['null where there can be nothing', z.object({ at: z.int().optional() }), { at: null }, [['at', 'must not be null']]],
  ['nothing where some values are allowed', z.enum(['a', 'b']), undefined, 'required'],
  ['no key that an object is chosen by', Shape, {}, [['kind', 'required']]],
  ['null for the key that an object is chosen by', Shape, { kind: null }, [['kind', 'must not be null']]],
  ['nothing where one of several forms fits', z.union([z.string(), z.int()]), undefined, 'required'],
  ['null where one of several forms fits', z.union([z.string(), z.int()]), null, 'must not be null'],
  // invalid_type
  ['no text', z.string(), 1, 'must be text'],
  ['no number', z.number(), 'x', 'must be a number'],
  ['no number in an address', z.coerce.number(), 'x', 'must be a number'],
  ['no whole number', z.int(), 1.5, 'must be a whole number'],
  ['no true or false', z.boolean(), 'yes', 'must be true or false'],
  ['no list', z.array(z.string()), {}, 'must be a list'],
  ['no object', z.object({}), [], 'must be an object'],
  ['no object of any keys', z.record(z.string(), z.string()), 'x', 'must be an object'],
  ['no date', z.date(), 'x', 'must be a date'],
  ['something where only nothing is allowed', z.never(), 1, 'must be left out'],
  ['a type that no JSON has', z.symbol(), 1, 'must be another type of value'],
  // invalid_value
  ['none of the values', z.enum(['a', 'b', 'c']), 'd', 'must be one of a, b, c'],
  ['not the only value', z.literal(true), false, 'must be true'],
  ['no true or false in an address', z.stringbool(), 'perhaps', 'must be true or false'],
  // invalid_format
  ['no email address', z.email(), 'x', 'must be an email address'],
  ['no web address', z.url(), 'x', 'must be a web address, such as https://example.com'],
  ['no UUID', z.uuid(), 'x', 'must be a UUID'],
  ['no date', z.iso.date(), '1 May 2026', 'must be a date, as YYYY-MM-DD'],
  ['no date and time', z.iso.datetime(), '2026-05-01', 'must be a date and time, as YYYY-MM-DDTHH:MM:SSZ'],
  ['not of the pattern', z.string().regex(/^a+$/), 'b', 'must match the pattern /^a+$/'],
  ['another beginning', z.string().startsWith('utm_'), 'x', 'must begin with utm_'],
  ['another end', z.string().endsWith('.csv'), 'x', 'must end with .csv'],
  ['without a part', z.string().includes('@'), 'x', 'must contain @'],
  ['a format of no name here', z.cuid2(), '!', 'must be in the format cuid2'],
  // too_small
  ['a number below the least', z.number().min(18), 17, 'must be at least 18'],
  ['a number at a bound that is not allowed', z.number().positive(), 0, 'must be above 0'],
  ['an empty text', z.string().min(1), '', 'must not be empty'],
  ['a short text', z.string().min(8), 'x', 'must have at least 8 characters'],
  ['a text not of its length', z.string().length(1), '', 'must have exactly 1 character'],
  ['a short list', z.array(z.string()).min(1), [], 'must have at least 1 item'],
  ['an early date', z.date().min(May(2)), May(1), 'must not be before 2026-05-02'],
  // too_big
  ['a number above the greatest', z.number().max(50), 51, 'must be at most 50'],
  ['a number at a bound that is not allowed', z.number().lt(50), 50, 'must be below 50'],
  ['a long text', z.string().max(2), 'abc', 'must have at most 2 characters'],
  ['a long list', z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 item'],
  ['a late date', z.date().max(May(2)), May(3), 'must not be after 2026-05-02'],
  // not_multiple_of
  ['no multiple', z.number().multipleOf(5), 7, 'must be a multiple of 5'],
  // unrecognized_keys
  [
    'a key that is not known',
    z.strictObject({ a: z.string() }),
    { a: '', b: 1 },
    [['b', 'is not known here; there is a']],
  ],
  [
    'a key of a list by name that is not known',
    z.partialRecord(z.enum(['email', 'sms']), z.boolean()),
    { fax: true },
    [['fax', 'is not known here; there are email, sms']],
  ],
  // invalid_union
  ['none of two types', z.union([z.string(), z.int()]), true, 'must be text or a whole number'],
  ['none of two forms', Nested, { from: { key: 'x' } }, [['from.above', 'required']]],
  ['none of the known kinds', Shape, { kind: 'cube' }, [['kind', 'must be one of circle, square']]],
  [
    'more than one form',
    z.xor([z.object({}), z.object({})]),
    {},
    'fits more than one of the forms that are possible here: send only one',
  ],
  // invalid_key, invalid_element
  [
    'a key that cannot be used',
    z.record(z.string().max(1), z.int()),
    { ab: 1 },
    [['ab', 'has a key that cannot be used: it must have at most 1 character']],
  ],
  [
    'an item that cannot be used',
    z.map(z.object({}), z.int()),
    new Map([[{}, 'x']]),
    'has an item that cannot be used: it must be a whole number',
  ],
  // custom
  ['what a rule without words refuses', z.string().refine(() => false), 'x', 'cannot be used'],
  ['what a rule refuses in its own words', z.string().refine(() => false, 'must rhyme'), 'x', 'must rhyme'],
  ['what a schema refuses in its own words', z.string({ error: 'must be a name' }), 1, 'must be a name'],
])('is said of %s', (_, schema, value, reason) => {
  expect(reasonFor(schema, value)).toEqual(Array.isArray(reason) ? reason : [reason])
})
