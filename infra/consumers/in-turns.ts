import type { Position, RecordedEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import type { Batch, EventLog } from '../event-log/event-log.ts'
import { notifier } from '../notifier.ts'
import { takeTurns } from '../turns.ts'

type Options = {
  /** The events of one queue keep their order; queues take turns. All events of a stream are in one queue. */
  readonly queueOf: (event: RecordedEvent) => string
  readonly read: EventLog['read']
  /** Ends the batches, which by themselves may wait for news for ever. */
  readonly end: () => void
  /** At most so many events in one batch. */
  readonly batchSize: number
  /** The most that may wait. Beyond that, later events wait in the order of the log. */
  readonly mostWaiting?: number
  /** While no more than so many wait, they are kept whole: of all others, only where they are is kept. */
  readonly mostWhole?: number
}

type Waiting = {
  readonly position: Position
  /** The position of the log before it. */
  readonly behind: Position | undefined
  readonly stream: string
  readonly revision: number
  readonly event: RecordedEvent | undefined
  next: Waiting | undefined
}

type State = {
  waiting: number
  /** Up to here the log was read. */
  reached: Position | undefined
  caughtUp: boolean
  hasNews: boolean
  isOver: boolean
  failure?: { readonly error: unknown }
}

type Queue = { first: Waiting; last: Waiting }

/**
 * Reads ahead, and gives the events of all queues by turns, so that one with much to do does not hold up the others. The
 * position of a batch is where everything before it was given: events behind it may have been given, too, and come again
 * to whoever begins there.
 */
export async function* inTurns(
  batches: AsyncIterable<Batch>,
  { queueOf, read, end, batchSize, mostWaiting = 200_000, mostWhole = 1_000 }: Options,
): AsyncGenerator<Batch> {
  const queues = new Map<string, Queue>()
  const turns = new Set<string>()
  const [came, went] = [notifier(), notifier()]
  const state: State = { waiting: 0, reached: undefined, caughtUp: false, hasNews: false, isOver: false }

  const takeIn = (batch: Batch) => {
    for (const event of batch.events) {
      const { position, stream, revision } = event
      if (state.reached !== undefined && position <= state.reached) continue
      const whole = state.waiting < mostWhole ? event : undefined
      const last: Waiting = { position, behind: state.reached, stream, revision, event: whole, next: undefined }
      const key = queueOf(event)
      const queue = queues.get(key)
      if (queue) {
        queue.last.next = last
        queue.last = last
      } else {
        queues.set(key, { first: last, last })
        turns.add(key)
      }
      state.waiting++
      state.reached = position
    }
    if (state.reached === undefined || batch.position > state.reached) state.reached = batch.position
    state.caughtUp = batch.caughtUp
    state.hasNews = true
  }

  const readAhead = async () => {
    try {
      for await (const batch of batches) {
        takeIn(batch)
        came.notify()
        while (state.waiting >= mostWaiting && !state.isOver) await went.wait()
      }
    } catch (error) {
      state.failure = { error }
    } finally {
      state.isOver = true
      came.notify()
    }
  }

  /** The queue with the event that comes first in the log. */
  const earliest = (): string | undefined => {
    let found: { readonly key: string; readonly position: Position } | undefined
    for (const [key, { first }] of queues)
      if (!found || first.position < found.position) found = { key, position: first.position }
    return found?.key
  }

  /** Takes the next event of a queue. */
  const takeFrom = (key: string): Waiting | undefined => {
    const queue = queues.get(key)
    if (!queue) return undefined
    const { first } = queue
    if (first.next) queue.first = first.next
    else queues.delete(key)
    state.waiting--
    return first
  }

  /** The one that comes first goes first, so that the position moves however many queues there are; then all by turns. */
  const takeSome = (): readonly Waiting[] => {
    const ahead = earliest()
    if (ahead === undefined) return []
    const first = takeFrom(ahead)
    turns.delete(ahead)
    if (queues.has(ahead)) turns.add(ahead)
    const others = takeTurns(turns, takeFrom, batchSize - 1)
    return first ? [first, ...others] : others
  }

  const wholeOf = async ({ event, stream, revision }: Waiting): Promise<RecordedEvent> => {
    if (event) return event
    const [again] = await read(stream, { from: revision, limit: 1 })
    if (!again) throw new OwnError(`${stream} has no revision ${revision}.`)
    return again
  }

  const reading = readAhead()
  try {
    for (;;) {
      while (!state.hasNews && !state.isOver) await came.wait()
      if (state.failure) throw state.failure.error
      if (state.isOver) return
      const taken = takeSome()
      state.hasNews = state.waiting > 0
      went.notify()
      const left = queues.get(earliest() ?? '')
      const position = left ? left.first.behind : state.reached
      if (position === undefined) throw new OwnError('The log gave a batch without a position.')
      const isAll = left === undefined && state.caughtUp
      yield { events: await Promise.all(taken.map(wholeOf)), position, caughtUp: isAll }
    }
  } finally {
    state.isOver = true
    end()
    went.notify()
    await reading
  }
}
