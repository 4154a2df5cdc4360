import fc from 'fast-check'
import { expect, test } from 'vitest'
import { patternFault } from '#domain/catalogue/safe-pattern.ts'

const allowed = [
  '^[A-Z]{1,2}\\d[A-Z\\d]? ?\\d[A-Z]{2}$',
  '^[A-Z]{2}\\d{6}[A-D]$',
  '^[^@]+@[^@]+$',
  '^(yes|no|perhaps)$',
  "^\\p{L}[\\p{L} .'-]*$",
  '^(ab)*$',
  '[a-z]+',
  '^\\u{1F600}?a$',
]
for (const pattern of allowed)
  test(`${pattern} can be used`, () => {
    expect(patternFault(pattern, 100)).toBeUndefined()
  })

const slow = [
  '^(a+)+$',
  '^(a|a)*$',
  '^(a|aa)+$',
  '^(.*a){20}$',
  '^(\\w+\\s?)*$',
  '^a*a*a*a*a*$',
  '(a*)*b',
  `^${'a?'.repeat(40)}$`,
]
for (const pattern of slow)
  test(`${pattern} could take too long`, () => {
    expect(patternFault(pattern, 100)).toContain('too long')
  })

test.each(['(?=a)b', '(?!a)b', '(?<=a)b', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>'])(
  '%s looks around or refers back',
  (pattern) => {
    expect(patternFault(pattern, 100)).toContain('must not')
  },
)

test.each(['(', '[a', 'a{2,1}', '*'])('%s is no pattern', (pattern) => {
  expect(patternFault(pattern, 100)).toBe('is not a regular expression')
})

test('a pattern is not longer than 200 characters', () => {
  expect(patternFault('a'.repeat(200), 300)).toBeUndefined()
  expect(patternFault('a'.repeat(201), 300)).toContain('200')
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

test('a pattern that is let in is tried quickly on the worst of texts', () => {
  fc.assert(
    fc.property(pattern, (each) => {
      const source = `^${each}$`
      fc.pre(patternFault(source, 60) === undefined)
      const startedAt = performance.now()
      for (const text of ['a'.repeat(59) + '!', 'ab'.repeat(29) + '!!', 'b'.repeat(60)])
        new RegExp(source, 'u').test(text)
      expect(performance.now() - startedAt).toBeLessThan(500)
    }),
    { numRuns: 300 },
  )
})
