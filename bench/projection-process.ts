import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { makeLog } from '#infra/log.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { makeProgress } from '#infra/consumers/progress.ts'
import { applications } from '../projections/applications/projection.ts'
import { runProjection } from '../projections/runner.ts'

/** Keeps one read model up to date, in another process than the writer of the log, until it is stopped. */
const main = async ([url = '']: readonly string[]) => {
  const pool = createPool(url)
  const eventLog = postgresLog({ url })
  const ending = new AbortController()
  process.once('SIGINT', () => ending.abort())
  const parts = { eventLog, pool, leases: makeLeases(pool), log: makeLog('warn', 'bench'), signal: ending.signal }
  await runProjection(applications, { ...parts, progress: makeProgress() }).finished
  await eventLog.close()
  await pool.end()
}

await main(process.argv.slice(2))
