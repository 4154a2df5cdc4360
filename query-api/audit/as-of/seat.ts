import type { Pool } from 'pg'
import { categoryOf, fromStored, type EventShapes, type RecordedEvent } from '#domain/event.ts'
import { Rejection } from '#domain/rejection.ts'
import type { IngestId, OrganisationId } from '#domain/values.ts'
import { clearState, type FoldState } from '#infra/consumers/fold-state.ts'
import type { Fold, LiveFolds } from '#infra/consumers/live-folds.ts'
import type { Shown } from '#infra/consumers/until-shown.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { routeFinder } from '#infra/http/find-route.ts'
import { Problem } from '#infra/http/problem.ts'
import type { Route, RouteSpec } from '#infra/http/route.ts'
import { openConnection } from '#infra/postgres/connection.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import type { SetEventAside } from '#infra/consumers/consumer-type.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { applyEvents } from '../../../projections/fold.ts'
import { tableOf } from '../../../projections/table.ts'
import { makeTurns } from '../turns.ts'

/** The parts of the routes that read from tables of a seat. */
export type Bound = {
  readonly pool: Pool
  readonly db: Database
  readonly eventLog: EventLog
  readonly shown: Shown
  readonly findReceived: <Row>(
    organisation_id: OrganisationId,
    id: IngestId,
    find: () => Promise<Row | undefined>,
  ) => Promise<Row | undefined>
}

/** Makes all routes over what is given. */
export type RoutesOver = (follow: LiveFolds['follow'], bound: Bound) => Promise<readonly Route[]>

export type FoundRoute = { readonly route: Route; readonly params: () => Readonly<Record<string, string>> }

type Followed = { readonly fold: Fold<EventShapes, FoldState>; readonly state: FoldState }

const statementMs = 5_000
/** Longer it is not kept: nobody removes what was rolled back in its tables, and the server counts transactions from their start. */
const longestMs = 300_000

const shownAtOnce: Shown = {
  eventLog: { head: async () => undefined },
  progress: { wait: async () => true },
  withinMs: 0,
}

const projections = new Map(
  allProjections
    .filter(({ name }) => name !== 'recorded_events')
    .map((projection) => [projection.name, { projection, table: tableOf(projection, '', 'pg_temp') }]),
)
const nameOfTable = new RegExp(`\\b(${[...projections.keys()].join('|')})\\b`, 'g')

/** The categories of what can be shown as of a moment. */
export const shownCategories = [
  ...new Set([...projections.values()].flatMap(({ projection }) => projection.categories)),
]

/**
 * All routes over a connection with tables of its own, which come before those that everybody reads: filled with what some events
 * say, they answer as they did when these were all that there were.
 */
export const openSeat = async (pool: Pool, eventLog: EventLog, routesOver: RoutesOver) => {
  const { client, ended, close } = await openConnection(pool, { name: 'coverstream as of', statementMs })
  const followed: Followed[] = []
  const openedAt = performance.now()
  let given: Known = nothing
  let filled = new Map<string, Promise<void>>()
  const follow: LiveFolds['follow'] = async (fold, state) => {
    // Only the fold itself knows the types of its events and its state.
    followed.push({ fold, state } as unknown as Followed)
    return state
  }

  const fillTable = async (name: string, { events, setEventAside }: Known): Promise<void> => {
    const found = projections.get(name)
    if (!found) return
    const { projection, table } = found
    const own = events.filter(
      ({ stream, type }) =>
        projection.categories.includes(categoryOf(stream)) && Object.hasOwn(projection.events, type),
    )
    if (own.length > 0) await applyEvents(client, projection, table, own, { setEventAside, isEmpty: true })
  }
  /** A table is filled once a statement names it: an answer is made of few of them. */
  const fillNamed = async (text: string): Promise<void> => {
    for (const [name] of text.matchAll(nameOfTable)) {
      const filling = filled.get(name) ?? fillTable(name, given)
      filled.set(name, filling)
      await filling
    }
  }
  const database: Database = {
    query: async (statement) => {
      await fillNamed(statement.text)
      return client.query(statement)
    },
  }
  const bound: Bound = {
    // Reads ask it for nothing but statements.
    pool: database as unknown as Pool,
    db: database,
    eventLog: {
      ...eventLog,
      read: async (stream, { from = 0, limit = given.events.length } = {}) =>
        given.events.filter((event) => event.stream === stream && event.revision >= from).slice(0, limit),
    },
    shown: shownAtOnce,
    findReceived: async (_organisation, _id, find) => find(),
  }
  const [routes] = await Promise.all([
    routesOver(follow, bound),
    client.query([...projections.values()].map(({ table }) => table.create).join(';')),
  ]).catch(async (error: unknown) => {
    await close()
    throw error
  })
  const find = routeFinder(routes.map((route) => ({ ...addressOf(route.spec), route })))
  const setUpTypes = [...new Set(followed.flatMap(({ fold }) => Object.keys(fold.events)))]

  /** Has the routes read what these events say, while `work` runs. */
  const over = async <Result>(what: Known, work: () => Promise<Result>): Promise<Result> => {
    given = what
    filled = new Map()
    for (const { fold, state } of followed) fill(fold, state, given)
    // What is written goes to tables of the connection alone: anything else would be refused.
    await client.query('begin read only')
    try {
      return await work()
    } finally {
      given = nothing
      // One that is still being filled, where something was refused meanwhile, would be filled for good.
      await Promise.allSettled(filled.values())
      await client.query('rollback')
    }
  }

  return {
    setUpTypes,
    find: (path: string): FoundRoute | undefined => {
      const found = find('GET', path)
      return found && { route: found.route.route, params: found.params }
    },
    over,
    isUsable: () => !ended.aborted && performance.now() - openedAt < longestMs,
    close,
  }
}
export type Seat = Awaited<ReturnType<typeof openSeat>>

type Known = {
  readonly events: readonly RecordedEvent[]
  readonly setEventAside: SetEventAside
}

const addressOf = ({ method, address, takesRest }: RouteSpec) => ({ method, address, ...(takesRest && { takesRest }) })

const nothing: Known = { events: [], setEventAside: () => undefined }

const fill = (fold: Followed['fold'], state: FoldState, { events, setEventAside }: Known): void => {
  clearState(state)
  for (const event of events) {
    if (!(event.type in fold.events) || !fold.categories.includes(categoryOf(event.stream))) continue
    try {
      fold.apply(state, fromStored(fold.events, event), event)
    } catch (error) {
      setEventAside(event, error)
    }
  }
}

/** One that nobody needs is closed after so long. */
const idleMs = 30_000

const isRefused = (error: unknown): boolean => error instanceof Problem || error instanceof Rejection

/** A few seats, each for one at a time. */
export const makeSeats = (count: number, open: () => Promise<Seat>) => {
  const idle = new Map<Seat, NodeJS.Timeout>()
  const inTurn = makeTurns(count)
  let isClosed = false

  const takeIdle = async (): Promise<Seat | undefined> => {
    for (const [seat, timer] of idle) {
      clearTimeout(timer)
      idle.delete(seat)
      if (seat.isUsable()) return seat
      await seat.close()
    }
    return undefined
  }
  const putBack = async (seat: Seat): Promise<void> => {
    if (isClosed || !seat.isUsable()) return seat.close()
    const timer = setTimeout(() => {
      idle.delete(seat)
      void seat.close()
    }, idleMs)
    idle.set(seat, timer.unref())
  }
  const sit = async <Result>(work: (seat: Seat) => Promise<Result>): Promise<Result> => {
    const seat = (await takeIdle()) ?? (await open())
    try {
      const result = await work(seat)
      await putBack(seat)
      return result
    } catch (error) {
      // What has failed otherwise may still be at work on its connection.
      await (isRefused(error) ? putBack(seat) : seat.close())
      throw error
    }
  }

  return {
    with: async <Result>(organisation_id: string, work: (seat: Seat) => Promise<Result>): Promise<Result> =>
      inTurn(organisation_id, async () => sit(work)),
    close: async (): Promise<void> => {
      isClosed = true
      for (const timer of idle.values()) clearTimeout(timer)
      await Promise.all([...idle.keys()].map(async (seat) => seat.close()))
    },
  }
}
export type Seats = ReturnType<typeof makeSeats>
