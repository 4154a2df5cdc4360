import { expect, test } from 'vitest'
import { OwnError } from '#domain/own-error.ts'
import { consume } from '#infra/consumers/consumer.ts'
import { listSetAside, requestResume } from '#infra/consumers/set-aside.ts'
import { eventStoreDbLog } from '#infra/event-log/eventstoredb/eventstoredb-log.ts'
import { compareWithRebuild } from '../../projections/compare.ts'
import { rebuild } from '../../projections/rebuild.ts'
import { runProjection } from '../../projections/runner.ts'
import { startEventStoreDb } from '../eventstoredb/server.ts'
import { newEvent, tallies } from './tally.ts'
import { raised, soon, tallyId, fixture } from './fixture.ts'

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

test('over EventStoreDB, a record is set aside by one process, and resumed by the next from where it waits', async () => {
  await using the = await fixture()
  await using server = await startEventStoreDb()
  const log = eventStoreDbLog(server.url)
  let isMended = false
  const kept: string[] = []
  const append = async (number: number, ...amounts: readonly number[]) =>
    log.append(
      `tally-${tallyId(number)}`,
      'any',
      amounts.map((by) => newEvent(raised(by))),
    )
  const start = (name: string) => {
    const { run, stop } = the.makeProcess(name, log)
    const consuming = run((parts) =>
      consume({
        ...parts,
        name: 'keeper',
        version: 1,
        categories: ['tally'],
        react: async ({ stream, data }) => {
          if (Number(data['by']) < 0 && !isMended) throw new OwnError('less than nothing')
          kept.push(`${stream.slice(-1)}: ${String(data['by'])}`)
        },
      }),
    )
    return { consuming, stop }
  }
  await append(1, 1, -2, 3)
  await append(2, 4)
  const first = start('first')
  await soon(() => expect(first.consuming.status()).toMatchObject({ state: 'live', setAside: 1 }))
  const second = start('second')
  await soon(() => expect(second.consuming.status()).toMatchObject({ state: 'standing by' }))
  await append(2, 5)
  await soon(() => expect(kept).toEqual(['1: 1', '2: 4', '2: 5']))
  expect(await listSetAside(the.pool, 'keeper', 10)).toMatchObject([
    { record: `tally-${tallyId(1)}`, revision: 1, reason: 'less than nothing' },
  ])

  await first.stop()
  await append(1, 6)
  await append(2, 7)
  await soon(() => expect(second.consuming.status()).toMatchObject({ state: 'live', setAside: 1 }))
  await soon(() => expect(kept.slice(3)).toEqual(['2: 7']))
  isMended = true
  await requestResume(the.pool, 'keeper')

  await soon(() => expect(second.consuming.status()).toMatchObject({ setAside: 0 }))
  expect(kept.slice(4)).toEqual(['1: -2', '1: 3', '1: 6'])
  await second.stop()
  await log.close()
})
