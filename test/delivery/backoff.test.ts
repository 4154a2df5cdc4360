import { expect, test } from 'vitest'
import { attemptsMax, nextAttempt, retryAfterSeconds, verdictOn, type Verdict } from '../../delivery-worker/backoff.ts'

const now = new Date('2026-03-01T10:00:00.000Z')
const secondsUntil = (next: Date | undefined) => next && (next.getTime() - now.getTime()) / 1000

test('after the first attempt it waits about 10, 40, 100 and 200 seconds, and then gives up', () => {
  const waits = [1, 2, 3, 4, 5, 6].map((attempts) => secondsUntil(nextAttempt(attempts, now, 0.5, undefined)))

  expect(waits).toEqual([10, 40, 100, 200, undefined, undefined])
  expect(attemptsMax).toBe(5)
})

test('a little jitter spreads the retries of many deliveries', () => {
  expect(secondsUntil(nextAttempt(1, now, 0, undefined))).toBe(9)
  expect(secondsUntil(nextAttempt(1, now, 1, undefined))).toBe(11)
})

test('five attempts stay within about six minutes, however the chances fall', () => {
  const latest = [1, 2, 3, 4].map((attempts) => secondsUntil(nextAttempt(attempts, now, 1, undefined)) ?? 0)

  expect(latest.reduce((sum, seconds) => sum + seconds)).toBeLessThanOrEqual(6.5 * 60)
})

test('a receiver that asks for more time gets it, up to the longest delay', () => {
  expect(secondsUntil(nextAttempt(1, now, 0.5, 30))).toBe(30)
  expect(secondsUntil(nextAttempt(1, now, 0.5, 3))).toBe(10)
  expect(secondsUntil(nextAttempt(1, now, 0.5, 86_400))).toBe(200)
  expect(nextAttempt(5, now, 0.5, 30)).toBeUndefined()
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
  ({ outcome: 'answered', status, header: () => undefined, body: Buffer.alloc(0) }) as const

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
])('the answer %i: %s', (status, verdict) => {
  expect(verdictOn(answered(status))).toBe(verdict)
})

test('no answer is tried again, and what we may not reach is not', () => {
  expect(verdictOn({ outcome: 'unanswered', reason: 'ENOTFOUND' })).toBe('retry')
  expect(verdictOn({ outcome: 'refused', reason: 'not a public address' })).toBe('failed')
})
