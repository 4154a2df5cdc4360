import { expect, test } from 'vitest'
import { usualLimits } from '#infra/event-log/eventstoredb/calls.ts'
import { eventStoreDbLog } from '#infra/event-log/eventstoredb/eventstoredb-log.ts'
import { appended, idsOf, newEvents, newStream } from '../event-log/events.ts'
import { startCluster } from './cluster.ts'

// How long appends wait around an election, by the time that the calls themselves go by.

const withinMs = 2_000

/** Time that passes only while a call waits for its next attempt, and is then over at once. */
const controlledTime = () => {
  const pauses: number[] = []
  let now = Date.parse('2026-01-15T12:00:00.000Z')
  let onPause: (count: number) => void = () => undefined
  return {
    pauses,
    onPause: (act: typeof onPause) => {
      onPause = act
    },
    time: {
      now: () => now,
      pause: async (milliseconds: number) => {
        now += milliseconds
        onPause(pauses.push(milliseconds))
        await new Promise(setImmediate)
      },
    },
  }
}

test.each([
  { what: 'was lost', limits: {}, lose: async (leader: Leader) => leader.stop(), electAt: 20 },
  // Each question for the leader takes its time, since the frozen node is named until another is elected.
  {
    what: 'no longer answers',
    limits: { attemptMs: 400 },
    lose: async (leader: Leader) => leader.freeze(),
    electAt: 3,
  },
])('an append is begun at the new leader within 2 s of its election, when the former $what', async (given) => {
  await using cluster = await startCluster()
  const { time, pauses, onPause } = controlledTime()
  const log = eventStoreDbLog(cluster.url, given.limits, time)
  await using _closing = { [Symbol.asyncDispose]: log.close }
  await appended(log, newStream(), newEvents(1))
  const [leader] = cluster.nodes
  if (!leader) throw new Error('There are three.')
  if (given.what === 'was lost') cluster.elect(undefined)
  await given.lose(leader)
  onPause((count) => {
    if (count === given.electAt) cluster.elect(1)
  })

  const stream = newStream()
  const events = newEvents(2)
  await appended(log, stream, events)

  // The attempt that comes after the pause of the election is the one that is done.
  expect(pauses).toHaveLength(given.electAt)
  expect(cluster.nodes[1]?.appends()).toBe(1)
  expect(idsOf(await log.read(stream))).toEqual(idsOf(events))
  // At worst the election comes when an attempt at a silent node has just begun.
  expect(usualLimits.attemptMs + Math.max(...pauses)).toBeLessThanOrEqual(withinMs)
})

type Leader = Awaited<ReturnType<typeof startCluster>>['nodes'][number]

test('while there is no leader, there are at least four attempts a second, until 11 s are over', async () => {
  await using cluster = await startCluster()
  const { time, pauses } = controlledTime()
  const log = eventStoreDbLog(cluster.url, {}, time)
  await using _closing = { [Symbol.asyncDispose]: log.close }
  await appended(log, newStream(), newEvents(1))
  cluster.elect(undefined)

  await expect(log.append(newStream(), 'no_stream', newEvents(1))).rejects.toThrow('EventStoreDB at')

  const whole = pauses.reduce((sum, milliseconds) => sum + milliseconds, 0)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(250)
  expect(Math.min(...pauses.slice(5))).toBeGreaterThanOrEqual(125)
  expect(whole).toBeLessThan(usualLimits.wholeMs)
  expect(whole).toBeGreaterThanOrEqual(usualLimits.wholeMs - 250)
})
