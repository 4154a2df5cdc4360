import { validate, version } from 'uuid'
import { expect, test } from 'vitest'
import { newId } from '#infra/ids.ts'

test('a new id is a UUIDv7 of this moment, and no other is the same', () => {
  const before = Date.now()

  const ids = Array.from({ length: 10_000 }, newId)

  expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true)
  expect(new Set(ids).size).toBe(ids.length)
  const times = ids.map((id) => Number.parseInt(id.replace('-', '').slice(0, 12), 16))
  expect(Math.min(...times)).toBeGreaterThanOrEqual(before)
  expect(Math.max(...times)).toBeLessThanOrEqual(Date.now())
})
