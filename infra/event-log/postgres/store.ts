import type { Pool } from 'pg'
import type { NewEvent } from '#domain/event.ts'
import { toPosition } from './read.ts'
import type { AppendResult, ExpectedRevision } from '../event-log.ts'
import { bigints, integers, jsons, texts, uuids } from '../../postgres/arrays.ts'

/** An event with its contents as they are sent. */
type Content = Pick<NewEvent, 'id' | 'type' | 'schema_version'> & { readonly data: string; readonly metadata: string }

export type Append = {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly Content[]
}

/** `taken`: an event has the id of one that was stored by another append. */
export type Result = AppendResult | { readonly outcome: 'taken' }

/** One round trip and one commit for appends to different streams, ordered by stream. */
export const store = async (pool: Pool, batch: readonly Append[]): Promise<readonly (Result | undefined)[]> => {
  const [append, ...others] = batch
  const stored = append && others.length === 0 ? await storeOne(pool, append) : undefined
  return stored ? [stored] : storeAll(pool, batch)
}

const none = -1
const any = -2
const revisionOf = (expected: ExpectedRevision): number =>
  expected === 'no_stream' ? none : expected === 'any' ? any : expected

/** The same as event_log.append, for the most frequent case in half the time: one event whose expectation is met. */
const storeOne = async (pool: Pool, { stream, expected, events }: Append): Promise<Result | undefined> => {
  const [event, ...others] = events
  if (!event || others.length > 0 || expected === 'any') return undefined
  const revision = revisionOf(expected)
  const { rows } = await pool.query<[transaction: string, position: string]>({
    name: 'event-log-append-one',
    text: `
      insert into event_log.event as event
        (transaction_id, revision, id, schema_version, stream, category, type, data, metadata)
      select pg_current_xact_id()::text::bigint + state.transaction_offset, $2::bigint + 1, $3, $4, $1,
        split_part($1, '-', 1), $5, $6, $7
      from event_log.state state
      where pg_current_xact_id_if_assigned() is null and $2 = coalesce((
        select known.revision from event_log.event known
        where known.stream = $1 order by known.revision desc limit 1), -1)
      returning event.transaction_id, event.position`,
    values: [stream, revision, event.id, event.schema_version, event.type, event.data, event.metadata],
    rowMode: 'array',
  })
  return rows[0] && { outcome: 'appended', revision: revision + 1, position: toPosition(...rows[0]) }
}

type Row = [
  append: string,
  outcome: 'appended' | 'conflict' | 'taken',
  revision: string | null,
  transaction: string | null,
  position: string | null,
]

const storeAll = async (pool: Pool, batch: readonly Append[]): Promise<readonly (Result | undefined)[]> => {
  const events = batch.flatMap((append) => append.events)
  const { rows } = await pool.query<Row>({
    name: 'event-log-append',
    text: 'select * from event_log.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
    values: [
      texts(batch.map(({ stream }) => stream)),
      bigints(batch.map(({ expected }) => revisionOf(expected))),
      integers(batch.map((append) => append.events.length)),
      uuids(batch.flatMap((append) => append.events.slice(0, 1).map(({ id }) => id))),
      integers(batch.flatMap((append, index) => append.events.map(() => index + 1))),
      integers(batch.flatMap((append) => append.events.map((_, place) => place))),
      uuids(events.map(({ id }) => id)),
      texts(events.map(({ type }) => type)),
      integers(events.map(({ schema_version }) => schema_version)),
      jsons(events.map(({ data }) => data)),
      jsons(events.map(({ metadata }) => metadata)),
    ],
    rowMode: 'array',
  })

  const results: Result[] = []
  for (const [append, ...row] of rows) results[Number(append) - 1] = toResult(...row)
  return results
}

const toResult = (
  outcome: Row[1],
  revision: string | null,
  transaction: string | null,
  position: string | null,
): Result => {
  if (outcome === 'taken') return { outcome }
  if (outcome === 'conflict') return { outcome, revision: revision === null ? undefined : Number(revision) }
  return { outcome, revision: Number(revision), position: toPosition(transaction ?? '', position ?? '') }
}
