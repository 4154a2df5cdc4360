import type { ClientBase } from 'pg'
import type { Position } from '#domain/event.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { Row, SomeProjection } from './projection.ts'
import type { Table } from './table.ts'

/**
 * Whoever follows a table that is listed by places goes on from the last place that they have seen. What a record that was set
 * aside makes of its rows is shown late: at its place in the log, readers would have passed it already. So it is placed
 * behind all that was shown until then, and before all that comes; the position in the log is the end of such a place.
 */
export type PlaceBehind = (position: string) => string

/** The condition of the index that finds rows placed behind others, in tables listed by places. */
export const isPlacedBehind = `"position" like '%+%'`

/**
 * Each time later than the last: what was resumed before may have been read already. By the clock of the database, by which
 * all that is recorded is dated, so that who asks by time meets it; where that clock was put back, from the last place on.
 */
export const placesBehind = async (
  db: Pick<ClientBase, 'query'>,
  table: Pick<Table, 'name'>,
  upTo: Position,
): Promise<PlaceBehind> => {
  const { rows } = await db.query<{ microseconds: string }>(`
    select greatest(
      (extract(epoch from clock_timestamp()) * 1000000)::bigint,
      (select max(split_part("position", '+', 2)::bigint) + 1 from ${table.name} where ${isPlacedBehind})
    ) as microseconds`)
  if (!rows[0]) throw new Error('The database did not answer with its time.')
  const shown = `${upTo}+${rows[0].microseconds.padStart(16, '0')}`
  return (position) => `${shown}+${position}`
}

const positionIn = (place: string): string => place.slice(place.lastIndexOf('+') + 1)

/** The same of a column of places. */
export const positionOf = (column: string): string => `regexp_replace(${column}, '^.*[+]', '') collate "C"`

/** A row that was folded again: where it was shown before stays where it is, and what was not is placed behind it. */
export const placed = (
  { place }: SomeProjection,
  before: Row | undefined,
  now: Row,
  behind: PlaceBehind | undefined,
): Row => {
  if (!place) return now
  const { column } = place
  const position = String(now[column])
  const shown = before && String(before[column])
  if (shown !== undefined && positionIn(shown) >= position) return { ...now, [column]: shown }
  return behind ? { ...now, [column]: behind(position) } : now
}

type PlacedRecord = { readonly organisation_id: string; readonly id: string }

const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Gives the rows of a rebuilt table the places that they had, and those of records that were set aside one behind all. Rows
 * that were others in the version before it cannot have their places: those of a record that was placed behind are so again.
 */
export const takeOverPlaces = async (
  db: ClientBase,
  { name, place, table: { key } }: SomeProjection,
  { inUse, next, upTo }: { readonly inUse: Table; readonly next: Table; readonly upTo: Position | undefined },
): Promise<void> => {
  if (!place || upTo === undefined) return
  const column = `"${place.column}"`
  const record = `"${place.record}"`
  const isShown = [
    ...key.map((each) => `in_use."${each}" = next."${each}"`),
    `${positionOf(`in_use.${column}`)} >= ${positionOf(`next.${column}`)}`,
  ].join(' and ')
  const { rows: columns } = await db.query<{ name: string }>(sql`
    select attname as name from pg_attribute
    where attrelid = ${inUse.name}::regclass and attnum > 0 and not attisdropped`)
  const hasColumns = (...names: readonly string[]) => names.every((each) => columns.some(({ name }) => name === each))
  const sameRows = hasColumns(...key)
  // Without the index there are none, and what one version has not made is not looked for among all rows while others wait.
  const { rowCount: indexes } = await db.query(sql`
    select from pg_index where indrelid = ${inUse.name}::regclass and strpos(pg_get_expr(indpred, indrelid), '%+%') > 0`)
  if (sameRows && indexes !== 0)
    await db.query(`
    update ${next.name} as next set ${column} = in_use.${column} from ${inUse.name} as in_use
    where in_use.${isPlacedBehind} and ${isShown}`)
  const { rows: waiting } = await db.query<PlacedRecord>(sql`
    select distinct organisation_id, substr(stream, strpos(stream, '-') + 1) as id from consumer_set_aside
    where consumer = ${name} and organisation_id is not null`)
  const { rows: placedBefore } =
    sameRows || indexes === 0 || !hasColumns('organisation_id', place.record)
      ? { rows: [] }
      : await db.query<PlacedRecord>(
          `select distinct organisation_id, ${record} as id from ${inUse.name} where ${isPlacedBehind}`,
        )
  const behind = [...waiting, ...placedBefore].filter(
    (each) => isUuid.test(each.organisation_id) && isUuid.test(each.id),
  )
  if (behind.length === 0) return
  await db.query({
    text: `
      update ${next.name} as next set ${column} = $3 || ${column}
      from unnest($1::text[], $2::text[]) as behind (organisation_id, id)
      where next.organisation_id = behind.organisation_id::uuid and next.${record} = behind.id::uuid
        ${sameRows ? `and not exists (select from ${inUse.name} as in_use where ${isShown})` : ''}`,
    values: [
      behind.map(({ organisation_id }) => organisation_id),
      behind.map(({ id }) => id),
      (await placesBehind(db, inUse, upTo))(''),
    ],
  })
}
