import { expect, test } from 'vitest'
import { eventStoreDbLog } from '#infra/event-log/eventstoredb/eventstoredb-log.ts'
import { compareWithRebuild } from '../../projections/compare.ts'
import { rebuild } from '../../projections/rebuild.ts'
import { runProjection } from '../../projections/runner.ts'
import { startEventStoreDb } from '../eventstoredb/server.ts'
import { newEvent, tallies } from './tally.ts'
import { raised, tallyId, fixture } from './fixture.ts'

test('a read model follows EventStoreDB, is rebuilt from it, and is the same', async () => {
  await using the = await fixture()
  await using server = await startEventStoreDb()
  const log = eventStoreDbLog(server.url)
  const { run, parts, progress, stop } = the.makeProcess('following', log)
  run(() => runProjection(tallies, parts))
  const append = async (stream: string) => {
    const result = await log.append(stream, 'any', [newEvent(raised())])
    if (result.outcome !== 'appended') throw new Error('Somebody else appended.')
    return result.position
  }

  for (let number = 1; number <= 30; number++) {
    const position = await append(`tally-${tallyId(number % 7)}`)
    expect(await progress.wait('tally', position, 10_000)).toBe(true)
    await append(`other-${tallyId(number)}`)
    if (number % 10 === 0) await rebuild(tallies, parts)
  }

  expect(await compareWithRebuild(tallies, parts)).toEqual({ rows: 7, different: 0, differences: [] })
  const { rows } = await the.pool.query<{ total: number }>('select sum(total)::integer as total from tallies')
  expect(rows).toEqual([{ total: 30 }])
  await stop()
  await log.close()
})
