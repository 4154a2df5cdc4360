import { LRUCache } from 'lru-cache'
import type { Position, RecordedEvent } from '#domain/event.ts'
import type { Change, InOneStatement, KnownRows } from './consumer-type.ts'
import { bisect, isRetriable } from './failures.ts'
import { reasonOf } from '../reason.ts'
import type { Unhandled } from './set-aside.ts'

type Saving = {
  /** Writes a change and moves the checkpoint with it. How many bytes were sent. */
  readonly saveChange: (to: Position, change: Change) => Promise<number>
  /** The same in a transaction that also sets records aside; without a change, only that. */
  readonly saveUnhandled: (to: Position, unhandled: readonly Unhandled[], change: Change | undefined) => Promise<number>
  /** Moves on without writing anything. */
  readonly passOver: (to: Position) => Promise<void>
  /** The events that do not wait for a record that is set aside. */
  readonly openOf: (events: readonly RecordedEvent[]) => Promise<readonly RecordedEvent[]>
}

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

/**
 * Writes the changes of batches, one after the other. While one is being written, that of the next batch can be worked out:
 * it takes the rows that are under way from memory.
 */
export const changeWriter = ({ changeOf }: InOneStatement, { saveChange, saveUnhandled, passOver, openOf }: Saving) => {
  let underWay: UnderWay | undefined
  const rows = rowsKept()

  const save = async (to: Position, change: Change): Promise<void> => {
    rows.keep(change, await saveChange(to, change))
  }

  const workOut = async (events: readonly RecordedEvent[], unsaved = nothing): Promise<WorkedOut> => {
    const unhandled: Unhandled[] = []
    const open = await openOf(events)
    if (open.length === 0) return { change: undefined, unhandled }
    const setEventAside = (event: RecordedEvent, error: unknown) =>
      unhandled.push({ event, record: event.stream, reason: reasonOf(error) })
    return { change: await changeOf(open, setEventAside, rows.with(unsaved)), unhandled }
  }

  const writeSome = async (events: readonly RecordedEvent[], to: Position): Promise<void> => {
    const { change, unhandled } = await workOut(events)
    if (unhandled.length === 0) return change ? save(to, change) : passOver(to)
    const bytes = await saveUnhandled(to, unhandled, change)
    if (change) rows.keep(change, bytes)
  }

  const writeApart = (events: readonly RecordedEvent[], to: Position): Promise<void> =>
    bisect(events, to, writeSome, async (event, error, reached) => {
      await saveUnhandled(reached, [{ event, record: event.stream, reason: reasonOf(error) }], undefined)
    })

  /** Waits for what is under way. False: it could not be written as a whole, so what was worked out behind it is void. */
  const settle = async (): Promise<boolean> => {
    const last = underWay
    underWay = undefined
    try {
      await last?.saved
      return true
    } catch (error) {
      if (!last || isRetriable(error)) throw error
      await writeApart(last.events, last.to)
      return false
    }
  }

  return {
    settle,
    /** Rows are written by somebody else. */
    forget: rows.forget,
    /** Up to here everything is written or being written. */
    underWayTo: () => underWay?.to,
    /** Begins to write what events change, once everything before is written; at the end of the log, waits for it. */
    write: async (events: readonly RecordedEvent[], to: Position, isAtEnd: boolean): Promise<void> => {
      const workedOut = await workOut(events, underWay?.change.rows).catch((error: unknown) => {
        if (isRetriable(error)) throw error
        return undefined
      })
      const isValid = await settle()
      if (!isValid || !workedOut || workedOut.unhandled.length > 0) return writeApart(events, to)
      const { change } = workedOut
      if (!change) return passOver(to)
      const saved = save(to, change)
      saved.catch(() => undefined)
      underWay = { events, to, change, saved }
      if (isAtEnd) await settle()
    },
  }
}
