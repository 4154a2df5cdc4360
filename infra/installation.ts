import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { ClientBase, Pool } from 'pg'
import { z } from 'zod'
import type { NewEvent, Position } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { BadConfiguration } from './config.ts'
import { CannotUnseal } from './crypto/aead.ts'
import type { Keys } from './crypto/keys.ts'
import { seal, unseal } from './crypto/seal.ts'
import { LogUnavailable, type EventLog } from './event-log/event-log.ts'
import { derivedId } from './ids.ts'
import { sql, transaction } from './postgres/postgres.ts'

/** The log is no longer the one that this process began with. The message is one line that says what to do. */
export class LogExchanged extends OwnError {
  override readonly name = 'LogExchanged'
}

type Parts = {
  readonly pool: Pool
  readonly keys: Pick<Keys, 'sealing'>
  /** As it is stored: the keys of the database may not fit. */
  readonly storedLog: Pick<EventLog, 'append' | 'read' | 'head' | 'end'>
  /** True where the events are in the database. */
  readonly isLogHere: boolean
}

/** A log and a database that belong together. */
export type Installation = {
  readonly id: string
  /** The log has reached at least this. */
  readonly reached: Position | undefined
}

const stream = 'installation-coverstream'
const checkText = 'Coverstream'
const place = ['installation']
const lock = 7_236_018_451

const Begun = z.object({ installation_id: z.uuid(), check_value: z.string() })

/** Facts about both before anything is written. */
export type Found = {
  /** The ids that they name. */
  readonly ofDatabase: string | undefined
  readonly ofLog: string | undefined
  /** True where the master key opens what the log holds of the installation's first day. */
  readonly isOurKey: boolean
  /** True where any consumer of this database has begun to read the log. */
  readonly hasConsumers: boolean
  /** The furthest position that one of them has read, and where the log ends. */
  readonly furthest: Position | undefined
  readonly end: Position | undefined
  /** True where the log holds nothing but, at most, the mark of its installation. */
  readonly isLogNew: boolean
  readonly isLogHere: boolean
}

/** Decides if log and database belong together: `begin` when neither says whose it is, `adopt` when only the log does. */
export const fitOf = (found: Found): 'same' | 'begin' | 'adopt' | BadConfiguration => {
  const { ofDatabase, ofLog, isOurKey, hasConsumers, furthest, end, isLogNew, isLogHere } = found
  const variable = isLogHere ? 'DATABASE_URL' : 'EVENTSTOREDB_URL'
  if (ofDatabase !== undefined && ofLog !== undefined && ofDatabase !== ofLog)
    return new BadConfiguration(
      `${variable}: the log is that of the installation ${ofLog}, the database that of ${ofDatabase}; name a log and a database that belong together`,
    )
  if (ofDatabase !== undefined && ofLog === undefined)
    return new BadConfiguration(
      `${variable}: the log there is not that of the database, the installation ${ofDatabase}: it is empty or another one; ${restoring}`,
    )
  if (furthest !== undefined && furthest > (end ?? ''))
    return new BadConfiguration(
      `${variable}: the log ends at ${end ?? 'its beginning'}, but the database has read up to ${furthest}: the log was emptied, or restored from an earlier backup; ${restoring}`,
    )
  if (ofDatabase !== undefined) return 'same'
  if (ofLog === undefined) return hasConsumers || isLogNew || isLogHere ? 'begin' : unreadLog(undefined)
  return isLogHere || (isOurKey && (hasConsumers || isLogNew)) ? 'adopt' : unreadLog(ofLog)
}

const restoring = 'name the right one, or restore both from the same backup (see docs/operate.md)'

const unreadLog = (ofLog: string | undefined) =>
  new BadConfiguration(
    `DATABASE_URL: the database has no part in the log at EVENTSTOREDB_URL${ofLog === undefined ? '' : `, that of the installation ${ofLog}`}; name the database and the MASTER_KEY that belong to it, or an empty EventStoreDB`,
  )

/**
 * Compares the log with the database, and at the first start of an installation, new or of a version before, writes its id
 * into both. Throws `BadConfiguration` when they do not belong together; nothing is written then. Processes that start at
 * the same time do so one after the other.
 */
export const checkInstallation = ({ pool, keys, storedLog, isLogHere }: Parts): Promise<Installation> =>
  transaction(pool, async (db) => {
    await db.query(sql`select pg_advisory_xact_lock(${lock})`)
    const inDatabase = await findInDatabase(db)
    const [begun, end, head] = await Promise.all([findBegun(storedLog), storedLog.end(), storedLog.head()])
    const fit = fitOf({
      ...inDatabase,
      ofLog: begun?.installation_id,
      isOurKey: begun !== undefined && opens(keys, begun.check_value),
      end,
      isLogNew: head === begun?.position,
      isLogHere,
    })
    if (fit instanceof BadConfiguration) throw fit
    const id = inDatabase.ofDatabase ?? begun?.installation_id ?? randomUUID()
    if (fit === 'begin') await begin(storedLog, keys, id)
    if (fit !== 'same') await db.query(sql`insert into installation (id) values (${id})`)
    return { id, reached: end ?? inDatabase.furthest }
  })

/** A consumer that found an empty log stands at its beginning, which is all zeros: it has read nothing. */
const findInDatabase = async (db: ClientBase): Promise<Pick<Found, 'ofDatabase' | 'hasConsumers' | 'furthest'>> => {
  const { rows } = await db.query<{ id: string | null; has_consumers: boolean; furthest: Position | null }>(`
    select (select id from installation) as id, exists (select from consumer_checkpoint) as has_consumers,
      (select max(position collate "C") from consumer_checkpoint where position ~ '[1-9]') as furthest`)
  return {
    ofDatabase: rows[0]?.id ?? undefined,
    hasConsumers: rows[0]?.has_consumers ?? false,
    furthest: rows[0]?.furthest ?? undefined,
  }
}

const findBegun = async (log: Pick<EventLog, 'read'>) => {
  const [first] = await log.read(stream, { limit: 1 })
  return first && { ...Begun.parse(first.data), position: first.position }
}

const opens = (keys: Pick<Keys, 'sealing'>, check: string): boolean => {
  try {
    return unseal(keys, check, place) === checkText
  } catch (error) {
    if (error instanceof CannotUnseal) return false
    throw error
  }
}

const begin = async (log: Pick<EventLog, 'append'>, keys: Pick<Keys, 'sealing'>, id: string): Promise<void> => {
  const event: NewEvent = {
    id: derivedId('installation', id),
    type: 'InstallationBegun',
    schema_version: 1,
    data: { installation_id: id, check_value: seal(keys, checkText, place) } satisfies z.infer<typeof Begun>,
    metadata: {
      organisation_id: null,
      actor: { type: 'system', id: 'installation' },
      correlation_id: id,
      causation_id: null,
      occurred_at: new Date().toISOString(),
    },
  }
  const { outcome } = await log.append(stream, 'no_stream', [event])
  // Another database has named the log at the same moment.
  if (outcome === 'conflict') throw unreadLog(undefined)
}

type Watching = Installation & {
  readonly storedLog: Pick<EventLog, 'read' | 'end'>
  readonly signal: AbortSignal
  readonly everyMs?: number
  readonly againMs?: number
}

/** The log, which takes nothing more once it is known to be another: what asks is answered 503, and the process ends. */
export const untilExchanged = (log: EventLog, watching: Promise<void>): EventLog => {
  let isExchanged = false
  // Nobody waits for it: its failure ends the process.
  void watching.catch((error: unknown) => {
    isExchanged = true
    throw error
  })
  return {
    ...log,
    append: async (...append) => {
      if (isExchanged) throw new LogUnavailable('The log is no longer that of this installation.')
      return log.append(...append)
    },
  }
}

/** A node that has just lost its leadership may answer from before; not for so long. */
const sure = 5

/**
 * Looks again and again whether the log is still the one that the process began with, and has not become shorter: what is
 * appended to another would never be read. Throws `LogExchanged` when it is not. While the log is away, others say so.
 */
export const watchInstallation = async (watching: Watching): Promise<void> => {
  const { id, storedLog, signal, everyMs = 10_000, againMs = 1_000 } = watching
  let { reached } = watching
  let times = 0
  while (!signal.aborted) {
    await pause(times > 0 ? againMs : everyMs, undefined, { signal, ref: false }).catch(() => undefined)
    const found = await Promise.all([findBegun(storedLog), storedLog.end()]).catch(() => undefined)
    if (!found) continue
    const [begun, end] = found
    const isOther = begun?.installation_id !== id
    times = isOther || (reached !== undefined && reached > (end ?? '')) ? times + 1 : 0
    if (times === sure)
      throw new LogExchanged(
        isOther
          ? `The log is no longer that of the installation ${id}; ${restoring}.`
          : `The log ends at ${end ?? 'its beginning'}, but was read up to ${reached}: it was emptied, or restored from an earlier backup; ${restoring}.`,
      )
    if (end !== undefined && times === 0) reached = end
  }
}
