import { setTimeout as pause } from 'node:timers/promises'
import type { Client, Pool } from 'pg'
import { z } from 'zod'
import type { Position } from '#domain/event.ts'
import type { Log } from '../log.ts'
import { openConnection } from '../postgres/connection.ts'
import { onceDatabaseAnswers } from '../wait-for-store.ts'
import { sql } from '../postgres/postgres.ts'
import { consumersBeside } from '../read-models.ts'
import type { Progress } from './progress.ts'
import { notifier } from '../notifier.ts'

const channel = 'consumer_progress'

type Connecting = { readonly pool: Pool; readonly log: Log; readonly signal: AbortSignal }

const Announced = z.array(z.tuple([z.string(), z.string().transform((position) => position as Position)]))
type Announced = z.output<typeof Announced>

// The shortest time between two notifications.
const pauseMs = 2
// A notification holds less than 8,000 bytes.
const positionsMax = 40

/**
 * Announces to other processes how far the consumers of this one have read: immediately, while the table of checkpoints
 * may lag behind by a second. A lost announcement is found in that table.
 */
export const announceProgress = (
  connecting: Connecting,
): Pick<Progress, 'passed' | 'forget'> & { readonly finished: Promise<void> } => {
  const latest = new Map<string, Position>()
  const unsent = new Map<string, Position>()
  const changes = notifier()

  const announce = async (client: Client, isUsable: () => boolean) => {
    // Positions that were passed without a connection have not been announced.
    for (const [name, position] of latest) unsent.set(name, position)
    // An announcement need not survive anything, so its commit need not wait for the disk.
    await client.query('set synchronous_commit = off')
    while (isUsable()) {
      if (unsent.size === 0) await changes.wait()
      const announced: Announced = [...unsent].slice(0, positionsMax)
      for (const [name] of announced) unsent.delete(name)
      if (announced.length > 0) await client.query(sql`select pg_notify(${channel}, ${JSON.stringify(announced)})`)
      await pause(pauseMs)
    }
  }

  return {
    passed: (name, _categories, position) => {
      if (position === undefined) return
      latest.set(name, position)
      unsent.set(name, position)
      changes.notify()
    },
    forget: (name) => {
      latest.delete(name)
      unsent.delete(name)
    },
    finished: whileConnected(connecting, changes.notify, announce),
  }
}

const readAgainMs = 75

type Row = { readonly name: string; readonly categories: readonly string[]; readonly position: Position | null }

/**
 * Follows the progress of those consumers in other processes that commands wait for: by their announcements and, while a
 * command waits, by reading the table of checkpoints. Resolves when it knows their positions.
 */
export const followProgress = async (
  progress: Progress,
  connecting: Connecting,
): Promise<Progress & { readonly finished: Promise<void> }> => {
  const { pool, signal, log } = connecting
  const known = new Map<string, Omit<Row, 'name'>>()
  let waiting = 0
  let isReading = false
  let isReadSoon = false

  const pass = ({ name, categories, position }: Row) => {
    const before = known.get(name)?.position ?? null
    const furthest = before !== null && (position === null || before > position) ? before : position
    known.set(name, { categories, position: furthest })
    progress.passed(name, categories, furthest ?? undefined)
  }

  const readTable = async () => {
    const rows = await readAwaited(pool)
    for (const row of rows) pass(row)
    const names = new Set(rows.map(({ name }) => name))
    for (const name of known.keys())
      if (!names.has(name)) {
        known.delete(name)
        progress.forget(name)
      }
  }

  const readAndLog = () =>
    readTable().catch((error: unknown) => log.warn({ error }, 'progress of the read models unknown'))

  const receive = (payload: string) => {
    const { data = [], success } = Announced.safeParse(parsed(payload))
    for (const [name, position] of data) {
      const consumer = known.get(name)
      if (consumer) pass({ name, categories: consumer.categories, position })
    }
    if (!success || data.some(([name]) => !known.has(name))) readSoon()
  }

  /** A consumer that the table does not have, such as one of another version, reports hundreds of times a second. */
  const readSoon = () => {
    if (isReadSoon) return
    isReadSoon = true
    void pause(readAgainMs)
      .then(readAndLog)
      .finally(() => {
        isReadSoon = false
      })
  }

  const readWhileAwaited = async () => {
    if (isReading) return
    isReading = true
    while (waiting > 0 && !signal.aborted) {
      await pause(readAgainMs)
      if (waiting > 0) await readAndLog()
    }
    isReading = false
  }

  const changes = notifier()
  const listen = async (client: Client, isUsable: () => boolean) => {
    client.on('notification', ({ payload = '[]' }) => receive(payload))
    await client.query(`listen ${channel}`)
    await readTable()
    while (isUsable()) await changes.wait()
  }

  const finished = whileConnected(connecting, changes.notify, listen)
  await onceDatabaseAnswers(connecting, readTable)
  return {
    ...progress,
    wait: async (...given) => {
      waiting++
      void readWhileAwaited()
      try {
        return await progress.wait(...given)
      } finally {
        waiting--
      }
    },
    finished,
  }
}

/** Any user of the database may send any notification. */
const parsed = (payload: string): unknown => {
  try {
    return JSON.parse(payload) as unknown
  } catch {
    return undefined
  }
}

/** A read model's own version, where it stands beside the one in use, is the one awaited. */
const readAwaited = async (pool: Pool): Promise<readonly Row[]> => {
  const { rows } = await pool.query<Row & { readonly awaited: boolean }>({
    name: 'consumer-progress',
    text: 'select name, categories, position, awaited from consumer_checkpoint where awaited or name = any ($1)',
    values: [[...consumersBeside.values()]],
  })
  const byName = new Map(rows.map((row) => [row.name, row]))
  return rows.flatMap((row) => (row.awaited ? [byName.get(consumersBeside.get(row.name) ?? '') ?? row] : []))
}

const reconnectMs = 250

/** Works on a dedicated connection, and opens another when it is lost, until the signal is aborted. */
const whileConnected = async (
  { pool, signal, log }: Connecting,
  notify: () => void,
  work: (client: Client, isUsable: () => boolean) => Promise<void>,
): Promise<void> => {
  signal.addEventListener('abort', notify)
  while (!signal.aborted) {
    let close: (() => Promise<void>) | undefined
    try {
      const connection = await openConnection(pool, { name: 'coverstream progress' })
      close = connection.close
      connection.ended.addEventListener('abort', notify)
      await work(connection.client, () => !connection.ended.aborted && !signal.aborted)
    } catch (error) {
      log.warn({ error }, 'connection for the progress of the read models lost')
    }
    await close?.()
    await pause(reconnectMs, undefined, { signal }).catch(() => undefined)
  }
}
