import fc from 'fast-check'
import { expect, test } from 'vitest'
import { longestMatchedText, matchesPattern, patternFault } from '#domain/pattern.ts'

const used = [
  ['^[A-Z]{1,2}\\d[A-Z\\d]? ?\\d[A-Z]{2}$', 'LS1 1UR', 'LS1'],
  ['^[A-Z]{2}\\d{6}[A-D]$', 'QQ123456C', 'QQ123456E'],
  ['^[^@]+@[^@]+$', 'a@b', 'a@b@c'],
  ['^(yes|no|perhaps)$', 'no', 'never'],
  ["^\\p{L}[\\p{L} .'-]*$", 'Élodie d’Arc'.replace('’', "'"), '1a'],
  ['^(?<letters>[a-z]+)\\/\\d$', 'ab/1', 'ab1'],
  ['^\\u{1F600}?a$', '😀a', '😀😀a'],
  ['^.$', '😀', 'ab'],
  // Anchored in one alternative only, and with repetitions inside repetitions: slow for a matcher that tries every way.
  ['^z|a*b', 'aab', 'aac'],
  ['^(a+)+$', 'aaa', 'aab'],
  ['^(\\w+\\s?)*$', 'one two', 'one two!'],
] as const
for (const [pattern, fits, misfit] of used)
  test(`${pattern} fits ${fits} and not ${misfit}`, () => {
    expect(patternFault(pattern)).toBeUndefined()
    expect([matchesPattern(pattern, fits), matchesPattern(pattern, misfit)]).toEqual([true, false])
  })

// A matcher that tries every way would not come to an end here before the test runs out of time.
test.each(['^z|a*b', '^(a+)+$', '(a*)*b', '^(a|aa)+$', `^${'a?'.repeat(90)}$`])(
  '%s is tried on a long text in time that grows with its length',
  (pattern) => {
    expect(matchesPattern(pattern, 'a'.repeat(200_000) + '!')).toBe(false)
  },
)

test.each([
  ['(?=a)b', '`(?=`'],
  ['(?!a)b', '`(?!`'],
  ['(?<=a)b', '`(?<=a)b`'],
  ['a{1001}', '`{1001}`'],
  ['\\p{Script=Greek}', '`\\p{Script=Greek}`'],
])('%s is not known to RE2, and the message names the part', (pattern, part) => {
  expect(patternFault(pattern)).toContain(part)
})

test.each(['(a)\\1', '(?<n>a)\\k<n>', `${'(a)'.repeat(9)}\\9`])('%s refers back', (pattern) => {
  expect(patternFault(pattern)).toBe('must not refer back to a group')
})

test('a backslash before a digit is no reference', () => {
  expect(patternFault('^\\\\1$')).toBeUndefined()
  expect(matchesPattern('^\\\\1$', '\\1')).toBe(true)
})

test.each(['(', '[a', 'a{2,1}', '*', '(?i)a', '\\z'])(
  '%s is not known to JavaScript, which web pages use',
  (pattern) => {
    expect(patternFault(pattern)).toBe('is not a regular expression')
  },
)

test('a pattern is not longer than 200 characters', () => {
  expect(patternFault('a'.repeat(200))).toBeUndefined()
  expect(patternFault('a'.repeat(201))).toContain('200')
})

test('counted repetitions multiply each other up to a limit', () => {
  expect(patternFault('(a{9}){9}')).toBeUndefined()
  expect(patternFault('a{498}')).toBeUndefined()
  expect(patternFault('a{499}')).toContain('repeats too much')
  expect(patternFault('(a{10}){90}')).toContain('repeats too much')
  expect(patternFault(`[a-z]{${longestMatchedText}}`)).toContain('repeats too much')
})

/** Patterns of the parts that make a matcher slow. */
const pattern = fc.letrec<{ whole: string; part: string }>((tie) => ({
  whole: fc.array(tie('part'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
  part: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('a', 'b', '[ab]', '.', 'a*', 'a?', 'a+', '[ab]*', 'a{0,5}', 'a|b'),
    fc
      .tuple(tie('whole'), fc.constantFrom('', '*', '+', '?', '{0,3}', '{2}'))
      .map(([inner, times]) => `(${inner})${times}`),
  ),
})).whole

test('what fits a pattern here fits it on a web page, and nothing else', () => {
  fc.assert(
    fc.property(pattern, fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 7 }), (source, text) => {
      for (const each of [source, `^${source}$`, `^(${source})$`]) {
        fc.pre(patternFault(each) === undefined)
        expect(matchesPattern(each, text)).toBe(new RegExp(each, 'u').test(text))
      }
    }),
    { numRuns: 300 },
  )
})
