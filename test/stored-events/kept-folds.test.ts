import { expect, test } from 'vitest'
import { categoryOf, fromStored, type RecordedEvent } from '#domain/event.ts'
import { membershipEvents } from '#domain/loyalty/events.ts'
import { evolveState, noMembership } from '#domain/loyalty/membership-state.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { reasonOf } from '#infra/reason.ts'
import type { LiveFolds } from '#infra/consumers/live-folds.ts'
import { followSetUp } from '../../command-api/command-side.ts'
import { snapshotVersion } from '../../command-api/loyalty/snapshots.ts'
import { capabilities } from '../../delivery-worker/capabilities.ts'
import { makeKnowledge, plannedFrom } from '../../delivery-worker/planning/knowledge.ts'
import { planner } from '../../delivery-worker/planning/planner.ts'
import { liveFolds as domainFolds } from './live-folds.ts'
import { besideRecorded, besideVersion, foldSamples, keptByFold, keptOf, type Kept } from './kept.ts'

/** Every live fold of a process that has them all, but for those of the domain. */
const liveFolds = async (): Promise<readonly (readonly [name: string, kept: Kept])[]> => {
  const followed: (readonly [string, Kept])[] = []
  const folds: Pick<LiveFolds, 'follow'> = {
    follow: async (fold, state) => {
      if (!domainFolds.some((each) => Object.is(each.fold, fold))) followed.push([fold.name, keptByFold(fold, state)])
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

const all = [...(await liveFolds()), ['memberships', keptOfMemberships()] as const]

test.each(all)('what is kept of %s is what was recorded for its version', (name, kept) => {
  const { now, recorded, why } = besideVersion(name, kept)

  expect(now, `${name}: ${why}`).toEqual(recorded)
})

test('what the planner of deliveries learns of the stored events is what it has learned of them before', () => {
  const { now, recorded, why } = besideRecorded(
    'deliveries',
    keptByPlanner(),
    'What was learned before is never learned again: read it in its former form as well, or learn it anew in a migration. Then npm run record-folds.',
  )

  expect(now, `The planner: ${why}`).toEqual(recorded)
})
