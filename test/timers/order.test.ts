import { expect, test } from 'vitest'
import { makeOrder } from '../../command-api/reactions/timer-order.ts'
import type { DueTime } from '../../command-api/reactions/timers.ts'

const due = (kind: string, day: number, stream = 'policy-1'): DueTime => ({
  organisation_id: 'o',
  kind,
  id: stream,
  stream,
  due_at: `2026-06-${String(day).padStart(2, '0')}T00:00:00.000Z`,
})
const premium = due('policy_premium', 1)
const end = due('policy_end', 20)
const other = due('policy_end', 10, 'policy-2')
const kindsOf = (fired: readonly DueTime[]) => fired.map(({ kind, stream }) => `${kind} ${stream}`)

const open = () => {
  const clock = { now: 0 }
  const resting = new Set<DueTime>()
  const openRound = makeOrder<DueTime>(
    (each) => resting.has(each),
    () => clock.now,
  )
  return { clock, resting, round: (...rows: readonly DueTime[]) => kindsOf(rows.filter(openRound().isNext)) }
}

test('of one policy the earliest that is due is fired alone; others do not wait for it', () => {
  const { round } = open()

  expect(round(premium, other, end)).toEqual(['policy_premium policy-1', 'policy_end policy-2'])
  // The first premium was called, which makes the second due.
  expect(round(due('policy_premium', 15), end)).toEqual(['policy_premium policy-1'])
  expect(round(end)).toEqual(['policy_end policy-1'])
})

test('what fails holds up nothing', () => {
  const { round, resting } = open()
  round(premium, end)
  resting.add(premium)

  expect(round(premium, end)).toEqual(['policy_premium policy-1', 'policy_end policy-1'])
})

test('what changes nothing holds up others for half a minute at most', () => {
  const { round, clock } = open()
  round(premium, end)

  clock.now = 30_000
  expect(round(premium, end)).toEqual(['policy_premium policy-1'])
  clock.now = 30_001
  expect(round(premium, end)).toEqual(['policy_premium policy-1', 'policy_end policy-1'])
})

test('a round says whether something waits for the next one', () => {
  const openRound = makeOrder<DueTime>(() => false)
  const [alone, both] = [openRound(), openRound()]
  alone.isNext(premium)
  for (const each of [premium, end]) both.isNext(each)

  expect([alone.isHeld(), both.isHeld()]).toEqual([false, true])
})
