import { z } from 'zod'
import type { Access } from '#infra/access-records/access.ts'
import { cursorOf, CursorTime, readCursorAs } from '#infra/http/cursor.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { highestId, lowestId } from '../page.ts'

type AskedAccesses = {
  readonly organisation_id: string
  /** Any of these was shown. */
  readonly record_ids?: readonly string[] | undefined
  readonly actor_id?: string | undefined
  readonly route?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

export type AccessRow = Omit<Access, 'organisation_id'> & { readonly at: Date }

/** A page reads no more accesses than this to find what several filters ask for together. */
const scanned = 2_000

type Place = { readonly direction: 'older' | 'newer'; readonly at: string; readonly id: string }

const Written = z.tuple([z.enum(['older', 'newer']), CursorTime, z.uuid()])

/** Only one condition may say where to begin: of two, PostgreSQL begins at the first. */
const accessPlace = ({ cursor, since, until }: AskedAccesses): Place => {
  const outermost = {
    direction: 'older',
    at: until ?? 'infinity',
    id: until === undefined ? highestId : lowestId,
  } as const
  if (cursor === undefined) return outermost
  const [direction, at, id] = readCursorAs(cursor, Written)
  if (direction === 'older') return until !== undefined && at > until ? outermost : { direction, at, id }
  return since !== undefined && at < since ? { direction, at: since, id: lowestId } : { direction, at, id }
}

const cursorAt = (direction: Place['direction'], { at, id }: AccessRow): string =>
  cursorOf([direction, at.toISOString(), id])

type Put = (type: string, value: unknown) => string

/** The index that leads to what is asked for: its columns before the order, with their values. */
const wayTo = ({ organisation_id, record_ids, actor_id, route }: AskedAccesses, put: Put) => {
  const of = [['organisation_id', put('uuid', organisation_id)]] as const
  if (record_ids)
    return { table: 'access_subject', key: 'access_id', prefix: [...of, ['record_id', 'wanted.record_id']] }
  const table = { table: 'access_record', key: 'id' }
  if (actor_id !== undefined) return { ...table, prefix: [['actor_id', put('text', actor_id)], ...of] }
  if (route !== undefined) return { ...table, prefix: [['route', put('text', route)], ...of] }
  return { ...table, prefix: of }
}

/**
 * The statement that finds a page: of what fits, `limit` and one more. One filter leads the way, others are compared row by row. The
 * way is bounds in both directions, and nowhere equal to anything: from an equality the planner would conclude that the index of
 * the order alone serves too, and pass over all that an organisation has for what it seldom has.
 */
const statementOf = (asked: AskedAccesses, { direction, at, id }: Place) => {
  const { record_ids, actor_id, route, since = '-infinity', until = 'infinity', limit } = asked
  const values: unknown[] = []
  const put: Put = (type, value) => `$${values.push(value)}::${type}`
  const { table, key, prefix } = wayTo(asked, put)
  const isIn = (column: string) => prefix.some(([name]) => name === column)
  const compared = [
    actor_id !== undefined && !isIn('actor_id') && `actor_id = ${put('text', actor_id)}`,
    route !== undefined && !isIn('route') && `route = ${put('text', route)}`,
  ].filter((each) => each !== false)
  const most = compared.length > 0 ? scanned : limit + 1
  const isOlder = direction === 'older'
  const turn = isOlder ? 'desc' : 'asc'
  const columns = prefix.map(([name]) => name)
  const place = prefix.map(([, value]) => value).join(', ')
  const begin = `(${columns.join(', ')}, at, ${key}) ${isOlder ? '<' : '>'} (${place}, ${put('timestamptz', at)}, ${put('uuid', id)})`
  const end = `(${columns.join(', ')}, at) ${isOlder ? '>=' : '<'} (${place}, ${put('timestamptz', isOlder ? since : until)})`
  const order = [...columns, 'at', key].map((name) => `${name} ${turn}`).join(', ')
  const found = `select at, ${key} as id from ${table} where ${begin} and ${end} order by ${order} limit ${most}`
  // One answer may have shown several of them.
  const ofAll = record_ids
    ? `select distinct found.at, found.id from unnest(${put('uuid[]', record_ids)}) as wanted (record_id) cross join lateral (${found}) as found`
    : found
  const text = `
    with page as materialized (
      select at, id, row_number() over (order by at ${turn}, id ${turn}) as number from (${ofAll}) as found
      order by at ${turn}, id ${turn} limit ${most}
    ), compared as (
      select record.*, number, ${compared.length > 0 ? compared.join(' and ') : 'true'} as matches
      from page cross join lateral (select * from access_record where id = page.id and at = page.at) as record
    )
    select id, at, actor_type, actor_id, method, route, record_type, record_ids, rows_shown, personal, filters, request_id,
      number::integer, matches
    from compared where matches or number = ${most} order by number limit ${limit + 1}`
  return { statement: { text, values }, most }
}

/** A page of accesses, the newest first. */
export const findAccesses = async (db: Database, asked: AskedAccesses) => {
  const place = accessPlace(asked)
  const { statement, most } = statementOf(asked, place)
  const { rows } = await db.query<AccessRow & { readonly number: number; readonly matches: boolean }>(statement)
  const fitting = rows.filter(({ matches }) => matches)
  const page = fitting.slice(0, asked.limit)
  const last = fitting.length > asked.limit ? page.at(-1) : rows.find(({ number }) => number === most)
  const first = page.at(0) ?? last
  const isOlder = place.direction === 'older'
  const onwards = last ? cursorAt(place.direction, last) : null
  const back = first && asked.cursor !== undefined ? cursorAt(isOlder ? 'newer' : 'older', first) : null
  return isOlder
    ? { rows: page, next_cursor: onwards, previous_cursor: back }
    : { rows: page.toReversed(), next_cursor: back, previous_cursor: onwards }
}

type Person = { readonly organisation_id: string; readonly person_id: string }

/** The records that events about a person stand on, and the person: whoever was shown one of them read the person's data. */
export const recordsOf = async (db: Database, { organisation_id, person_id }: Person): Promise<readonly string[]> => {
  const { rows } = await db.query<{ stream: string }>(sql`
    select stream from recorded_events where organisation_id = ${organisation_id} and person_id = ${person_id}
    union
    select stream from recorded_events where organisation_id = ${organisation_id} and second_person_id = ${person_id}`)
  const ids = rows.flatMap(({ stream }) => /[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/.exec(stream) ?? [])
  return [...new Set([person_id, ...ids])]
}
