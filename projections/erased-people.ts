import { setTimeout as pause } from 'node:timers/promises'
import { fromStored, type Position } from '#domain/event.ts'
import { findCheckpoint } from '#infra/consumers/checkpoint.ts'
import { consume, type Consuming, type ConsumerParts } from '#infra/consumers/consumer.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { dropReplaysOf } from './audit/replay-schemas.ts'
import { erasing } from './erasing.ts'
import type { SomeProjection } from './projection.ts'
import { ownStreams, refoldErased } from './refold-erased.ts'
import { tableOf } from './table.ts'

/** The consumer that takes the people who were erased out of the read models. */
export const erasedPeople = 'erased-people'

/** The consumer that takes the records that were erased out of the read models: an earlier version knows people alone. */
export const erasedRecords = 'erased-records'

const lookAgainMs = 100

type Parts = ConsumerParts & { readonly dataKeys: Pick<DataKeys, 'forget'> }

/** Does one thing after the other, also after one that failed. */
const oneByOne = () => {
  let last: Promise<unknown> = Promise.resolve()
  return <Result>(work: () => Promise<Result>): Promise<Result> => {
    const turn = last.then(work, work)
    last = turn
    return turn
  }
}

/** Folds the streams that told of an erased person again, in every read model, as a rebuild would: what was personal is empty. */
export const followErasedPeople = (projections: readonly SomeProjection[], parts: Parts): Consuming =>
  followErased(projections, parts, { name: erasedPeople, categories: ['erasure'] })

/** The same of a record that was erased by itself. */
export const followErasedRecords = (projections: readonly SomeProjection[], parts: Parts): Consuming =>
  followErased(projections, parts, { name: erasedRecords, categories: ['record_erasure'] })

const followErased = (
  projections: readonly SomeProjection[],
  parts: Parts,
  followed: { readonly name: string; readonly categories: readonly string[] },
): Consuming =>
  consume({
    ...parts,
    ...followed,
    version: 1,
    types: Object.keys(erasing),
    react: async (recorded, signal) => {
      const { streams } = fromStored(erasing, recorded)
      // Their keys are destroyed; whoever still remembers them would read as before.
      parts.dataKeys.forget()
      await dropReplaysOf(recorded.metadata.organisation_id, parts.pool)
      const touched = projections.flatMap((projection) => {
        const own = ownStreams(projection, streams)
        return own.length > 0 ? [{ projection, own }] : []
      })
      const { position } = recorded
      const inTurn = oneByOne()
      // None waits for another, which may be rebuilt for a long time.
      const ended = await Promise.allSettled(
        touched.map(async ({ projection, own }) =>
          refoldStreams(projection, own, position, { ...parts, inTurn, signal }),
        ),
      )
      const failure = ended.find((outcome) => outcome.status === 'rejected')
      if (failure) throw failure.reason
    },
  })

/** Waits until a read model shows everything up to a position. */
const untilPassed = async (
  { name, version }: SomeProjection,
  position: Position,
  { pool, signal }: Pick<Parts, 'pool' | 'signal'>,
): Promise<void> => {
  for (;;) {
    const checkpoint = await findCheckpoint(pool, name)
    if (checkpoint?.version === version && (checkpoint.position ?? '') >= position) return
    await pause(lookAgainMs, undefined, { signal })
  }
}

/** The table is of this version: not while a newer one is still being built. */
const isInUse = async ({ name, version }: SomeProjection, pool: Parts['pool']): Promise<boolean> =>
  (await findCheckpoint(pool, name))?.version === version

const refoldStreams = async (
  projection: SomeProjection,
  streams: readonly string[],
  position: Position,
  { pool, eventLog, leases, inTurn, signal: ending }: Parts & { readonly inTurn: ReturnType<typeof oneByOne> },
): Promise<void> => {
  const { name } = projection
  const table = tableOf(projection)
  const refold = async (signal: AbortSignal): Promise<void> => {
    await untilPassed(projection, position, { pool, signal })
    for (const stream of streams) await inTurn(async () => refoldStream(stream, signal))
  }
  // In turn with those of other read models: what is read in the transaction needs another connection, for the keys.
  const refoldStream = (stream: string, during: AbortSignal): Promise<void> =>
    refoldErased(projection, { table, consumer: name }, stream, { pool, eventLog, signal: during })

  // A table that is being rebuilt may have been filled with what is gone now: it is folded again when it is in use. The one
  // in use until then is not to show it meanwhile.
  let meanwhile: Promise<void> | undefined
  const lease = await leases.take(`rebuild ${name}`, ending, () => {
    meanwhile ??= isInUse(projection, pool)
      .then((inUse) => (inUse ? refold(ending) : undefined))
      .catch(() => undefined) // What could not be done then is done below.
  })
  await meanwhile
  if (!lease) throw ending.reason
  try {
    await refold(AbortSignal.any([ending, lease.signal]))
  } finally {
    await lease.release()
  }
}
