import { pino } from 'pino'
import type { PoolClient } from 'pg'
import { readConfig } from '#infra/config.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { keepAuditLog } from '../../projections/audit/audit-log.ts'

/** The moment at which the process kills itself: before, or right after, it sends a statement, counted from when events come. */
export type Moment = { readonly statement: number; readonly isAfter: boolean }

const url = process.env['DATABASE_URL'] ?? ''
const pool = createPool(url, { name: 'audit' })
let moment: Moment | undefined
let sent: number | undefined
const kill = () => process.kill(process.pid, 'SIGKILL')

const nameOf = (statement: unknown): unknown =>
  typeof statement === 'object' && statement !== null && 'name' in statement ? statement.name : undefined

pool.on('connect', (client: PoolClient) => {
  const query = client.query.bind(client) as (...given: unknown[]) => unknown
  const counted = (...given: unknown[]): unknown => {
    if (moment && (sent !== undefined || nameOf(given[0]) === 'audit-trees')) sent = (sent ?? -1) + 1
    const isMoment = moment !== undefined && sent === moment.statement
    if (isMoment && !moment?.isAfter) kill()
    const answer = query(...given)
    if (isMoment) kill()
    return answer
  }
  // It is the same function, for every way to call it.
  client.query = counted as typeof client.query
})

const { check } = keepAuditLog({
  config: readConfig(process.env),
  storedLog: postgresLog({ url }),
  pool,
  leases: makeLeases(pool, { pollMs: 20 }),
  log: pino({ level: 'silent' }),
  signal: new AbortController().signal,
  pollMs: 20,
})

process.on('message', (wanted: Moment) => {
  moment = wanted
  process.send?.('armed')
})
process.on('disconnect', kill)
let isSaid = false
setInterval(() => {
  if (check().detail !== 'signing' || isSaid) return
  isSaid = true
  process.send?.('signing')
}, 10)
process.send?.('started')
