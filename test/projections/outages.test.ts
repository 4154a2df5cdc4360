import { expect, test } from 'vitest'
import { withLiveFeed } from '#infra/consumers/live-feed.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { eventStoreDbLog } from '#infra/event-log/eventstoredb/eventstoredb-log.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { checkConsumer, checkOutage } from '#infra/role-parts.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { runReactions, type SomeReaction } from '../../command-api/reactions/reaction.ts'
import { runProjection } from '../../projections/runner.ts'
import { notReady } from '../eventstoredb/behaviour.ts'
import { severableWayTo } from '../eventstoredb/proxy.ts'
import { startEventStoreDb } from '../eventstoredb/server.ts'
import { appended, batchesOf, eventsIn, newCategory, newEvents, newStream } from '../event-log/events.ts'
import { fixture, raised, soon, tallyId } from './fixture.ts'
import { newEvent, tallies, tallyEvents } from './tally.ts'

/** Reads from the log at every event, as the commands of reactions do. */
const reading = (log: EventLog, seen: Set<number>): SomeReaction => ({
  name: 'when-tally-raised-read',
  categories: ['tally'],
  events: tallyEvents,
  target: () => 'note-1',
  react: async (_event, { stream, revision }) => {
    await log.read(stream)
    seen.add(revision)
  },
})

const isRetry = ({ msg }: Readonly<Record<string, unknown>>) => msg === 'consumer failed and retries'

test('after an outage of the log that is longer than all retries, consumers go on by themselves', async () => {
  await using the = await fixture()
  await using server = await startEventStoreDb()
  const log = withLiveFeed(eventStoreDbLog(server.url, { attemptMs: 1_500, wholeMs: 2_000 }))
  // What a reaction reads with fails at once, so that an event arrives that it cannot handle.
  let isAway = false
  const seen = new Set<number>() // At least once: an event may come again.
  const { run, parts, lines, stop } = the.makeProcess('process', log)
  const reads: EventLog = {
    ...log,
    read: async (...page) => {
      if (isAway) server.refuseAll(notReady)
      return log.read(...page)
    },
  }
  const [reaction] = runReactions([reading(reads, seen)], parts)
  if (!reaction) throw new Error('There should be a reaction.')
  run(() => reaction)
  const projection = run((given) => runProjection(tallies, given))
  const append = () => log.append(`tally-${tallyId(1)}`, 'any', [newEvent(raised())])
  await append()
  await soon(() => expect([...seen]).toEqual([0]))

  isAway = true
  await append()
  await soon(() => expect(lines.filter(isRetry).length).toBeGreaterThanOrEqual(1))
  const during = await soon(() => {
    const checks = [checkConsumer(reaction), checkOutage({ eventLog: log })]
    expect(checks.map(({ ok }) => ok)).toEqual([false, false])
    return checks
  })
  isAway = false
  server.refuseAll()

  await soon(() => expect([...seen]).toEqual([0, 1]))
  await append()
  await soon(() => expect([...seen]).toEqual([0, 1, 2]))
  await soon(() => expect([reaction, projection].map((each) => checkConsumer(each).ok)).toEqual([true, true]))
  await soon(() => expect(checkOutage({ eventLog: log }).ok).toBe(true))
  for (const { detail } of during) expect(detail).toMatch(/since \d{4}-\d\d-\d\dT/)
  await stop()
  await log.close()
})

test('after an outage of PostgreSQL that is longer than all retries, consumers go on by themselves', async () => {
  await using the = await fixture()
  const url = new URL(the.url)
  await using way = await severableWayTo(url.hostname, Number(url.port))
  const there = Object.assign(url, { hostname: '127.0.0.1', port: String(way.port) }).href
  const pool = createPool(there)
  const log = withLiveFeed(postgresLog({ url: there, readMs: 500 }))
  const { run, parts, lines, stop } = the.makeProcess('process', log)
  const given = { ...parts, pool, leases: makeLeases(pool, { pollMs: 20 }) }
  const seen = new Set<number>() // At least once: an event may come again.
  const [reaction] = runReactions([reading(log, seen)], given)
  if (!reaction) throw new Error('There should be a reaction.')
  run(() => reaction)
  const projection = run(() => runProjection(tallies, given))
  await the.append(1, raised())
  await soon(() => expect([...seen]).toEqual([0]))

  await way.cut()
  await the.append(1, raised())
  await soon(() => expect(lines.filter(isRetry).length).toBeGreaterThanOrEqual(4))
  await soon(() => expect(checkOutage({ eventLog: log }).ok).toBe(false))
  const during = checkOutage({ eventLog: log })
  way.mend()

  await soon(() => expect([...seen]).toEqual([0, 1]))
  await soon(() => expect([reaction, projection].map((each) => checkConsumer(each).ok)).toEqual([true, true]))
  await soon(() => expect(checkOutage({ eventLog: log }).ok).toBe(true))
  expect(during).toMatchObject({ ok: false, detail: expect.stringMatching(/^away since \d{4}-/) as string })
  await stop()
  await log.close()
  await pool.end()
})

test('EventStoreDB sends a process one message for an event, however many consumers follow it', async () => {
  await using server = await startEventStoreDb()
  const log = withLiveFeed(eventStoreDbLog(server.url))
  const categories = Array.from({ length: 8 }, () => newCategory())
  const rounds = 50
  let caughtUp = 0
  const following = [...categories, ...categories].map((category) =>
    batchesOf(log, { categories: [category] }, (taken) => {
      if (taken.length === 1) caughtUp++
      return eventsIn(taken).length === rounds
    }),
  )
  await soon(() => expect(caughtUp).toBe(2 * categories.length))
  await soon(() => expect(server.subscriptions()).toBe(1))
  const before = server.messagesSent()

  for (let round = 0; round < rounds; round++)
    for (const category of categories) await appended(log, newStream(category), newEvents(1))
  await Promise.all(following)

  expect((server.messagesSent() - before) / (rounds * categories.length)).toBeLessThanOrEqual(1.1)
  await log.close()
})
