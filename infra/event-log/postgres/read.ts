import type { Pool } from 'pg'
import type { Json, Metadata, Position, RecordedEvent } from '#domain/event.ts'
import type { Page, WholePage } from '../event-log.ts'
import { outageWatch, type OutageWatch } from '../outage.ts'
import { batched } from '../../batched.ts'
import { bigints, integers, texts } from '../../postgres/arrays.ts'
import { isUnavailable, withDeadline, type Query } from '../../postgres/postgres.ts'

export type Filter = { readonly categories?: readonly string[]; readonly types?: readonly string[] }

const digits = 20

/** Before the first event. */
export const start = `${'0'.repeat(digits)}-${'0'.repeat(digits)}` as Position

/** Transaction, then place within it, each as wide as the widest, so that positions compare as strings. */
export const toPosition = (transaction: string, place: string): Position =>
  `${transaction.padStart(digits, '0')}-${place.padStart(digits, '0')}` as Position

/** Refuses what is no position of this log, such as one of another adapter. */
export const fromPosition = (position: Position): readonly [transaction: string, place: string] => {
  if (!/^\d{20}-\d{20}$/.test(position)) throw new RangeError(`Not a position of this log: ${JSON.stringify(position)}`)
  return [position.slice(0, digits), position.slice(digits + 1)]
}

const transactionOf = (position: Position): string => fromPosition(position)[0]

/** The number of the event in the order of writing, from which the order of the log differs by a few at most. */
export const measure = (position: Position): number => Number(fromPosition(position)[1])

/**
 * Of transactions below this, all have ended: what they wrote is there, and nothing more will come. Beyond it an event
 * may still appear before others that can be seen already, so a reader that must not miss one stops here, or at what
 * `settled` finds: that takes a statement more, and does not wait for transactions that append nothing.
 */
const horizon = `(
  select pg_snapshot_xmin(pg_current_snapshot())::text::bigint + state.transaction_offset from event_log.state)`

/** Some events in the order of the log. */
export type BoundedPage = {
  readonly events: readonly RecordedEvent[]
  /** True where it ends where it was to end, and not earlier for its number or size. */
  readonly isWhole: boolean
}

const columns = `transaction_id, position, stream, revision, id, type, schema_version, data, metadata,
  extract(epoch from recorded_at) as recorded_seconds`

// A page ends early when its events are large, so that little waits for its reader.
const pageBytes = 4_000_000

const sizes = 'pg_column_size(data) + pg_column_size(metadata) as bytes'
const inOrder = 'order by transaction_id, position'
const inOrderOfOne = 'order by category, transaction_id, position'
const names = 'transaction_id, position, stream, revision, id, type, schema_version, data, metadata, recorded_seconds'

/** The bounds of a page; with the category as the first column of each bound when it is of one category. */
type Range = (column: string, category: string) => string

/**
 * The events of a range in order, up to those before which there are as many bytes as a page may have. $1 is the limit,
 * $2 the categories, $3 the types. Each category is read from its own place in the index, so that neither others are
 * passed over nor all of them are sorted.
 *
 * The category is part of both bounds and of the order, and nowhere equal to anything: from an equality the planner would
 * conclude that the index of the whole order serves too, and pass over the whole log for a category that has few events.
 * A single category comes in the order of the index, so that nothing is sorted: most replays read only one.
 */
const page = (range: Range, { categories, types }: Filter) => {
  const ofTypes = types ? 'and type = any ($3)' : 'and $3::text[] is null'
  if (isOne(categories))
    return `
    select ${names}, bytes, bytes_before from (
      select *, coalesce(sum(bytes) over (
        ${inOrderOfOne} rows between unbounded preceding and 1 preceding), 0) as bytes_before
      from (
        select category, ${columns}, ${sizes} from event_log.event
        where ${range('category, ', '($2::text[])[1] collate "C", ')} ${ofTypes}
        ${inOrderOfOne} limit $1) as page) as page
    where bytes_before < ${pageBytes} ${inOrderOfOne}`
  const found = categories
    ? `select event.* from unnest($2::text[]) as wanted (category), lateral (
        select ${columns}, ${sizes} from event_log.event
        where ${range('category, ', 'wanted.category collate "C", ')} ${ofTypes}
        order by category, transaction_id, position limit $1) as event
      ${inOrder} limit $1`
    : `select ${columns}, ${sizes} from event_log.event
      where ${range('', '')} ${ofTypes} and $2::text[] is null ${inOrder} limit $1`
  return `
    select * from (
      select *, coalesce(sum(bytes) over (
        ${inOrder} rows between unbounded preceding and 1 preceding), 0) as bytes_before
      from (${found}) as page) as page
    where bytes_before < ${pageBytes} ${inOrder}`
}

const manyCategories = 8

/**
 * The latest events in the order of the log. A reader of many categories that has read almost all passes over little, and to
 * look into each category takes it longer. What is compared with the categories is no column, so that no index is for it.
 */
const latest = ({ types }: Filter) => `
  select * from (
    select *, coalesce(sum(bytes) over (
      ${inOrder} rows between unbounded preceding and 1 preceding), 0) as bytes_before
    from (
      select ${columns}, ${sizes} from event_log.event
      where (transaction_id, position) > ($4, $5) and transaction_id < ${horizon} and category || '' = any ($2)
        ${types ? 'and type = any ($3)' : 'and $3::text[] is null'}
      ${inOrder} limit $1) as page) as page
  where bytes_before < ${pageBytes} ${inOrder}`

const isOne = (categories: Filter['categories']): boolean => categories !== undefined && new Set(categories).size === 1

const filtered = ({ categories, types }: Filter) => [categories ? [...new Set(categories)] : null, types ?? null]

const nameOf = (kind: string, { categories, types }: Filter) =>
  `event-log-${kind}${categories ? (isOne(categories) ? '-category' : '-categories') : ''}${types ? '-types' : ''}`

type Row = [
  transaction: string,
  position: string,
  stream: string,
  revision: string,
  id: string,
  type: string,
  schemaVersion: string,
  data: string,
  metadata: string,
  recordedAt: string,
]

/** With columns that are not of the event. */
type LongerRow = readonly [...Row, ...others: string[]]

type SizedRow = [...Row, bytes: string, bytesBefore: string]

/** Of seconds with six decimals, whole milliseconds: as a binary fraction some would be a millisecond less. */
const toDate = (seconds: string): Date => new Date(Number(seconds.slice(0, -3).replace('.', '')))

const toEvent = (row: LongerRow): RecordedEvent => ({
  id: row[4],
  type: row[5],
  schema_version: Number(row[6]),
  // What append has stored.
  data: JSON.parse(row[7]) as Json,
  metadata: JSON.parse(row[8]) as Metadata,
  stream: row[2],
  revision: Number(row[3]),
  position: toPosition(row[0], row[1]),
  recorded_at: toDate(row[9]),
})

/** The columns come as the server writes them, untouched by any parser of `pg`. */
export const asWritten = { getTypeParser: () => (value: string) => value }

const defaultLimit = 1_000

type StreamPage = { readonly stream: string; readonly from: number; readonly limit: number }

// Of a stream in a shared statement; so much is never large, and of a longer one the rest is read separately.
const beginning = 20
const readTogether = { mostAtOnce: 50, mostWaiting: 10_000, mostInFlight: 3 }

type Statement = Query & { readonly name: string }

type ReaderOptions = {
  /** Records the reads that fail because the database is not available. */
  readonly outage?: Pick<OutageWatch, 'failed' | 'succeeded'>
  /** Deadline of the reads that a request waits for. */
  readonly soonMs?: number
}

/** The reads of the log, each one statement. */
export const logReader = (pool: Pool, { outage = outageWatch(), soonMs = 2_500 }: ReaderOptions = {}) => {
  const rowsOf = async <AnyRow extends unknown[]>(statement: Statement): Promise<AnyRow[]> => {
    try {
      const { rows } = await pool.query<AnyRow>({ ...statement, rowMode: 'array' })
      outage.succeeded()
      return rows
    } catch (error) {
      if (isUnavailable(error)) outage.failed(error)
      throw error
    }
  }

  const events = async (statement: Statement): Promise<RecordedEvent[]> => (await rowsOf<Row>(statement)).map(toEvent)

  const boundedPage = async (statement: Statement, limit: number): Promise<BoundedPage> => {
    const rows = await rowsOf<SizedRow>(statement)
    const [bytes = 0, bytesBefore = 0] = rows.at(-1)?.slice(-2).map(Number) ?? []
    const isWhole = rows.length < limit && bytesBefore + bytes < pageBytes
    return { events: rows.map(toEvent), isWhole }
  }

  const pageOf = ({ stream, from, limit }: StreamPage, direction: 'forwards' | 'backwards' = 'forwards') => {
    const isForwards = direction === 'forwards'
    const statement = {
      name: `event-log-stream-${direction}`,
      text: `
        select ${columns} from event_log.event
        where stream = $1 and revision ${isForwards ? '>=' : '<='} $2
        order by revision ${isForwards ? 'asc' : 'desc'} limit $3`,
      values: [stream, from, limit],
    }
    return rowsOf<Row>(withDeadline(statement, soonMs))
  }

  /** The beginnings of several pages. One after the other through the index, however large the planner believes a stream is. */
  const beginnings = async (pages: readonly StreamPage[]): Promise<readonly LongerRow[][]> => {
    const [only, ...others] = pages
    if (only && others.length === 0) return [await pageOf(only)]
    const statement = {
      name: 'event-log-streams',
      text: `
        select event.*, ordinal from unnest($1::text[], $2::bigint[], $3::integer[])
          with ordinality as wanted (stream, first, most, ordinal)
        cross join lateral (
          select ${columns} from event_log.event
          where event.stream = wanted.stream and event.revision >= wanted.first
          order by event.revision limit wanted.most) as event
        order by ordinal, revision`,
      values: [
        texts(pages.map(({ stream }) => stream)),
        bigints(pages.map(({ from }) => from)),
        integers(pages.map(({ limit }) => Math.min(limit, beginning))),
      ],
    }
    const found: LongerRow[][] = pages.map(() => [])
    for (const row of await rowsOf<[...Row, ordinal: string]>(withDeadline(statement, soonMs)))
      found[Number(row[10]) - 1]?.push(row)
    return found
  }
  const beginningOf = batched(beginnings, readTogether)

  /** Readers at the same moment share a statement, as long as they find little. */
  const forwards = async (page: StreamPage): Promise<RecordedEvent[]> => {
    const rows = await beginningOf(page)
    const left = page.limit - rows.length
    if (rows.length !== beginning || left === 0) return rows.map(toEvent)
    const others = await pageOf({ ...page, from: Number(rows.at(-1)?.[3]) + 1, limit: left })
    return [...rows, ...others].map(toEvent)
  }

  /** Before all that is not settled, for statements that begin after this one. */
  const settled = async (): Promise<Position> => {
    const statement = { name: 'event-log-horizon', text: 'select event_log.horizon()', values: [] }
    const [row] = await rowsOf<[string]>(withDeadline(statement, soonMs))
    return toPosition(row?.[0] ?? '0', '0')
  }

  return {
    /** A page of one stream, regardless of what is being written elsewhere. */
    stream: async (stream: string, { from, direction = 'forwards', limit = defaultLimit }: Page) => {
      if (direction === 'forwards') return forwards({ stream, from: from ?? 0, limit })
      const rows = await pageOf({ stream, from: from ?? Number.MAX_SAFE_INTEGER, limit }, direction)
      return rows.map(toEvent)
    },

    settled,

    /** A page of the whole log, as far as its order is settled. */
    page: async ({ beyond, direction = 'forwards', limit = defaultLimit }: WholePage) => {
      const isForwards = direction === 'forwards'
      const order = isForwards ? 'asc' : 'desc'
      return events({
        name: `event-log-page-${direction}`,
        text: `
          select ${columns} from event_log.event
          where (transaction_id, position) ${isForwards ? '>' : '<'} ($1, $2) and transaction_id < $4
          order by transaction_id ${order}, position ${order} limit $3`,
        values: [...fromPosition(beyond ?? (isForwards ? start : end)), limit, transactionOf(await settled())],
      })
    },

    /** The last event whose place in the order is settled. */
    head: async (): Promise<Position | undefined> => {
      const statement = {
        name: 'event-log-head',
        text: `
          select transaction_id, position from event_log.event where transaction_id < $1
          order by transaction_id desc, position desc limit 1`,
        values: [transactionOf(await settled())],
      }
      const [last] = await rowsOf<[string, string]>(withDeadline(statement, soonMs))
      return last && toPosition(...last)
    },

    /** The last event, be its place settled or not. */
    end: async (): Promise<Position | undefined> => {
      const statement = {
        name: 'event-log-end',
        text: `
          select transaction_id, position from event_log.event
          order by transaction_id desc, position desc limit 1`,
        values: [],
      }
      const [last] = await rowsOf<[string, string]>(withDeadline(statement, soonMs))
      return last && toPosition(...last)
    },

    /** The events after one settled position up to another that pass the filter. */
    between: async (after: Position, upTo: Position, filter: Filter, limit: number) => {
      const range: Range = (column, category) => `
        (${column}transaction_id, position) > (${category}$4, $5)
        and (${column}transaction_id, position) <= (${category}$6, $7)`
      const values = [limit, ...filtered(filter), ...fromPosition(after), ...fromPosition(upTo)]
      return boundedPage({ name: nameOf('between', filter), text: page(range, filter), values }, limit)
    },

    /** The settled events beyond a settled position that pass the filter. */
    newer: async (after: Position, filter: Filter, limit: number) => {
      if ((filter.categories?.length ?? 0) >= manyCategories) {
        const statement = {
          name: nameOf('latest', filter),
          text: latest(filter),
          values: [limit, ...filtered(filter), ...fromPosition(after)],
        }
        return boundedPage(withDeadline(statement, 2 * soonMs), limit)
      }
      const range: Range = (column, category) => `
        (${column}transaction_id, position) > (${category}$4, $5)
        and (${column}transaction_id) < (${category}${horizon})`
      const values = [limit, ...filtered(filter), ...fromPosition(after)]
      const statement = { name: nameOf('newer', filter), text: page(range, filter), values }
      // All consumers of the process wait for this one, also when its connection fell silent.
      return boundedPage(withDeadline(statement, 2 * soonMs), limit)
    },
  }
}

export type LogReader = ReturnType<typeof logReader>

// The greatest bigint, twice.
const end = toPosition('9223372036854775807', '9223372036854775807')
