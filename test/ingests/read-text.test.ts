import { expect, test } from 'vitest'
import { readText } from '../../command-api/ingests/read-text.ts'

const today = '2026-01-15'
const phoneIn = (text: string) => readText(text, { today, time_zone: 'Europe/London' }).details.phone_number

test.each([
  ['Call me on 07400 123456 please', '+447400123456'],
  ['born 14/03/1988 07400 123456', '+447400123456'],
  ['tel +44 (0)7400 123 456.', '+447400123456'],
  ['0044 7400 123456', '+447400123456'],
  ['my number:07400123456,thanks', '+447400123456'],
  ['(020) 7946 0018 or 07400123457', '+442079460018'],
  ['07400123456 07400123457', '+447400123456'],
  ['policy 12345678 since 2019, mobile 7400 123 456', '+447400123456'],
  ['Call 07700 900333 after 1 March', '+447700900333'],
  ['+33 6 12 34 56 78', '+33612345678'],
  ['order 0012345, £0.50, 2024-01-07', undefined],
])('the telephone number in %o is %s', (text, number) => {
  expect(phoneIn(text)).toBe(number)
})

test('a number behind a hundred that only look like one is not looked for', () => {
  expect(phoneIn(`${'0-'.repeat(50)} 07400 123456`)).toBe('+447400123456')
  expect(phoneIn(`${'0-'.repeat(5_000)} 07400 123456`)).toBeUndefined()
})
