import { expect, test } from 'vitest'
import { makeTraffic } from '#infra/traffic.ts'

const counting = () => {
  let now = 0
  const { count, isHeavy } = makeTraffic(() => now)
  return {
    isHeavy,
    at: (milliseconds: number, requests: number) => {
      now = milliseconds
      for (let request = 0; request < requests; request++) count()
    },
  }
}

test('two hundred requests in a second are heavy traffic, one less are not', () => {
  const { at, isHeavy } = counting()
  at(0, 199)
  expect(isHeavy()).toBe(false)
  at(999, 1)
  expect(isHeavy()).toBe(true)
})

test('heavy traffic ends with the second after the last one that had it', () => {
  const { at, isHeavy } = counting()
  at(0, 200)
  at(1_999, 0)
  expect(isHeavy()).toBe(true)
  at(2_000, 0)
  expect(isHeavy()).toBe(false)
})

test('requests of a quiet while ago do not add up', () => {
  const { at, isHeavy } = counting()
  at(0, 150)
  at(1_000, 150)
  expect(isHeavy()).toBe(false)
  at(60_000, 100)
  expect(isHeavy()).toBe(false)
})
