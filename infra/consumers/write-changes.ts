import type { Position, RecordedEvent } from '#domain/event.ts'
import type { Change, InOneStatement } from './consumer-type.ts'
import { bisect, isRetriable } from './failures.ts'
import { reasonOf } from '../reason.ts'
import type { Unhandled } from './set-aside.ts'

type Saving = {
  /** Writes a change and moves the checkpoint with it. */
  readonly saveChange: (to: Position, change: Change) => Promise<void>
  /** The same in a transaction that also sets records aside. */
  readonly saveUnhandled: (to: Position, unhandled: readonly Unhandled[], change: Change | undefined) => Promise<void>
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

/**
 * Writes the changes of batches, one after the other. While one is being written, that of the next batch can be worked out:
 * it takes the rows that are under way from memory.
 */
export const changeWriter = ({ changeOf }: InOneStatement, { saveChange, saveUnhandled, passOver, openOf }: Saving) => {
  let underWay: UnderWay | undefined

  const workOut = async (events: readonly RecordedEvent[], unsaved?: Change): Promise<WorkedOut> => {
    const unhandled: Unhandled[] = []
    const open = await openOf(events)
    if (open.length === 0) return { change: undefined, unhandled }
    const setEventAside = (event: RecordedEvent, error: unknown) =>
      unhandled.push({ event, record: event.stream, reason: reasonOf(error) })
    return { change: await changeOf(open, setEventAside, unsaved), unhandled }
  }

  const writeSome = async (events: readonly RecordedEvent[], to: Position): Promise<void> => {
    const { change, unhandled } = await workOut(events)
    if (unhandled.length > 0) await saveUnhandled(to, unhandled, change)
    else await (change ? saveChange(to, change) : passOver(to))
  }

  const writeApart = (events: readonly RecordedEvent[], to: Position): Promise<void> =>
    bisect(events, to, writeSome, (event, error, reached) =>
      saveUnhandled(reached, [{ event, record: event.stream, reason: reasonOf(error) }], undefined),
    )

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
    /** Up to here everything is written or being written. */
    underWayTo: () => underWay?.to,
    /** Begins to write what events change, once everything before is written; at the end of the log, waits for it. */
    write: async (events: readonly RecordedEvent[], to: Position, isAtEnd: boolean): Promise<void> => {
      const workedOut = await workOut(events, underWay?.change).catch((error: unknown) => {
        if (isRetriable(error)) throw error
        return undefined
      })
      const isValid = await settle()
      if (!isValid || !workedOut || workedOut.unhandled.length > 0) return writeApart(events, to)
      const { change } = workedOut
      if (!change) return passOver(to)
      const saved = saveChange(to, change)
      saved.catch(() => undefined)
      underWay = { events, to, change, saved }
      if (isAtEnd) await settle()
    },
  }
}
