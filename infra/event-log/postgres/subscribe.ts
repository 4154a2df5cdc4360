import { setTimeout as pause } from 'node:timers/promises'
import type { Position } from '#domain/event.ts'
import type { Batch, Subscription } from '../event-log.ts'
import { fromPosition, start, type Filter, type LogReader } from './read.ts'
import type { sharedTail } from './live-tail.ts'
import { isUnavailable } from '../../postgres/postgres.ts'

type Part = Pick<Batch, 'events' | 'position'>

/** First what has been, in pages of the subscription's own, then what comes, from the tail that all subscriptions share. */
export const subscriber = (reader: Pick<LogReader, 'head' | 'between'>, tail: ReturnType<typeof sharedTail>) =>
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

    while (isWanted()) {
      const head = await retryConnectionLoss(() => reader.head(), signal)
      if (!head.done) return
      const end = head.value ?? start
      if (end > position) {
        for await (const part of history(reader, position, end, filter, batchSize, signal)) {
          position = part.position
          yield { ...part, caughtUp: false }
        }
        continue
      }

      const share = tail.join(end, filter, batchSize)
      signal.addEventListener('abort', share.leave)
      try {
        if (!isWanted()) return
        // The tail may already be past the place that we have read up to.
        if (share.from > position)
          for await (const part of history(reader, position, share.from, filter, batchSize, signal)) {
            position = part.position
            yield { ...part, caughtUp: false }
          }
        yield { events: [], position, caughtUp: true }

        for (let batch = await share.next(); batch && isWanted(); batch = await share.next()) {
          const { events, caughtUp } = batch
          const seen = position
          // A subscription may begin at a place that the tail has not come to yet.
          if (batch.position <= seen) continue
          position = batch.position
          yield { events: events.filter((event) => event.position > seen), position, caughtUp }
        }
      } finally {
        signal.removeEventListener('abort', share.leave)
        share.leave()
      }
    }
  }

/** What lies between two settled positions. The next page is read while the reader works on one, and none beyond it. */
const history = async function* (
  reader: Pick<LogReader, 'between'>,
  after: Position,
  upTo: Position,
  filter: Filter,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<Part> {
  const read = async (from: Position): Promise<Part | undefined> => {
    const page = await retryConnectionLoss(() => reader.between(from, upTo, filter, limit), signal)
    if (!page.done) return undefined
    const { events, isWhole } = page.value
    return { events, position: isWhole ? upTo : (events.at(-1)?.position ?? upTo) }
  }

  let page = await read(after)
  while (page && !signal.aborted) {
    const next = page.position < upTo ? read(page.position) : undefined
    // If the reader leaves, nobody waits for the page any more, and nobody minds what becomes of it.
    next?.catch(() => undefined)
    yield page
    page = await next
  }
}

type Outcome<Result> = { readonly done: true; readonly value: Result } | { readonly done: false }

/** A lost connection is waited for, until the reader has had enough. */
const retryConnectionLoss = async <Result>(
  read: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Outcome<Result>> => {
  for (let attempt = 1; !signal.aborted; attempt++)
    try {
      return { done: true, value: await read() }
    } catch (error) {
      if (!isUnavailable(error)) throw error
      await pause(Math.min(25 * 2 ** attempt, 2_000), undefined, { signal }).catch(() => undefined)
    }
  return { done: false }
}
