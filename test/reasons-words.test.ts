import { expect, test } from 'vitest'
import { z } from 'zod'
import { noDate, plainWords } from '#domain/reasons.ts'

/** What callers are told of values that their requests rarely hold. */

const messageFor = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value, { error: plainWords }).error?.issues[0]?.message

test.each<[title: string, schema: z.ZodType, value: unknown, message: string]>([
  ['no large whole number', z.bigint(), 'x', 'must be a whole number'],
  ['no number of few digits', z.float32(), 'x', 'must be a number'],
  ['no whole number at all', z.int(), 'x', 'must be a whole number'],
  ['no list of fixed length', z.tuple([z.string()]), {}, 'must be a list'],
  ['no set', z.set(z.string()), {}, 'must be a list'],
  ['no map', z.map(z.string(), z.string()), [], 'must be an object'],
  ['something instead of null', z.null(), 1, 'must be null'],
  ['something instead of nothing', z.undefined(), 1, 'must be left out'],
  ['no id', z.guid(), 'x', 'must be a UUID'],
  ['no time', z.iso.time(), 'x', 'must be a time, as HH:MM:SS'],
  ['no duration', z.iso.duration(), 'x', 'must be a duration, such as P1DT2H'],
  ['no address of the old kind', z.ipv4(), 'x', 'must be an IPv4 address'],
  ['no address of the new kind', z.ipv6(), 'x', 'must be an IPv6 address'],
  ['no encoded text', z.base64(), '?', 'must be base64'],
  ['no encoded text for addresses', z.base64url(), '?', 'must be base64url'],
  ['too few items', z.array(z.string()).min(2), [], 'must have at least 2 items'],
  ['too few different items', z.set(z.string()).min(2), new Set(), 'must have at least 2 items'],
  ['no item', z.set(z.string()).min(1), new Set(), 'must have at least 1 item'],
  ['too few entries', z.map(z.string(), z.string()).min(2), new Map(), 'must have at least 2 entries'],
  ['no entry', z.map(z.string(), z.string()).min(1), new Map(), 'must have at least 1 entry'],
  ['a small file', z.file().min(2), new File(['x'], 'x'), 'must have at least 2 bytes'],
  ['an empty file', z.file().min(1), new File([], 'x'), 'must have at least 1 byte'],
  ['a text longer than its length', z.string().length(1), 'ab', 'must have exactly 1 character'],
  ['keys that are not known', z.strictObject({}), { a: 1, b: 2 }, 'is not known here'],
  [
    'none of the forms',
    z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
    {},
    'fits none of the forms that are possible here',
  ],
])('%s', (_title, schema, value, message) => {
  expect(messageFor(schema, value)).toBe(message)
})

test.each([
  ['2026-02-30', 'must be a date that is in the calendar'],
  ['12026-02-30', 'must be a date, as YYYY-MM-DD'],
  ['2026-02-300', 'must be a date, as YYYY-MM-DD'],
  [['2026-02-30'], 'must be a date, as YYYY-MM-DD'],
])('%j %s', (sent, reason) => {
  expect(noDate(sent)).toBe(reason)
})
