import type { Pool } from 'pg'
import { newId } from './ids.ts'
import { sql } from './postgres/postgres.ts'

/** A delivery of another system, or an attempt of ours to call it. */
export type IntegrationLogEntry = {
  readonly organisation_id: string
  readonly custom_integration_id: string
  readonly connection_id: string
  readonly direction: 'inbound' | 'outbound'
  readonly accepted: boolean
  readonly status: number | null
  /** The outcome, or why it was refused. */
  readonly reason: string
  readonly event_type: string | null
  /** The inbound event, or the delivery of ours. */
  readonly subject_id: string | null
  readonly bytes: number | null
  readonly source_address: string | null
}

/** The most entries that are kept of a connection; the oldest makes room for the newest. */
export const integrationLogKept = 10_000

const longestType = 200

/** Writes an entry in the next slot of its connection. */
export const recordInIntegrationLog = async (pool: Pick<Pool, 'query'>, entry: IntegrationLogEntry): Promise<void> => {
  const { organisation_id, custom_integration_id, connection_id, accepted, status, reason, bytes } = entry
  const event_type = entry.event_type?.slice(0, longestType) ?? null
  await pool.query(sql`
      with used as (
        insert into integration_log_slot (connection_id, used) values (${connection_id}, 1)
        on conflict (connection_id) do update set used = integration_log_slot.used + 1
        returning (used % ${integrationLogKept})::integer as slot
      )
      insert into integration_log (connection_id, slot, id, organisation_id, custom_integration_id, direction, accepted,
        status, reason, event_type, subject_id, bytes, source_address)
      select ${connection_id}, slot, ${newId()}, ${organisation_id}, ${custom_integration_id}, ${entry.direction}, ${accepted},
        ${status}, ${reason}, ${event_type}, ${entry.subject_id}, ${bytes}, ${entry.source_address}
      from used
      on conflict (connection_id, slot) do update set
        id = excluded.id, organisation_id = excluded.organisation_id, direction = excluded.direction, at = excluded.at,
        accepted = excluded.accepted, status = excluded.status, reason = excluded.reason,
        event_type = excluded.event_type, subject_id = excluded.subject_id, bytes = excluded.bytes,
        source_address = excluded.source_address, count = 1`)
}
