import { pino } from 'pino'
import { vi } from 'vitest'
import type { NewEvent, RecordedEvent } from '#domain/event.ts'
import { publicKeysOf } from '#infra/audit-tree/audit-keys.ts'
import { readConfig } from '#infra/config.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { postgresLog, prepareLog } from '#infra/event-log/postgres/postgres-log.ts'
import { createPool, sql } from '#infra/postgres/postgres.ts'
import { shownError } from '#infra/reason.ts'
import { pagesOfLog } from '../../cli/audit/pages-of-log.ts'
import { verifyAuditLog } from '../../cli/audit/verify.ts'
import { keepAuditLog } from '../../projections/audit/audit-log.ts'
import { testDatabase } from '../database.ts'
import { newEvent, newStream } from '../event-log/events.ts'

export const config = readConfig({
  BASE_URL: 'https://audit.test',
  MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
  AUDIT_KEY: Buffer.alloc(32, 2).toString('base64'),
})

export const publicKeys = publicKeysOf(config)

export const organisations = [
  '6f8f3a52-6f39-4f0e-9c5b-0d2c65d1a001',
  '6f8f3a52-6f39-4f0e-9c5b-0d2c65d1a002',
  '6f8f3a52-6f39-4f0e-9c5b-0d2c65d1a003',
] as const

export const eventOf = (organisation_id: string | null, data = {}): NewEvent => {
  const event = newEvent('SomethingHappened', data)
  return { ...event, metadata: { ...event.metadata, organisation_id } }
}

/** Witnesses of tests are on this machine. */
const outside = { AUDIT_WITNESSES: [], DELIVERY_ALLOWED_HOSTS: ['127.0.0.1'], DELIVERY_ALLOW_HTTP: true }

type Options = {
  readonly log?: EventLog
  readonly AUDIT_KEY?: string | undefined
  readonly AUDIT_WITNESS_FILE?: string
  readonly AUDIT_WITNESSES?: string[]
  readonly pollMs?: number
}

/** A log and the trees of it, for as long as a test uses them. */
export const auditFixture = async (given?: EventLog) => {
  const database = await testDatabase()
  await prepareLog(database.pool)
  const log = given ?? postgresLog({ url: database.url })
  const stops: (() => Promise<void>)[] = []

  /** A process that fills the trees, and signs as often as it can. */
  const start = ({ log: own = log, pollMs = 20, ...settings }: Options = {}) => {
    const ending = new AbortController()
    const pool = createPool(database.url, { name: 'audit' })
    const lines: Readonly<Record<string, unknown>>[] = []
    const { check, finished } = keepAuditLog({
      config: { ...config, ...outside, ...settings },
      storedLog: own,
      pool,
      leases: makeLeases(pool, { pollMs: 20 }),
      log: pino(
        { serializers: { error: shownError } },
        { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]) },
      ),
      signal: ending.signal,
      pollMs,
    })
    let stopping: Promise<void> | undefined
    const end = async () => {
      ending.abort()
      await finished
      await pool.end()
    }
    const stop = () => (stopping ??= end())
    stops.push(stop)
    return { check, stop, lines }
  }

  const append = async (organisation_id: string | null, count = 1, stream = newStream()): Promise<string> => {
    for (let number = 0; number < count; number++) {
      const result = await log.append(stream, 'any', [eventOf(organisation_id, { number, premium_pence: 40_000 })])
      if (result.outcome !== 'appended') throw new Error('Somebody else appended.')
    }
    return stream
  }

  const events = async (): Promise<readonly RecordedEvent[]> => {
    const all: RecordedEvent[] = []
    for await (const page of pagesOfLog(log)) all.push(...page)
    return all
  }

  const signedLeaves = async (): Promise<number> => {
    const { rows } = await database.pool.query<{ signed: number }>(sql`
      select coalesce(sum(signed_size), 0)::integer as signed from audit_tree
      where generation = (select max(generation) from audit_generation)`)
    return rows[0]?.signed ?? 0
  }

  return {
    ...database,
    log,
    start,
    append,
    events,
    /** Waits until so many leaves, over all trees, are signed. */
    untilSigned: async (leaves: number) =>
      vi.waitUntil(async () => (await signedLeaves()) >= leaves, { timeout: 60_000, interval: 10 }),
    verify: () => verifyAuditLog({ db: database.pool, events: pagesOfLog(log), logIsHere: !given, publicKeys }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(stops.map((stop) => stop()))
      await log.close()
      await database[Symbol.asyncDispose]()
    },
  }
}
