import { readConfig } from '#infra/config.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { makeLog } from '#infra/log.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { startDeliveryWorker } from '../../delivery-worker/delivery-worker.ts'

// A delivery worker in a process of its own, so that it can be killed.
const url = process.env['DATABASE_URL'] ?? ''
const config = readConfig(process.env)

await startDeliveryWorker({
  config,
  keys: deriveKeys(config.MASTER_KEY ?? ''),
  log: makeLog('silent', 'worker'),
  metrics: makeMetrics(),
  eventLog: postgresLog({ url }),
  pool: createPool(url),
  signal: new AbortController().signal,
})
