import { retireOthers } from '#infra/consumers/checkpoint.ts'
import { consume, type Consuming, type ConsumerParts } from '#infra/consumers/consumer.ts'
import { Superseded } from '#infra/consumers/failures.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import type { Progress } from '#infra/consumers/progress.ts'
import { onceDatabaseAnswers } from '#infra/wait-for-store.ts'
import { changeOf, refoldEvents } from './fold.ts'
import { eventsAtOnce } from './history.ts'
import type { SomeProjection } from './projection.ts'
import { placesBehind } from './place.ts'
import { keepBeside } from './beside.ts'
import { ensureTable, rebuild } from './rebuild.ts'
import { tableOf } from './table.ts'

// Of a table that no command waits for, or seldom one: under load, larger batches cost less.
const restMs = 250
const shortRestMs = 25

// Of a table that deliveries wait for.
const saveAfterMs = 50

/** Commands wait for every projection, in `progress`. */
export type ProjectionParts = ConsumerParts & {
  readonly progress: Pick<Progress, 'passed' | 'forget'>
  readonly dataKeys?: Pick<DataKeys, 'forget'>
}

/**
 * Keeps the table of a projection up to date. A table of another version is first rebuilt next to the one in use, and stays
 * there while processes of another version are connected. When the table is rebuilt by another version later, in another
 * process, this one stops: the process that started last decides. While it rebuilds, its process is not ready: one of the
 * former version, which keeps the table in use up to date, is still needed.
 */
export const runProjection = (projection: SomeProjection, parts: ProjectionParts): Consuming => {
  const { name, version, categories, awaited, awaitedByDeliveries } = projection
  const table = tableOf(projection)
  let hasBegun = false
  let rebuiltSince: Date | undefined
  let waitsFor: readonly string[] | undefined

  const consuming = consume({
    ...parts,
    name,
    version,
    categories,
    types: Object.keys(projection.events),
    sharesRows: projection.sharesRows,
    ...(awaited === 'never' ? { restMs } : { awaitedIn: parts.progress }),
    ...(awaited === 'seldom' && { restMs: shortRestMs }),
    ...(awaitedByDeliveries && { saveAfterMs }),
    batchSize: eventsAtOnce,
    atOtherVersion: 'stop',
    prepare: async () => {
      const found = await ensureTable(projection, parts.pool)
      if (found !== version) {
        if (hasBegun) throw new Superseded(`Version ${found} of ${name} has taken over from version ${version}.`)
        rebuiltSince ??= new Date()
        waitsFor = undefined
        await keepBeside(projection, parts, {
          shown: () => {
            rebuiltSince = undefined
          },
          waitsFor: (others) => {
            waitsFor = others
          },
        })
        await rebuild(projection, parts, { onlyIf: 'outdated' })
      }
      waitsFor = undefined
      // Or another process has rebuilt it, while this one was told that its lease was lost.
      rebuiltSince = undefined
      hasBegun = true
    },
    changeOf: (events, setEventAside, known) =>
      changeOf(parts.pool, projection, table, events, { setEventAside, known }),
    refold: async (pages, db, writer, setEventAside, upTo) => {
      const behind = projection.place && (await placesBehind(db, table, upTo))
      return refoldEvents(db, projection, table, pages, { writer, setEventAside, behind })
    },
  })

  return {
    ...consuming,
    status: () => {
      const { problem, ...status } = consuming.status()
      // What went wrong before is over once this version is kept beside.
      if (waitsFor) return { ...status, beside: keptBeside(version, waitsFor) }
      if (problem) return { ...status, problem }
      if (!rebuiltSince) return status
      return {
        ...status,
        problem: { since: rebuiltSince, reason: `the read model is being rebuilt as version ${version}` },
      }
    },
  }
}

const keptBeside = (version: number, others: readonly string[]): string =>
  others.length === 0
    ? `version ${version} is about to be put in use`
    : `version ${version} is kept beside the one in use, which others read: ${others.join(', ')}`

/** Runs all projections. Commands stop waiting for those that no longer exist; their tables stay. */
export const runProjections = async (
  projections: readonly SomeProjection[],
  parts: ProjectionParts,
): Promise<readonly Consuming[]> => {
  const names = projections.map(({ name }) => name)
  await onceDatabaseAnswers(parts, () => retireOthers(parts.pool, names))
  return projections.map((projection) => runProjection(projection, parts))
}
