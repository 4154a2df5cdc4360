import type { Pool } from 'pg'
import type { Log } from '#infra/log.ts'
import { newId } from '#infra/ids.ts'
import { integrationLogKept, recordInIntegrationLog, type IntegrationLogEntry } from '#infra/integration-log.ts'
import { sql } from '#infra/postgres/postgres.ts'

/** A delivery beyond a limit. */
export type TooMany = Pick<
  IntegrationLogEntry,
  'organisation_id' | 'custom_integration_id' | 'connection_id' | 'status' | 'reason' | 'source_address'
>

const flushMs = 500

/** Writes what became of deliveries. Refusals for being too many share an entry for each minute. */
export const makeIntegrationLog = (pool: Pick<Pool, 'query'>, log: Log) => {
  /** A flood costs one statement for each connection and half second. */
  const tooMany = new Map<string, { readonly entry: TooMany; readonly count: number }>()
  let flushing: NodeJS.Timeout | undefined

  const flush = async (): Promise<void> => {
    clearTimeout(flushing)
    flushing = undefined
    const counted = [...tooMany.values()]
    tooMany.clear()
    for (const { entry, count } of counted)
      await writeTooMany(pool, entry, count).catch((error: unknown) => {
        log.warn({ error, connection_id: entry.connection_id, count }, 'refused deliveries were not logged')
      })
  }

  return {
    record: async (entry: IntegrationLogEntry): Promise<void> => recordInIntegrationLog(pool, entry),
    /** Counts one too many in the entry of this minute. */
    recordTooMany: (entry: TooMany): void => {
      tooMany.set(entry.connection_id, { entry, count: (tooMany.get(entry.connection_id)?.count ?? 0) + 1 })
      flushing ??= setTimeout(() => void flush(), flushMs)
    },
    /** Writes what is counted and not written yet. */
    stop: flush,
  }
}
export type IntegrationLog = ReturnType<typeof makeIntegrationLog>

const writeTooMany = async (pool: Pick<Pool, 'query'>, entry: TooMany, count: number): Promise<void> => {
  const { organisation_id, custom_integration_id, connection_id, status, reason, source_address } = entry
  await pool.query(sql`
      with used as (
        insert into integration_log_slot as slots (connection_id, used, refused_minute, refused_slot)
        values (${connection_id}, 1, date_trunc('minute', now()), 1 % ${integrationLogKept})
        on conflict (connection_id) do update set
          used = slots.used + (slots.refused_minute is distinct from date_trunc('minute', now()))::integer,
          refused_slot = case when slots.refused_minute = date_trunc('minute', now()) then slots.refused_slot
            else ((slots.used + 1) % ${integrationLogKept})::integer end,
          refused_minute = date_trunc('minute', now())
        returning refused_slot as slot
      )
      insert into integration_log (connection_id, slot, id, organisation_id, custom_integration_id, direction, accepted,
        status, reason, source_address, count)
      select ${connection_id}, slot, ${newId()}, ${organisation_id}, ${custom_integration_id}, 'inbound', false,
        ${status}, ${reason}, ${source_address}, ${count}
      from used
      on conflict (connection_id, slot) do update set
        id = case when integration_log.reason = excluded.reason and integration_log.at >= date_trunc('minute', now())
          then integration_log.id else excluded.id end,
        count = case when integration_log.reason = excluded.reason and integration_log.at >= date_trunc('minute', now())
          then integration_log.count + excluded.count else excluded.count end,
        organisation_id = excluded.organisation_id, direction = excluded.direction, at = excluded.at, accepted = false,
        status = excluded.status, reason = excluded.reason, event_type = null, subject_id = null, bytes = null,
        source_address = excluded.source_address`)
}
