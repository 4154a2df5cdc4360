import type { Position } from '#domain/event.ts'
import type { Batch, Subscription } from '../event-log.ts'
import { fromPosition, start, type BoundedPage, type Filter, type LogReader } from './read.ts'
import { notifier } from '../../notifier.ts'
import { isUnavailable } from '../../postgres/postgres.ts'
import { retry } from '../../retry.ts'

type Part = Pick<Batch, 'events' | 'position'>

/** The last event of each category in which something was appended. */
export type Ends = ReadonlyMap<string, Position>

/** Something was appended, to these categories or to unknown ones. */
export type Arrivals = ReturnType<typeof arrivals>

/** The last of these events; with categories, the last that is of one of them. */
export const lastOf = (ends: Ends, categories?: readonly string[]): Position => {
  let last = start
  for (const [category, end] of ends) if (end > last && (categories?.includes(category) ?? true)) last = end
  return last
}

/** Wakes the subscriptions of this process when something was appended, here or elsewhere. */
export const arrivals = () => {
  const subscriptions = new Set<(ends?: Ends) => void>()
  let promised = start
  return {
    notify: (ends?: Ends): void => {
      const last = ends ? lastOf(ends) : start
      if (last > promised) promised = last
      for (const notify of subscriptions) notify(ends)
    },
    /** Up to here there are events. While others write, their place in the order may not be settled yet. */
    promised: () => promised,
    listen: (notify: (ends?: Ends) => void): (() => void) => {
      subscriptions.add(notify)
      return () => subscriptions.delete(notify)
    },
  }
}

const moveAfterMs = 1_000

/**
 * Yields first past events, in pages, then new ones, as soon as a hint arrives or the next poll finds them: what is appended
 * to categories that it does not want costs it nothing. Past such events the position moves about once a second.
 */
export const subscriber = (
  reader: Pick<LogReader, 'head' | 'between' | 'newer' | 'settled'>,
  { listen, promised }: Pick<Arrivals, 'listen' | 'promised'>,
  pollMs: number,
) =>
  async function* ({
    after = start,
    categories,
    types,
    batchSize = 1_000,
    signal,
  }: Subscription): AsyncGenerator<Batch> {
    const filter: Filter = { ...(categories && { categories }), ...(types && { types }) }
    fromPosition(after)
    const isWanted = () => !signal.aborted
    let position = after
    const changes = notifier()
    // Up to here there are events that it may want.
    let announced = promised()
    const unlisten = listen((ends) => {
      if (ends) {
        const upTo = lastOf(ends, categories)
        // What this process has appended the server announces to it once more, while it is being read.
        if (upTo <= position || upTo === announced) return
        if (upTo > announced) announced = upTo
      }
      changes.notify()
    })
    signal.addEventListener('abort', changes.notify)
    /** Waits for all that write; only where that hides something, a statement more tells which of them append. */
    const newerUpTo = async (from: Position, wanted: Position): Promise<BoundedPage> => {
      const newer = await reader.newer(from, filter, batchSize)
      const reached = newer.events.at(-1)?.position ?? from
      if (!newer.isWhole || reached >= wanted) return newer
      const settled = await reader.settled()
      if (settled <= reached) return newer
      const { events, isWhole } = await reader.between(reached, settled, filter, batchSize)
      return { events: [...newer.events, ...events], isWhole }
    }
    const readHead = () => retryRead(async () => (await reader.head()) ?? start, signal)

    try {
      for (let head = await readHead(); head.done && head.value > position; head = await readHead())
        for await (const part of history(reader, position, head.value, filter, batchSize, signal)) {
          position = part.position
          yield { ...part, caughtUp: false }
        }
      if (!isWanted()) return
      yield { events: [], position, caughtUp: true }

      let movedAt = performance.now()
      let fruitless = 0
      let isBehind = false
      while (isWanted()) {
        const newer = await retryRead(async () => newerUpTo(position, announced), signal)
        if (!newer.done) return
        const { events, isWhole } = newer.value
        const last = events.at(-1)
        fruitless = last ? 0 : fruitless + 1
        if (last) {
          position = last.position
          isBehind = !isWhole
          yield { events, position, caughtUp: isWhole }
        } else if (isBehind) {
          // The last page was full, and nothing lay beyond it.
          isBehind = false
          yield { events, position, caughtUp: true }
        } else if (performance.now() - movedAt >= moveAfterMs) {
          movedAt = performance.now()
          const head = await readHead()
          if (!head.done) return
          const { value: end } = head
          if (end > position)
            for await (const part of history(reader, position, end, filter, batchSize, signal)) {
              position = part.position
              yield { ...part, caughtUp: position >= end }
            }
        }
        const isPromised = position < announced
        if (isWhole && isWanted()) await changes.wait(isPromised ? Math.min(2 ** fruitless, 50) : pollMs)
      }
    } finally {
      unlisten()
      signal.removeEventListener('abort', changes.notify)
    }
  }

/** The events between two settled positions. The next page is read while the reader works on one, and none beyond it. */
const history = async function* (
  reader: Pick<LogReader, 'between'>,
  after: Position,
  upTo: Position,
  filter: Filter,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<Part> {
  const read = async (from: Position): Promise<Part | undefined> => {
    const page = await retryRead(() => reader.between(from, upTo, filter, limit), signal)
    if (!page.done) return undefined
    const { events, isWhole } = page.value
    return { events, position: isWhole ? upTo : (events.at(-1)?.position ?? upTo) }
  }

  let page = await read(after)
  while (page && !signal.aborted) {
    const next = page.position < upTo ? read(page.position) : undefined
    // If the reader stops, the page is no longer awaited, and its failure does not matter.
    next?.catch(() => undefined)
    yield page
    page = await next
  }
}

type Outcome<Result> = { readonly done: true; readonly value: Result } | { readonly done: false }

/** Reads again after transient errors, until the signal is aborted. */
const retryRead = async <Result>(read: () => Promise<Result>, signal: AbortSignal): Promise<Outcome<Result>> => {
  if (signal.aborted) return { done: false }
  try {
    return { done: true, value: await retry(read, { isTransient: isUnavailable, delayMaximumMs: 2_000, signal }) }
  } catch (error) {
    // A transient error comes through only when the signal is aborted.
    if (isUnavailable(error)) return { done: false }
    throw error
  }
}
