import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findableText, isUnseen, withoutUnseen } from '#domain/invisible-characters.ts'

const unseen = ['\u00AD', '\u200B', '\u2060', '\uFEFF', '\u200E', '\u200F', '\u061C', '\u202E', '\u2066', '\u2069']

describe('what nobody sees is no part of a text', () => {
  test.each(unseen)('%j', (character) => {
    const copied = `${character}Ann${character}a${character}`
    expect([withoutUnseen(copied), findableText(copied)]).toEqual(['Anna', 'Anna'])
    expect(isUnseen(character)).toBe(true)
  })
})

test('a joiner stays between letters, and is none of an id or address that is written in plain letters', () => {
  expect(withoutUnseen('می\u200Cنا')).toBe('می\u200Cنا')
  expect(withoutUnseen('क्\u200Dष')).toBe('क्\u200Dष')
  expect(withoutUnseen('\u200CAnna\u200D 1\u200C')).toBe('Anna 1')
  expect(findableText('A\u200D1\u200CB')).toBe('A1B')
  expect(findableText('می\u200Cنا@example.org')).toBe('می\u200Cنا@example.org')
})

test('control characters are seen: they are refused, and not passed over', () => {
  expect(isUnseen('\u0000')).toBe(false)
  expect(withoutUnseen('An\u0000na')).toBe('An\u0000na')
})

test('whatever was sent, nothing more is taken away a second time', () => {
  const part = fc.oneof(fc.constantFrom(...unseen, '\u200C', '\u200D', ' ', 'a', 'م'), fc.string({ unit: 'binary' }))
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = parts.join('')
      for (const tidied of [withoutUnseen, findableText]) expect(tidied(tidied(text))).toBe(tidied(text))
    }),
  )
})
