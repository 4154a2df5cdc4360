import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { projectionsCommand } from '../../projections/commands.ts'
import type { SomeProjection } from '../../projections/projection.ts'
import { tallies, type TallyEvent } from './tally.ts'
import { raised, tallyId, fixture, type Fixture } from './fixture.ts'

const timid: SomeProjection = {
  ...tallies,
  name: 'timid',
  project: (row: never, event: TallyEvent, recorded, key: never) => {
    if (event.type === 'TallyRaised' && event.by < 0) throw new Error('less than nothing')
    return tallies.project(row, event, recorded, key)
  },
}

/** What a command answers on a terminal or elsewhere. */
const commanding = async (the: Fixture, isTTY: boolean, ...words: readonly string[]) => {
  const output = Object.assign(new PassThrough(), { isTTY })
  const code = await projectionsCommand(words, [tallies, timid], the.makeProcess().parts, output)
  output.end()
  return { code, text: Buffer.concat(await output.toArray()).toString() }
}

test('a rebuild says how far it is, line by line', async () => {
  await using the = await fixture()
  await the.append(1, raised(), raised())

  expect(await commanding(the, false, 'rebuild', 'all')).toEqual({
    code: 0,
    text: 'tallies 100 %\ntallies was rebuilt.\ntimid 100 %\ntimid was rebuilt.\n',
  })
})

test('a rebuild shows a bar on a terminal', async () => {
  await using the = await fixture()
  await the.append(1, raised())

  const { code, text } = await commanding(the, true, 'rebuild', 'tallies')

  expect(code).toBe(0)
  expect(text).toMatch(/tallies █+ 100 %/)
})

test('a rebuild that fails says at which event, and that nothing was changed', async () => {
  await using the = await fixture()
  await the.append(1, raised(-1))

  const { code, text } = await commanding(the, false, 'rebuild', 'all')

  expect(code).toBe(1)
  expect(text).toContain('tallies was rebuilt.')
  expect(text).toMatch(
    /timid was not rebuilt, and is as it was: TallyRaised of tally-.* cannot be handled: .*less than nothing/,
  )
})

test('a comparison says what is different', async () => {
  await using the = await fixture()
  await the.append(1, raised())
  await commanding(the, false, 'rebuild', 'tallies')
  expect(await commanding(the, false, 'compare', 'tallies')).toEqual({
    code: 0,
    text: 'tallies: 1 rows, 0 different.\n',
  })

  await the.pool.query('delete from tallies')

  const { code, text } = await commanding(the, false, 'compare', 'tallies')
  expect(code).toBe(1)
  expect(text).toContain('tallies: 0 rows, 1 different.\n  in use:  null\n  rebuilt: {')
  expect(text).toContain(tallyId(1))
})

test('the status says where each consumer stands, and at what it stopped', async () => {
  await using the = await fixture()
  await commanding(the, false, 'rebuild', 'tallies')
  await the.append(1, raised())
  await commanding(the, false, 'rebuild', 'timid')
  await the.pool.query(`update consumer_checkpoint set failed_at = now(), failure = $1 where name = 'timid'`, [
    { event_id: 'e', type: 'TallyRaised', stream: 'tally-1', message: 'less than nothing' },
  ])

  const { text } = await commanding(the, false, 'status')
  expect(text).toMatch(
    /^tallies {2}version 1, at 0\ntimid {2}version 1, at \d+, stopped at TallyRaised of tally-1: less than nothing\n$/,
  )

  await commanding(the, false, 'resume', 'timid')
  expect((await commanding(the, false, 'status')).text).not.toContain('stopped')
})

test('a command that cannot be understood says what there is', async () => {
  await using the = await fixture()

  expect(await commanding(the, false, 'rebuild', 'nothing')).toEqual({
    code: 2,
    text: 'There is no read model called "nothing". There are: tallies, timid.\n',
  })
  expect(await commanding(the, false, 'demolish')).toMatchObject({
    code: 2,
    text: expect.stringContaining('rebuild') as string,
  })
})
