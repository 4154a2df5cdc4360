import { LRUCache } from 'lru-cache'
import type { Position, RecordedEvent } from '#domain/event.ts'
import type { Change, InOneStatement, KnownRows } from './consumer-type.ts'
import { bisect, isRetriable } from './failures.ts'
import { reasonOf } from '../reason.ts'
import {
  openOf,
  passOver,
  saveChange,
  saveUnhandled,
  saveUnhandledAndChange,
  type Following,
  type Runner,
} from './following.ts'
import type { Unhandled } from './set-aside.ts'

type WorkedOut = { readonly change: Change | undefined; readonly unhandled: readonly Unhandled[] }

type UnderWay = {
  readonly events: readonly RecordedEvent[]
  readonly to: Position
  readonly change: Change
  readonly saved: Promise<void>
}

// As they are written; in memory they take some times as much.
const mostBytesKept = 2 ** 20

/**
 * The rows that were written last, as long as nobody else writes any: a record that has changed mostly changes again soon, and
 * is not read for that.
 */
const rowsKept = () => {
  const kept = new LRUCache<string, object>({ maxSize: mostBytesKept })
  return {
    keep: ({ rows }: Change, bytes: number): void => {
      const size = Math.ceil(bytes / Math.max(rows.size, 1))
      for (const [identity, row] of rows)
        if (row) kept.set(identity, row, { size })
        else kept.delete(identity)
    },
    forget: (): void => kept.clear(),
    with: (unsaved: Change['rows']): KnownRows => ({
      has: (identity) => unsaved.has(identity) || kept.has(identity),
      get: (identity) => (unsaved.has(identity) ? unsaved.get(identity) : kept.get(identity)),
    }),
  }
}

const nothing: Change['rows'] = new Map()

type State = {
  readonly following: Following
  readonly changeOf: InOneStatement['changeOf']
  readonly rows: ReturnType<typeof rowsKept>
  underWay: UnderWay | undefined
}

/**
 * Writes the changes of batches, one after the other. While one is being written, that of the next batch can be worked out:
 * it takes the rows that are under way from memory.
 */
export const writingChanges = (following: Following, { changeOf }: InOneStatement): Runner => {
  const state: State = { following, changeOf, rows: rowsKept(), underWay: undefined }
  return {
    handle: (events, to, isAtEnd) => beginWriting(state, events, to, isAtEnd),
    settle: () => settle(state),
    underWayTo: () => state.underWay?.to,
    forget: state.rows.forget,
  }
}

/** Begins to write what events change, once everything before is written; at the end of the log, waits for it. */
const beginWriting = async (
  state: State,
  events: readonly RecordedEvent[],
  to: Position,
  isAtEnd: boolean,
): Promise<void> => {
  const workedOut = await workOut(state, events, state.underWay?.change.rows).catch((error: unknown) => {
    if (isRetriable(error)) throw error
    return undefined
  })
  const isValid = await settle(state)
  if (!isValid || !workedOut || workedOut.unhandled.length > 0) return writeApart(state, events, to)
  const { change } = workedOut
  if (!change) return passOver(state.following, to)
  const saved = write(state, to, change)
  saved.catch(() => undefined)
  state.underWay = { events, to, change, saved }
  if (isAtEnd) await settle(state)
}

const write = async ({ following, rows }: State, to: Position, change: Change): Promise<void> => {
  rows.keep(change, await saveChange(following, to, change))
}

const workOut = async (
  { following, changeOf, rows }: State,
  events: readonly RecordedEvent[],
  unsaved = nothing,
): Promise<WorkedOut> => {
  const unhandled: Unhandled[] = []
  const open = await openOf(following, events)
  if (open.length === 0) return { change: undefined, unhandled }
  const setEventAside = (event: RecordedEvent, error: unknown) =>
    unhandled.push({ event, record: event.stream, reason: reasonOf(error) })
  return { change: await changeOf(open, setEventAside, rows.with(unsaved)), unhandled }
}

/** Waits for what is under way. False: it could not be written as a whole, so what was worked out behind it is void. */
const settle = async (state: State): Promise<boolean> => {
  const last = state.underWay
  state.underWay = undefined
  try {
    await last?.saved
    return true
  } catch (error) {
    if (!last || isRetriable(error)) throw error
    await writeApart(state, last.events, last.to)
    return false
  }
}

/** Writes as many events together as can be, and sets the record of one aside that cannot be written. */
const writeApart = (state: State, events: readonly RecordedEvent[], to: Position): Promise<void> =>
  bisect(
    events,
    to,
    (some, reached) => writeSome(state, some, reached),
    (event, error, reached) =>
      saveUnhandled(state.following, reached, [{ event, record: event.stream, reason: reasonOf(error) }]),
  )

const writeSome = async (state: State, events: readonly RecordedEvent[], to: Position): Promise<void> => {
  const { following, rows } = state
  const { change, unhandled } = await workOut(state, events)
  if (unhandled.length === 0) return change ? write(state, to, change) : passOver(following, to)
  if (!change) return saveUnhandled(following, to, unhandled)
  rows.keep(change, await saveUnhandledAndChange(following, to, unhandled, change))
}
