import { appender } from './append.ts'
import { hints } from './notifications.ts'
import { asWritten, logReader, measure } from './read.ts'
import { subscriber } from './subscribe.ts'
import { sharedTail } from './live-tail.ts'
import type { EventLog } from '../event-log.ts'
import { outageWatch } from '../outage.ts'
import { createPool } from '../../postgres/postgres.ts'

export { prepareLog } from './schema.ts'

export type PostgresLogOptions = {
  readonly url: string
  /** Connections for reading; 4 by default. Writing takes two more, hints one. */
  readonly readers?: number
  /** How often to look for new events when no hint comes; 200 by default. */
  readonly pollMs?: number
}

/** The log in PostgreSQL. `prepareLog` has made its tables. */
export const postgresLog = ({ url, readers = 4, pollMs = 200 }: PostgresLogOptions): EventLog => {
  const writing = createPool(url, { max: 2, min: 1, name: 'coverstream append', types: asWritten })
  const reading = createPool(url, { max: readers, min: 1, name: 'coverstream read', types: asWritten })
  const closing = new AbortController()

  const outage = outageWatch()
  const reader = logReader(reading, outage)
  const tail = sharedTail(reader, pollMs)
  const others = hints(url, tail.notify)
  const { append, close: finishAppends } = appender(writing, (position) => {
    tail.notify(position)
    others.tell(position)
  })
  const subscribe = subscriber(reader, tail)

  const close = async () => {
    closing.abort()
    await finishAppends()
    await others.close()
    await Promise.all([writing.end(), reading.end()])
  }
  let closed: Promise<void> | undefined

  return {
    append,
    read: (stream, page = {}) => reader.stream(stream, page),
    readAll: (page = {}) => reader.page(page),
    subscribe: (subscription) => {
      others.listen()
      return subscribe({ ...subscription, signal: AbortSignal.any([subscription.signal, closing.signal]) })
    },
    head: reader.head,
    measure,
    outage: outage.current,
    close: () => (closed ??= close()),
  }
}
