import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { OwnError } from '#domain/own-error.ts'
import type { HealthPort } from '../health-port.ts'
import type { Log } from '../log.ts'
import { sql } from '../postgres/postgres.ts'
import { readModelsSchema, readModelVersions } from '../read-models.ts'
import { onceDatabaseAnswers } from '../wait-for-store.ts'

/** Read models of another version have taken the place of those that this process reads. */
export class ReadModelsReplaced extends OwnError {
  override readonly name = 'ReadModelsReplaced'
}

type Parts = {
  readonly pool: Pool
  readonly log: Log
  readonly signal: AbortSignal
  readonly starting?: HealthPort['starting']
}

const askAgainMs = 500
const reportMs = 60_000
const watchMs = 1_000

type Stored = { readonly name: string; readonly version: number; readonly is_shown: boolean }

/** The read models that this process would read in another version than it knows, in words; empty: there are none. */
export const othersInUse = async (pool: Pool): Promise<readonly string[]> => {
  const { rows } = await pool.query<Stored>(sql`
    select name, version, to_regclass(${`${readModelsSchema}.`} || quote_ident(name)) is not null as is_shown
    from consumer_checkpoint where name = any (${[...readModelVersions.keys()]}) order by name`)
  return rows.flatMap(({ name, version, is_shown }) => {
    const own = readModelVersions.get(name)
    return is_shown || version === own ? [] : [`${name} is of version ${version}, not ${own}`]
  })
}

/**
 * Waits until the read models of the versions that this process knows are there: those of another version have other rows.
 * From then on it is looked again and again: the process ends when they were replaced. A new installation has none yet.
 */
export const untilOwnVersions = async ({ pool, log, signal, starting }: Parts): Promise<void> => {
  const waiting = { pool, log, signal, ...(starting && { starting }) }
  let reportedAt: number | undefined
  for (;;) {
    const others = await onceDatabaseAnswers(waiting, () => othersInUse(pool))
    if (others.length === 0) break
    starting?.({
      name: 'read models',
      ok: false,
      detail: `waits for projections of this version: ${others.join(', ')}`,
    })
    if (reportedAt === undefined || performance.now() - reportedAt >= reportMs) {
      // Every upgrade waits for a while; whoever waits for long may lack the projections of its version.
      const level = reportedAt === undefined ? 'info' : 'warn'
      reportedAt = performance.now()
      log[level]({ others }, 'waiting for the read models of this version, which its projections make')
    }
    await pause(askAgainMs, undefined, { signal })
  }
  // Its failure ends the process: nobody waits for it.
  void watchVersions(pool, signal)
}

/** Throws when read models of another version are put in use. */
export const watchVersions = async (pool: Pool, signal: AbortSignal): Promise<void> => {
  const isStopping = () => signal.aborted
  while (!isStopping()) {
    await pause(watchMs, undefined, { signal, ref: false }).catch(() => undefined)
    if (isStopping()) return
    // While the database is away, others say so.
    const others = await othersInUse(pool).catch(() => [])
    if (others.length > 0)
      throw new ReadModelsReplaced(
        `Read models of another version are in use (${others.join(', ')}): replace this process by one of that version.`,
      )
  }
}
