import { LogUnavailable } from './event-log/event-log.ts'
import { BrokersUnavailable } from './kafka/failures.ts'
import type { Log } from './log.ts'
import { isConnectionLoss } from './postgres/postgres.ts'
import { reasonOf } from './reason.ts'

type Store = 'PostgreSQL' | 'event log' | 'Kafka'

type Outage = {
  readonly since: number
  saidAt: number
  lastFailureAt: number
  heldBack: number
  readonly watching: NodeJS.Timeout
}

const againMs = 60_000
/** A caller that needs a store tries again within five seconds: after twice that without a failure it is back. */
const quietMs = 10_000

type Away = { readonly store: Store; readonly reason: string }

/** The store that is away, when that is why something failed; a log in PostgreSQL is away with it. */
const awayIn = (error: unknown): Away | undefined => {
  if (!(error instanceof Error)) return undefined
  if (error instanceof BrokersUnavailable) return { store: 'Kafka', reason: reasonOf(error) }
  const lost = [error, error.cause].find(isConnectionLoss)
  if (lost) return { store: 'PostgreSQL', reason: reasonOf(lost) }
  return error instanceof LogUnavailable ? { store: 'event log', reason: reasonOf(error) } : undefined
}

/** A request has a line of its own whatever happens. */
const isOfRequest = (fields: object): boolean => 'request_id' in fields

/**
 * The log of a process in which a store that is away is told of once when it goes, once a minute, and once when it is back:
 * dozens of consumers try again and again meanwhile, and would each say so.
 */
export const tellingOutagesOnce = (log: Log): Log => {
  const outages = new Map<Store, Outage>()

  const whenQuiet = (store: Store) => () => {
    const outage = outages.get(store)
    if (!outage || Date.now() - outage.lastFailureAt < quietMs) return
    clearInterval(outage.watching)
    outages.delete(store)
    const seconds = Math.round((outage.lastFailureAt - outage.since) / 1000)
    log.warn({ store, seconds, held_back: outage.heldBack }, 'a store that was away is back')
  }

  /** Logs it with the first failure's own fields, such as the address. */
  const begin = ({ store, reason }: Away, first: object) => {
    const now = Date.now()
    const watching = setInterval(whenQuiet(store), quietMs / 10).unref()
    outages.set(store, { since: now, saidAt: now, lastFailureAt: now, heldBack: 0, watching })
    log.warn({ ...first, store, reason }, 'a store is away: what fails because of it is tried again')
  }

  const goOn = ({ store, reason }: Away, outage: Outage) => {
    outage.lastFailureAt = Date.now()
    outage.heldBack++
    if (outage.lastFailureAt - outage.saidAt < againMs) return
    outage.saidAt = outage.lastFailureAt
    const since = new Date(outage.since).toISOString()
    log.warn({ store, since, reason, held_back: outage.heldBack }, 'a store is still away')
  }

  const telling =
    (level: 'warn' | 'error') =>
    (fields: object, message: string): void => {
      const { error, ...others }: { readonly error?: unknown } = fields
      const away = isOfRequest(fields) ? undefined : awayIn(error)
      if (!away) return log[level](fields, message)
      const outage = outages.get(away.store)
      if (outage) goOn(away, outage)
      else begin(away, others)
    }

  // As pino itself makes a logger of another: what is not replaced is the other's own.
  return Object.assign(Object.create(log) as Log, { warn: telling('warn'), error: telling('error') })
}
