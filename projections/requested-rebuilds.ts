import type { ConsumerParts } from '#infra/consumers/consumer-type.ts'
import { isTransient } from '#infra/consumers/failures.ts'
import { repeatWhileLeased } from '#infra/consumers/leased-work.ts'
import {
  beginRebuild,
  finishRebuild,
  leaveRebuild,
  nextRebuild,
  reportRebuild,
} from '#infra/consumers/requested-rebuilds.ts'
import { readModelsDigest } from '#infra/read-models.ts'
import { reasonOf } from '#infra/reason.ts'
import type { SomeProjection } from './projection.ts'
import { rebuild, type RebuildProgress } from './rebuild.ts'

type Parts = Pick<ConsumerParts, 'eventLog' | 'pool' | 'leases' | 'signal' | 'log'> & {
  /** The time between two looks; tests wait less. */
  readonly pollMs?: number
}

const usualPollMs = 2_000
const reportEveryMs = 500

/** Writes how far a rebuild has come, now and then, one after the other: the rebuild does not wait for it. */
const reporting = ({ pool }: Parts, id: string) => {
  let writtenAt = -Infinity
  let writing: Promise<void> = Promise.resolve()
  return {
    report: (progress: RebuildProgress) => {
      if (performance.now() - writtenAt < reportEveryMs && progress.done < progress.total) return
      writtenAt = performance.now()
      writing = writing.then(() => reportRebuild(pool, id, progress)).catch(() => undefined)
    },
    settled: () => writing,
  }
}

const rebuildRequested = async (projection: SomeProjection, parts: Parts): Promise<void> => {
  const { pool, log, signal } = parts
  const { name } = projection
  const id = await beginRebuild(pool, name)
  if (id === undefined) return
  const { report, settled } = reporting(parts, id)
  let failure: string | null = null
  try {
    // Meanwhile a newer version may have taken its place: then it is for a process of that one.
    if (!(await rebuild(projection, parts, { report, onlyIf: 'current' }))) return
  } catch (error) {
    if (signal.aborted || isTransient(error)) {
      await leaveRebuild(pool, id).catch(() => undefined)
      throw error
    }
    log.error({ error, projection: name }, 'a rebuild that was asked for was given up')
    failure = reasonOf(error)
  } finally {
    await settled()
  }
  await finishRebuild(pool, id, failure)
}

/**
 * Rebuilds the read models for which operators have asked, one after the other: of all processes of this version one does. When it is
 * ended in the middle, the next one begins that rebuild again.
 */
export const followRebuildRequests = (
  projections: readonly SomeProjection[],
  { pollMs = usualPollMs, ...parts }: Parts,
): { readonly finished: Promise<void> } =>
  repeatWhileLeased({
    ...parts,
    name: `requested rebuilds ${readModelsDigest}`,
    turn: async (signal) => {
      const name = await nextRebuild(parts.pool, projections)
      const projection = projections.find((each) => each.name === name)
      if (!projection) return
      await rebuildRequested(projection, { ...parts, signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
    },
    restMs: () => pollMs,
  })
