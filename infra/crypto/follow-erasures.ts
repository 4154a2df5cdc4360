import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { openConnection } from '../postgres/connection.ts'
import type { Log } from '../log.ts'
import type { DataKeys } from './data-keys.ts'
import { erasedChannel } from './data-key-rows.ts'

type Options = {
  readonly pool: Pool
  readonly dataKeys: Pick<DataKeys, 'forget'>
  readonly log: Log
  readonly signal: AbortSignal
}

const reconnectMs = 250

/** Forgets data keys that other processes have erased, until the signal is aborted. */
export const followErasures = async ({ pool, dataKeys, log, signal }: Options): Promise<void> => {
  while (!signal.aborted) {
    let close: (() => Promise<void>) | undefined
    try {
      const connection = await openConnection(pool, { name: 'coverstream erasures' })
      close = connection.close
      connection.client.on('notification', ({ payload }) => dataKeys.forget(payload?.split(',')))
      await connection.client.query(`listen ${erasedChannel}`)
      // Without a connection, any key may have been erased.
      dataKeys.forget()
      const ending = AbortSignal.any([signal, connection.ended])
      if (!ending.aborted) await once(ending, 'abort')
    } catch (error) {
      log.warn({ error }, 'connection for erasures of data keys lost')
    }
    await close?.()
    await pause(reconnectMs, undefined, { signal }).catch(() => undefined)
  }
}
