import type { ClientBase } from 'pg'
import type { Position } from '#domain/event.ts'
import {
  findCheckpoint,
  moveCheckpoint,
  moveCheckpointOnly,
  resetCheckpoint,
  takeOverCheckpoint,
  type Checkpoint,
  type ConsumerDescription,
} from '#infra/consumers/checkpoint.ts'
import type { ConsumerParts } from '#infra/consumers/consumer-type.ts'
import { bisect, StaleCheckpoint } from '#infra/consumers/failures.ts'
import { forgetSetAside } from '#infra/consumers/set-aside.ts'
import type { Batch } from '#infra/event-log/event-log.ts'
import { transaction } from '#infra/postgres/postgres.ts'
import { rebuiltTable } from './rebuilt-table.ts'
import { history } from './history.ts'
import type { SomeProjection } from './projection.ts'
import { tableOf } from './table.ts'

/** A table next to the one in use, and the consumer that fills it. */
export type Beside = { readonly suffix: string; readonly consumer: string }

type Parts = Pick<ConsumerParts, 'pool' | 'eventLog'> & { readonly signal: AbortSignal }

type FillOptions = {
  readonly lagMs: number
  /** Told of each position that was reached. */
  readonly report?: ((position: Position) => Promise<void>) | undefined
}

/** Fills a table next to the one in use from the first event. A record with an event that cannot be folded is set aside there. */
export const fillingOf = (
  projection: SomeProjection,
  { suffix, consumer }: Beside,
  { pool, eventLog, signal }: Parts,
) => {
  const { name, version, categories } = projection
  const table = tableOf(projection, suffix)
  const described: ConsumerDescription = { name: consumer, version, categories, awaited: false }
  const rebuilt = rebuiltTable(projection, table, consumer)

  /** The position of what is filled, unless another one has begun. */
  const current = (begun: Checkpoint, found: Checkpoint | undefined): Checkpoint => {
    if (found?.generation === begun.generation) return found
    throw new StaleCheckpoint(`Another rebuild of ${name} has begun.`)
  }

  /** Applies what comes next, and moves the checkpoint behind it. */
  const store = async (checkpoint: Checkpoint, { events, position }: Batch): Promise<Checkpoint> => {
    let moved = checkpoint
    const save = async (to: Position, work: (db: ClientBase) => Promise<void>) => {
      await transaction(pool, async (db) => {
        // What the last transaction has left unsaved, that of the swap saves.
        await db.query('set local synchronous_commit = off')
        await work(db)
        if (!(await moveCheckpoint(db, consumer, moved, to))) current(checkpoint, undefined)
      })
      moved = { ...moved, position: to }
    }
    if (events.length > 0)
      await bisect(
        events,
        position,
        (some, to) => save(to, (db) => rebuilt.apply(db, some)),
        (event, error, to) => save(to, (db) => rebuilt.setAside(db, event, error)),
      )
    return moved
  }

  return {
    table,
    rebuilt,
    current,
    store,
    /** Moves the checkpoint alone, past what changes nothing here. */
    passOver: async (checkpoint: Checkpoint, to: Position): Promise<Checkpoint> => {
      if (!(await moveCheckpointOnly(pool, consumer, checkpoint, to))) current(checkpoint, undefined)
      return { ...checkpoint, position: to }
    },
    /** Makes the table, empty. What was there is removed. */
    begin: (): Promise<Checkpoint> =>
      transaction(pool, async (db) => {
        await forgetSetAside(db, consumer)
        await db.query(`drop table if exists ${table.name}; ${table.create}; ${table.createIndexes}`)
        return resetCheckpoint(db, described, undefined)
      }),
    /** Goes on with a table that was filled before. */
    goOn: (): Promise<Checkpoint> => transaction(pool, (db) => takeOverCheckpoint(db, consumer)),
    /** Applies everything up to the end of the log, at least as it is now. Returns the position up to which all is applied. */
    fill: async (begun: Checkpoint, { lagMs, report }: FillOptions): Promise<Position | undefined> => {
      let checkpoint = current(begun, await findCheckpoint(pool, consumer))
      let reached = checkpoint.position
      const range = { after: reached, upTo: await eventLog.head(), toTheEnd: true, lagMs, signal }
      for await (const batch of history(eventLog, projection, range)) {
        checkpoint = await store(checkpoint, batch)
        reached = batch.position
        await report?.(reached)
      }
      return reached
    },
  }
}
