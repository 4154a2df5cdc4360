import { Client } from 'pg'
import { expect } from 'vitest'
import type { SomeProjection } from '../../projections/projection.ts'
import type { runProjection } from '../../projections/runner.ts'
import { barrier, raised, soon, tallyId, through, type Fixture } from './fixture.ts'
import { newEvent, tallies, type TallyEvent } from './tally.ts'

export const total = async ({ pool }: Fixture): Promise<number> => {
  const { rows } = await pool.query<{ total: number }>('select sum(total)::integer as total from tallies')
  return rows[0]?.total ?? 0
}

/** Tables that a rebuild may have made. */
export const tables = async ({ pool }: Fixture): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename like '%tallies%'`,
  )
  return rows.map(({ name }) => name)
}

/** Tallies from 1 up, each raised by one. */
export const fill = async ({ eventLog, settled }: Fixture, count: number) => {
  const appended = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      eventLog.append(`tally-${tallyId(index + 1)}`, 'no_stream', [newEvent(raised())]),
    ),
  )
  for (const each of appended) if (each.outcome === 'appended') await settled(each.position)
}

/** A log that hands out nothing beyond its first batch until it is let. */
export const halting = ({ eventLog }: Fixture) => {
  const { passed, open } = barrier()
  const { passed: reached, open: reach } = barrier()
  const log = through(eventLog, async function* (batches, { signal }) {
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    let isFirst = true
    for await (const batch of batches) {
      if (!isFirst) {
        reach()
        await Promise.race([passed, aborted])
      }
      if (signal.aborted) return
      isFirst = false
      yield batch
    }
  })
  return { log, reached, open }
}

/** A log whose reader says that it has caught up after the first events, and reads the others only when it is let. */
export const lagging = ({ eventLog }: Fixture, count: number) => {
  const { passed, open } = barrier()
  const { passed: reached, open: reach } = barrier()
  const log = through(eventLog, async function* (batches, { after, signal }) {
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    let isBehind = true
    for await (const batch of batches) {
      if (isBehind && after === undefined) {
        const events = batch.events.slice(0, count)
        yield { events, position: events.at(-1)?.position ?? batch.position, caughtUp: true }
        reach()
      }
      if (isBehind) await Promise.race([passed, aborted])
      if (signal.aborted) return
      isBehind = false
      yield batch
    }
  })
  return { log, reached, open }
}

export const doubled: SomeProjection = {
  ...tallies,
  version: 2,
  project: (row: never, event: TallyEvent, recorded, key: never) =>
    tallies.project(row, event.type === 'TallyRaised' ? { ...event, by: 2 * event.by } : event, recorded, key),
}

/** A promise that says whether it is still open. */
export const settling = <Result>(promise: Promise<Result>) => {
  let settled = false
  const settle = () => {
    settled = true
  }
  promise.then(settle, settle)
  return { promise, isSettled: () => settled }
}

/** A process of a version from before, whose connections bear no mark. */
export const connectOld = async ({ url }: Fixture) => {
  const client = new Client({ connectionString: url, application_name: 'coverstream' })
  await client.connect()
  return {
    total: async () => {
      const { rows } = await client.query<{ total: number }>('select sum(total)::integer as total from tallies')
      return rows[0]?.total
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}

export const live = async (running: ReturnType<typeof runProjection>) =>
  soon(() => expect(running.status().state).toBe('live'))
