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

/**
 * Each time later than the last: what was resumed before may have been read already. By the clock of the database, by which
 * all that is recorded is dated, so that who asks by time meets it.
 */
export const placesBehind = async (db: Pick<ClientBase, 'query'>, upTo: Position): Promise<PlaceBehind> => {
  const { rows } = await db.query<{ microseconds: string }>(
    'select (extract(epoch from clock_timestamp()) * 1000000)::bigint as microseconds',
  )
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

/** What is listed by places, for the index that finds rows that were placed behind others. */
export const isPlacedBehind = `"position" like '%+%'`

const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Gives the rows of a rebuilt table the places that they had, and those of records that were set aside one behind all. */
export const takeOverPlaces = async (
  db: ClientBase,
  { name, place, table: { key } }: SomeProjection,
  { inUse, next, upTo }: { readonly inUse: Table; readonly next: Table; readonly upTo: Position | undefined },
): Promise<void> => {
  if (!place || upTo === undefined) return
  const column = `"${place.column}"`
  const isShown = [
    ...key.map((each) => `in_use."${each}" = next."${each}"`),
    `${positionOf(`in_use.${column}`)} >= ${positionOf(`next.${column}`)}`,
  ].join(' and ')
  // A version whose rows were others says nothing of the places of these.
  const { rowCount: keyColumns } = await db.query(sql`
    select from pg_attribute
    where attrelid = ${inUse.name}::regclass and attname = any (${key}) and not attisdropped`)
  const sameRows = keyColumns === key.length
  // Without the index there are none, and what one version has not made is not looked for among all rows while others wait.
  const { rowCount: indexes } = await db.query(sql`
    select from pg_index where indrelid = ${inUse.name}::regclass and strpos(pg_get_expr(indpred, indrelid), '%+%') > 0`)
  if (sameRows && indexes !== 0)
    await db.query(`
    update ${next.name} as next set ${column} = in_use.${column} from ${inUse.name} as in_use
    where in_use.${isPlacedBehind} and ${isShown}`)
  const { rows } = await db.query<{ organisation_id: string; id: string }>(sql`
    select distinct organisation_id, substr(stream, strpos(stream, '-') + 1) as id from consumer_set_aside
    where consumer = ${name} and organisation_id is not null`)
  const waiting = rows.filter((each) => isUuid.test(each.organisation_id) && isUuid.test(each.id))
  if (waiting.length === 0) return
  await db.query({
    text: `
      update ${next.name} as next set ${column} = $3 || ${column}
      from unnest($1::text[], $2::text[]) as waiting (organisation_id, id)
      where next.organisation_id = waiting.organisation_id::uuid and next."${place.record}" = waiting.id::uuid
        ${sameRows ? `and not exists (select from ${inUse.name} as in_use where ${isShown})` : ''}`,
    values: [
      waiting.map(({ organisation_id }) => organisation_id),
      waiting.map(({ id }) => id),
      (await placesBehind(db, upTo))(''),
    ],
  })
}
