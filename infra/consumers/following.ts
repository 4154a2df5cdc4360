import type { Pool, PoolClient, QueryConfig } from 'pg'
import type { Position, RecordedEvent } from '#domain/event.ts'
import { transaction } from '../postgres/postgres.ts'
import {
  moveCheckpoint,
  moveCheckpointOnly,
  moveOf,
  openCheckpoint,
  resetCheckpoint,
  type Checkpoint,
} from './checkpoint.ts'
import type { Change, Consumer, Sender } from './consumer-type.ts'
import { StaleCheckpoint, Superseded } from './failures.ts'
import { countSetAside, logSetAside, setAside, withoutWaiting, type Unhandled } from './set-aside.ts'

export type FollowCallbacks = {
  readonly passed: (position: Position | undefined) => void
  readonly caughtUp: () => void
  /** Called with the number of records that are set aside. */
  readonly setAside: (count: number) => void
}

/** A consumer that follows the log: the checkpoint that it works from, and how far it has come since. */
export type Following = {
  readonly consumer: Consumer
  readonly signal: AbortSignal
  readonly callbacks: FollowCallbacks
  saved: Checkpoint
  savedAt: number
  position: Position | undefined
  /** Records that are set aside. */
  setAside: number
  /** When it was last looked for records that are to be resumed, and how far behind it is was last measured. */
  checkedAt: number
  measuredAt: number
}

/** One of the ways in which events are handed to a consumer. */
export type Runner = {
  /** Hands over events; up to this position there are no others. */
  readonly handle: (events: readonly RecordedEvent[], to: Position, isAtEnd: boolean) => Promise<void>
  /** Waits for what is still being written. */
  readonly settle?: () => Promise<unknown>
  /** Up to here all is written or being written; undefined when nothing is being written. */
  readonly underWayTo?: () => Position | undefined
  /** Somebody else has written rows. */
  readonly forget?: () => void
  /** True where no event behind the position was handled that would be taken for one still to come. */
  readonly mayResume?: () => boolean
}

const usuallySaveAfterMs = 1_000

export const saveAfterMsOf = ({ saveAfterMs = usuallySaveAfterMs }: Consumer): number => saveAfterMs

/** Takes over the checkpoint of a consumer. */
export const beginFollowing = async (
  consumer: Consumer,
  signal: AbortSignal,
  callbacks: FollowCallbacks,
): Promise<Following> => {
  const saved = await claim(consumer)
  const { position } = saved
  callbacks.passed(position)
  const times = { savedAt: performance.now(), checkedAt: 0, measuredAt: 0 }
  const following = { consumer, signal, callbacks, saved, position, setAside: 0, ...times }
  await countAside(following)
  return following
}

const claim = async (consumer: Consumer): Promise<Checkpoint> => {
  const { name, version, categories = [], pool, atOtherVersion = 'continue', role, sharesRows } = consumer
  const described = { name, version, categories, awaited: consumer.awaitedIn !== undefined, role, sharesRows }
  const stored = await openCheckpoint(pool, described)
  if (stored.version === version) return stored
  if (atOtherVersion === 'continue') return resetCheckpoint(pool, described, stored.position)
  throw new Superseded(`Version ${stored.version} of ${name} has taken over from version ${version}.`)
}

const stale = ({ consumer }: Following) => new StaleCheckpoint(`The checkpoint of ${consumer.name} was moved.`)

const hasSaved = (following: Following, to: Position | undefined): void => {
  following.saved = { ...following.saved, position: to }
  following.savedAt = performance.now()
  hasPassed(following, to)
}

const hasPassed = (following: Following, to: Position | undefined): void => {
  following.position = to
  following.callbacks.passed(to)
}

export const isUnsaved = ({ position, saved }: Following): boolean =>
  position !== undefined && position !== saved.position

export const saveOnly = async (following: Following, to: Position): Promise<void> => {
  const { consumer, saved } = following
  if (!(await moveCheckpointOnly(consumer.pool, consumer.name, saved, to))) throw stale(following)
  hasSaved(following, to)
}

/** Moves on without writing anything; the checkpoint only once in a while, since to read over such events again costs nothing. */
export const passOver = async (
  following: Following,
  to: Position,
  afterMs = saveAfterMsOf(following.consumer),
): Promise<void> => {
  hasPassed(following, to)
  if (performance.now() - following.savedAt >= afterMs) await saveOnly(following, to)
}

/** Does something together with the move of the checkpoint, or throws if that is no longer where it was. */
export const save = async <Result>(
  following: Following,
  to: Position | undefined,
  work: (db: PoolClient, last: Sender) => Promise<Result>,
): Promise<Result> => {
  const { consumer, saved } = following
  const workAndMove = async (db: PoolClient) => {
    const statements: QueryConfig[] = []
    const result = await work(db, { query: async (statement) => statements.push(statement) })
    // The checkpoint is moved last: a process that stalls before it does not block another from moving it.
    const written = statements.map(async (each) => db.query(each))
    const moving = moveCheckpoint(db, consumer.name, saved, to)
    const outcomes = await Promise.allSettled([...written, moving])
    // Of what was sent together, the first to fail is why the others did.
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed) throw failed.reason
    if (!(await moving)) throw stale(following)
    return result
  }
  // After a crash, lost work is repeated, because its checkpoint is lost with it.
  const result = await transaction(consumer.pool, workAndMove, { isRepeatable: true })
  hasSaved(following, to)
  return result
}

/** Writes a change, which moves the checkpoint itself. How many bytes were sent. */
export const saveChange = async (following: Following, to: Position, change: Change): Promise<number> => {
  const bytes = await write(following, following.consumer.pool, to, change)
  hasSaved(following, to)
  return bytes
}

const write = async (
  following: Following,
  db: Pool | PoolClient,
  to: Position,
  { statement }: Change,
): Promise<number> => {
  const query = statement(moveOf(following.consumer.name, following.saved, to))
  const { rowCount } = await db.query(query)
  if (rowCount !== 1) throw stale(following)
  return bytesOf(query)
}

const bytesOf = ({ values = [] }: QueryConfig): number =>
  values.reduce((bytes: number, value: unknown) => bytes + (Buffer.isBuffer(value) ? value.length : 0), 0)

/** Sets records aside with the move of the checkpoint. */
export const saveUnhandled = async (
  following: Following,
  to: Position | undefined,
  unhandled: readonly Unhandled[],
): Promise<void> => {
  await save(following, to, (db) => setAside(db, following.consumer.name, unhandled))
  await reportUnhandled(following, unhandled)
}

/** The same with a change, which moves the checkpoint itself. How many bytes were sent. */
export const saveUnhandledAndChange = async (
  following: Following,
  to: Position,
  unhandled: readonly Unhandled[],
  change: Change,
): Promise<number> => {
  const { name, pool } = following.consumer
  const setAsideAndWrite = async (db: PoolClient): Promise<number> => {
    await setAside(db, name, unhandled)
    return write(following, db, to, change)
  }
  const bytes = await transaction(pool, setAsideAndWrite, { isRepeatable: true })
  hasSaved(following, to)
  await reportUnhandled(following, unhandled)
  return bytes
}

/** The events that do not wait for a record that is set aside. */
export const openOf = async (
  { consumer, setAside }: Following,
  events: readonly RecordedEvent[],
): Promise<readonly RecordedEvent[]> => (setAside > 0 ? withoutWaiting(consumer.pool, consumer.name, events) : events)

export const countAside = async (following: Following): Promise<void> => {
  const { name, pool, metrics } = following.consumer
  following.setAside = await countSetAside(pool, name)
  metrics?.setAside.set({ consumer: name }, following.setAside)
  following.callbacks.setAside(following.setAside)
}

/** Says which records were set aside, once that is saved. */
export const reportUnhandled = async (following: Following, unhandled: readonly Unhandled[]): Promise<void> => {
  if (unhandled.length === 0) return
  logSetAside(following.consumer.log, following.consumer.name, unhandled)
  await countAside(following)
}
