import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import {
  categoryOf,
  fromStored,
  type EventOf,
  type EventShapes,
  type Position,
  type RecordedEvent,
} from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { LogUnavailable, type Batch, type EventLog } from '../event-log/event-log.ts'
import type { Log } from '../log.ts'
import { reasonOf } from '../reason.ts'
import { findSnapshot, isSnapshotDue, moveSnapshot, saveSnapshot, type LastEvent } from '../snapshots.ts'
import { fillState, writtenState, type FoldState } from './fold-state.ts'
import type { Progress } from './progress.ts'
import { makeWaitingRecords, type WaitingRecords } from './waiting-records.ts'

export type Fold<Shapes extends EventShapes, State> = {
  readonly name: string
  /** Raised with every change of what it makes of events: snapshots of other versions are not used. */
  readonly version: number
  readonly categories: readonly string[]
  readonly events: Shapes
  readonly apply: (state: State, event: EventOf<Shapes>, recorded: RecordedEvent) => void
}

export type FoldStatus = {
  readonly name: string
  readonly position: Position | undefined
  /** The time since when it may lack events of the log, and the reason. */
  readonly stale?: Stale
  /** Records with an event that cannot be applied. Their later events wait, and those of all other records do not. */
  readonly setAside: readonly Stale[]
}

/** The parts of the log that this process keeps in memory for what every request needs at once, such as who may call. */
export type LiveFolds = {
  /**
   * Resolves when it has caught up for the first time. The state is changed in place as events arrive. All who follow
   * folds of one name share the state of the first.
   */
  readonly follow: <Shapes extends EventShapes, State extends FoldState>(
    fold: Fold<Shapes, State>,
    state: State,
  ) => Promise<State>
  readonly status: () => readonly FoldStatus[]
  /**
   * Throws LogUnavailable when a fold has lacked events for so long that nothing may be decided on it: any events, or
   * those of a record of this organisation.
   */
  readonly requireCurrent: (name: string, organisation_id?: string) => void
}

type Options = {
  readonly eventLog: EventLog
  readonly log: Log
  readonly signal: AbortSignal
  readonly progress: Pick<Progress, 'passed'>
  /** The database of the snapshots. Without it every fold begins with the first event. */
  readonly pool?: Pool
  readonly retryMs?: number
  /**
   * The time for which a fold may lack events; 30 seconds by default. A change of the log's leader is over by then, and a
   * revoked credential is honoured no longer than this.
   */
  readonly mayLagMs?: number
}

/** A fold of any events, with what it has come to. */
type Running = {
  readonly fold: Fold<EventShapes, FoldState>
  readonly state: FoldState
  readonly caughtUp: PromiseWithResolvers<void>
  position: Position | undefined
  lastEvent: LastEvent | undefined
  /** Events applied since the last snapshot. */
  unsaved: number
  /** True where it is too large for a snapshot. It is not measured again, since that takes time from all requests. */
  isTooLarge: boolean
  readonly setAside: WaitingRecords
  behindSince: Date | undefined
  /** The start and the reason of an outage of the log. */
  problem: { readonly since: Date; readonly reason: string } | undefined
}

const saveEveryMs = 300_000
/** With more than these it is not the records that are at fault. */
const setAsideMost = 1_000

/**
 * Folds that are asked for at the same time read the log in one pass, each from its last snapshot. An event that cannot be
 * applied sets its record aside. No snapshot is saved meanwhile, so that a process that starts later meets the event too.
 */
export const makeLiveFolds = (options: Options): LiveFolds => {
  const { eventLog, log, signal, progress, pool, retryMs = 1_000, mayLagMs = 30_000 } = options
  const all = new Map<string, Running>()
  let beginning: Running[] = []

  const apply = (running: Running, { events, position, caughtUp }: Batch): void => {
    const { fold, setAside } = running
    for (const event of events) {
      if (!isWanted(fold, event) || event.position <= (running.position ?? '')) continue
      setAside.take(event)
      running.position = event.position
      running.lastEvent = { stream: event.stream, revision: event.revision, id: event.id }
      running.unsaved++
    }
    if (position > (running.position ?? '')) running.position = position
    running.behindSince = caughtUp ? undefined : (running.behindSince ?? new Date())
    progress.passed(fold.name, fold.categories, running.position)
    if (caughtUp) running.caughtUp.resolve()
  }

  const readOn = async (given: readonly Running[]): Promise<void> => {
    const [first] = given.map(({ position }) => position ?? ('' as Position)).toSorted()
    const wanted = {
      categories: [...new Set(given.flatMap(({ fold }) => fold.categories))],
      types: [...new Set(given.flatMap(({ fold }) => Object.keys(fold.events)))],
      ...(first && { after: first }),
    }
    for await (const batch of eventLog.subscribe({ ...wanted, signal })) {
      for (const running of given) {
        running.problem = undefined
        apply(running, batch)
      }
    }
    if (!signal.aborted) throw new OwnError('The log has ended the subscription.')
  }

  const follow = async (group: readonly Running[]): Promise<void> => {
    while (!signal.aborted) {
      try {
        await readOn(group)
        return
      } catch (error) {
        const reason = reasonOf(error)
        for (const running of group) running.problem = { since: running.problem?.since ?? new Date(), reason }
        log.error({ error, folds: group.map(({ fold }) => fold.name) }, 'live folds cannot read the log and try again')
        await pause(retryMs, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  const restore = async (running: Running): Promise<void> => {
    if (!pool) return
    const { fold, state } = running
    try {
      const snapshot = await findSnapshot(pool, eventLog, fold)
      if (!snapshot) return
      fillState(state, snapshot.state)
      running.position = snapshot.position
      running.lastEvent = snapshot.lastEvent
    } catch (error) {
      log.warn({ error, fold: fold.name }, 'no snapshot can be used, so the whole log is read')
    }
  }

  const save = async (running: Running, pool: Pool): Promise<void> => {
    const { fold, state, position: before, isTooLarge } = running
    if (!before || isTooLarge || !(await isSnapshotDue(pool, fold, before))) return
    // The fold goes on during every statement: its position and its state are taken at one moment.
    const { position = before, lastEvent, unsaved } = running
    if (!lastEvent || running.setAside.count() > 0) return
    if (unsaved === 0) return moveSnapshot(pool, fold, { position, lastEvent })
    const written = writtenState(state)
    if (written === undefined) {
      running.isTooLarge = true
      log.warn({ fold: fold.name }, 'live fold too large for a snapshot: it is read from the log at every start')
      return
    }
    await saveSnapshot(pool, fold, { position, lastEvent, state: written })
    running.unsaved -= unsaved
  }

  const saveNowAndThen = async (group: readonly Running[], pool: Pool): Promise<void> => {
    while (!signal.aborted) {
      for (const running of group)
        await save(running, pool).catch((error: unknown) =>
          log.warn({ error, fold: running.fold.name }, 'snapshot of a live fold not saved'),
        )
      // Not all processes at the same moment.
      await pause(saveEveryMs * (0.75 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  const begin = async () => {
    const group = beginning
    beginning = []
    await Promise.all(group.map(restore))
    // One that has no snapshot must not make the others read the whole log again.
    const [restored, others] = [true, false].map((has) =>
      group.filter(({ position }) => has === (position !== undefined)),
    )
    for (const part of [restored ?? [], others ?? []]) if (part.length > 0) void follow(part)
    await Promise.all(group.map(({ caughtUp }) => caughtUp.promise))
    if (pool) await saveNowAndThen(group, pool)
  }

  const add = (fold: Running['fold'], state: FoldState): Running => {
    const running: Running = {
      fold,
      state,
      caughtUp: Promise.withResolvers<void>(),
      position: undefined,
      lastEvent: undefined,
      unsaved: 0,
      isTooLarge: false,
      setAside: makeWaitingRecords({ name: fold.name, apply: applyTo(fold, state), eventLog, log, signal, retryMs }),
      behindSince: undefined,
      problem: undefined,
    }
    if (signal.aborted) running.caughtUp.resolve()
    all.set(fold.name, running)
    progress.passed(fold.name, fold.categories, undefined)
    beginning.push(running)
    // All that are asked for until now begin together.
    if (beginning.length === 1) setImmediate(() => void begin())
    return running
  }

  const stop = () => {
    for (const { caughtUp } of all.values()) caughtUp.resolve()
  }
  signal.addEventListener('abort', stop)

  const statusOf = ({ fold: { name }, position, setAside, behindSince, problem }: Running): FoldStatus => {
    const records = setAside.all()
    // What belongs to no organisation concerns all of them.
    const ofAll = records.length > setAsideMost ? records : records.filter((each) => each.organisation_id === null)
    const behind = behindSince && { since: behindSince, reason: 'behind the log' }
    const stale = earliest([...ofAll, problem, eventLog.outage(), behind])
    return {
      name,
      position,
      setAside: records.map(({ since, reason }) => ({ since, reason })),
      ...(stale && { stale }),
    }
  }

  return {
    follow: async (fold, state) => {
      const known = all.get(fold.name)
      // Folds of one name are the same fold, so their states are of one type.
      const running = known ?? add(fold as unknown as Running['fold'], state)
      await running.caughtUp.promise
      return running.state as typeof state
    },
    status: () => [...all.values()].map(statusOf),
    requireCurrent: (name, organisation_id) => {
      const running = all.get(name)
      // Asked with every request.
      if (
        !running ||
        (running.setAside.count() === 0 && !(running.problem ?? running.behindSince ?? eventLog.outage()))
      )
        return
      const own = running.setAside.all().filter((each) => each.organisation_id === organisation_id)
      const lacking = earliest([statusOf(running).stale, ...own])
      if (lacking && Date.now() - lacking.since.getTime() > mayLagMs)
        throw new LogUnavailable(
          `${name} lacks what has happened since ${lacking.since.toISOString()}: ${lacking.reason}`,
        )
    },
  }
}

const isWanted = ({ events, categories }: Running['fold'], { type, stream }: RecordedEvent): boolean =>
  type in events && categories.includes(categoryOf(stream))

const applyTo = (fold: Running['fold'], state: FoldState) => (event: RecordedEvent) => {
  if (isWanted(fold, event)) fold.apply(state, fromStored(fold.events, event), event)
}

type Stale = { readonly since: Date; readonly reason: string }

const earliest = (all: readonly (Stale | undefined)[]): Stale | undefined =>
  all
    .flatMap((each) => (each ? [{ since: each.since, reason: each.reason }] : []))
    .toSorted((a, b) => Number(a.since) - Number(b.since))[0]
