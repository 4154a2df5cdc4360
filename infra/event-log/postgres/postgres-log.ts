import { categoryOf, type Position } from '#domain/event.ts'
import { appender, appendLimits, type AppendLimits } from './append.ts'
import { hints } from './notifications.ts'
import { asWritten, logReader, measure } from './read.ts'
import { arrivals, subscriber } from './subscribe.ts'
import { outageWatch } from '../outage.ts'
import { LogUnavailable, type EventLog } from '../event-log.ts'
import { createPool, isUnavailable } from '../../postgres/postgres.ts'
import { retry } from '../../retry.ts'
import { withTimeout } from '../../timeout.ts'

export { prepareLog } from './schema.ts'

export type PostgresLogOptions = {
  readonly url: string
  /** Connections for reading; 4 by default. Writing takes two more, hints one. */
  readonly readers?: number
  /** The interval at which to look for new events when no hint comes; 200 by default. */
  readonly pollMs?: number
  /** Deadline of one attempt to append, 3 seconds by default, which leaves time for others until that of the append. */
  readonly attemptMs?: number
  readonly appendLimits?: Partial<AppendLimits>
  /** Deadline of a read, 5 seconds by default: half of it for one attempt. */
  readonly readMs?: number
}

/** The log in PostgreSQL. `prepareLog` has made its tables. */
export const postgresLog = (options: PostgresLogOptions): EventLog => {
  const { url, readers = 4, pollMs = 200, attemptMs = 3_000, readMs = 5_000 } = options
  const writing = createPool(url, {
    max: 2,
    min: 1,
    name: 'coverstream append',
    types: asWritten,
    statementMs: attemptMs,
    connectMs: attemptMs,
  })
  const reading = createPool(url, {
    max: readers,
    min: 1,
    name: 'coverstream read',
    types: asWritten,
    connectMs: readMs / 2,
  })
  const closing = new AbortController()

  const outage = outageWatch()
  const reader = logReader(reading, { outage, soonMs: readMs / 2 })
  const arrived = arrivals()
  // When all subscriptions have ended because of an outage, this still measures how long it lasts.
  const checkLog = () =>
    reader.head().then(
      () => undefined,
      () => undefined,
    )
  const others = hints(reading, arrived.notify, checkLog)
  const notify = (stream: string, position: Position) => {
    const category = categoryOf(stream)
    arrived.notify(new Map([[category, position]]))
    others.announce(category, position)
  }
  const { append, close: finishAppends } = appender(writing, notify, { ...appendLimits, ...options.appendLimits })
  const subscribe = subscriber(reader, arrived, pollMs)

  const close = async () => {
    closing.abort()
    await finishAppends()
    await others.close()
    await Promise.all([writing.end(), reading.end()])
  }
  let closed: Promise<void> | undefined

  return {
    append,
    read: (stream, page = {}) => readWithin(() => reader.stream(stream, page), readMs),
    readAll: (page = {}) => readWithin(() => reader.page(page), pageMs),
    subscribe: (subscription) => {
      others.listen()
      return subscribe({ ...subscription, signal: AbortSignal.any([subscription.signal, closing.signal]) })
    },
    head: () => readWithin(reader.head, readMs),
    end: () => readWithin(reader.end, readMs),
    measure,
    outage: outage.current,
    close: () => (closed ??= close()),
  }
}

const pageMs = 30_000

/** Reads again while the server is away, but not longer than the deadline. */
const readWithin = <Result>(read: () => Promise<Result>, milliseconds: number): Promise<Result> => {
  const unavailable = (cause?: unknown) => new LogUnavailable('The log cannot be read at the moment.', { cause })
  const reading = retry(read, { isTransient: isUnavailable, delayMaximumMs: 500, withinMs: milliseconds })
  const unlessAway = reading.catch((error: unknown) => {
    throw isUnavailable(error) ? unavailable(error) : error
  })
  return withTimeout(unlessAway, milliseconds, unavailable)
}
