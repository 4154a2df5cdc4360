import { expect, test } from 'vitest'
import { printable, runsOf, wrap } from '#infra/pdf/lines.ts'

const wrapped = (text: string, width: number): readonly string[] => wrap(text, width, (part) => part.length)
const textsOf = (line: string): readonly string[] => runsOf(line).map(({ text }) => text)

test('a line ends after a space or a hyphen, never before a full stop', () => {
  expect(wrapped('The premium is £28.75 a month.', 12)).toEqual(['The premium', 'is £28.75 a', 'month.'])
  expect(wrapped('whole-of-life', 9)).toEqual(['whole-of-', 'life'])
})

test('a line of exactly the width stays one', () => {
  expect(wrapped('one two', 7)).toEqual(['one two'])
  expect(wrapped('one two', 6)).toEqual(['one', 'two'])
})

test('a word wider than a line is broken, and keeps its accents', () => {
  expect(wrapped('abcdefgh', 3)).toEqual(['abc', 'def', 'gh'])
  expect(wrapped('क्षत्रिय', 4)).not.toContain('')
  expect(wrapped('क्षत्रिय', 4).join('')).toBe('क्षत्रिय')
})

test('a script without spaces is broken between its words', () => {
  expect(wrapped('王小明王小明', 4).join('')).toBe('王小明王小明')
  expect(wrapped('王小明王小明', 4).every((line) => line.length <= 4)).toBe(true)
})

test('each line of a text is one', () => {
  expect(wrapped('one\n\ntwo', 10)).toEqual(['one', '', 'two'])
})

test('what is read from right to left is drawn so, its words in their order, beside what is not', () => {
  expect(runsOf('שלום כהן (Cohen)')).toEqual([
    { font: 'usual', text: 'שלום כהן', isRightToLeft: true },
    { font: 'usual', text: ' (Cohen)', isRightToLeft: false },
  ])
  expect(textsOf('נורה 123 כהן')).toEqual([' כהן', '123', 'נורה '])
  expect(textsOf('(שלום)')).toEqual(['(', 'שלום', ')'])
})

test('brackets inside what is read from right to left are turned round', () => {
  expect(textsOf('א(ב)ג')).toEqual(['א)ב(ג'])
})

test('each script has its font, and a joiner stays with the letter before it', () => {
  expect(runsOf('Ann 王김क\u200dष ส').map(({ font }) => font)).toEqual([
    'usual',
    'han',
    'hangul',
    'devanagari',
    'usual',
    'thai',
  ])
})

test('a tab, or any other control character but a line break, is a space', () => {
  const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter((each) =>
    /\p{Cc}/u.test(each),
  )

  expect(controls).toHaveLength(65)
  expect(controls.filter((each) => printable(`one${each}two`) !== 'one two')).toEqual(['\n', '\r'])
})
