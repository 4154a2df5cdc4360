import type { Express } from 'express'
import type { Pool } from 'pg'
import { storedEvents } from '#domain/stored-events.ts'
import { BadConfiguration, type Config } from './config.ts'
import { startClock, type Clock } from './clock.ts'
import type { Consuming } from './consumers/consumer.ts'
import { withLiveFeed } from './consumers/live-feed.ts'
import { waitingBehind, standstills, type Standstills } from './consumers/standstill.ts'
import { makeLiveFolds, type LiveFolds } from './consumers/live-folds.ts'
import { prepareLog } from './event-log/postgres/schema.ts'
import { postgresLog } from './event-log/postgres/postgres-log.ts'
import type { EventLog } from './event-log/event-log.ts'
import type { Check, Checks } from './http/health.ts'
import { makeDataKeys, type DataKeys } from './crypto/data-keys.ts'
import { openErasedKeysFile } from './crypto/erased-keys-file.ts'
import { followErasures } from './crypto/follow-erasures.ts'
import { deriveKeys, type Keys } from './crypto/keys.ts'
import { checkMasterKeys } from './crypto/master-keys.ts'
import { sealedLog } from './crypto/sealed-log.ts'
import { checkInstallation, untilExchanged, watchInstallation } from './installation.ts'
import type { Log } from './log.ts'
import type { HealthPort } from './health-port.ts'
import { tellingOutagesOnce } from './outage-lines.ts'
import type { Metrics } from './metrics.ts'
import type { Database } from './postgres/lookups.ts'
import { migrate } from './postgres/migrations.ts'
import { createPool, sql } from './postgres/postgres.ts'
import { checkSessions } from './postgres/session.ts'
import { reasonOf } from './reason.ts'
import { stoppedClusterHint } from './local-installation.ts'
import { withTimeout } from './timeout.ts'
import { waitForStore } from './wait-for-store.ts'
import { makeProgress, type Progress } from './consumers/progress.ts'
import { makeRateLimit, type RateLimit } from './http/rate-limit.ts'
import { makeSessions, type Sessions } from './http/sessions.ts'
import { makeTraffic, type Traffic } from './request-load.ts'

/** The parts that every role works with. Roles that share a process share these. */
export type Parts = {
  readonly config: Config
  readonly keys: Keys
  readonly dataKeys: DataKeys
  readonly log: Log
  readonly metrics: Metrics
  readonly eventLog: EventLog
  /** The log as it is stored, with what is personal sealed: for whoever passes events on. */
  readonly storedLog: EventLog
  readonly pool: Pool
  readonly progress: Progress
  readonly folds: LiveFolds
  readonly rateLimit: RateLimit
  /** Attempts to sign in, by address and by user. */
  readonly signInLimit: RateLimit
  readonly sessions: Sessions
  readonly traffic: Traffic
  /** Business time. */
  readonly clock: Clock
  /** The interval between looks at what has fallen due; every second by default. Tests wait less. */
  readonly pollMs?: number
  /** Aborted when the process is to stop: consumers of the log then finish what they are at. */
  readonly signal: AbortSignal
  /** Says on the health port why the process is not ready yet. */
  readonly starting?: HealthPort['starting']
}

/** A role at work, until stopped. */
export type Role = {
  readonly checks: Checks
  /** Ends answers that would go on; comes before the process waits for all others. */
  readonly drain?: () => void
  /** Resolves when the role has finished what it was at; comes after the parts' signal was aborted. */
  readonly stop: () => Promise<void>
}

/** An API also has an app to be served. */
export type ApiRole = Role & { readonly app: Express }

/** `one process` runs all roles, `many` runs one of several processes that share the work. */
type Deployment = 'one process' | 'many'

/** Opens what every role works with. `close` comes last, after the roles have stopped. */
export const openParts = async (
  config: Config,
  ownLog: Log,
  signal: AbortSignal,
  databaseUrl: string,
  deployment: Deployment,
  health: Pick<HealthPort, 'metrics'> & Partial<Pick<HealthPort, 'starting'>>,
): Promise<{ readonly parts: Parts; readonly close: () => Promise<void> }> => {
  if (config.MASTER_KEY === undefined) throw new BadConfiguration('MASTER_KEY: must be set')
  const log = tellingOutagesOnce(ownLog)
  const pool = createPool(databaseUrl, {
    max: deployment === 'many' ? 10 : 20,
    onLost: (error) => log.warn({ error }, 'idle database connection lost'),
  })
  const keys = deriveKeys(config.MASTER_KEY, config.MASTER_KEYS_EARLIER)
  const waiting = { log, signal, ...health }
  const prepare = async () => {
    await checkSessions(pool)
    await migrate(pool, { onWait: () => log.info('another process upgrades the database, waiting for it') })
    await prepareLog(pool)
    await checkMasterKeys(pool, keys)
  }
  const hint = deployment === 'many' ? await stoppedClusterHint(config.DATA_DIR, databaseUrl) : undefined
  const database = { variable: 'DATABASE_URL', url: databaseUrl, hint } as const
  await waitForStore(database, prepare, waiting)
  const { ERASED_KEYS_FILE: file } = config
  const erasedKeys =
    file === undefined
      ? undefined
      : await waitForStore(
          database,
          () => {
            waiting.starting?.({ name: 'erased_keys', ok: false, detail: `destroys again what ${file} names` })
            return openErasedKeysFile({ pool, file, log })
          },
          waiting,
        )
  const dataKeys = makeDataKeys({ pool, keys, logIsHere: logIsHere(config), note: erasedKeys?.note })
  const ending = new AbortController()
  const erasures = followErasures({ pool, dataKeys, log, signal: ending.signal })
  // Outermost, so that an event is opened once for all consumers of the process.
  const storedLog = await openEventLog(config, databaseUrl)
  const isLogHere = logIsHere(config)
  const logStore = isLogHere
    ? database
    : ({ variable: 'EVENTSTOREDB_URL', url: config.EVENTSTOREDB_URL ?? '' } as const)
  await waitForStore(logStore, storedLog.head, waiting)
  const installation = await waitForStore(
    logStore,
    () => checkInstallation({ pool, keys, storedLog, isLogHere }),
    waiting,
  )
  const watch = watchInstallation({ ...installation, storedLog, signal: AbortSignal.any([signal, ending.signal]) })
  const installedLog = untilExchanged(storedLog, watch)
  const eventLog = withLiveFeed(sealedLog(installedLog, dataKeys, storedEvents))
  const rateLimit = makeRateLimit({
    requests: config.RATE_LIMIT_REQUESTS,
    windowSeconds: config.RATE_LIMIT_WINDOW_SECONDS,
    log,
    ...(deployment === 'many' && { pool }),
  })
  const signInLimit = makeRateLimit({
    requests: config.SIGN_IN_ATTEMPTS,
    windowSeconds: 300,
    name: 'sign-in',
    log,
    ...(deployment === 'many' && { pool }),
  })
  const progress = makeProgress(signal)
  const offsetMs = config.BUSINESS_TIME_OFFSET_SECONDS * 1_000
  const isMovable = config.ENVIRONMENT !== 'production'
  const clock = await waitForStore(
    database,
    () => startClock({ pool, log, metrics: health.metrics, signal, offsetMs, isMovable }),
    waiting,
  )
  const parts: Parts = {
    config,
    keys,
    dataKeys,
    log,
    metrics: health.metrics,
    eventLog,
    storedLog,
    pool,
    progress,
    folds: makeLiveFolds({ eventLog, log, signal, progress, pool }),
    rateLimit,
    signInLimit,
    sessions: makeSessions(pool, { baseUrl: config.BASE_URL, isProduction: config.ENVIRONMENT === 'production' }),
    traffic: makeTraffic(),
    clock,
    signal,
    ...(health.starting && { starting: health.starting }),
  }
  const close = async () => {
    await eventLog.close()
    ending.abort()
    await erasures
    await pool.end()
  }
  return { parts, close }
}

/** True where events are stored in the database. */
export const logIsHere = ({ EVENT_LOG }: Pick<Config, 'EVENT_LOG'>): boolean => EVENT_LOG === 'postgres'

/** The log as it is stored, with what is personal sealed. */
export const openEventLog = async (config: Config, databaseUrl: string): Promise<EventLog> => {
  if (config.EVENT_LOG !== 'eventstoredb' || config.EVENTSTOREDB_URL === undefined)
    return postgresLog({ url: databaseUrl })
  // Loaded where it is used: its client would delay every start.
  const { eventStoreDbLog } = await import('./event-log/eventstoredb/eventstoredb-log.ts')
  return eventStoreDbLog(config.EVENTSTOREDB_URL)
}

// Health answers within two seconds, whatever is away.
const headMs = 1_500

/** Checks that the database and the log answer, asked in the way that requests ask them. */
export const checkParts = async (parts: Pick<Parts, 'eventLog'>, db: Database): Promise<readonly Check[]> => {
  const [database, log] = await Promise.all([
    check('database', () => withTimeout(db.query(sql`select 1`), headMs)),
    check('event_log', () => withTimeout(parts.eventLog.head(), headMs)),
  ])
  // The log itself knows since when it is away.
  const outage = checkOutage(parts)
  return [database, log.ok || outage.ok ? log : outage]
}

/** Checks that the log can be followed. Makes no request: it is for roles that follow the log all the time. */
export const checkOutage = ({ eventLog }: Pick<Parts, 'eventLog'>): Check => {
  const outage = eventLog.outage()
  return {
    name: 'event_log',
    ok: outage === undefined,
    ...(outage && { detail: `away since ${outage.since.toISOString()}: ${outage.reason}` }),
  }
}

/**
 * The lag behind the log of what this process keeps in memory. A fold that cannot move makes the process not ready. Records
 * that are set aside do not, but are shown.
 */
export const checkFolds = async ({ folds, eventLog }: Pick<Parts, 'folds' | 'eventLog'>): Promise<readonly Check[]> => {
  const head = await withTimeout(eventLog.head(), headMs).catch(() => undefined)
  return folds.status().map(({ name, position, stale, setAside }) => {
    const behind = head && position ? Math.max(0, eventLog.measure(head) - eventLog.measure(position)) : 0
    const since = stale && `lacks events since ${stale.since.toISOString()}: ${stale.reason}`
    const [first] = setAside
    const aside =
      first && `, records set aside: ${setAside.length}, the first since ${first.since.toISOString()}: ${first.reason}`
    return { name: `live fold ${name}`, ok: stale === undefined, detail: since ?? `${behind} behind${aside ?? ''}` }
  })
}

/**
 * A consumer that has stopped, or cannot go on at the moment, fails the health of its process. Records that are set aside
 * do not, but are shown.
 */
export const checkConsumer = ({ status }: Pick<Consuming, 'status'>, still?: Standstills): Check => {
  const { name, state, failure, setAside, problem, beside } = status()
  const shown = beside ?? (state === 'standing by' ? waitingBehind(still?.get(name)) : state)
  // While another process does its work, what went wrong here before does not matter.
  const waits = problem && state !== 'standing by' && `waits since ${problem.since.toISOString()}: ${problem.reason}`
  return {
    name: `consumer ${name}`,
    ok: state !== 'failed' && !waits,
    detail: failure?.message ?? (waits || (setAside > 0 ? `${shown}, records set aside: ${setAside}` : shown)),
  }
}

/** The same for several, with what the processes that do their work come to. */
export const checkConsumers = async (
  parts: Pick<Parts, 'pool' | 'storedLog'>,
  running: readonly Pick<Consuming, 'status'>[],
): Promise<readonly Check[]> => {
  const still = await standstills(
    parts,
    running.map(({ status }) => status()),
  )
  return running.map((each) => checkConsumer(each, still))
}

const check = async (name: string, work: () => Promise<unknown>): Promise<Check> => {
  try {
    await work()
    return { name, ok: true }
  } catch (error) {
    return { name, ok: false, detail: reasonOf(error) }
  }
}
