import type { Pool } from 'pg'
import { Problem } from '../http/problem.ts'
import { sql, withDeadline } from '../postgres/postgres.ts'
import { withTimeout } from '../timeout.ts'
import type { Access, RecordAccess } from './access.ts'

type Options = {
  /** More than this never wait: what comes then is refused. */
  readonly most?: number
  /** So long an answer waits for its record. */
  readonly withinMs?: number
}

type Waiting = { readonly access: Access; readonly done: () => void; readonly failed: (error: unknown) => void }

/** So many are written by one statement. */
const atOnce = 100

/** Records accesses, those that wait by one commit. It settles when the record is on the disk: an answer leaves no earlier. */
export const makeRecordAccess = (pool: Pool, { most = 1_000, withinMs = 2_000 }: Options = {}): RecordAccess => {
  const waiting = new Set<Waiting>()
  let isWriting = false

  const writeWaiting = async (): Promise<void> => {
    isWriting = true
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, atOnce)
      for (const each of batch) waiting.delete(each)
      try {
        await write(
          pool,
          batch.map(({ access }) => access),
          withinMs,
        )
        for (const { done } of batch) done()
      } catch (error) {
        for (const { failed } of batch) failed(error)
      }
    }
    isWriting = false
  }

  return async (access) => {
    if (waiting.size >= most) throw notRecorded()
    let own: Waiting | undefined
    const recorded = new Promise<void>((done, failed) => {
      own = { access, done, failed }
      waiting.add(own)
    })
    if (!isWriting) void writeWaiting()
    await withTimeout(recorded, withinMs).catch((cause: unknown) => {
      if (own) waiting.delete(own)
      throw notRecorded(cause)
    })
  }
}

const notRecorded = (cause?: unknown) =>
  new Problem('unavailable', 'It cannot be recorded at the moment who is shown this. Send the request again.', {
    headers: { 'Retry-After': '1' },
    cause,
  })

/** Of a row for which there is no partition, as well as of one that a check refuses. */
const noPartition = '23514'

const write = async (pool: Pool, accesses: readonly Access[], withinMs: number): Promise<void> => {
  const insert = () => pool.query(withDeadline(insertOf(accesses), withinMs))
  try {
    await insert()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === noPartition)) throw error
    // The month has begun, and no delivery worker was there to make its partitions ahead.
    await pool.query(sql`select access_partition(now())`)
    await insert()
  }
}

const insertOf = (accesses: readonly Access[]) => sql`
  with given as materialized (
    select *, date_trunc('milliseconds', now()) as at from jsonb_to_recordset(${JSON.stringify(accesses)}::jsonb) as given (
      id uuid, organisation_id uuid, actor_type text, actor_id text, method text, route text, record_type text,
      record_ids uuid[], rows_shown integer, personal text, filters text[], request_id text)
  ), recorded as (
    insert into access_record (id, at, organisation_id, actor_type, actor_id, method, route, record_type, record_ids, rows_shown,
      personal, filters, request_id)
    select id, at, organisation_id, actor_type, actor_id, method, route, record_type, record_ids, rows_shown, personal, filters,
      request_id from given
  )
  insert into access_subject (organisation_id, record_id, at, access_id)
  select organisation_id, record_id, at, id from given, unnest(record_ids) as record_id`
