import type { Database } from '../postgres/lookups.ts'
import { sql } from '../postgres/postgres.ts'

/** A rebuild of a read model that an operator has asked for. */
export type RequestedRebuild = {
  readonly name: string
  readonly id: string
  readonly requested_at: Date
  /** When a process began it last: one that is ended in the middle is begun again. */
  readonly started_at: Date | null
  /** The part of the log that was read, in its units. */
  readonly done: number
  readonly total: number | null
  readonly finished_at: Date | null
  /** Why it was given up; the read model is then as it was. */
  readonly failure: string | null
}

type Row = Omit<RequestedRebuild, 'done' | 'total'> & { readonly done: string; readonly total: string | null }

const toRebuild = (row: Row): RequestedRebuild => ({
  ...row,
  done: Number(row.done),
  total: row.total === null ? null : Number(row.total),
})

/** Asks for a rebuild, unless this one was asked for before, or one is still to be finished. */
export const requestRebuild = async (db: Database, name: string, id: string): Promise<void> => {
  await db.query(sql`
    insert into requested_rebuild as stored (name, id) values (${name}, ${id})
    on conflict (name) do update set
      id = excluded.id, requested_at = now(), started_at = null, attempts = 0, done = 0, total = null, finished_at = null, failure = null
    where stored.finished_at is not null and stored.id <> excluded.id`)
}

/** The last of each read model. */
export const readRequestedRebuilds = async (db: Database): Promise<ReadonlyMap<string, RequestedRebuild>> => {
  const { rows } = await db.query<Row>(sql`
    select name, id, requested_at, started_at, done, total, finished_at, failure from requested_rebuild`)
  return new Map(rows.map((row) => [row.name, toRebuild(row)]))
}

/** The read model that is to be rebuilt next, of those that are in use in one of these versions. */
export const nextRebuild = async (
  db: Database,
  readModels: readonly { readonly name: string; readonly version: number }[],
): Promise<string | undefined> => {
  const { rows } = await db.query<{ name: string; version: number }>(sql`
    select name, version from requested_rebuild join consumer_checkpoint using (name)
    where finished_at is null order by requested_at, name`)
  return rows.find(({ name, version }) => readModels.some((each) => each.name === name && each.version === version))
    ?.name
}

/** One that has ended so many processes would end the next, too. */
const mostAttempts = 3
const givenUp = 'given up: three processes have begun it, and none has lived to end it'

/** Begins the rebuild that was asked for. Its id; undefined: there is none any more, or it is given up. */
export const beginRebuild = async (db: Database, name: string): Promise<string | undefined> => {
  const { rows } = await db.query<{ readonly id: string; readonly is_given_up: boolean }>(sql`
    update requested_rebuild set started_at = now(), attempts = attempts + 1, done = 0, total = null,
      finished_at = case when attempts >= ${mostAttempts} then now() end,
      failure = case when attempts >= ${mostAttempts} then ${givenUp} end
    where name = ${name} and finished_at is null
    returning id, finished_at is not null as is_given_up`)
  return rows.find(({ is_given_up }) => !is_given_up)?.id
}

/** It was interrupted by nothing that it did itself. */
export const leaveRebuild = async (db: Database, id: string): Promise<void> => {
  await db.query(sql`update requested_rebuild set attempts = attempts - 1 where id = ${id} and finished_at is null`)
}

export const reportRebuild = async (
  db: Database,
  id: string,
  { done, total }: { readonly done: number; readonly total: number },
): Promise<void> => {
  await db.query(sql`
    update requested_rebuild set done = ${done}, total = ${total} where id = ${id} and finished_at is null`)
}

export const finishRebuild = async (db: Database, id: string, failure: string | null): Promise<void> => {
  await db.query(sql`
    update requested_rebuild set finished_at = now(), failure = ${failure},
      done = case when ${failure}::text is null then coalesce(total, done) else done end
    where id = ${id} and finished_at is null`)
}
