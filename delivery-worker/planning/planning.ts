import { setTimeout as pause } from 'node:timers/promises'
import type { ClientBase, Pool } from 'pg'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { StaleCheckpoint } from '#infra/consumers/failures.ts'
import type { Log } from '#infra/log.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { Capabilities } from '../capability.ts'
import type { PlannedDelivery } from './plan.ts'

/** The point from which the planner sends. It learns the facts it needs from the whole log in each case. */
export type Planning = {
  readonly after_position: string | null
  readonly from_time: Date | null
  /** Deliveries of events before this are no longer kept, so those events are not sent. */
  readonly dropped_before: Date | null
  /** Up to here it is known from earlier what was set up when. */
  readonly set_up_to: string | null
}

/** The source of the events that deliveries are planned from. */
export type Source = 'log' | `kafka ${string}`

export const fromLog: Source = 'log'

type Row = Planning & { readonly source: Source }

export const findPlanning = async (db: Pool | ClientBase): Promise<Row | undefined> => {
  const { rows } = await db.query<Row>(sql`
    select after_position, from_time, dropped_before, set_up_to, source from delivery_planning`)
  return rows[0]
}

/** The same for a planner that has its events from this source. It throws when the installation plans from another one by now. */
export const planningFrom = async (db: Pool | ClientBase, source: Source): Promise<Planning | undefined> => {
  const found = await findPlanning(db)
  if (found && found.source !== source)
    throw new StaleCheckpoint(`Deliveries are planned from another source: ${found.source}.`)
  return found
}

/** Decides from where deliveries are planned. False: that was decided before, and stays. */
export const decidePlanning = async (
  pool: Pool,
  { after_position, from_time }: Pick<Planning, 'after_position' | 'from_time'>,
): Promise<boolean> => {
  const { rowCount } = await pool.query(sql`
    insert into delivery_planning (after_position, from_time) values (${after_position}, ${from_time})
    on conflict do nothing`)
  return rowCount === 1
}

export const fromTheBeginning = { after_position: null, from_time: null }

export const isPlanned = (
  { after_position, from_time, dropped_before }: Planning,
  { position, recorded_at }: Pick<PlannedDelivery, 'position' | 'recorded_at'>,
): boolean => {
  const recorded = Date.parse(recorded_at)
  return (
    (after_position === null || position > after_position) &&
    (from_time === null || recorded >= from_time.getTime()) &&
    (dropped_before === null || recorded >= dropped_before.getTime())
  )
}

export const choice = 'npm run delivery-worker -- plan-from now|beginning|<ISO time>'

type Deciding = {
  readonly pool: Pool
  readonly eventLog: EventLog
  readonly capabilities: Capabilities
  readonly signal: AbortSignal
}

type Waiting = Deciding & {
  readonly log: Log
  readonly onWaiting: (isWaiting: boolean) => void
}

const lookAgainMs = 500
const sayAgainMs = 60_000

/**
 * Decides to plan from the beginning when the log holds nothing to send. Called before a worker is ready, so that what
 * happens from then on is sent.
 */
export const decideByItself = async (deciding: Deciding): Promise<void> => {
  const { pool, signal } = deciding
  if (await findPlanning(pool)) return
  if ((await holdsSomethingToSend(deciding)) || signal.aborted) return
  await decidePlanning(pool, fromTheBeginning)
}

type Following = Pick<Waiting, 'pool' | 'log' | 'signal'> & {
  readonly source: Source
  /** Lets deliveries be planned from this source from now on. */
  readonly adopt: () => Promise<boolean>
}

/**
 * The first time, deliveries are planned from this source from then on. Later it waits while they are planned from another
 * one: a worker with other settings has started since, and whoever started last decides.
 */
export const adoptedSource = ({ pool, log, signal, source, adopt }: Following): (() => Promise<void>) => {
  let isAdopted = false
  return async () => {
    if (!isAdopted && (await adopt())) log.info({ source }, 'deliveries are planned from here from now on')
    isAdopted = true
    let isSaid = false
    while (!signal.aborted) {
      const planning = await findPlanning(pool)
      if (!planning || planning.source === source) return
      if (!isSaid) log.warn({ source, planned_from: planning.source }, 'deliveries are planned from another source')
      isSaid = true
      await pause(lookAgainMs, undefined, { signal }).catch(() => undefined)
    }
  }
}

/**
 * Waits until it is decided from where deliveries are planned. A log that holds something to send may have been planned
 * and sent before, with another database, so that the operator must choose.
 */
export const untilDecided = async (waiting: Waiting): Promise<void> => {
  const { pool, log, signal, onWaiting } = waiting
  await decideByItself(waiting)
  if (await findPlanning(pool)) return

  let saidAt = -Infinity
  onWaiting(true)
  while (!signal.aborted && !(await findPlanning(pool))) {
    if (performance.now() - saidAt >= sayAgainMs) {
      saidAt = performance.now()
      log.error({ choice }, 'the log has a history that may have been sent before: choose from where to send')
    }
    await pause(lookAgainMs, undefined, { signal }).catch(() => undefined)
  }
  onWaiting(false)
}

const holdsSomethingToSend = async ({ eventLog, capabilities, signal }: Deciding): Promise<boolean> => {
  const { subjects } = capabilities
  const ending = new AbortController()
  const batches = eventLog.subscribe({
    categories: [...new Set(subjects.flatMap(({ categories }) => categories))],
    types: [...new Set(subjects.flatMap(({ events }) => events))],
    batchSize: 1,
    signal: AbortSignal.any([signal, ending.signal]),
  })
  try {
    for await (const { events, caughtUp } of batches) {
      if (events.length > 0) return true
      if (caughtUp) return false
    }
    return false
  } finally {
    ending.abort()
  }
}
