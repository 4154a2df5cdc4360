import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Position } from '#domain/event.ts'
import { openConnection, type Connection } from '../../postgres/connection.ts'
import { sql } from '../../postgres/postgres.ts'
import { notifier } from '../../notifier.ts'

const channel = 'event_log'
// The shortest time between two notifications.
const pauseMs = 3

/**
 * Notifies other processes of new events, and receives their notifications. They are only hints: polling finds a moment
 * later what a lost hint would have announced. A hint is sent after the commit, on a dedicated connection and one at a
 * time, because a notification inside the transactions of the appends would make them commit one after the other.
 */
export const hints = (pool: Pool, received: (upTo?: Position) => void, checkLog: () => Promise<void>) => {
  const changes = notifier()
  let unsent: Position | undefined
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
        client.on('notification', ({ payload }) => received(payload as Position | undefined))
        // A hint may be lost in a crash, so its commit need not wait for the disk.
        await client.query('set synchronous_commit = off')
        await client.query(`listen ${channel}`)
        failures = 0
        // Hints were lost while there was no connection.
        received()
        await checkLog()
        while (isUsable()) {
          if (!unsent) await changes.wait()
          else {
            const position = unsent
            unsent = undefined
            await client.query(sql`select pg_notify(${channel}, ${position})`)
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
    announce: (position: Position) => {
      running ??= run()
      if (!unsent || position > unsent) unsent = position
      changes.notify()
    },
    close: async () => {
      isClosed = true
      changes.notify()
      await running
    },
  }
}
