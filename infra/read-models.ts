import { createHash } from 'node:crypto'
import { z } from 'zod'
import versions from './read-models.json' with { type: 'json' }

/**
 * The version of each read model that this version of the service makes and reads. Recorded from the projections by
 * `npm run record-folds`: whoever reads a table knows its version without knowing how it is made.
 */
export const readModelVersions: ReadonlyMap<string, number> = new Map(
  Object.entries(z.record(z.string(), z.int()).parse(versions)),
)

/** A mark of those versions. */
export const readModelsDigest = createHash('sha256')
  .update(JSON.stringify([...readModelVersions].map((each) => each.join(' ')).toSorted()))
  .digest('hex')
  .slice(0, 8)

/** Stands in the name of each connection, as `pg_stat_activity` shows it: who reads other versions has another mark. */
export const readModelsMark = `[read models ${readModelsDigest}]`

/** The name of a connection of the service, marked. */
export const withMark = (name: string): string =>
  name.startsWith('coverstream') && !name.includes(readModelsMark) ? `${name} ${readModelsMark}` : name

/** The first schema in which connections of this version look for tables: what others must not see yet is shown there. */
export const readModelsSchema = `read_models_${readModelsDigest}`

/** The consumer of a read model in another version than the one in use, and the suffix of its table's name. */
export const versionBeside = (name: string, version: number) => ({
  consumer: `${name} (version ${version})`,
  suffix: `__v${version}`,
})

/**
 * The consumers that keep the versions that we read up to date while they stand beside those in use, by the read models'
 * names.
 */
export const consumersBeside: ReadonlyMap<string, string> = new Map(
  [...readModelVersions].map(([name, version]) => [name, versionBeside(name, version).consumer]),
)
