import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { idOf } from '#domain/event.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { migrate } from '#infra/postgres/migrations.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { makeLog } from '#infra/log.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { makeProgress } from '#infra/consumers/progress.ts'
import { applications } from '../projections/applications/projection.ts'
import { runProjection } from '../projections/runner.ts'
import { median, percentile, type Figure } from './figure.ts'
import type { Pace } from './throughput.ts'
import { startOf } from './history.ts'
import type { Environment } from './environment.ts'

const patienceMs = 10_000
const warmUp = 20

/** Milliseconds from asking for an append until its row can be selected, each time after a moment of quiet. */
const look = async (url: string, log: EventLog, times: number): Promise<readonly number[]> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  const isThere = async (...key: readonly (string | null)[]): Promise<boolean> => {
    const text = 'select 1 from applications where organisation_id = $1 and id = $2'
    return (await client.query({ name: 'look', text, values: [...key] })).rowCount === 1
  }

  const taken: number[] = []
  for (let number = 0; number < times + warmUp; number++) {
    const { stream, event } = startOf(number)
    const { organisation_id } = event.metadata
    await pause(5 + Math.random() * 45)
    const startedAt = performance.now()
    await log.append(stream, 'no_stream', [event])
    while (!(await isThere(organisation_id, idOf(stream))))
      if (performance.now() - startedAt > patienceMs) throw new Error('An append does not become visible.')
    taken.push(performance.now() - startedAt)
  }
  await client.end()
  return taken.slice(warmUp)
}

const inOneProcess = async (url: string, times: number): Promise<readonly number[]> => {
  const pool = createPool(url)
  const eventLog = postgresLog({ url })
  const ending = new AbortController()
  const parts = { eventLog, pool, leases: makeLeases(pool), log: makeLog('warn', 'bench'), signal: ending.signal }
  const running = runProjection(applications, { ...parts, progress: makeProgress() })
  const taken = await waitForTable(url).then(() => look(url, eventLog, times))
  ending.abort()
  await running.finished
  await eventLog.close()
  await pool.end()
  return taken
}

const inAnother = async (environment: Environment, url: string, times: number): Promise<readonly number[]> => {
  const child = environment.run(process.execPath, [`${import.meta.dirname}/projection-process.ts`, url])
  const eventLog = postgresLog({ url })
  const taken = await waitForTable(url).then(() => look(url, eventLog, times))
  await eventLog.close()
  await child.stop()
  return taken
}

const waitForTable = async (url: string): Promise<void> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  const deadline = performance.now() + patienceMs
  for (;;) {
    const { rows } = await client.query<{ exists: boolean }>(`select to_regclass('applications') is not null as exists`)
    if (rows[0]?.exists) break
    if (performance.now() > deadline) throw new Error('The projection does not begin.')
    await pause(20)
  }
  await client.end()
}

const figureOf = (name: string, taken: readonly number[]): Figure => ({
  name,
  unit: 'ms',
  value: median(taken),
  target: { below: 10 },
  details: { 'ms at the median': median(taken), p95: percentile(taken, 0.95), most: Math.max(...taken) },
})

/** From asking for an append until the read model shows it. */
export const measureVisible = async (environment: Environment, { looks }: Pace): Promise<readonly Figure[]> => {
  const url = await environment.database('visible')
  const pool = createPool(url)
  await migrate(pool)
  await pool.end()
  return [
    figureOf('append to visible, one process', await inOneProcess(url, looks)),
    figureOf('append to visible, another process', await inAnother(environment, url, looks)),
  ]
}
