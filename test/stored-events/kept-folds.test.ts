import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { categoryOf, fromStored, type EventShapes, type RecordedEvent } from '#domain/event.ts'
import { membershipEvents } from '#domain/loyalty/events.ts'
import { evolveState, noMembership } from '#domain/loyalty/membership-state.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { reasonOf } from '#infra/reason.ts'
import type { Fold, LiveFolds } from '#infra/consumers/live-folds.ts'
import type { FoldState } from '#infra/consumers/fold-snapshots.ts'
import { followSetUp } from '../../command-api/command-api.ts'
import { snapshotVersion } from '../../command-api/loyalty/snapshots.ts'
import { capabilities } from '../../delivery-worker/capabilities.ts'
import { makeKnowledge, plannedFrom } from '../../delivery-worker/known.ts'
import { planner } from '../../delivery-worker/planner.ts'
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
type Kept = z.infer<typeof Kept>

const keptOf = (version: number, after: ReadonlyMap<string, unknown>): Kept =>
  Kept.parse(JSON.parse(JSON.stringify({ version, after: Object.fromEntries(after) })))

/** What of some samples a function makes, by their names. */
const foldSamples = (isOwn: (event: RecordedEvent) => boolean, fold: (event: RecordedEvent) => unknown) =>
  new Map(samples.flatMap(({ name, event }) => (isOwn(event) ? [[name, fold(event)] as const] : [])))

/** The entries of a state, each under the name of its map and its key. */
const entriesOf = (state: FoldState): ReadonlyMap<string, string> => {
  const maps: Readonly<Record<string, Map<string, unknown>>> = state instanceof Map ? { '': state } : state
  return new Map(
    Object.entries(maps).flatMap(([name, map]) =>
      [...map].map(([key, value]) => [`${name} ${key}`.trim(), JSON.stringify(value)] as const),
    ),
  )
}

type AnyFold = Fold<EventShapes, FoldState>

const keptByFold = ({ version, categories, events, apply }: AnyFold, state: FoldState): Kept => {
  const after = foldSamples(
    ({ stream, type }) => categories.includes(categoryOf(stream)) && Object.hasOwn(events, type),
    (recorded) => {
      const before = entriesOf(state)
      apply(state, fromStored(events, recorded), recorded)
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

/** Every live fold of a process that has them all. */
const liveFolds = async (): Promise<readonly (readonly [name: string, kept: Kept])[]> => {
  const followed: (readonly [string, Kept])[] = []
  const folds: Pick<LiveFolds, 'follow'> = {
    follow: async (fold, state) => {
      followed.push([fold.name, keptByFold(fold as unknown as AnyFold, state)])
      return state
    },
  }
  const eventLog = { read: async () => [] }
  // Following asks nothing else of them.
  await followSetUp({ folds: folds as LiveFolds, eventLog: eventLog as unknown as EventLog })
  return followed
}

const keptOfMemberships = (): Kept => {
  let state = noMembership
  const isOwn = ({ stream }: RecordedEvent) => categoryOf(stream) === 'membership'
  const fold = (recorded: RecordedEvent) =>
    (state = evolveState(state, fromStored(membershipEvents, recorded), recorded.metadata))
  return keptOf(snapshotVersion, foldSamples(isOwn, fold))
}

const keptByPlanner = (): Kept => {
  const { categories, types } = plannedFrom(capabilities)
  const knowledge = makeKnowledge(capabilities, [])
  const isOwn = ({ stream, type }: RecordedEvent) => categories.includes(categoryOf(stream)) && types.includes(type)
  return keptOf(
    planner.version,
    foldSamples(isOwn, (recorded) => {
      try {
        const { kind, type, facts } = knowledge.learn(recorded)
        return { kind, type, facts }
      } catch (error) {
        // Some samples are of a record that an earlier one has removed.
        return reasonOf(error)
      }
    }),
  )
}

const fileOf = (name: string) => resolve(import.meta.dirname, 'kept', `${name.replaceAll(' ', '_')}.json`)

const recordedOf = (name: string): Kept | undefined =>
  existsSync(fileOf(name)) ? Kept.parse(JSON.parse(readFileSync(fileOf(name), 'utf8'))) : undefined

/** The part that was recorded: a new event changes nothing for the events that there were before. */
const knownPart = ({ version, after }: Kept, recorded: Kept): Kept => ({
  version,
  after: Object.fromEntries(Object.entries(after).filter(([name]) => Object.hasOwn(recorded.after, name))),
})

const isRecording = process.env['RECORD_FOLDS'] === '1'

const all = [...(await liveFolds()), ['memberships', keptOfMemberships()] as const]

test.each(all)('what is kept of %s is what was recorded for its version', (name, kept) => {
  const recorded = recordedOf(name)

  if (recorded && recorded.version >= kept.version)
    expect(
      knownPart(kept, recorded),
      `${name} makes something else of the same events: raise its version above ${recorded.version}, then npm run record-folds.`,
    ).toEqual(recorded)
  if (isRecording) writeFileSync(fileOf(name), `${JSON.stringify(kept, null, 2)}\n`)
  else
    expect(kept, 'The version or an event is new: npm run record-folds, and look at what it has written.').toEqual(
      recorded,
    )
})

test('what the planner of deliveries learns of the stored events is what it has learned of them before', () => {
  const name = 'deliveries'
  const kept = keptByPlanner()

  if (isRecording) writeFileSync(fileOf(name), `${JSON.stringify(kept, null, 2)}\n`)
  else
    expect(
      kept,
      'What was learned before is never learned again: read it in its former form as well, or learn it anew in a migration. Then npm run record-folds.',
    ).toEqual(recordedOf(name))
})
