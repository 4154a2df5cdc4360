import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { z } from 'zod'
import type { Position } from '#domain/event.ts'
import { openConnection, type Connection } from '../../postgres/connection.ts'
import { sql } from '../../postgres/postgres.ts'
import { notifier } from '../../notifier.ts'
import { lastOf, type Ends } from './subscribe.ts'

const channel = 'event_log'
// The shortest time between two notifications.
const pauseMs = 3

// PostgreSQL takes less than 8,000 bytes.
const payloadMost = 7_000

/**
 * The last position first, alone where the categories are too many: processes of the version before take nothing else out of
 * it.
 */
const payloadOf = (ends: Ends): string => {
  const last = lastOf(ends)
  const payload = `${last} ${JSON.stringify([...ends])}`
  return Buffer.byteLength(payload) > payloadMost ? last : payload
}

const Sent = z.array(z.tuple([z.string(), z.string().transform((position) => position as Position)]))

/** Undefined where it does not say which categories it is about. Any user of the database may send anything. */
const endsIn = (payload = ''): Ends | undefined => {
  try {
    return new Map(Sent.parse(JSON.parse(payload.slice(payload.indexOf(' ') + 1))))
  } catch {
    return undefined
  }
}

/**
 * Notifies other processes of new events, and receives their notifications. They are only hints: polling finds a moment
 * later what a lost hint would have announced. A hint is sent after the commit, on a dedicated connection and one at a
 * time, because a notification inside the transactions of the appends would make them commit one after the other.
 */
export const hints = (pool: Pool, received: (ends?: Ends) => void, checkLog: () => Promise<void>) => {
  const changes = notifier()
  const unsent = new Map<string, Position>()
  let isClosed = false
  const isOpen = () => !isClosed
  let running: Promise<void> | undefined

  const run = async () => {
    let failures = 0
    while (isOpen()) {
      let connection: Connection | undefined
      try {
        connection = await openConnection(pool, { name: 'coverstream hints' })
        const { client, ended } = connection
        const isUsable = () => isOpen() && !ended.aborted
        ended.addEventListener('abort', changes.notify)
        // Sent by `announce`, here or in another process.
        client.on('notification', ({ payload }) => received(endsIn(payload)))
        // A hint may be lost in a crash, so its commit need not wait for the disk.
        await client.query('set synchronous_commit = off')
        await client.query(`listen ${channel}`)
        failures = 0
        // Hints were lost while there was no connection.
        received()
        await checkLog()
        while (isUsable()) {
          if (unsent.size === 0) await changes.wait()
          else {
            const payload = payloadOf(unsent)
            unsent.clear()
            await client.query(sql`select pg_notify(${channel}, ${payload})`)
            await pause(pauseMs)
          }
        }
      } catch {
        failures++
        await checkLog()
      }
      await connection?.close()
      if (isOpen()) await changes.wait(Math.min(50 * 2 ** failures, 2_000))
    }
  }

  return {
    /** Starts to listen. */
    listen: () => {
      running ??= run()
    },
    announce: (category: string, position: Position) => {
      running ??= run()
      if (position > (unsent.get(category) ?? '')) unsent.set(category, position)
      changes.notify()
    },
    close: async () => {
      isClosed = true
      changes.notify()
      await running
    },
  }
}
