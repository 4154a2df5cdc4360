import { globSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { z } from 'zod'
import {
  fromStored,
  Metadata,
  type EventOf,
  type EventShapes,
  type Json,
  type Position,
  type RecordedEvent,
} from '#domain/event.ts'

const Data = z.record(z.string(), z.unknown())

const Sample = z.strictObject({
  event: z.strictObject({
    id: z.uuid(),
    type: z.string(),
    schema_version: z.int().min(1),
    stream: z.string(),
    revision: z.int().min(0),
    position: z
      .string()
      .regex(/^\d{20}$/)
      .transform((position) => position as Position),
    recorded_at: z.iso.datetime().transform((instant) => new Date(instant)),
    metadata: Metadata.strict(),
    data: Data,
  }),
  reads_as: Data.optional(),
})

export type StoredSample = {
  readonly name: string
  readonly event: RecordedEvent
  /** The data in its newest version. */
  readonly readsAs: Json
}

const folder = resolve(import.meta.dirname, 'samples')

const readSample = (file: string): StoredSample => {
  const { event, reads_as } = Sample.parse(JSON.parse(readFileSync(resolve(folder, file), 'utf8')))
  return { name: basename(file, '.json'), event, readsAs: reads_as ?? event.data }
}

/**
 * One event of every type and version, as it was stored (personal data in plain text, as the log gives it to its readers),
 * in the order in which they could have happened.
 */
export const samples: readonly StoredSample[] = globSync('*.json', { cwd: folder })
  .map(readSample)
  .toSorted((one, other) => (one.event.position < other.event.position ? -1 : 1))

export const sampleOf = (type: string, version = 1): RecordedEvent => {
  const sample = samples.find(({ name }) => name === `${type}.v${version}`)
  if (!sample) throw new Error(`There is no sample of ${type} in version ${version}.`)
  return sample.event
}

/** An event as it is read from a sample of this version. */
export const sampleEvent = <Shapes extends EventShapes, Type extends keyof Shapes & string>(
  shapes: Shapes,
  type: Type,
  version = 1,
) => fromStored(shapes, sampleOf(type, version)) as Extract<EventOf<Shapes>, { readonly type: Type }>
