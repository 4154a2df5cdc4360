import { expect, test } from 'vitest'
import { makeTraffic } from '#infra/request-load.ts'

const counting = () => {
  let now = 0
  let share = 1
  const { count, isHeavy } = makeTraffic({ now: () => now, busyShare: () => share })
  return {
    isHeavy,
    busyFor: (ofTheTime: number) => {
      share = ofTheTime
    },
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

test('a process that is idle three tenths of the time or more has no heavy traffic, however many requests it serves', () => {
  const { at, isHeavy, busyFor } = counting()
  at(0, 1_000)
  busyFor(0.69)
  at(1_000, 1_000)
  expect(isHeavy()).toBe(false)
  busyFor(0.7)
  at(2_000, 1_000)
  expect(isHeavy()).toBe(true)
})

test('after a quiet while, many requests are heavy traffic until it is known how busy they make the process', () => {
  const { at, isHeavy, busyFor } = counting()
  busyFor(0)
  at(60_000, 1_000)
  expect(isHeavy()).toBe(true)
  at(61_000, 1_000)
  expect(isHeavy()).toBe(false)
})

test('the share is measured of the event loop of this process', () => {
  let now = 0
  const { count, isHeavy } = makeTraffic({ now: () => now })
  for (let request = 0; request < 200; request++) count()
  const begunAt = performance.now()
  while (performance.now() - begunAt < 50);
  now = 1_000
  expect(isHeavy()).toBe(true)
})
