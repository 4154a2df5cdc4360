import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makeTurns } from '../command-api/writing/turns.ts'

const withinMs = 12_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Work that goes on until it is told to end. */
const working = () => {
  let underWay = 0
  let most = 0
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const work = async () => {
    most = Math.max(most, ++underWay)
    await ended
    underWay--
    return 'done'
  }
  return { work, end, most: () => most }
}

test('hundreds of one organisation that stand still let another organisation go on', async () => {
  const turns = makeTurns()
  const { work, end } = working()
  const theirs = Array.from({ length: 300 }, async () => turns('one', withinMs, work))
  const settled = Promise.allSettled(theirs)

  expect(await turns('another', withinMs, async () => 'done')).toBe('done')

  end()
  const outcomes = (await settled).map(({ status }) => status)
  // Two at work and fifty who wait; the others were refused at once.
  expect(outcomes.filter((status) => status === 'fulfilled')).toHaveLength(52)
})

test('so many organisations are at work at once that connections are left for others', async () => {
  const turns = makeTurns()
  const { work, end, most } = working()
  const each = Promise.all(Array.from({ length: 50 }, async (_none, index) => turns(`firm ${index}`, withinMs, work)))

  end()

  expect(await each).toHaveLength(50)
  expect(most()).toBe(4)
})

test('503: who waits for too long is refused, and does not begin later; who begins is told how long is left', async () => {
  const turns = makeTurns()
  const { work, end } = working()
  const first = [turns('one', withinMs, work), turns('one', withinMs, work)]
  let hasBegun = false
  const late = Promise.allSettled([turns('one', withinMs, async () => (hasBegun = true))])
  await vi.advanceTimersByTimeAsync(5_000)
  const next = turns('one', withinMs, async (leftMs) => leftMs)
  await vi.advanceTimersByTimeAsync(7_000)
  expect(await late).toMatchObject([{ status: 'rejected', reason: { code: 'unavailable' } }])

  end()
  await Promise.all(first)

  expect(await next).toBe(5_000)
  expect(hasBegun).toBe(false)
})
