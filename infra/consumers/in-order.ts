import type { RecordedEvent } from '#domain/event.ts'

type Work = {
  /** Events of one record are handled one after the other, in their order. */
  readonly recordOf: (event: RecordedEvent) => string
  /** Handles at most so many events at once. */
  readonly concurrency: number
  readonly handle: (event: RecordedEvent) => Promise<void>
  /** Begins no further event when it is aborted. */
  readonly signal: AbortSignal
}

type Outcome = {
  /** The number of events, counted from the first, that were handled without a gap. */
  readonly handled: number
  /** The first failure. No further event was begun after it. */
  readonly failure?: { readonly event: RecordedEvent; readonly error: unknown }
}

/** Handles events of different records at once, and those of each record in order. Settles when nothing is under way. */
export const inOrder = async (
  events: readonly RecordedEvent[],
  { recordOf, concurrency, handle, signal }: Work,
): Promise<Outcome> => {
  const byRecord = Map.groupBy(events.entries(), ([, event]) => recordOf(event))
  const waiting = byRecord.values()
  const isHandled = events.map(() => false)
  let failure: Outcome['failure']

  const work = async () => {
    for (const record of waiting)
      for (const [index, event] of record) {
        if (failure || signal.aborted) return
        try {
          await handle(event)
          isHandled[index] = true
        } catch (error) {
          failure ??= { event, error }
        }
      }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, byRecord.size) }, work))

  const unhandled = isHandled.indexOf(false)
  return { handled: unhandled === -1 ? events.length : unhandled, ...(failure && { failure }) }
}

/** The record of each event. If it cannot be determined, later events of its stream wait. */
export const recordsOf = (
  events: readonly RecordedEvent[],
  recordOf: (event: RecordedEvent) => string = ({ stream }) => stream,
) => {
  const records = new Map<RecordedEvent, string>()
  const unknown = new Set<string>()
  for (const event of events)
    try {
      records.set(event, unknown.has(event.stream) ? event.stream : recordOf(event))
    } catch {
      unknown.add(event.stream)
    }
  return {
    recordOf: (event: RecordedEvent): string => records.get(event) ?? event.stream,
    isUnknown: (event: RecordedEvent): boolean => !records.has(event),
  }
}
