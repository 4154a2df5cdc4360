import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Check } from './http/health.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Database } from './postgres/lookups.ts'
import { sql } from './postgres/postgres.ts'

/**
 * Business time: dates, ages, `occurred_at`, the life of quotes, due times. Tokens, signatures and request limits run on real
 * time (`realNow`); leases and deliveries, which several processes share, on the clock of the database itself.
 */
export type Clock = {
  readonly now: () => Date
  /** Asks the database for the time at once, after business time was moved. */
  readonly measureNow?: () => Promise<void>
  /** The lead of this machine's clock over the database's, in milliseconds. */
  readonly machineAheadMs?: () => number
}

/** The lead of the database's clock over the monotonic clock of this process; undefined before it was measured. */
let databaseAhead: number | undefined

/**
 * Real time, in milliseconds since 1970, as the database has it, however this machine is set: what is signed, issued, checked
 * for its age or kept until an instant goes by it. The clock of the machine until the database was asked.
 */
export const realNow = (): number =>
  databaseAhead === undefined ? Date.now() : Math.floor(performance.now() + databaseAhead)

/** The same as a date. */
export const realTime = (): Date => new Date(realNow())

/** A difference beyond this is told of. */
const remarkableMs = 5_000

/** A machine whose two clocks part by so much was suspended, or its clock was set. It is looked so often. */
const sleptMs = 1_000
const lookMs = 500

const machineAheadOfMonotonic = (): number => Date.now() - performance.now()

/** The health check of this machine's clock. A wrong one does no harm, so the process stays ready. */
export const clockCheck = ({ machineAheadMs }: Clock): Check => {
  const aheadMs = machineAheadMs?.() ?? 0
  const isOff = Math.abs(aheadMs) > remarkableMs
  return { name: 'clock', ok: true, ...(isOff && { detail: differenceIn(aheadMs) }) }
}

const differenceIn = (aheadMs: number): string =>
  `the clock of this machine is ${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's`

/** The clock of this machine. */
export const systemClock: Clock = { now: () => new Date() }

/**
 * The business time of an event that another party dates by real time: it was as long before now. Those who hear of it may
 * have moved their clock by a year, and then it would seem to be a year old.
 */
export const inBusinessTime = (realInstant: string, now: string, real: number = realNow()): string => {
  const movedMs = Math.max(0, Date.parse(now) - real)
  return new Date(Math.min(Date.parse(now), Date.parse(realInstant) + movedMs)).toISOString()
}

type ClockParts = {
  readonly pool: Database
  readonly log: Log
  readonly metrics?: Pick<Metrics, 'machineAhead'>
  readonly signal: AbortSignal
  /** The lead of business time over the database's clock. */
  readonly offsetMs: number
  /** True where business time can be moved (`moveClock`): it is then measured twice a second. */
  readonly isMovable?: boolean
  readonly measureEveryMs?: number
}

/**
 * The database's clock plus the offset, so that all processes agree on the time however their machines are set. Between two
 * measurements the monotonic clock of this machine is used; so too while the database is away.
 */
export const startClock = async (parts: ClockParts): Promise<Clock> => {
  const { pool, log, metrics, signal, offsetMs, isMovable = false, measureEveryMs = isMovable ? 500 : 60_000 } = parts
  const first = await measureWell(pool, isMovable)
  let ahead = (first.least + first.most) / 2
  let movedMs = 0
  let measuredWith = machineAheadOfMonotonic()
  let isOff = false
  const machineAheadMs = () => Date.now() - (performance.now() + ahead)
  // The answer to one measurement may come late: it never undoes what better ones have said.
  const learn = (measured: Ahead): void => {
    ahead = Math.min(Math.max(ahead, measured.least), measured.most)
    movedMs = Math.max(movedMs, measured.movedMs)
    databaseAhead = ahead
    measuredWith = machineAheadOfMonotonic()
    const aheadMs = machineAheadMs()
    metrics?.machineAhead.set(aheadMs / 1000)
    const wasOff = isOff
    isOff = Math.abs(aheadMs) > remarkableMs
    if (isOff && !wasOff) log.warn({ seconds: Math.round(aheadMs / 1000) }, differenceIn(aheadMs))
  }
  learn(first)

  const isStopping = () => signal.aborted

  /** A monotonic clock leaves out the sleep of a suspended machine: the database is asked as soon as it runs again. */
  const hasSlept = () => Math.abs(machineAheadOfMonotonic() - measuredWith) > sleptMs
  const untilDue = async (): Promise<void> => {
    let restMs = measureEveryMs
    do {
      await pause(Math.min(restMs, lookMs), undefined, { signal, ref: false }).catch(() => undefined)
      restMs -= lookMs
    } while (restMs > 0 && !isStopping() && !hasSlept())
  }

  const run = async () => {
    while (!isStopping()) {
      await untilDue()
      await measure(pool, isMovable).then(learn, (error: unknown) => {
        if (!isStopping()) log.warn({ error }, 'the clock of the database could not be read, counting on')
      })
    }
  }
  void run()
  return {
    now: () => new Date(performance.now() + ahead + movedMs + offsetMs),
    measureNow: async () => learn(await measure(pool, isMovable)),
    machineAheadMs,
  }
}

/** Moves business time forward, for every process that measures a movable clock. */
export const moveClock = async (pool: Pool, forwardMs: number): Promise<void> => {
  await pool.query(sql`
    insert into business_clock (moved_ms) values (${forwardMs})
    on conflict (id) do update set moved_ms = business_clock.moved_ms + excluded.moved_ms`)
}

/** The lead of the database's clock over the monotonic clock of this process, and business time moved, in milliseconds. */
type Ahead = { readonly least: number; readonly most: number; readonly movedMs: number }

/** The wanted exactness of the first measurement, in milliseconds. */
const wellMs = 4
const mostMeasurements = 10

/** A process that starts beside others waits long for its answers: the most exact of some measurements. */
const measureWell = async (pool: Database, isMovable: boolean): Promise<Ahead> => {
  let best = await measure(pool, isMovable)
  for (let times = 1; times < mostMeasurements && best.most - best.least > wellMs; times++) {
    const next = await measure(pool, isMovable)
    if (next.most - next.least < best.most - best.least) best = next
  }
  return best
}

const measure = async (pool: Database, isMovable: boolean): Promise<Ahead> => {
  const before = performance.now()
  const { rows } = await pool.query<{ ms: number; moved_ms: number }>(
    isMovable
      ? sql`
        select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms,
          coalesce((select moved_ms from business_clock), 0)::float8 as moved_ms`
      : sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms, 0::float8 as moved_ms`,
  )
  const after = performance.now()
  if (!rows[0]) throw new Error('The database did not answer with its time.')
  return { least: rows[0].ms - after, most: rows[0].ms - before, movedMs: rows[0].moved_ms }
}
