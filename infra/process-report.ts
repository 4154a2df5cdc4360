import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import manifest from '../package.json' with { type: 'json' }
import type { Check, Checks } from './http/health.ts'
import type { Log } from './log.ts'
import { sql, withDeadline } from './postgres/postgres.ts'
import { processId } from './process-id.ts'
import { readModelsDigest } from './read-models.ts'
import { reasonOf } from './reason.ts'
import { withTimeout } from './timeout.ts'

type Parts = {
  readonly pool: Pick<Pool, 'query'>
  readonly log: Pick<Log, 'debug'>
  readonly signal: AbortSignal
  readonly role: string
  readonly checks: Checks
  /** That of this process, which tests have several of. */
  readonly id?: string
  readonly everyMs?: number
}

/** The checks that a process does not pass, as operators are shown them. */
export type Failing = Pick<Check, 'name' | 'detail'>

const usuallyEveryMs = 10_000
const withinMs = 2_000
const mostFailing = 50

/** The service, and the read models that this version of it makes. */
const version = `${manifest.version} ${readModelsDigest}`

const failingOf = async (checks: Checks): Promise<readonly Failing[]> => {
  const made = await withTimeout(checks(), withinMs).catch((error: unknown): readonly Check[] => [
    { name: 'checks', ok: false, detail: reasonOf(error) },
  ])
  return made.flatMap(({ ok, ...failing }) => (ok ? [] : [failing])).slice(0, mostFailing)
}

/**
 * Says every few seconds in the database that this process is there, and what it does not pass of its health. It uses a connection
 * of the pool for a moment; while the database is away it says nothing, and nothing else waits for that.
 */
export const reportProcess = (parts: Parts): { readonly finished: Promise<void> } => {
  const { pool, log, signal, role, checks, id = processId, everyMs = usuallyEveryMs } = parts

  const report = async () => {
    const failing = JSON.stringify(await failingOf(checks))
    await pool.query(
      withDeadline(
        sql`
          with silent as (delete from process where last_seen_at < now() - interval '1 day' and id <> ${id})
          insert into process (id, role, host, version, started_at, last_seen_at, failing)
          values (${id}, ${role}, ${hostname()}, ${version}, now() - make_interval(secs => ${process.uptime()}), now(), ${failing})
          on conflict (id) do update set last_seen_at = excluded.last_seen_at, failing = excluded.failing`,
        usuallyEveryMs,
      ),
    )
  }

  const run = async () => {
    while (!signal.aborted) {
      // Others say that the database is away.
      await report().catch((error: unknown) => log.debug({ error }, 'the state of this process could not be written'))
      await pause(everyMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
    await pool.query(withDeadline(sql`delete from process where id = ${id}`, withinMs)).catch(() => undefined)
  }
  return { finished: run() }
}
