import { systemClock } from '#infra/clock.ts'
import { readConfig } from '#infra/config.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { makeLog } from '#infra/log.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { startDeliveryWorker } from '../../delivery-worker/delivery-worker.ts'

// A delivery worker in a process of its own, so that it can be killed.
const url = process.env['DATABASE_URL'] ?? ''
const config = readConfig(process.env)
const pool = createPool(url)
const keys = deriveKeys(config.MASTER_KEY ?? '')
const eventLog = postgresLog({ url })

await startDeliveryWorker({
  config,
  keys,
  dataKeys: makeDataKeys({ pool, keys }),
  log: makeLog('silent', 'worker'),
  metrics: makeMetrics(),
  eventLog,
  storedLog: eventLog,
  pool,
  clock: systemClock,
  signal: new AbortController().signal,
})
