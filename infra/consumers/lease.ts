import { setTimeout as pause } from 'node:timers/promises'
import type { Pool, QueryConfig } from 'pg'
import { batched } from '../batched.ts'
import { openConnection } from '../postgres/connection.ts'
import { sql } from '../postgres/postgres.ts'

/** The exclusive right to run something. It ends when it is released, and when the connection that holds it is lost. */
export type Lease = {
  /** Aborted when the lease has ended. */
  readonly signal: AbortSignal
  readonly release: () => Promise<void>
}

export type Leases = {
  /**
   * Waits until no other holder has the lease of this name, in this process or another. Undefined when the signal was
   * aborted first. Throws when the database does not answer. `held` is called whenever the database says that somebody else
   * holds it.
   */
  readonly take: (name: string, signal: AbortSignal, held?: () => void) => Promise<Lease | undefined>
}

type Session = {
  /** Runs one statement after the other. */
  readonly query: (statement: QueryConfig) => Promise<{ readonly rows: readonly { readonly done?: boolean }[] }>
  /** Takes a lock if nobody has it. Those that are asked for at the same moment share a statement. */
  readonly tryLock: (name: string) => Promise<boolean>
  readonly held: Set<string>
  readonly ended: AbortSignal
  readonly end: () => Promise<void>
}

type Options = {
  readonly pollMs?: number
  /** Opens the connection that holds the leases. */
  readonly open?: typeof openConnection
}

/**
 * The leases of a process: advisory locks of one dedicated connection. The server releases them when the process ends,
 * and when it has not answered for half a minute.
 *
 * A stalled process may believe for a while that it still holds a lease that another process has taken over. So a lease
 * alone does not exclude that something happens twice: such work also compares the checkpoint that it moves.
 */
export const makeLeases = (pool: Pool, { pollMs = 500, open = openConnection }: Options = {}): Leases => {
  let session: Promise<Session> | undefined
  let users = 0

  const current = (): Promise<Session> => {
    if (session) return session
    const opening = openSession(pool, open)
    session = opening
    const forget = () => {
      if (session === opening) session = undefined
    }
    opening.then(({ ended }) => ended.addEventListener('abort', forget), forget)
    return opening
  }

  const leave = async (): Promise<void> => {
    users--
    if (users > 0) return
    const last = session
    session = undefined
    await last?.then(({ end }) => end()).catch(() => undefined)
  }

  const waitFor = async (name: string, signal: AbortSignal, held?: () => void): Promise<Session | undefined> => {
    while (!signal.aborted) {
      const found = await current()
      if (await lock(found, name, held)) return found
      // All who wait ask at the same moments.
      await pause(pollMs - (performance.now() % pollMs), undefined, { signal }).catch(() => undefined)
    }
    return undefined
  }

  return {
    take: async (name, signal, held) => {
      users++
      const found = await waitFor(name, signal, held).catch(async (error: unknown) => {
        await leave()
        throw error
      })
      if (!found) {
        await leave()
        return undefined
      }
      const released = new AbortController()
      return {
        signal: AbortSignal.any([found.ended, released.signal]),
        release: async () => {
          if (released.signal.aborted) return
          released.abort()
          await unlock(found, name)
          await leave()
        },
      }
    },
  }
}

const openSession = async (pool: Pool, open: typeof openConnection): Promise<Session> => {
  const { client, ended, close } = await open(pool, { name: 'coverstream leases' })
  try {
    await client.query('set tcp_keepalives_idle = 15; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3')
  } catch (error) {
    await close()
    throw error
  }

  let last: Promise<unknown> = Promise.resolve()
  const query: Session['query'] = (statement) => {
    const answer = last.then(() => client.query<{ done?: boolean }>(statement))
    last = answer.catch(() => undefined)
    return answer
  }
  const tryLock = batched(async (names: readonly string[]) => {
    const { rows } = await query(sql`
      select pg_try_advisory_lock(hashtextextended('lease ' || name, 0)) as done
      from unnest(${names}::text[]) with ordinality as asked (name, place) order by place`)
    return rows.map(({ done }) => done === true)
  }, lockingTogether)
  return { query, tryLock, held: new Set(), ended, end: close }
}

const lockingTogether = { mostAtOnce: 1_000, mostWaiting: 10_000, mostInFlight: 1 }

const lock = async ({ tryLock, held }: Session, name: string, heldElsewhere?: () => void): Promise<boolean> => {
  // PostgreSQL lets a connection take a lock that it already holds, so the held ones are kept here.
  if (held.has(name)) return false
  held.add(name)
  const isTaken = await tryLock(name).catch((error: unknown) => {
    held.delete(name)
    throw error
  })
  if (!isTaken) {
    held.delete(name)
    heldElsewhere?.()
  }
  return isTaken
}

const unlock = async ({ query, held, ended, end }: Session, name: string): Promise<void> => {
  // A lost connection has released the lock already.
  if (!ended.aborted)
    await query(sql`select pg_advisory_unlock(hashtextextended(${`lease ${name}`}, 0)) as done`).catch(end)
  held.delete(name)
}
