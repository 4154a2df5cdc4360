import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Pool } from 'pg'
import { OwnError } from '#domain/own-error.ts'
import { isBehind } from '#infra/consumers/until-shown.ts'
import type { Leases } from '#infra/consumers/lease.ts'
import { workWhileLeased } from '#infra/consumers/leased-work.ts'
import type { Clock } from '#infra/clock.ts'
import type { Check } from '#infra/http/health.ts'
import { isAboutErased } from '#infra/crypto/erased.ts'
import { LogUnavailable } from '#infra/event-log/event-log.ts'
import { LeaseLost } from '#infra/consumers/required-lease.ts'
import { newId } from '#infra/ids.ts'
import type { Log } from '#infra/log.ts'
import { isTableNotMade, isUnavailable, sql } from '#infra/postgres/postgres.ts'
import { reasonOf } from '#infra/reason.ts'
import type { Context } from '../writing/handle.ts'
import { makeOrder } from './timer-order.ts'

/** Something that is due: a row of the read model `due_times`. */
export type DueTime = {
  readonly organisation_id: string
  readonly kind: string
  readonly id: string
  readonly stream: string
  /** The event that set it: what happens now follows from that. */
  readonly event_id?: string | null
  /** Business time, ISO 8601. */
  readonly due_at: string
}

/**
 * The action when something is due. Its command may be sent twice and late, by two processes at once, and must change nothing
 * when its time has not come or its purpose is already fulfilled: the row goes, or becomes due later, only when the read model
 * has seen that.
 */
export type Timer = {
  /** One of `domain/timer-kinds.ts`. */
  readonly kind: string
  readonly fire: (due: DueTime, context: Context) => Promise<unknown>
}

type TimerParts = {
  readonly pool: Pool
  readonly leases: Leases
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  readonly pollMs?: number
  readonly share?: number
}

export type RunningTimers = { readonly check: () => Check; readonly finished: Promise<void> }

const pageSize = 200
const concurrency = 32
/** The most that is fired of one organisation at a time; then it is the turn of the others. */
const usualShare = 1_000
/** The pause while something waits for its turn: less than a second. */
const heldMs = 100

// A timer that fails time and again is fired less and less often, and others do not wait behind it each time.
const restAtFirstMs = 500
const restMostMs = 300_000
const restingMost = 10_000
const forgottenAfterMs = 10_000

type Resting = { readonly until: number; readonly forMs: number }

/** Progress of an organisation that has more due than its share. */
type Lap = { readonly round: ReturnType<ReturnType<typeof makeOrder<DueTime>>>; readonly after: DueTime }

const keyOf = ({ organisation_id, kind, id }: DueTime): string => `${organisation_id} ${kind} ${id}`

/** Timers at work. */
type Timers = Required<TimerParts> & {
  readonly fireByKind: ReadonlyMap<string, Timer['fire']>
  readonly resting: LRUCache<string, Resting>
  readonly openRound: ReturnType<typeof makeOrder<DueTime>>
  failed: { readonly kind: string; readonly message: string } | undefined
}

/**
 * Fires what is due, within about a second, in one process at a time. A failure is reported and does not delay other timers;
 * an organisation with very much due hardly delays those of others.
 */
export const runTimers = (declared: readonly Timer[], parts: TimerParts): RunningTimers => {
  const resting = new LRUCache<string, Resting>({ max: restingMost })
  const timers: Timers = {
    pollMs: 1_000,
    share: usualShare,
    ...parts,
    fireByKind: new Map(declared.map(({ kind, fire }) => [kind, fire])),
    resting,
    openRound: makeOrder<DueTime>((due) => resting.has(keyOf(due))),
    failed: undefined,
  }
  const { outage, finished } = workWhileLeased({
    name: 'timers',
    leases: parts.leases,
    log: parts.log,
    signal: parts.signal,
    work: (working, wentWell) => sweepAgainAndAgain(timers, working, wentWell),
  })
  return {
    check: () => {
      const { failed } = timers
      const detail = outage() ?? (failed && `${failed.kind}: ${failed.message}`)
      // A timer of one record that fails is shown, and takes no process away from all others.
      return { name: 'timers', ok: outage() === undefined, ...(detail !== undefined && { detail }) }
    },
    finished,
  }
}

const sweepAgainAndAgain = async (timers: Timers, working: AbortSignal, wentWell: () => void): Promise<void> => {
  const { pollMs } = timers
  const isOver = () => working.aborted
  const laps = new Map<string, Lap>()
  while (!isOver()) {
    const sweptAt = performance.now()
    let isHeld = await sweep(timers, laps, isOver)
    const intervalMs = () => (isHeld ? Math.min(pollMs, heldMs) : pollMs)
    // An organisation that has come to its end begins again with the next sweep, however far others are.
    do isHeld = (await goOn(timers, laps, isOver)) || isHeld
    while (laps.size > 0 && !isOver() && performance.now() - sweptAt < intervalMs())
    wentWell()
    if (laps.size > 0) continue
    await pause(intervalMs(), undefined, { signal: working }).catch(() => undefined)
  }
}

/**
 * Goes once through all that is due now, in the order of its time, except for what organisations have due beyond their
 * share; says whether something waits for the next round.
 */
const sweep = async (timers: Timers, laps: Map<string, Lap>, isOver: () => boolean): Promise<boolean> => {
  const { pool, clock, share, resting } = timers
  const now = clock.now().toISOString()
  const round = timers.openRound()
  const fired = new Map<string, number>()
  let after: DueTime | undefined
  resting.purgeStale()
  if (resting.size === 0) timers.failed = undefined
  while (!isOver()) {
    const page = await readDue(pool, now, after, { without: [...laps.keys()] })
    await fireAll(timers, page, round, isOver)
    after = page.at(-1)
    if (!after || page.length < pageSize) break
    for (const { organisation_id } of page) {
      const count = (fired.get(organisation_id) ?? 0) + 1
      fired.set(organisation_id, count)
      if (count >= share) laps.set(organisation_id, { round, after })
    }
  }
  return round.isHeld()
}

/** Goes on with the organisations that have more due, each by a share; says whether something waits for the next round. */
const goOn = async (timers: Timers, laps: Map<string, Lap>, isOver: () => boolean): Promise<boolean> => {
  const { pool, clock, share } = timers
  const now = clock.now().toISOString()
  let isHeld = false
  for (const [organisation_id, { round, after: before }] of laps) {
    let after = before
    for (let taken = 0; taken < share && laps.has(organisation_id) && !isOver(); taken += pageSize) {
      const page = await readDue(pool, now, after, { only: organisation_id })
      await fireAll(timers, page, round, isOver)
      after = page.at(-1) ?? after
      if (page.length === pageSize) laps.set(organisation_id, { round, after })
      else {
        laps.delete(organisation_id)
        isHeld ||= round.isHeld()
      }
    }
  }
  return isHeld
}

const fireAll = async (
  timers: Timers,
  page: readonly DueTime[],
  round: Lap['round'],
  isOver: () => boolean,
): Promise<void> => {
  const waiting = page.filter(round.isNext).values()
  const work = async () => {
    for (const due of waiting) {
      if (isOver()) return
      await fire(timers, due)
    }
  }
  // All are awaited before the first failure is passed on, so that nothing goes on behind our back.
  const ended = await Promise.allSettled(Array.from({ length: concurrency }, work))
  const failure = ended.find((outcome) => outcome.status === 'rejected')
  if (failure) throw failure.reason
}

const fire = async (timers: Timers, due: DueTime): Promise<void> => {
  const { resting, fireByKind, log } = timers
  if ((resting.get(keyOf(due))?.until ?? 0) > performance.now()) return
  try {
    const fireOne = fireByKind.get(due.kind)
    if (!fireOne) throw new OwnError(`There is no timer for ${due.kind}.`)
    await fireOne(due, contextOf(due))
    resting.delete(keyOf(due))
  } catch (error) {
    // A failure of one timer, such as a stream with many writers, must not delay the others.
    if (error instanceof LogUnavailable || error instanceof LeaseLost || isUnavailable(error)) throw error
    // Nothing follows any more for a person who was erased.
    if (isAboutErased(error)) return
    rest(resting, due)
    // Read models are behind: its turn comes when they are not, and others need not wait for them.
    if (isBehind(error)) return
    timers.failed = { kind: due.kind, message: reasonOf(error) }
    log.error({ error, kind: due.kind, id: due.id, organisation_id: due.organisation_id }, 'timer failed')
  }
}

const rest = (resting: Timers['resting'], due: DueTime): void => {
  const forMs = Math.min(2 * (resting.get(keyOf(due))?.forMs ?? restAtFirstMs / 2), restMostMs)
  // One that is no longer due is forgotten.
  resting.set(keyOf(due), { until: performance.now() + forMs, forMs }, { ttl: 2 * forMs + forgottenAfterMs })
}

/** As of the moment when it was due. */
const contextOf = ({ organisation_id, kind, due_at, event_id }: DueTime): Context => ({
  organisation_id,
  actor: { type: 'system', id: `timer ${kind}` },
  correlation_id: newId(),
  ...(event_id && { follows: event_id }),
  now: due_at,
})

/** None while the projections have not made the table yet. */
const readDue = async (
  pool: Pool,
  now: string,
  after: DueTime | undefined,
  whose: { readonly only: string } | { readonly without: readonly string[] },
): Promise<readonly DueTime[]> => {
  const { due_at, organisation_id, kind, id } = after ?? {
    due_at: '-infinity',
    organisation_id: '00000000-0000-0000-0000-000000000000',
    kind: '',
    id: '00000000-0000-0000-0000-000000000000',
  }
  const isOnly = 'only' in whose
  const named = isOnly ? [whose.only] : whose.without
  try {
    // By an index on the time alone: what is due later is never looked through, however much of it an organisation has.
    const { rows } = await pool.query<Omit<DueTime, 'due_at'> & { due_at: Date }>({
      name: 'due-times',
      ...sql`
        select organisation_id, kind, id, stream, event_id, due_at from due_times
        where due_at <= ${now} and (due_at, organisation_id, kind, id) > (${due_at}, ${organisation_id}, ${kind}, ${id})
          and (organisation_id = any (${named}::uuid[])) = ${isOnly}
        order by due_at, organisation_id, kind, id limit ${pageSize}`,
    })
    return rows.map((row) => ({ ...row, due_at: row.due_at.toISOString() }))
  } catch (error) {
    if (isTableNotMade(error)) return []
    throw error
  }
}
