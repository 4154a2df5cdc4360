import type { ClientBase } from 'pg'
import { findCheckpoint, lockCheckpoint } from '#infra/consumers/checkpoint.ts'
import { bisect } from '#infra/consumers/failures.ts'
import type { ConsumerParts } from '#infra/consumers/consumer-type.ts'
import { forgetSetAside } from '#infra/consumers/set-aside.ts'
import { transaction, withDeadline } from '#infra/postgres/postgres.ts'
import { rebuiltTable } from './rebuilt-table.ts'
import { defaultLagMs, history } from './history.ts'
import { positionOf } from './place.ts'
import type { Row, SomeProjection } from './projection.ts'
import { tableOf } from './table.ts'

export type Comparison = {
  /** Rows of the table in use. */
  readonly rows: number
  /** Rows of either table that are not in the other, or not the same. */
  readonly different: number
  /** The first of those, by their keys. Undefined where there is no row. */
  readonly differences: readonly { readonly inUse: Row | undefined; readonly rebuilt: Row | undefined }[]
}

const shown = 20

/**
 * Compares the table of a projection, row by row, with one rebuilt from the first event up to the same position. Nobody
 * writes to the table in use while the last of it is compared; it can be read all the time. Of a record that is set aside, the
 * events before the one that cannot be folded are compared.
 */
export const compareWithRebuild = async (
  projection: SomeProjection,
  { pool, eventLog, leases, signal: ending }: Pick<ConsumerParts, 'pool' | 'eventLog' | 'leases' | 'signal'>,
  { lagMs = defaultLagMs }: { readonly lagMs?: number } = {},
): Promise<Comparison> => {
  const { name } = projection
  const inUse = tableOf(projection)
  const rebuilt = tableOf(projection, '__compared')
  const consumer = `${name} (compared)`
  const filling = rebuiltTable(projection, rebuilt, consumer)
  const lease = await leases.take(`rebuild ${name}`, ending)
  if (!lease) throw ending.reason
  const signal = AbortSignal.any([ending, lease.signal])
  const drop = `drop table if exists ${rebuilt.name}`

  try {
    await pool.query(`${drop}; ${rebuilt.create}`)
    await forgetSetAside(pool, consumer)
    const reached_before = (await findCheckpoint(pool, name))?.position
    if (reached_before !== undefined)
      for await (const { events, position } of history(eventLog, projection, { upTo: reached_before, lagMs, signal }))
        await bisect(
          events,
          position,
          (some) => transaction(pool, (db) => filling.apply(db, some)),
          (event, error) => transaction(pool, (db) => filling.setAside(db, event, error)),
        )

    return await transaction(pool, async (db) => {
      await db.query(`lock table ${inUse.name} in share mode`)
      const reached = (await lockCheckpoint(db, name))?.position
      if (reached !== undefined)
        for await (const { events } of history(eventLog, projection, {
          after: reached_before,
          upTo: reached,
          lagMs,
          signal,
        }))
          await filling.apply(db, events)
      return compare(db, projection, inUse.name, rebuilt.name)
    })
  } finally {
    await pool.query(drop).catch(() => undefined)
    await forgetSetAside(pool, consumer).catch(() => undefined)
    await lease.release()
  }
}

const compareMs = 300_000

const compare = async (
  db: ClientBase,
  { table: { columns, key }, place }: SomeProjection,
  inUse: string,
  rebuilt: string,
): Promise<Comparison> => {
  // As text: JSON is equal to nothing, and is written in the same way by the same code.
  const differs = Object.keys(columns).map((column) => {
    const [left, right] = [`in_use."${column}"::text`, `rebuilt."${column}"::text`]
    return `${column === place?.column ? positionOf(left) : left} is distinct from ${right}`
  })
  const both = `${inUse} as in_use full join ${rebuilt} as rebuilt using (${key.map((column) => `"${column}"`).join(', ')})`
  const where = `where in_use is null or rebuilt is null or ${differs.join(' or ')}`
  const count = `
    select (select count(*)::integer from ${inUse}) as rows, count(*)::integer as different from ${both} ${where}`
  const show = `select to_json(in_use) as in_use, to_json(rebuilt) as rebuilt from ${both} ${where} limit ${shown}`
  // Two large tables take longer than any other statement of ours.
  await db.query('set local statement_timeout = 0')
  const { rows: counts } = await db.query<{ rows: number; different: number }>(withDeadline({ text: count }, compareMs))
  const { rows } = await db.query<{ in_use: Row | null; rebuilt: Row | null }>(withDeadline({ text: show }, compareMs))
  return {
    rows: counts[0]?.rows ?? 0,
    different: counts[0]?.different ?? 0,
    differences: rows.map(({ in_use, rebuilt }) => ({ inUse: in_use ?? undefined, rebuilt: rebuilt ?? undefined })),
  }
}
