import { describe, expect, test } from 'vitest'
import { readPhoneNumber } from '../../query-api/lookups/phone-number.ts'

describe('a number is read as E.164', () => {
  test.each([
    ['020 7183 8750', '+442071838750'],
    ['  0044 20 7183 8750 ', '+442071838750'],
    ['+44 (0)20-7183.8750', '+442071838750'],
    ['020 7183 8750 ext. 12', '+442071838750'],
    ['07400 123456', '+447400123456'],
    ['+353 1 677 1234', '+35316771234'],
    // A plus that nobody encoded arrives as a space.
    [' 353 1 677 1234', '+35316771234'],
    [' 020 7183 8750', '+442071838750'],
    ['\u202A+44 20 7183\u200B 8750\u202C', '+442071838750'],
    // A range of Guernsey's, under the same country code.
    ['07911 123456', '+447911123456'],
  ])('%s', (sent, number) => {
    expect(readPhoneNumber(sent)).toEqual({ number })
  })
})

describe('or it is said why it is none', () => {
  test.each([
    ['', 'blank'],
    ['   ', 'blank'],
    ['call me', 'format_invalid'],
    ['020 7183 87/50', 'format_invalid'],
    ['+999 123456789', 'format_invalid'],
    ['12', 'too_short'],
    ['020 71', 'too_short'],
    ['07400 12345', 'too_short'],
    ['+44 7400 12345', 'too_short'],
    ['07400 1234567', 'too_long'],
    ['\u200B', 'blank'],
    ['4.47911E+11', 'format_invalid'],
    ['020 7183 8750 1234 5678', 'too_long'],
    ['1'.repeat(5000), 'too_long'],
    ['01111 111111', 'invalid_number'],
  ])('%s', (sent, fault) => {
    expect(readPhoneNumber(sent)).toEqual({ fault })
  })
})

describe('numbers kept for drama are told before validity', () => {
  const areas = ['113', '114', '115', '116', '117', '118', '121', '131', '141', '151', '161']
  const ranges = [
    ...areas.map((area) => `+44${area}4960`),
    '+442079460',
    '+441914980',
    '+442896496',
    '+442890180',
    '+442920180',
    '+441632960',
    '+447700900',
    '+448081570',
    '+449098790',
    '+443069990',
  ]

  test.each(ranges)('%s000 to 999', (range) => {
    for (const last of ['000', '123', '999'])
      expect(readPhoneNumber(`${range}${last}`)).toEqual({ fault: 'drama_number' })
  })

  test('and their neighbours are not', () => {
    for (const number of ['+442079470000', '+442079450000', '+441134950000'])
      expect(readPhoneNumber(number)).toEqual({ number })
  })
})
