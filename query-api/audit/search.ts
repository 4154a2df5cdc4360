import type { Database } from '#infra/postgres/lookups.ts'
import { consumersBeside, readModelVersions } from '#infra/read-models.ts'
import type { Asked, EventRow } from './asked.ts'
import { cursorAt, orderOf, readPlace, type Direction, type Order, type Place } from './places.ts'

export type Found = {
  /** The newest first. */
  readonly rows: readonly EventRow[]
  /** To older events, and to newer ones. */
  readonly next_cursor: string | null
  readonly previous_cursor: string | null
  /** Up to here the read model shows the log; null: nothing yet. */
  readonly as_of_position: string | null
}

/** A page reads no more rows than this to find what several conditions ask for together. */
const scanned = 10_000

const mostRevision = 2 ** 31 - 1

/** Writes a value into a statement. */
type Put = (type: string, value: unknown) => string

/**
 * The columns of an index before those of the order. They are bounds in both directions and part of the order, and nowhere equal
 * to anything: from an equality the planner would conclude that the index of the order alone serves too, and pass over all that an
 * organisation has for a value that few events have.
 */
type Prefix = readonly (readonly [column: string, value: string])[]

/** A way into the read model. */
type Branch = { readonly prefix: Prefix; readonly besides?: readonly string[]; readonly ofEach?: string }

type Way = { readonly branches: readonly Branch[]; readonly covered: readonly (keyof Asked)[] }

/** To all that is asked for, by what fewest events have: one way, or of a person one for each column that may name them. */
const wayTo = (asked: Asked, order: Order, put: Put): Way => {
  const { stream, correlation_id, person_id, actor_id, kinds } = asked
  const of: Prefix = [['organisation_id', put('uuid', asked.organisation_id)]]
  const by = (column: string, type: string, value: string): Prefix => [...of, [column, put(type, value)]]
  if (stream !== undefined) return { branches: [{ prefix: by('stream', 'text', stream) }], covered: ['stream'] }
  if (correlation_id !== undefined)
    return { branches: [{ prefix: by('correlation_id', 'text', correlation_id) }], covered: ['correlation_id'] }
  if (person_id !== undefined) {
    const first = by('person_id', 'uuid', person_id)
    const isOther = `person_id is distinct from ${put('uuid', person_id)}`
    const second = by('second_person_id', 'uuid', person_id)
    return {
      branches: [
        { prefix: first, besides: ['person_id is not null'] },
        { prefix: second, besides: ['second_person_id is not null', isOther] },
      ],
      covered: ['person_id'],
    }
  }
  const prefix = actor_id === undefined ? of : by('actor_id', 'text', actor_id)
  const covered: Way['covered'] = actor_id === undefined ? [] : ['actor_id']
  if (kinds === undefined || order === 'occurred_at') return { branches: [{ prefix }], covered }
  const ofEach = `unnest(${put('text[]', kinds)}) as wanted (kind), lateral`
  return { branches: [{ prefix: [...prefix, ['kind', 'wanted.kind']], ofEach }], covered: [...covered, 'kinds'] }
}

/** Conditions that no index holds together are compared row by row. */
const comparedOf = (asked: Asked, { covered }: Way, order: Order, put: Put): readonly string[] => {
  const compared = [
    ['person_id', (value: string) => `${put('uuid', value)} in (person_id, second_person_id)`],
    ['actor_type', (value: string) => `actor_type = ${put('text', value)}`],
    ['actor_id', (value: string) => `actor_id = ${put('text', value)}`],
    ['kinds', (value: readonly string[]) => `kind = any (${put('text[]', value)})`],
    ['correlation_id', (value: string) => `correlation_id = ${put('text', value)}`],
    ['recorded_since', (value: string) => `recorded_at >= ${put('timestamptz', value)}`],
    ['recorded_until', (value: string) => `recorded_at < ${put('timestamptz', value)}`],
    ['occurred_since', (value: string) => `occurred_at >= ${put('timestamptz', value)}`],
    ['occurred_until', (value: string) => `occurred_at < ${put('timestamptz', value)}`],
  ] as const
  return compared.flatMap(([name, condition]) => {
    const value = asked[name]
    if (value === undefined || covered.includes(name) || isBound(name, order)) return []
    return [(condition as (value: unknown) => string)(value)] // of the same name
  })
}

/** True for the times between which a list is read. */
const isBound = (name: string, order: Order): boolean =>
  (order === 'recorded_at' && name.startsWith('recorded_')) || (order === 'occurred_at' && name.startsWith('occurred_'))

type Range = { readonly order: Order; readonly direction: Direction; readonly place: Place | undefined }

/** Where a list is read on, as it is written into a statement. */
type Begin = { readonly revision: string; readonly at: string; readonly position: string }

const beginOf = ({ order, direction, place }: Range, asked: Asked, put: Put): Begin => {
  const isOlder = direction === 'older'
  // A value that is written nowhere in the statement would have no type.
  if (order === 'revision')
    return {
      revision: put('integer', place && 'revision' in place ? place.revision : mostRevision),
      at: 'null::timestamptz',
      position: 'null::text',
    }
  const { since, until } = timesOf(order, asked)
  const outermost = { at: isOlder ? until : since, position: '' }
  const from = place && 'at' in place ? place : outermost
  // Only one condition may say where to begin: of two, PostgreSQL begins at the first.
  const isOutside = isOlder ? until !== 'infinity' && from.at > until : since !== '-infinity' && from.at < since
  const { at, position } = isOutside ? outermost : from
  return { revision: 'null::integer', at: put('timestamptz', at), position: put('text', position) }
}

/** The times between which a list in the order of a time is read. */
const timesOf = (order: Order, asked: Asked) => {
  const isRecorded = order === 'recorded_at'
  return {
    since: (isRecorded ? asked.recorded_since : asked.occurred_since) ?? '-infinity',
    until: (isRecorded ? asked.recorded_until : asked.occurred_until) ?? 'infinity',
  }
}

const boundsOf = ({ prefix }: Branch, { order, direction }: Range, begin: Begin, end: string): string => {
  const names = prefix.map(([column]) => column).join(', ')
  const values = prefix.map(([, value]) => value).join(', ')
  const isOlder = direction === 'older'
  if (order === 'revision')
    return isOlder
      ? `(${names}, revision) < (${values}, ${begin.revision}) and (${names}) >= (${values})`
      : `(${names}, revision) > (${values}, ${begin.revision}) and (${names}) <= (${values})`
  const at = `${begin.at}, ${begin.position}`
  return isOlder
    ? `(${names}, ${order}, position) < (${values}, ${at}) and (${names}, ${order}) >= (${values}, ${end})`
    : `(${names}, ${order}, position) > (${values}, ${at}) and (${names}, ${order}) < (${values}, ${end})`
}

const columns = `stream, revision, position, recorded_at, occurred_at, event_id, kind, actor_type, actor_id, correlation_id,
  causation_id, person_id, second_person_id`

/**
 * The next rows of every way, at most so many rows. Where something is compared row by row, the rows are read one after the other,
 * until enough fit or so many were read as may be: of many at a time the planner would sort all that there is.
 */
const rowsRead = (asked: Asked, range: Range, put: Put) => {
  const { order, direction } = range
  const way = wayTo(asked, order, put)
  const compared = comparedOf(asked, way, order, put)
  const begin = beginOf(range, asked, put)
  const { since, until } = timesOf(order, asked)
  const end = order === 'revision' ? '' : put('timestamptz', direction === 'older' ? since : until)
  const turn = direction === 'older' ? 'desc' : 'asc'
  const inOrder = (names: readonly string[]) => names.map((name) => `${name} ${turn}`).join(', ')
  const ordered = order === 'revision' ? ['revision'] : [order, 'position']
  const matches = compared.length > 0 ? `coalesce(${compared.join(' and ')}, false)` : 'true'
  const next = (from: Begin, most: number) => {
    const branches = way.branches.map((branch) => {
      const conditions = [boundsOf(branch, range, from, end), ...(branch.besides ?? [])].join(' and ')
      const names = [...branch.prefix.map(([column]) => column), ...ordered]
      return `select found.* from ${branch.ofEach ?? ''} (
        select stream, revision, ${order === 'revision' ? 'recorded_at' : order} as at, position, ${matches} as matches
        from recorded_events where ${conditions} order by ${inOrder(names)} limit ${most}) as found`
    })
    const place = order === 'revision' ? ['revision'] : ['at', 'position']
    return {
      text: `select * from (${branches.join(' union all ')}) as every_way order by ${inOrder(place)} limit ${most}`,
      place,
    }
  }
  if (compared.length === 0) {
    const most = asked.limit + 1
    const { text, place } = next(begin, most)
    return {
      most,
      text: `rows_read as materialized (select *, row_number() over (order by ${inOrder(place)}) as number from (${text}) as page)`,
    }
  }
  const most = Math.ceil(
    scanned / Math.max(way.branches.length, (way.covered.includes('kinds') && asked.kinds?.length) || 1),
  )
  const { text } = next({ revision: 'before.revision', at: 'before.at', position: 'before.position' }, 1)
  return {
    most,
    text: `rows_read as (
      select null::text as stream, ${begin.revision} as revision, ${begin.at} as at, ${begin.position} as position,
        false as matches, 0 as number, 0 as fitting
      union all
      select next.*, before.number + 1, before.fitting + next.matches::integer
      from rows_read as before cross join lateral (${text}) as next
      where before.number < ${most} and before.fitting <= ${asked.limit})`,
  }
}

/** The position that a read model has come to: by default that of all events. */
export const foundUpTo = (put: Put, readModel: 'recorded_events' | 'ledger' = 'recorded_events'): string => `
  select position from consumer_checkpoint
  where name in ('${readModel}', ${put('text', consumersBeside.get(readModel))})
  order by (name = '${readModel}' and version = ${put('integer', readModelVersions.get(readModel))}) desc,
    name = '${readModel}' limit 1`

/** The statement that finds a page: of what fits, `limit` and one more. */
const statementOf = (asked: Asked, range: Range) => {
  const values: unknown[] = []
  const put: Put = (type, value) => `$${values.push(value)}::${type}`
  const { text: read, most } = rowsRead(asked, range, put)
  const text = `
    with recursive ${read}, page as (select * from rows_read where matches or number = ${most})
    select as_of.position as as_of_position, page.matches, page.number, event.*
    from (select (${foundUpTo(put)}) as position) as as_of
    left join page on true
    left join lateral (
      select ${columns} from recorded_events
      where (organisation_id, stream, revision) >= (${put('uuid', asked.organisation_id)}, page.stream, page.revision)
      order by organisation_id, stream, revision limit 1) as event on page.number is not null
    order by page.number`
  return { statement: { text, values }, most }
}

type Row = EventRow & {
  readonly as_of_position: string | null
  readonly matches: boolean | null
  /** As text where it is a bigint. */
  readonly number: string | number | null
}

/** A page of the events that fit, the newest first. */
export const searchEvents = async (db: Database, asked: Asked): Promise<Found> => {
  const order = orderOf(asked)
  const { direction, place } = readPlace(asked.cursor, order)
  const { statement, most } = statementOf(asked, { order, direction, place })
  const { rows } = await db.query<Row>(statement)
  const fitting = rows.filter(({ matches }) => matches)
  const page = fitting.slice(0, asked.limit)
  // Where the next page begins: behind the last that is shown or, where more had to be read than may be, that was read.
  const last = fitting.length > asked.limit ? page.at(-1) : rows.find(({ number }) => Number(number) === most)
  const onwards = last ? cursorAt(order, direction, last) : null
  const first = page.at(0) ?? last
  const back =
    first && asked.cursor !== undefined ? cursorAt(order, direction === 'older' ? 'newer' : 'older', first) : null
  const as_of_position = rows[0]?.as_of_position ?? null
  return direction === 'older'
    ? { rows: page, next_cursor: onwards, previous_cursor: back, as_of_position }
    : { rows: page.toReversed(), next_cursor: back, previous_cursor: onwards, as_of_position }
}
