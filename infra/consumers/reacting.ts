import type { Position, RecordedEvent } from '#domain/event.ts'
import { reasonOf } from '../reason.ts'
import type { Consumer, Reacting } from './consumer-type.ts'
import { isRetriable } from './failures.ts'
import { passOver, saveUnhandled, type Following, type Runner } from './following.ts'
import { inOrder, recordsOf } from './in-order.ts'
import { setAsideOf, type Unhandled } from './set-aside.ts'

type State = {
  readonly following: Following
  readonly consumer: Consumer & Reacting
  /** Where queues take turns, events behind the position were handled, too. */
  furthest: Position | undefined
}

const saveReactedAfterMs = 250

/** Handles each event by itself, before the checkpoint moves behind it: what was only handled may be handled again. */
export const reacting = (following: Following, consumer: Consumer & Reacting): Runner => {
  const state: State = { following, consumer, furthest: following.position }
  return {
    handle: (events, to) => react(state, events, to),
    mayResume: () => {
      const { furthest } = state
      return furthest === undefined || (following.position !== undefined && following.position >= furthest)
    },
  }
}

/** Up to where all was handled, with this event as the last; where queues take turns, only the whole batch says that. */
const behind = ({ consumer }: State, event: RecordedEvent | undefined): Position | undefined =>
  consumer.queueOf ? undefined : event?.position

const react = async (state: State, events: readonly RecordedEvent[], to: Position | undefined): Promise<void> => {
  const { following, consumer } = state
  const records = recordsOf(events, consumer.recordOf)
  const closed = await closedOf(following, events, records.recordOf)
  // A waiting event whose record is unknown is saved before any later event is handled: after a crash in between,
  // it could not be distinguished from a handled event.
  const apart = events.findIndex((event) => records.isUnknown(event) && !closed.has(event.stream))
  const before = events.slice(0, Math.max(apart, 1))
  if (apart === -1 || before.length === events.length) return reactTo(state, events, to, { ...records, closed })
  await react(state, before, behind(state, before.at(-1)))
  return following.signal.aborted ? undefined : react(state, events.slice(before.length), to)
}

/** The records of these events that are set aside. */
const closedOf = async (
  { consumer, setAside }: Following,
  events: readonly RecordedEvent[],
  recordOf: (event: RecordedEvent) => string,
): Promise<Set<string>> =>
  setAside > 0
    ? setAsideOf(consumer.pool, consumer.name, [...events.map(recordOf), ...events.map(({ stream }) => stream)])
    : new Set()

type Records = Pick<ReturnType<typeof recordsOf>, 'recordOf'> & {
  /** The records that are set aside. */
  readonly closed: Set<string>
}

const reactTo = async (
  state: State,
  events: readonly RecordedEvent[],
  to: Position | undefined,
  records: Records,
): Promise<void> => {
  const { following, consumer } = state
  const { signal } = following
  const unhandled: Unhandled[] = []
  const handle = async (event: RecordedEvent) => {
    const waiting = await reactOnce(consumer, event, records, signal)
    if (waiting) unhandled.push(waiting)
  }
  const { recordOf } = records
  const { handled, failure } = await inOrder(events, {
    recordOf,
    concurrency: consumer.concurrency ?? 1,
    handle,
    signal,
  })
  const isWhole = handled === events.length
  const reached = (isWhole ? to : behind(state, events[handled - 1])) ?? following.position
  for (const { position } of events)
    if (state.furthest === undefined || position > state.furthest) state.furthest = position
  if (unhandled.length > 0) await saveUnhandled(following, reached, unhandled)
  else if (reached) await passOver(following, reached, saveReactedAfterMs)
  if (failure && !signal.aborted) throw failure.error
}

/** Handles an event, or says why it has to wait. */
const reactOnce = async (
  consumer: Reacting,
  event: RecordedEvent,
  { recordOf, closed }: Records,
  signal: AbortSignal,
): Promise<Unhandled | undefined> => {
  const record = closed.has(event.stream) ? event.stream : recordOf(event)
  if (closed.has(record)) return { event, record }
  try {
    await consumer.react(event, signal, { resumed: false })
    return undefined
  } catch (error) {
    // A failure may be caused by the end of the signal.
    if (signal.aborted || isRetriable(error)) throw error
    closed.add(record)
    return { event, record, reason: reasonOf(error) }
  }
}
