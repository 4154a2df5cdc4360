import { expect, test } from 'vitest'
import { withoutAddress } from '#domain/address-in-text.ts'

test.each([
  'http://evil.example',
  'Win £500 at https://evil.example/a',
  'www.evil.example',
  'WWW.EVIL.EXAMPLE',
  'evil.com',
  'EVIL.COM',
  'Anna evil.co.uk',
  't.co/abc',
  'evil。com',
  'evil．com',
  'пример.рф',
  'evil.xn--p1ai',
  'mailto:a@example.com',
  'ann@example.com',
  '192.0.2.1',
  'ftp://evil.example',
])('%j is not said in a message', (text) => {
  expect(withoutAddress(text)).toBeNull()
})

test.each([
  'Anna',
  'St.John',
  'J.R.',
  'J.R. Smith',
  'J.R.SMITH',
  'Dr. Ash',
  'O’Dowd-Ní Bhriain',
  'Jr.',
  'Ash,Jr.',
  '王小明',
  'محمد',
])('%j is a name', (name) => {
  expect(withoutAddress(name)).toBe(name)
})

test('of nothing nothing is left out', () => {
  expect(withoutAddress(null)).toBeNull()
})
