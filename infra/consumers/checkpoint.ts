import type { ClientBase, Pool } from 'pg'
import type { Position } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { batched } from '../batched.ts'
import { integers, texts } from '../postgres/arrays.ts'
import { processId } from '../process-id.ts'
import { sql } from '../postgres/postgres.ts'

/** The position to which a consumer has read. Moving it names the position it had before: of two that try, one succeeds. */
export type Checkpoint = {
  readonly version: number
  /**
   * Raised whenever a process begins to work from it, and whenever it is set to another position: whoever has worked from
   * it before can no longer move it, even if its position is still the same.
   */
  readonly generation: number
  /** Undefined before the first event. */
  readonly position: Position | undefined
}

export type ConsumerRecord = {
  readonly name: string
  readonly version: number
  readonly position: Position | null
  readonly categories: readonly string[]
  /** The number of records set aside. */
  readonly set_aside: number
  readonly updated_at: Date
  readonly role: Role | null
  /** True where rows belong to several records: the read model is rebuilt, and its records are not resumed. */
  readonly shares_rows: boolean
  /** The process that has begun to work from it last. */
  readonly taken_by: string | null
  readonly taken_at: Date | null
}

/** The roles that follow the log as consumers. */
export type Role = 'command-api' | 'delivery-worker' | 'projections'

export type ConsumerDescription = {
  readonly name: string
  readonly version: number
  readonly categories: readonly string[]
  /** True where commands wait for this consumer, so that a caller can read what it wrote. */
  readonly awaited: boolean
  readonly role?: Role | undefined
  readonly sharesRows?: boolean | undefined
}

// Processes that start at the same time make tables one after the other.
const preparation = 7_236_018_449

/** Waits for others who make tables, until the end of the transaction. */
export const preparing = async (db: ClientBase): Promise<void> => {
  await db.query(sql`select pg_advisory_xact_lock(${preparation})`)
}

export const tableExists = async (db: Pool | ClientBase, name: string): Promise<boolean> => {
  const { rows } = await db.query<{ exists: boolean }>(sql`select to_regclass(${name}) is not null as exists`)
  return rows[0]?.exists ?? false
}

type Row = { version: number; generation: number; position: Position | null }

const toCheckpoint = ({ version, generation, position }: Row): Checkpoint => ({
  version,
  generation,
  position: position ?? undefined,
})

export const findCheckpoint = async (db: Pool | ClientBase, name: string): Promise<Checkpoint | undefined> => {
  const { rows } = await db.query<Row>(
    sql`select version, generation, position from consumer_checkpoint where name = ${name}`,
  )
  return rows[0] && toCheckpoint(rows[0])
}

/** Reads and locks it until the end of the transaction. */
export const lockCheckpoint = async (db: ClientBase, name: string): Promise<Checkpoint | undefined> => {
  const { rows } = await db.query<Row>(
    sql`select version, generation, position from consumer_checkpoint where name = ${name} for update`,
  )
  return rows[0] && toCheckpoint(rows[0])
}

/**
 * The checkpoint of a consumer that begins to work: made at the beginning of the log, if there is none. From now on, no
 * other process can move it unless it takes over in turn.
 */
export const openCheckpoint = async (db: Pool | ClientBase, consumer: ConsumerDescription): Promise<Checkpoint> => {
  const { name, version, categories, awaited, role = null, sharesRows = false } = consumer
  const { rows } = await db.query<Row>(sql`
    insert into consumer_checkpoint as stored (
      name, version, categories, awaited, role, shares_rows, taken_by, taken_at)
    values (${name}, ${version}, ${categories}, ${awaited}, ${role}, ${sharesRows}, ${processId}, now())
    on conflict (name) do update set
      generation = stored.generation + 1, categories = excluded.categories, awaited = excluded.awaited,
      role = excluded.role, shares_rows = excluded.shares_rows, taken_by = excluded.taken_by, taken_at = excluded.taken_at
    returning version, generation, position`)
  if (!rows[0]) throw new OwnError(`The checkpoint of ${name} could not be written.`)
  return toCheckpoint(rows[0])
}

/** Sets a checkpoint to another position. A consumer that worked from the former one sees this at its next move. */
export const resetCheckpoint = async (
  db: Pool | ClientBase,
  { name, version, categories, awaited }: ConsumerDescription,
  position: Position | undefined,
): Promise<Checkpoint> => {
  const { rows } = await db.query<Row>(sql`
    insert into consumer_checkpoint as stored (name, version, categories, awaited, position)
    values (${name}, ${version}, ${categories}, ${awaited}, ${position})
    on conflict (name) do update set
      version = excluded.version, generation = stored.generation + 1, position = excluded.position,
      categories = excluded.categories, awaited = excluded.awaited, updated_at = now()
    returning version, generation, position`)
  if (!rows[0]) throw new OwnError(`The checkpoint of ${name} could not be written.`)
  return toCheckpoint(rows[0])
}

/** Locks a checkpoint until the end of the transaction: whoever works from it begins again from where it stands. */
export const takeOverCheckpoint = async (db: ClientBase, name: string): Promise<Checkpoint> => {
  const { rows } = await db.query<Row>(sql`
    update consumer_checkpoint set generation = generation + 1 where name = ${name}
    returning version, generation, position`)
  if (!rows[0]) throw new OwnError(`There is no checkpoint of ${name}.`)
  return toCheckpoint(rows[0])
}

/** Moves a checkpoint, alone or as a part of another statement, whose first parameters are the values of the move. */
export const moving = `
    update consumer_checkpoint set position = $4, updated_at = now()
    where name = $1 and generation = $2 and position is not distinct from $3`

export type Move = readonly [name: string, generation: number, from: Position | undefined, to: Position | undefined]

export const moveOf = (name: string, { generation, position }: Checkpoint, to: Position | undefined): Move => [
  name,
  generation,
  position,
  to,
]

/**
 * Moves a checkpoint from one position to the next, or keeps it where it is. False: it has another position, so the caller
 * must roll back.
 */
export const moveCheckpoint = async (
  db: Pool | ClientBase,
  name: string,
  from: Checkpoint,
  to: Position | undefined,
): Promise<boolean> => {
  const values = [...moveOf(name, from, to)]
  const { rowCount } = await db.query({ name: 'consumer-checkpoint-move', text: moving, values })
  return rowCount === 1
}

/**
 * The same, with nothing else to write: what a crash takes of it is only read again, so the disk is not waited for. All
 * consumers of a process that move at the same moment share a statement.
 */
export const moveCheckpointOnly = (pool: Pool, name: string, from: Checkpoint, to: Position): Promise<boolean> => {
  const move = movers.get(pool) ?? batched((moves: readonly Move[]) => moveAll(pool, moves), movingTogether)
  movers.set(pool, move)
  return move(moveOf(name, from, to))
}

const movers = new WeakMap<Pool, (move: Move) => Promise<boolean>>()
const movingTogether = { mostAtOnce: 200, mostWaiting: 10_000, mostInFlight: 4 }

/** Locked by name, so that two processes that move the same checkpoints do not wait for each other in a circle. */
const moveAll = async (pool: Pool, moves: readonly Move[]): Promise<readonly boolean[]> => {
  const { rows } = await pool.query<[ordinal: string]>({
    name: 'consumer-checkpoints-move-only',
    text: `
      with sent as materialized (
        select * from unnest($1::text[], $2::integer[], $3::text[], $4::text[])
          with ordinality as sent (name, generation, before, after, ordinal)
      ), unmoved as materialized (
        select stored.name, sent.after, sent.ordinal from consumer_checkpoint as stored join sent using (name)
        where stored.generation = sent.generation and stored.position is not distinct from sent.before
        order by stored.name for update of stored
      ), moved as (
        update consumer_checkpoint as stored set position = unmoved.after, updated_at = now()
        from unmoved where stored.name = unmoved.name returning unmoved.ordinal)
      select ordinal, set_config('synchronous_commit', 'off', true) from moved`,
    values: [
      texts(moves.map(([name]) => name)),
      integers(moves.map(([, generation]) => generation)),
      texts(moves.map(([, , before]) => before ?? null)),
      texts(moves.map(([, , , after]) => after ?? null)),
    ],
    rowMode: 'array',
  })
  const moved = new Set(rows.map(([ordinal]) => Number(ordinal)))
  return moves.map((_, index) => moved.has(index + 1))
}

export const removeCheckpoint = async (db: Pool | ClientBase, name: string): Promise<void> => {
  await db.query(sql`delete from consumer_checkpoint where name = ${name}`)
}

/** From now on, commands wait for no consumers but these. */
export const retireOthers = async (pool: Pool, names: readonly string[]): Promise<void> => {
  await pool.query(sql`update consumer_checkpoint set awaited = false where awaited and name <> all (${names})`)
}

/** A consumer by its name; undefined: there is none. */
export const describedConsumer = async (
  db: Pool | ClientBase,
  name: string,
): Promise<Pick<ConsumerRecord, 'shares_rows'> | undefined> => {
  const { rows } = await db.query<Pick<ConsumerRecord, 'shares_rows'>>(
    sql`select shares_rows from consumer_checkpoint where name = ${name}`,
  )
  return rows[0]
}

/** All consumers of the log, in whichever process they run. */
export const consumerHealth = async (pool: Pool): Promise<readonly ConsumerRecord[]> => {
  const { rows } = await pool.query<ConsumerRecord>(sql`
    select name, version, position, categories, updated_at, role, shares_rows, taken_by, taken_at, (
      select count(distinct record)::integer from consumer_set_aside where consumer = name) as set_aside
    from consumer_checkpoint order by name`)
  return rows
}
