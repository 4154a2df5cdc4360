import { setTimeout as pause } from 'node:timers/promises'
import type { Pool, QueryConfig } from 'pg'
import { openConnection } from '../postgres/connection.ts'
import { sql } from '../postgres/postgres.ts'

/** The right to be the only one at something. It ends when it is given back, and when the connection that holds it is lost. */
export type Lease = {
  /** Aborted when the lease has ended. */
  readonly signal: AbortSignal
  readonly release: () => Promise<void>
}

export type Leases = {
  /**
   * Waits until nobody else holds the lease of this name, in this process or another. Undefined when the signal was
   * aborted first. Throws when the database cannot be asked.
   */
  readonly take: (name: string, signal: AbortSignal) => Promise<Lease | undefined>
}

type Session = {
  /** One statement after the other. */
  readonly ask: (statement: QueryConfig) => Promise<{ readonly rows: readonly { readonly done?: boolean }[] }>
  readonly held: Set<string>
  readonly ended: AbortSignal
  readonly end: () => Promise<void>
}

/**
 * The leases of a process: advisory locks of one connection, which does nothing else. The server frees them when the
 * process dies, and when it has not answered for half a minute.
 *
 * A process that stalls may believe for a while that it still holds what another has taken over. So a lease keeps two
 * from doing the same work; what must not happen twice also compares the checkpoint that it moves.
 */
export const makeLeases = (pool: Pool, { pollMs = 500 }: { readonly pollMs?: number } = {}): Leases => {
  let session: Promise<Session> | undefined
  let users = 0

  const current = (): Promise<Session> => {
    const opening = (session ??= openSession(pool))
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

  const waitFor = async (name: string, signal: AbortSignal): Promise<Session | undefined> => {
    while (!signal.aborted) {
      const found = await current()
      if (await lock(found, name)) return found
      await pause(pollMs, undefined, { signal }).catch(() => undefined)
    }
    return undefined
  }

  return {
    take: async (name, signal) => {
      users++
      const found = await waitFor(name, signal).catch(async (error: unknown) => {
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

const openSession = async (pool: Pool): Promise<Session> => {
  const { client, ended, close } = await openConnection(pool, { name: 'coverstream leases' })
  await client.query('set tcp_keepalives_idle = 15; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3')

  let last: Promise<unknown> = Promise.resolve()
  const ask: Session['ask'] = (statement) => {
    const answer = last.then(() => client.query<{ done?: boolean }>(statement))
    last = answer.catch(() => undefined)
    return answer
  }
  return { ask, held: new Set(), ended, end: close }
}

const lock = async ({ ask, held }: Session, name: string): Promise<boolean> => {
  // A connection may take a lock that it has again and again, so we remember what it has.
  if (held.has(name)) return false
  held.add(name)
  const answer = await ask(sql`select pg_try_advisory_lock(hashtextextended(${`lease ${name}`}, 0)) as done`).catch(
    (error: unknown) => {
      held.delete(name)
      throw error
    },
  )
  const isTaken = answer.rows[0]?.done === true
  if (!isTaken) held.delete(name)
  return isTaken
}

const unlock = async ({ ask, held, ended, end }: Session, name: string): Promise<void> => {
  // With the connection, the lock is gone already.
  if (!ended.aborted)
    await ask(sql`select pg_advisory_unlock(hashtextextended(${`lease ${name}`}, 0)) as done`).catch(end)
  held.delete(name)
}
