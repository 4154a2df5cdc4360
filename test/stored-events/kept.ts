import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { isSameJson } from '#domain/canonical-json.ts'
import { z } from 'zod'
import { categoryOf, fromStored, type EventShapes, type RecordedEvent } from '#domain/event.ts'
import { isRecordedSample } from './recorded-samples.ts'
import { samples } from './samples.ts'

/**
 * What processes keep of the log outside the read models goes on from what they kept before: a snapshot of a live fold or
 * of a membership until its version is raised, and what the planner of deliveries has learned for ever. So what each makes
 * of the stored samples is recorded in `kept/`, as that of the projections is in `folds/`.
 */

const Kept = z.strictObject({
  version: z.int(),
  /** What is kept of whatever an event has changed, as it is after it. */
  after: z.record(z.string(), z.unknown()),
})
export type Kept = z.infer<typeof Kept>

export const keptOf = (version: number, after: ReadonlyMap<string, unknown>): Kept =>
  Kept.parse(JSON.parse(JSON.stringify({ version, after: Object.fromEntries(after) })))

/** What of some samples a function makes, by their names. */
export const foldSamples = (isOwn: (event: RecordedEvent) => boolean, fold: (event: RecordedEvent) => unknown) =>
  new Map(samples.flatMap(({ name, event }) => (isOwn(event) ? [[name, fold(event)] as const] : [])))

type FoldState = Map<string, unknown> | { readonly [name: string]: Map<string, unknown> }

/** The entries of a state, each under the name of its map and its key. */
const entriesOf = (state: FoldState): ReadonlyMap<string, string> => {
  const maps: Readonly<Record<string, Map<string, unknown>>> = state instanceof Map ? { '': state } : state
  return new Map(
    Object.entries(maps).flatMap(([name, map]) =>
      [...map].map(([key, value]) => [`${name} ${key}`.trim(), JSON.stringify(value)] as const),
    ),
  )
}

type LiveFold = {
  readonly name: string
  readonly version: number
  readonly categories: readonly string[]
  readonly events: EventShapes
  /** Each fold takes its own events and its own state. */
  readonly apply: (state: never, event: never, recorded: RecordedEvent) => void
}

export const keptByFold = ({ version, categories, events, apply }: LiveFold, state: FoldState): Kept => {
  const after = foldSamples(
    ({ stream, type }) => categories.includes(categoryOf(stream)) && Object.hasOwn(events, type),
    (recorded) => {
      const before = entriesOf(state)
      apply(state as never, fromStored(events, recorded) as never, recorded)
      const entries = entriesOf(state)
      const changed = [...entries].filter(([key, value]) => before.get(key) !== value)
      const removed = [...before.keys()].filter((key) => !entries.has(key))
      return Object.fromEntries([
        ...changed.map(([key, value]) => [key, JSON.parse(value) as unknown] as const),
        ...removed.map((key) => [key, null] as const),
      ])
    },
  )
  return keptOf(version, after)
}

const fileOf = (name: string) => resolve(import.meta.dirname, 'kept', `${name.replaceAll(' ', '_')}.json`)

const recordedOf = (name: string): Kept | undefined =>
  existsSync(fileOf(name)) ? Kept.parse(JSON.parse(readFileSync(fileOf(name), 'utf8'))) : undefined

/** The part that the recorded one must have: an event that is new changes nothing for those that there were before. */
const knownPart = ({ version, after }: Kept): Kept => ({
  version,
  after: Object.fromEntries(Object.entries(after).filter(([name]) => isRecordedSample(name))),
})

const isRecording = process.env['RECORD_FOLDS'] === '1'

/** What a test expects to be the same, and what it says where it is not. */
type Compared = { readonly now: Kept; readonly recorded: Kept | undefined; readonly why: string }

/** What is kept, beside what was recorded before; where the tests run to record it, it is what is recorded from now on. */
export const besideRecorded = (name: string, now: Kept, why: string): Compared => {
  if (isRecording) writeFileSync(fileOf(name), `${JSON.stringify(now, null, 2)}\n`)
  return { now, recorded: recordedOf(name), why }
}

/** The same for what has versions: something else made of the same events under the same version is not recorded. */
export const besideVersion = (name: string, now: Kept): Compared => {
  const recorded = recordedOf(name)
  if (recorded && recorded.version >= now.version && !isSameJson(knownPart(now), recorded)) {
    const why = `something else is made of the same events. Raise its version above ${recorded.version}, then run npm run record-folds.`
    return { now: knownPart(now), recorded, why }
  }
  const why = 'the version or an event is new. Run npm run record-folds, and look at what it has written.'
  return besideRecorded(name, now, why)
}
