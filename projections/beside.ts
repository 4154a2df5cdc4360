import { fromStored, type Position, type RecordedEvent } from '#domain/event.ts'
import { findCheckpoint, preparing, type Checkpoint } from '#infra/consumers/checkpoint.ts'
import type { ConsumerParts } from '#infra/consumers/consumer-type.ts'
import type { Progress } from '#infra/consumers/progress.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { beyond, type Batch } from '#infra/event-log/event-log.ts'
import { transaction } from '#infra/postgres/postgres.ts'
import { settlesWithin } from '#infra/timeout.ts'
import { fillingOf } from './filling.ts'
import { defaultLagMs, eventsAtOnce, history } from './history.ts'
import { othersConnected } from './other-versions.ts'
import { takeOverPlaces } from './place.ts'
import type { SomeProjection } from './projection.ts'
import { lockMs, retryTransient } from './rebuild.ts'
import { erasing } from './erasing.ts'
import { ownStreams, refoldErased } from './refold-erased.ts'
import { besideOf, isShown, show } from './shown-beside.ts'
import { tableOf } from './table.ts'

/** The time without a connected process of another version: one that has lost its connections opens others. */
const goneMs = 5_000
const lookAgainMs = 500
const saveAfterMs = 50

const isErasure = ({ type }: RecordedEvent): boolean => Object.hasOwn(erasing, type)

type Parts = ConsumerParts & {
  readonly progress: Pick<Progress, 'passed' | 'forget'>
  readonly dataKeys?: Pick<DataKeys, 'forget'>
}

type Callbacks = {
  /** Its readers have it: this process has nothing to catch up with. */
  readonly shown: () => void
  /** Processes of other versions that are waited for. */
  readonly waitsFor: (others: readonly string[]) => void
}

/**
 * Keeps a read model of a new version beside the one in use, for processes of this version, as long as processes of another
 * one are connected to the database: they would take its rows for those that they know. Resolves when the new one can be put
 * in use: all of those have gone, or another process has done so. Whoever takes this over goes on where it was.
 */
export const keepBeside = async (projection: SomeProjection, parts: Parts, callbacks: Callbacks): Promise<void> => {
  const { pool, leases, log } = parts
  const { name, version } = projection
  const isShownHere = () => isShown(pool, projection)
  const others = await othersConnected(pool)
  if (others.length === 0 && !(await isShownHere())) return
  const tellIfShown = async () => {
    if (await isShownHere()) callbacks.shown()
  }
  const lease = await leases.take(`read model ${besideOf(projection).consumer}`, parts.signal, () => {
    void tellIfShown().catch(() => undefined)
  })
  if (!lease) throw parts.signal.reason
  try {
    const inUse = (await findCheckpoint(pool, name))?.version
    if (inUse === version) return
    log.info(
      { projection: name, from_version: inUse, to_version: version, waits_for: others },
      'projection is kept beside the one in use until no process of another version is connected',
    )
    await keep(projection, { ...parts, signal: AbortSignal.any([parts.signal, lease.signal]) }, callbacks)
  } finally {
    await lease.release()
    parts.progress.forget(besideOf(projection).consumer)
  }
}

const keep = async (projection: SomeProjection, parts: Parts, callbacks: Callbacks): Promise<void> => {
  const { pool, eventLog, signal, progress } = parts
  const { categories, events } = projection
  const { consumer } = besideOf(projection)
  const filling = fillingOf(projection, besideOf(projection), parts)
  const wasShown = await isShown(pool, projection)
  // People who were erased before are empty already in what is filled from here on.
  const erasedBefore = wasShown ? undefined : await eventLog.head()
  const begun = await retryTransient(wasShown ? filling.goOn : filling.begin, signal)
  let reached = await filling.fill(begun, { lagMs: defaultLagMs })
  await forgetErased(projection, parts, filling.table, { after: erasedBefore, upTo: reached })
  if (!wasShown) await retryTransient(() => showFilled(projection, parts, filling.table, reached), signal)
  callbacks.shown()

  let checkpoint: Checkpoint = await filling.goOn()
  let savedAt = performance.now()
  const savePassed = async () => {
    if (reached === undefined || reached === checkpoint.position || performance.now() - savedAt < saveAfterMs) return
    checkpoint = await filling.passOver(checkpoint, reached)
    savedAt = performance.now()
  }
  const pass = async (given: Batch) => {
    const batch = beyond(reached, given)
    const erasures = batch.events.filter(isErasure)
    const own = batch.events.filter(({ type }) => Object.hasOwn(events, type))
    checkpoint = await filling.store(checkpoint, { ...batch, events: own })
    reached = batch.position
    await savePassed()
    for (const each of erasures) await refoldStreams(projection, parts, filling.table, each)
    if (erasures.length > 0) checkpoint = await filling.goOn()
    progress.passed(consumer, categories, reached)
  }
  progress.passed(consumer, categories, reached)

  const mayBePutInUse = untilGone(projection, parts, callbacks)
  const ending = new AbortController()
  const batches = eventLog
    .subscribe({
      ...(reached !== undefined && { after: reached }),
      categories: [...new Set([...categories, 'erasure', 'record_erasure'])],
      types: [...new Set([...Object.keys(events), ...Object.keys(erasing)])],
      batchSize: eventsAtOnce,
      signal: AbortSignal.any([signal, ending.signal]),
    })
    [Symbol.asyncIterator]()
  try {
    for (;;) {
      const coming = batches.next()
      coming.catch(() => undefined)
      while (!(await settlesWithin(coming, lookAgainMs))) {
        await savePassed()
        if (await mayBePutInUse()) return
      }
      const next = await coming
      if (next.done) break
      await pass(next.value)
      if (await mayBePutInUse()) return
    }
  } finally {
    ending.abort()
    await batches.return?.().catch(() => undefined)
  }
  signal.throwIfAborted()
}

/** No process of another version has been connected for a while, or another process has put this version in use. */
const untilGone = ({ name, version }: SomeProjection, { pool }: Parts, callbacks: Callbacks) => {
  let checkedAt = -Infinity
  let goneSince: number | undefined
  return async (): Promise<boolean> => {
    const now = performance.now()
    if (now - checkedAt < lookAgainMs) return false
    checkedAt = now
    if ((await findCheckpoint(pool, name))?.version === version) return true
    const others = await othersConnected(pool)
    callbacks.waitsFor(others)
    goneSince = others.length > 0 ? undefined : (goneSince ?? now)
    return goneSince !== undefined && now - goneSince >= goneMs
  }
}

/** Rows shown before keep their place, in the table beside as in the one in use. */
const showFilled = (
  projection: SomeProjection,
  { pool }: Parts,
  next: ReturnType<typeof tableOf>,
  upTo: Position | undefined,
): Promise<void> =>
  transaction(pool, async (db) => {
    const inUse = tableOf(projection)
    await preparing(db)
    await db.query(`set local lock_timeout = ${lockMs}; lock table ${inUse.name} in share row exclusive mode`)
    await takeOverPlaces(db, projection, { inUse, next, upTo })
    await show(db, projection)
  })

const refoldStreams = async (
  projection: SomeProjection,
  parts: Parts,
  table: ReturnType<typeof tableOf>,
  recorded: RecordedEvent,
): Promise<void> => {
  const { streams } = fromStored(erasing, recorded)
  // Their keys are destroyed; whoever still remembers them would read as before.
  parts.dataKeys?.forget()
  for (const stream of ownStreams(projection, streams))
    await refoldErased(projection, { table, consumer: besideOf(projection).consumer }, stream, parts)
}

/** Takes the people and records out that were erased while the table was filled. */
const forgetErased = async (
  projection: SomeProjection,
  parts: Parts,
  table: ReturnType<typeof tableOf>,
  range: { readonly after: Position | undefined; readonly upTo: Position | undefined },
): Promise<void> => {
  const erasures = { ...projection, categories: ['erasure', 'record_erasure'], events: erasing }
  for await (const { events } of history(parts.eventLog, erasures, { ...range, signal: parts.signal }))
    for (const each of events) await refoldStreams(projection, parts, table, each)
}
