import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { signingSecretBinding } from '#domain/integrations/record.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { seal } from '#infra/crypto/seal.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { partitionsFor } from '../delivery-worker/recovery/partitions.ts'

type Filling = {
  readonly deriving: Pick<Keys, 'sealing'>
  readonly url: string
  readonly count: number
  /** Over so many connections; one by default. */
  readonly connections?: number
  /** Of an organisation of its own, unless it is given. */
  readonly organisation_id?: string
  /** Ended already, so that nothing is sent. */
  readonly state?: 'pending' | 'delivered'
}

/** Connections to an address, and deliveries that are due over them. Their bodies are about as long as those of quotes. */
export const fillDeliveries = async (pool: Pool, filling: Filling): Promise<ReadonlySet<string>> => {
  const { deriving, url, count, connections = 1, organisation_id = randomUUID(), state = 'pending' } = filling
  const recorded_at = new Date()
  await partitionsFor(pool)([recorded_at.toISOString()])
  await pool.query('insert into delivery_planning default values on conflict do nothing')
  const ids = Array.from({ length: connections }, () => randomUUID())
  const facts = ids.map((id) => ({
    base_url: url,
    sealed_secret: seal(deriving, 'a signing secret of a bench', signingSecretBinding(organisation_id, id)),
    removed: false,
  }))
  await pool.query(sql`
    insert into delivery_known (kind, type, id, organisation_id, facts)
    select 'connection', 'endpoint_connection', id, ${organisation_id}, facts::json
    from unnest(${ids}::uuid[], ${facts.map((each) => JSON.stringify(each))}::text[]) as known (id, facts)`)

  const message = JSON.stringify({ type: 'webhook.ping', payload: { note: 'x'.repeat(1_500) } })
  const { rows } = await pool.query<{ id: string }>(sql`
    with planned as materialized (
      select gen_random_uuid() as id, gen_random_uuid() as subject_id, number,
        (${ids}::uuid[])[1 + number % ${connections}::integer] as connection_id
      from generate_series(0, ${count}::integer - 1) as number
    ), added as (
      insert into delivery (recorded_at, id, organisation_id, event_id, action_id, connection_id, type, stream, position,
        sequence, subject_type, subject_id, message, state, finished_at)
      select ${recorded_at}, id, ${organisation_id}, gen_random_uuid(), connection_id, connection_id, 'webhook.ping',
        'application-' || subject_id, lpad(number::text, 20, '0'), 0, 'webhook', subject_id, ${message}::json, ${state},
        case ${state} when 'pending' then null else now() end
      from planned
    ), queued as (
      insert into delivery_queue (id, recorded_at, organisation_id, action_id, connection_id, stream, position, waits_for)
      select id, ${recorded_at}, ${organisation_id}, connection_id, connection_id, 'application-' || subject_id,
        lpad(number::text, 20, '0'), '{}'
      from planned where ${state} = 'pending'
    )
    select id from planned`)
  return new Set(rows.map(({ id }) => id))
}
