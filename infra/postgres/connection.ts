import { Client, type Pool } from 'pg'
import { withMark } from '../read-models.ts'
import { withDeadline } from './postgres.ts'
import { sessionSettings } from './session.ts'

/** A connection outside of the pool, for what must stay on one: locks, notifications, lookups. */
export type Connection = {
  readonly client: Client
  /** Aborted when it was lost or closed. */
  readonly ended: AbortSignal
  /** The time since this process last sent something that the server has answered since. */
  readonly silentMs: () => number
  readonly close: () => Promise<void>
}

type Options = {
  /** Shown in `pg_stat_activity`. */
  readonly name: string
  /** Deadline of a statement; the connection is destroyed when it is exceeded. */
  readonly statementMs?: number
  /** Deadline of connecting to the server. */
  readonly connectMs?: number
}

/** The interval at which the server hears from each connection, as `state_change` in `pg_stat_activity` shows. */
const beatMs = 5_000
const closeMs = 1_000

/**
 * Opens a connection to the database of a pool, with the settings that the pool's own connections have. It is asked for
 * a keepalive query every few seconds, so that one whose packets are lost silently ends within ten seconds.
 */
export const openConnection = async (
  { options }: Pick<Pool, 'options'>,
  { name, statementMs = beatMs, connectMs = beatMs }: Options,
): Promise<Connection> => {
  const client = new Client({
    ...options,
    application_name: withMark(name),
    query_timeout: statementMs,
    connectionTimeoutMillis: connectMs,
  })
  const ended = new AbortController()
  // An error ends the connection, and each statement on it fails, so it is reported there.
  client.on('error', () => undefined)
  client.on('end', () => ended.abort())
  const destroy = () => client.connection.stream.destroy()
  let heard = timeOfBothClocks()
  try {
    await client.connect()
    await client.query(sessionSettings(name, { statementMs }))
  } catch (error) {
    destroy()
    throw error
  }

  const beat = setInterval(() => {
    const sent = timeOfBothClocks()
    client.query(withDeadline({ text: 'select' }, beatMs)).then(() => {
      heard = sent
    }, destroy)
  }, beatMs)
  ended.signal.addEventListener('abort', () => clearInterval(beat))

  return {
    client,
    ended: ended.signal,
    silentMs: () => {
      const now = timeOfBothClocks()
      return Math.max(now.running - heard.running, now.wall - heard.wall)
    },
    close: async () => {
      clearInterval(beat)
      ended.abort()
      // A server that cannot be reached does not say goodbye.
      const timer = setTimeout(destroy, closeMs)
      await client.end().catch(() => undefined)
      clearTimeout(timer)
    },
  }
}

/** A machine that was suspended has stopped the one clock and not the other, which somebody may set. */
const timeOfBothClocks = () => ({ running: performance.now(), wall: Date.now() })
