import type { Pool } from 'pg'
import type { Position } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import {
  findCheckpoint,
  lockCheckpoint,
  preparing,
  removeCheckpoint,
  resetCheckpoint,
  tableExists,
  type Checkpoint,
  type ConsumerDescription,
} from '#infra/consumers/checkpoint.ts'
import { isTransient } from '#infra/consumers/failures.ts'
import type { ConsumerParts } from '#infra/consumers/consumer-type.ts'
import { countSetAside, replaceSetAside } from '#infra/consumers/set-aside.ts'
import { transaction } from '#infra/postgres/postgres.ts'
import { retry } from '#infra/retry.ts'
import { fillingOf } from './filling.ts'
import { defaultLagMs, history } from './history.ts'
import { takeOverPlaces } from './place.ts'
import type { SomeProjection } from './projection.ts'
import { besideOf, isShown, lockShown, removeEmptySchemas, removeShown } from './shown-beside.ts'
import { tableOf } from './table.ts'

/** The progress of a rebuild, in the units of the log. */
export type RebuildProgress = { readonly done: number; readonly total: number }

export type RebuildOptions = {
  readonly report?: (progress: RebuildProgress) => void
  /** Nothing is done unless the table in use is of another version, or of this one. */
  readonly onlyIf?: 'outdated' | 'current'
  /** Time limit for a reader of the log that is behind the log to reach its end. */
  readonly lagMs?: number
}

type Parts = Pick<ConsumerParts, 'eventLog' | 'pool' | 'leases' | 'signal' | 'log'>

const describe = ({ name, version, categories, awaited }: SomeProjection): ConsumerDescription => ({
  name,
  version,
  categories,
  awaited: awaited !== 'never',
})

/** Makes the table of a projection that has none, to be filled from the first event. The version of the table in use. */
export const ensureTable = async (projection: SomeProjection, pool: Pool): Promise<number> => {
  const table = tableOf(projection)
  return transaction(pool, async (db) => {
    await preparing(db)
    const stored = await findCheckpoint(db, projection.name)
    const exists = await tableExists(db, table.name)
    if (stored && exists) return stored.version
    if (exists)
      throw new OwnError(`There is a table "${projection.name}" that no projection has made. Remove or rename it.`)
    await db.query(`${table.create}; ${table.createIndexes}`)
    const { version } = await resetCheckpoint(db, describe(projection), undefined)
    return version
  })
}

// While the swap waits for the table or holds it, all queries wait: so it gives up soon and retries.
export const lockMs = 200
const swapMs = 2_000

/** The swap could not be made, or not in time, and was undone: it is tried again after the rest has been applied. */
class NotSwapped extends OwnError {
  override readonly name = 'NotSwapped'
}

/**
 * Rebuilds the table of a projection from the first event, next to the one in use, which serves all queries and is kept
 * up to date meanwhile. When the new one has come as far, at least to the end that the log had at the beginning, it takes
 * the place of the old one in one transaction. A rebuild that is ended in the middle leaves a table that the next one
 * removes. A record with an event that cannot be folded is set aside in the new table. False: nothing was to be done. Rejects
 * if the signal is aborted.
 */
export const rebuild = async (
  projection: SomeProjection,
  parts: Parts,
  { report, onlyIf, lagMs = defaultLagMs }: RebuildOptions = {},
): Promise<boolean> => {
  const { pool, eventLog, leases, log } = parts
  const { name, version } = projection
  await ensureTable(projection, pool)
  const lease = await leases.take(`rebuild ${name}`, parts.signal)
  if (!lease) throw parts.signal.reason
  const signal = AbortSignal.any([parts.signal, lease.signal])

  const inUse = tableOf(projection)
  // What stands beside the one in use already is put in its place.
  const isBeside = onlyIf === 'outdated' && (await isShown(pool, projection))
  const beside = isBeside ? besideOf(projection) : { suffix: '__rebuild', consumer: `${name} (rebuild)` }
  const filling = fillingOf(projection, beside, { pool, eventLog, signal })
  const { table: next, rebuilt, current } = filling
  const fill = async (begun: Checkpoint) =>
    filling.fill(begun, { lagMs, report: report && (await meter(parts, report)) })

  const swap = async (begun: Checkpoint, filled: Position | undefined) => {
    const deadline = AbortSignal.timeout(swapMs)
    const swapped = transaction(pool, async (db) => {
      await db.query(`set local lock_timeout = ${lockMs}`)
      await lockShown(db, projection)
      await db.query(`lock table ${inUse.name} in access exclusive mode`)
      const left = (await lockCheckpoint(db, name))?.position
      current(begun, await lockCheckpoint(db, beside.consumer))
      // The last events that only the table in use has: it is locked now, so it cannot change.
      const range = { after: filled, upTo: left, signal: AbortSignal.any([signal, deadline]) }
      for await (const { events } of history(eventLog, projection, range))
        await rebuilt.apply(db, events).catch((cause: unknown) => {
          throw new NotSwapped('The last events could not be applied together.', { cause })
        })
      const isFilledBeyond = left === undefined || (filled !== undefined && filled > left)
      const upTo = isFilledBeyond ? filled : left
      // What is shown already has its places.
      if (!isBeside) await takeOverPlaces(db, projection, { inUse, next, upTo })
      await replaceSetAside(db, name, beside.consumer)
      await removeShown(db, projection, beside)
      await db.query(`drop table ${inUse.name}; alter table ${next.name} rename to "${name}"`)
      await removeCheckpoint(db, beside.consumer)
      signal.throwIfAborted()
      await resetCheckpoint(db, describe(projection), upTo)
    })
    await swapped.catch((error: unknown) => {
      throw deadline.aborted && !signal.aborted ? new NotSwapped('The swap took too long.', { cause: error }) : error
    })
  }

  try {
    const { version: found } = (await findCheckpoint(pool, name)) ?? {}
    if (onlyIf !== undefined && (found === version) !== (onlyIf === 'current')) return false
    log.info({ projection: name, from_version: found, to_version: version }, 'projection is being rebuilt')
    const begun = await retryTransient(isBeside ? filling.goOn : filling.begin, signal)
    await retryTransient(async () => {
      await swap(begun, await fill(begun))
    }, signal)
    await removeEmptySchemas(pool)
    log.info({ projection: name, version, set_aside: await countSetAside(pool, name) }, 'projection was rebuilt')
    return true
  } finally {
    await lease.release()
  }
}

export const retryTransient = <Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> =>
  retry(work, {
    isTransient: (error) => isTransient(error) || error instanceof NotSwapped,
    delayMaximumMs: 5_000,
    signal,
  })

/** Reports positions as parts of the log between its first event and its last. */
const meter = async ({ eventLog }: Parts, report: (progress: RebuildProgress) => void) => {
  const [first] = await eventLog.readAll({ limit: 1 })
  const start = first ? eventLog.measure(first.position) : 0
  const measured = (position: Position | undefined) => (position ? eventLog.measure(position) - start + 1 : 0)
  let total = measured(await eventLog.head())
  return async (position: Position) => {
    const done = Math.max(0, measured(position))
    if (done > total) total = Math.max(done, measured(await eventLog.head()))
    report({ done, total })
  }
}
