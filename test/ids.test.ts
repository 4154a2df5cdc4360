import { v5 as uuidv5, validate, version } from 'uuid'
import { expect, test } from 'vitest'
import { derivedId, newId } from '#infra/ids.ts'

test('a new id is a UUIDv7 of this moment, and no other is the same', () => {
  const before = Date.now()

  const ids = Array.from({ length: 10_000 }, newId)

  expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true)
  expect(new Set(ids).size).toBe(ids.length)
  const times = ids.map((id) => Number.parseInt(id.replace('-', '').slice(0, 12), 16))
  expect(Math.min(...times)).toBeGreaterThanOrEqual(before)
  expect(Math.max(...times)).toBeLessThanOrEqual(Date.now())
})

test('an id derived from a key is the UUIDv5 of its parts', () => {
  const keys = [
    ['customer', 'ada@example.com'],
    ['application', 'Straße “7”', ''],
    ...Array.from({ length: 100 }, (_, n) => [`k${n}`]),
  ]

  for (const [kind = '', ...key] of keys)
    expect(derivedId(kind, ...key)).toBe(uuidv5(JSON.stringify([kind, ...key]), '5b1f3c52-6d0e-4b0f-9a55-2f4c1f6f0c11'))
})
