import { pino } from 'pino'
import { vi } from 'vitest'
import type { Position } from '#domain/event.ts'
import type { Consuming } from '#infra/consumers/consumer.ts'
import { postgresLog, prepareLog } from '#infra/event-log/postgres/postgres-log.ts'
import type { Batch, EventLog, Subscription } from '#infra/event-log/event-log.ts'
import { withLiveFeed } from '#infra/consumers/live-feed.ts'
import { shownError } from '#infra/reason.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { makeProgress } from '#infra/consumers/progress.ts'
import { testDatabase } from '../database.ts'
import { wholeLog } from '../event-log/whole-log.ts'
import { newEvent, type TallyEvent } from './tally.ts'

/** A log and a database of their own, and processes that share them, for as long as the test uses them. */
export const fixture = async () => {
  const database = await testDatabase()
  await prepareLog(database.pool)
  const eventLog = wholeLog(withLiveFeed(postgresLog({ url: database.url })), database.pool)
  const processes: { readonly stop: () => Promise<void> }[] = []

  /** What would be a process of its own, with a name that its connections bear. */
  const makeProcess = (name = 'process', log: EventLog = eventLog) => {
    const ending = new AbortController()
    const pool = createPool(database.url, { name })
    const progress = makeProgress()
    const lines: Readonly<Record<string, unknown>>[] = []
    const parts = {
      eventLog: log,
      pool,
      leases: makeLeases(pool, { pollMs: 20 }),
      log: pino(
        { serializers: { error: shownError } },
        { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]) },
      ),
      progress,
      signal: ending.signal,
    }
    const unfinished: Promise<void>[] = []
    let stopping: Promise<void> | undefined
    const end = async () => {
      ending.abort()
      await Promise.all(unfinished)
      await pool.end()
    }
    const stop = () => (stopping ??= end())
    processes.push({ stop })
    return {
      parts,
      progress,
      /** What was logged. */
      lines,
      stop,
      abort: () => ending.abort(),
      /** The process has not ended before this has. */
      until: (finished: Promise<void>) => unfinished.push(finished),
      run: (start: (given: typeof parts) => Consuming): Consuming => {
        const started = start(parts)
        unfinished.push(started.finished)
        return started
      },
    }
  }

  /** While others write, to any database of the server, an event may take a moment until readers see it. */
  const settled = async (position: Position) => {
    const reached = async () => ((await eventLog.head()) ?? '') >= position
    await vi.waitUntil(reached, { timeout: 60_000, interval: 5 })
  }

  return {
    ...database,
    eventLog,
    makeProcess,
    settled,
    /** Events of the tally of this number, which readers see. */
    append: async (tally: number, ...events: readonly TallyEvent[]) => {
      const result = await eventLog.append(
        `tally-${tallyId(tally)}`,
        'any',
        events.map((event) => newEvent(event)),
      )
      if (result.outcome !== 'appended') throw new Error('Somebody else appended.')
      await settled(result.position)
      return result.position
    },
    /** Ends connections from the side of the server, as a crash would. */
    cutOff: async (applicationName: string): Promise<void> => {
      await database.pool.query(
        `select pg_terminate_backend(pid, 5000) from pg_stat_activity
         where datname = current_database() and application_name like $1 || '%'`,
        [applicationName],
      )
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(processes.map(({ stop }) => stop()))
      await eventLog.close()
      await database[Symbol.asyncDispose]()
    },
  }
}
export type Fixture = Awaited<ReturnType<typeof fixture>>

/** Waits for something to become so, on a machine that may be busy. */
export const soon = <Result>(check: () => Result | Promise<Result>): Promise<Result> =>
  vi.waitFor(check, { timeout: 60_000, interval: 10 })

export const tallyId = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

export const raised = (by = 1): TallyEvent => ({ type: 'TallyRaised', by })

/** A log whose subscriptions go through a function first. */
export const through = (
  eventLog: EventLog,
  change: (batches: AsyncIterable<Batch>, subscription: Subscription) => AsyncIterable<Batch>,
): EventLog => ({
  ...eventLog,
  subscribe: (subscription) => change(eventLog.subscribe(subscription), subscription),
})

/** Something to wait for, and to let go. */
export const barrier = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { passed: promise, open: resolve }
}
