import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  attemptsMax,
  nextDelay,
  retryAfterSeconds,
  unsentDelaySeconds,
  verdictOn,
  type Verdict,
} from '../../delivery-worker/sending/backoff.ts'

const now = new Date('2026-03-01T10:00:00.000Z')

/** The delays after each attempt when the receiver asks for these times. */
const delaysWhenAsked = (asked: readonly (number | undefined)[], chance = 0.5) => {
  let waitedSeconds = 0
  return asked.map((askedSeconds, index) => {
    const delay = nextDelay({ sent: index + 1, waitedSeconds, chance, askedSeconds })
    waitedSeconds = delay?.waitedSeconds ?? waitedSeconds
    return delay?.seconds
  })
}
const never = [undefined, undefined, undefined, undefined]
const total = (delays: readonly (number | undefined)[]) => delays.reduce<number>((sum, each) => sum + (each ?? 0), 0)

test('after the first attempt it waits about 10, 40, 100 and 200 seconds, and then gives up', () => {
  expect(delaysWhenAsked([...never, undefined, undefined])).toEqual([10, 40, 100, 200, undefined, undefined])
  expect(attemptsMax).toBe(5)
})

test('a little jitter spreads the retries of many deliveries', () => {
  expect(delaysWhenAsked([undefined], 0)).toEqual([9])
  expect(delaysWhenAsked([undefined], 1)).toEqual([11])
})

test('a receiver that asks for more time gets it, out of the later delays', () => {
  expect(delaysWhenAsked([30, undefined, undefined, undefined])).toEqual([30, 20, 100, 200])
  expect(delaysWhenAsked([60, undefined, undefined, undefined])).toEqual([60, 10, 80, 200])
  expect(delaysWhenAsked([60, 60, 60, 60])).toEqual([60, 60, 60, 170])
  expect(delaysWhenAsked([3, undefined, undefined, undefined])).toEqual([10, 40, 100, 200])
})

test('a receiver that asks for too much leaves 10 seconds for each later attempt', () => {
  expect(delaysWhenAsked([86_400, 86_400, 86_400, 86_400, 86_400])).toEqual([320, 10, 10, 10, undefined])
  expect(delaysWhenAsked([undefined, undefined, undefined, 86_400])).toEqual([10, 40, 100, 200])
})

test('five attempts stay within about six minutes, whatever the receiver asks for', () => {
  const asked = fc.option(fc.double({ min: 0, max: 1_000, noNaN: true }), { nil: undefined })
  const chance = fc.double({ min: 0, max: 1, noNaN: true })

  fc.assert(
    fc.property(fc.tuple(asked, asked, asked, asked), chance, (all, chosen) => {
      const delays = delaysWhenAsked(all, chosen)
      expect(total(delays)).toBeLessThanOrEqual(6.5 * 60)
      expect(Math.min(...delays.map((each) => each ?? 0))).toBeGreaterThanOrEqual(9)
    }),
  )
})

test('what could not be sent for a reason of ours waits longer each time, at most an hour', () => {
  expect([1, 2, 5, 9, 10, 20].map(unsentDelaySeconds)).toEqual([10, 20, 160, 2_560, 3_600, 3_600])
})

test.each([
  ['120', 120],
  ['0', 0],
  ['Sun, 01 Mar 2026 10:00:30 GMT', 30],
  ['Sun, 01 Mar 2026 09:00:00 GMT', 0],
  ['soon', undefined],
  ['-5', undefined],
  [undefined, undefined],
])('Retry-After: %s asks for %s seconds', (header, seconds) => {
  expect(retryAfterSeconds(header, now)).toBe(seconds)
})

const answered = (status: number) =>
  ({ outcome: 'answered', status, header: () => undefined, headers: {}, body: Buffer.alloc(0) }) as const

test.each<[number, Verdict]>([
  [200, 'delivered'],
  [204, 'delivered'],
  [299, 'delivered'],
  [300, 'failed'],
  [301, 'failed'],
  [307, 'failed'],
  [400, 'failed'],
  [401, 'failed'],
  [403, 'failed'],
  [404, 'failed'],
  [408, 'failed'],
  [410, 'failed'],
  [428, 'failed'],
  [429, 'retry'],
  [430, 'failed'],
  [499, 'failed'],
  [500, 'retry'],
  [503, 'retry'],
  [599, 'retry'],
  [600, 'failed'],
  [999, 'failed'],
])('the answer %i: %s', (status, verdict) => {
  expect(verdictOn(answered(status))).toBe(verdict)
})

test('no answer is tried again, and what we may not reach is not', () => {
  expect(verdictOn({ outcome: 'unanswered', reason: 'ENOTFOUND' })).toBe('retry')
  expect(verdictOn({ outcome: 'refused', reason: 'not a public address' })).toBe('failed')
})
