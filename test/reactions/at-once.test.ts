import { expect, test } from 'vitest'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { runReactions } from '../../command-api/reactions/reaction.ts'
import { barrier, fixture, raised, soon, tallyId } from '../projections/fixture.ts'
import { valuesOf, whenTallyRaisedSetMirror, writerOn } from './fixture.ts'

test('a reaction that is slow for one stream is not slow for others, and each stream gets its events in order', async () => {
  await using the = await fixture()
  const [shared, own] = [tallyId(101), tallyId(102)]
  const mirrorOf = (tally: string) => (tally === tallyId(3) ? own : shared)
  // Tallies 1 and 2 have the same mirror.
  await the.append(1, raised(10))
  await the.append(2, raised(20))
  await the.append(3, raised(30))
  await the.append(1, raised(40))
  const released = barrier()
  const slow: EventLog = {
    ...the.eventLog,
    append: async (stream, ...append) => {
      if (stream === `mirror-${shared}`) await released.passed
      return the.eventLog.append(stream, ...append)
    },
  }

  const process = the.makeProcess()
  const started = runReactions([whenTallyRaisedSetMirror(writerOn(slow), { mirrorOf })], process.parts)
  for (const each of started) process.run(() => each)
  await soon(async () => expect(await valuesOf(the, own)).toEqual([30]))
  expect(await valuesOf(the, shared)).toEqual([])
  released.open()

  await soon(async () => expect(await valuesOf(the, shared)).toEqual([10, 20, 40]))
})
