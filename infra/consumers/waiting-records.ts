import { setTimeout as pause } from 'node:timers/promises'
import type { RecordedEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import type { EventLog } from '../event-log/event-log.ts'
import type { Log } from '../log.ts'
import { reasonOf } from '../reason.ts'

/** A stream with an event that a live fold cannot apply, which waits from there on. */
export type WaitingRecord = {
  /** The time of the event. */
  readonly since: Date
  readonly reason: string
  readonly organisation_id: string | null
}

type Waiting = WaitingRecord & {
  from: number
  /** The last revision that was given, and not applied. */
  last: number
}

type Options = {
  /** The name of the fold. */
  readonly name: string
  /** Throws when an event cannot be applied. */
  readonly apply: (event: RecordedEvent) => void
  readonly eventLog: Pick<EventLog, 'read'>
  readonly log: Log
  readonly signal: AbortSignal
  readonly retryMs: number
}

export type WaitingRecords = {
  /** Applies an event, unless its record waits or has to wait from now on. */
  readonly take: (event: RecordedEvent) => void
  readonly all: () => readonly WaitingRecord[]
  readonly count: () => number
}

const retryMostMs = 30_000

/**
 * An event that cannot be applied sets its record aside, in one fold and one process: it is tried again until it can be,
 * and the record's later events wait for it. All other records go on.
 */
export const makeWaitingRecords = ({ name, apply, eventLog, log, signal, retryMs }: Options): WaitingRecords => {
  const records = new Map<string, Waiting>()
  let isRetrying = false

  /** False: its record waits. */
  const isApplied = (event: RecordedEvent): boolean => {
    try {
      apply(event)
      return true
    } catch (error) {
      const { id, type, stream, revision, metadata, recorded_at } = event
      const former = records.get(stream)
      records.set(stream, {
        organisation_id: metadata.organisation_id,
        from: revision,
        last: former?.last ?? revision,
        since: former?.since ?? recorded_at,
        reason: `${type} of ${stream} cannot be applied: ${reasonOf(error)}`,
      })
      if (former?.from !== revision)
        log.error({ fold: name, event_id: id, type, stream, error }, 'live fold cannot apply an event and retries')
      return false
    }
  }

  /** Applies what waits, as far as it was given: what comes later is still to be given. */
  const resume = async (stream: string, waiting: Waiting): Promise<void> => {
    while (waiting.from <= waiting.last) {
      const events = await eventLog.read(stream, { from: waiting.from })
      if (events.length === 0) throw new OwnError(`${stream} has no revision ${waiting.from}.`)
      for (const event of events) {
        if (event.revision > waiting.last) break
        if (!isApplied(event)) return
        waiting.from = event.revision + 1
      }
    }
    records.delete(stream)
    log.info({ fold: name, stream }, 'live fold has applied what waited')
  }

  const retry = async (): Promise<void> => {
    isRetrying = true
    for (let attempt = 0; records.size > 0 && !signal.aborted; attempt++) {
      await pause(Math.min(retryMs * 2 ** attempt, retryMostMs), undefined, { signal }).catch(() => undefined)
      for (const [stream, waiting] of records)
        await resume(stream, waiting).catch((error: unknown) => {
          log.warn({ error, fold: name, stream }, 'a record that was set aside cannot be read')
        })
    }
    isRetrying = false
  }

  return {
    take: (event) => {
      const waiting = records.get(event.stream)
      if (waiting) waiting.last = event.revision
      else if (!isApplied(event) && !isRetrying) void retry()
    },
    all: () => [...records.values()],
    count: () => records.size,
  }
}
