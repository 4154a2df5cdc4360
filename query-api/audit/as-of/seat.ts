import type { Pool } from 'pg'
import { categoryOf, fromStored, type EventShapes, type RecordedEvent } from '#domain/event.ts'
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
import { withTimeout } from '#infra/timeout.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { applyEvents } from '../../../projections/fold.ts'
import { tableOf } from '../../../projections/table.ts'

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
/** After so many answers it is given up for another: nobody removes what was rolled back in them. */
const mostAnswers = 500

const shownAtOnce: Shown = {
  eventLog: { head: async () => undefined },
  progress: { wait: async () => true },
  withinMs: 0,
}

const projections = allProjections
  .filter(({ name }) => name !== 'recorded_events')
  .map((projection) => ({ projection, table: tableOf(projection, '', 'pg_temp') }))

/** The categories of what can be shown as of a moment. */
export const shownCategories = [...new Set(projections.flatMap(({ projection }) => projection.categories))]

/**
 * All routes over a connection with tables of its own, which come before those that everybody reads: filled with what some events
 * say, they answer as they did when these were all that there were.
 */
export const openSeat = async (pool: Pool, eventLog: EventLog, routesOver: RoutesOver) => {
  const { client, ended, close } = await openConnection(pool, { name: 'coverstream as of', statementMs })
  const followed: Followed[] = []
  let known: (event: RecordedEvent) => boolean = () => false
  let answers = 0
  const follow: LiveFolds['follow'] = async (fold, state) => {
    // Only the fold itself knows the types of its events and its state.
    followed.push({ fold, state } as unknown as Followed)
    return state
  }
  const database: Database = { query: (statement) => client.query(statement) }
  const bound: Bound = {
    // Reads ask it for nothing but statements.
    pool: database as unknown as Pool,
    db: database,
    eventLog: {
      ...eventLog,
      read: async (stream, page) => (await eventLog.read(stream, page)).filter((event) => known(event)),
    },
    shown: shownAtOnce,
    findReceived: async (_organisation, _id, find) => find(),
  }
  const [routes] = await Promise.all([
    routesOver(follow, bound),
    client.query(projections.map(({ table }) => table.create).join(';')),
  ]).catch(async (error: unknown) => {
    await close()
    throw error
  })
  const find = routeFinder(routes.map((route) => ({ ...addressOf(route.spec), route })))
  const setUpTypes = [...new Set(followed.flatMap(({ fold }) => Object.keys(fold.events)))]

  /** Has the routes read what these events say, while `work` runs. */
  const over = async <Result>(
    { events, isKnown, setEventAside }: Filled,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    known = isKnown
    answers++
    for (const { fold, state } of followed) fill(fold, state, events)
    // What is written goes to tables of the connection alone: anything else would be refused.
    await client.query('begin read only')
    try {
      for (const { projection, table } of projections) {
        const own = events.filter(
          ({ stream, type }) =>
            projection.categories.includes(categoryOf(stream)) && Object.hasOwn(projection.events, type),
        )
        if (own.length > 0) await applyEvents(client, projection, table, own, { setEventAside })
      }
      return await work()
    } finally {
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
    isUsable: () => !ended.aborted && answers < mostAnswers,
    close,
  }
}
export type Seat = Awaited<ReturnType<typeof openSeat>>

type Filled = {
  readonly events: readonly RecordedEvent[]
  readonly isKnown: (event: RecordedEvent) => boolean
  readonly setEventAside: SetEventAside
}

const addressOf = ({ method, address, takesRest }: RouteSpec) => ({ method, address, ...(takesRest && { takesRest }) })

const fill = (fold: Followed['fold'], state: FoldState, events: readonly RecordedEvent[]): void => {
  clearState(state)
  for (const event of events)
    if (event.type in fold.events && fold.categories.includes(categoryOf(event.stream)))
      fold.apply(state, fromStored(fold.events, event), event)
}

const mostWaiting = 20
const waitMs = 10_000

const busy = () =>
  new Problem('unavailable', 'Too many look into the past at the moment. Send the request again.', {
    headers: { 'Retry-After': '5' },
  })

/** A few seats, each for one at a time: whoever comes when none is free waits, and only so many do. */
export const makeSeats = (count: number, open: () => Promise<Seat>) => {
  const idle: Seat[] = []
  const waiting: (() => void)[] = []
  let taken = 0

  const take = async (): Promise<void> => {
    if (taken < count) {
      taken++
      return
    }
    if (waiting.length >= mostWaiting) throw busy()
    const turn = Promise.withResolvers<void>()
    waiting.push(turn.resolve)
    await withTimeout(turn.promise, waitMs, busy).catch((error: unknown) => {
      const place = waiting.indexOf(turn.resolve)
      // It came in this very moment.
      if (place === -1) return
      waiting.splice(place, 1)
      throw error
    })
  }
  const leave = (): void => {
    const next = waiting.shift()
    if (next) next()
    else taken--
  }

  return {
    with: async <Result>(work: (seat: Seat) => Promise<Result>): Promise<Result> => {
      await take()
      try {
        const seat = idle.pop() ?? (await open())
        try {
          return await work(seat)
        } finally {
          if (seat.isUsable()) idle.push(seat)
          else await seat.close()
        }
      } finally {
        leave()
      }
    },
    close: async (): Promise<void> => {
      await Promise.all(idle.map(async (seat) => seat.close()))
    },
  }
}
export type Seats = ReturnType<typeof makeSeats>
