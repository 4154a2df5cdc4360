import { setTimeout as pause } from 'node:timers/promises'
import type { Pool, QueryConfig } from 'pg'
import { batched } from '../batched.ts'
import type { Log } from '../log.ts'
import { openConnection } from '../postgres/connection.ts'
import type { Database } from '../postgres/lookups.ts'
import { sql } from '../postgres/postgres.ts'

/**
 * The exclusive right to run something. It ends when it is released, when the connection that holds it is lost, and when
 * the process that holds it falls silent: another one then ends that connection.
 */
export type Lease = {
  /** Aborted when the lease has ended. A process that was stopped for a while learns of it only when it runs again. */
  readonly signal: AbortSignal
  /** True while nobody else can have it yet. Known at once, also by a process that was stopped. */
  readonly isHeld: () => boolean
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
  readonly silentMs: () => number
  readonly end: () => Promise<void>
}

type Options = {
  readonly pollMs?: number
  /** Opens the connection that holds the leases. */
  readonly open?: typeof openConnection
  /** The silence after which the server takes a process to have lost its leases: a working one is heard every 5 s. */
  readonly silentMs?: number
  readonly log?: Pick<Log, 'warn'>
}

const usualSilentMs = 15_000
/** The part of that silence after which a process itself believes them lost, so that it never works beside the next one. */
const believedPart = 0.8
const lookForSilentMs = 2_000

/**
 * The leases of a process: advisory locks of one dedicated connection, by whose keepalive query the process renews all of
 * them. The server releases them when the connection ends. Of a process that hangs, TCP keeps it open for ever, so whoever
 * waits for a lease looks when its holder was heard of, and has the server end the connection of one that has fallen silent.
 *
 * A stalled process may believe for a while that it still holds a lease that another process has taken over. So what it
 * writes compares the checkpoint that it moves, and what it asks of others is behind `requireLease`.
 */
export const makeLeases = (pool: Pool, options: Options = {}): Leases => {
  const { pollMs = 500, open = openConnection, silentMs = usualSilentMs, log } = options
  let session: Promise<Session> | undefined
  let users = 0

  const current = (): Promise<Session> => {
    if (session) return session
    const opening = openSession(pool, { open, silentMs, log })
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
      const ended = AbortSignal.any([found.ended, released.signal])
      return {
        signal: ended,
        isHeld: () => !ended.aborted && found.silentMs() < believedPart * silentMs,
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

type SessionOptions = {
  readonly open: typeof openConnection
  readonly silentMs: number
  readonly log: Pick<Log, 'warn'> | undefined
}

const openSession = async (pool: Pool, { open, silentMs, log }: SessionOptions): Promise<Session> => {
  const connection = await open(pool, { name: 'coverstream leases' })
  const { client, ended, close } = connection
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
  let checkedAt = -Infinity
  const endSilentHolders = async (names: readonly string[]): Promise<void> => {
    if (names.length === 0 || performance.now() - checkedAt < Math.min(lookForSilentMs, silentMs)) return
    checkedAt = performance.now()
    const { rows } = await query(endingSilent(names, silentMs))
    if (rows.length > 0) log?.warn({ leases: names }, 'a process that has fallen silent has lost its leases')
  }
  // What a lock statement that failed has taken is not known: it is given back with the connection.
  const giveUp = async (error: unknown): Promise<never> => {
    await close()
    throw error
  }
  const tryLock = batched(async (names: readonly string[]) => {
    const { rows } = await query(sql`
      select pg_try_advisory_lock(hashtextextended('lease ' || name, 0)) as done
      from unnest(${names}::text[]) with ordinality as asked (name, place) order by place`).catch(giveUp)
    const taken = rows.map(({ done }) => done === true)
    await endSilentHolders(names.filter((_, index) => !taken[index])).catch((error: unknown) => {
      log?.warn({ error }, 'the holders of leases could not be looked at, trying again')
    })
    return taken
  }, lockingTogether)
  return { query, tryLock, held: new Set(), ended, silentMs: connection.silentMs, end: close }
}

/**
 * Ends the connections that hold these leases and were not heard of for so long, by the server's own clock. Of what others
 * than our own user do, the server says nothing (`state_change` is null), and nor does it let us end it.
 */
const endingSilent = (names: readonly string[], silentMs: number) => sql`
  with silent as materialized (
    select distinct session.pid from pg_locks as held join pg_stat_activity as session using (pid)
    where held.locktype = 'advisory' and held.granted and held.objsubid = 1
      and held.database = (select oid from pg_database where datname = current_database())
      and (held.classid::bigint << 32 | held.objid::bigint) in (
        select hashtextextended('lease ' || name, 0) from unnest(${names}::text[]) as waiting (name))
      and session.state_change < clock_timestamp() - make_interval(secs => ${silentMs / 1_000})
      and pg_has_role(session.usesysid, 'usage')
  )
  select pg_terminate_backend(pid) as done from silent`

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

/** Those of these leases that some process holds. */
export const heldLeases = async (db: Database, names: readonly string[]): Promise<ReadonlySet<string>> => {
  const { rows } = await db.query<{ name: string }>(sql`
    select name from unnest(${names}::text[]) as asked (name)
    where hashtextextended('lease ' || name, 0) in (
      select classid::bigint << 32 | objid::bigint from pg_locks
      where locktype = 'advisory' and granted and objsubid = 1
        and database = (select oid from pg_database where datname = current_database()))`)
  return new Set(rows.map(({ name }) => name))
}
