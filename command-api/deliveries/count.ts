import type { DeliveryRecoveryEvent } from '#domain/deliveries/events.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'

export const countedMost = 10_000

type Asked = Pick<
  DeliveryRecoveryEvent,
  'organisation_id' | 'delivery_id' | 'connection_id' | 'types' | 'states' | 'since' | 'until'
>
type Counts = { readonly deliveries: number; readonly by_state: Readonly<Record<string, number>> }

/** Deliveries that a recovery would send again, counted from the tables of the delivery worker. */
export const countDeliveries = async (pool: Database, asked: Asked): Promise<Counts> => {
  const { organisation_id, delivery_id, connection_id, types, states, since, until } = asked
  const statement = sql`
    select state, count(*)::integer as count from (
      select state from delivery
      where organisation_id = ${organisation_id} and recorded_at <= coalesce(${until}::timestamptz, now())
        and recorded_at >= coalesce(${since}::timestamptz, (
          select failing_since - interval '24 hours' from delivery_setting as setting
          where ${delivery_id}::uuid is null and setting.connection_id = ${connection_id}), '-infinity')
        and (${connection_id}::uuid is null or connection_id = ${connection_id})
        and (${types}::text[] is null or type = any (${types})) and state = any (${states}::text[])`
  const unsent = states.includes('delivered') ? '' : ' and unsent_at is not null'
  const one = delivery_id === null ? '' : ` and id = $${statement.values.length + 1}`
  const { rows } = await pool.query<{ state: string; count: number }>({
    text: `${statement.text}${unsent}${one} limit ${countedMost}) as matching group by state`,
    values: [...statement.values, ...(delivery_id === null ? [] : [delivery_id])],
  })
  return {
    deliveries: rows.reduce((sum, { count }) => sum + count, 0),
    by_state: Object.fromEntries(rows.map(({ state, count }) => [state, count])),
  }
}
