import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { OwnError } from '#domain/own-error.ts'
import { projectionsCommand } from '../../projections/commands.ts'
import type { SomeProjection } from '../../projections/projection.ts'
import { tallies, type TallyEvent } from './tally.ts'
import { raised, tallyId, fixture, type Fixture } from './fixture.ts'

const timid: SomeProjection = {
  ...tallies,
  name: 'timid',
  project: (row: never, event: TallyEvent, recorded, key: never) => {
    if (event.type === 'TallyRaised' && event.by < 0) throw new OwnError('less than nothing')
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

test('a rebuild says how many records it has set aside', async () => {
  await using the = await fixture()
  await the.append(1, raised(-1))

  const { code, text } = await commanding(the, false, 'rebuild', 'all')

  expect(code).toBe(1)
  expect(text).toContain('tallies was rebuilt.\n')
  expect(text).toContain('timid was rebuilt. Records set aside: 1. See the command status.\n')
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

test('the status says where each consumer is, and what it has set aside', async () => {
  await using the = await fixture()
  await commanding(the, false, 'rebuild', 'tallies')
  await the.append(1, raised(), raised(-1))
  await commanding(the, false, 'rebuild', 'timid')
  const record = `tally-${tallyId(1)}`

  const { text } = await commanding(the, false, 'status')

  expect(text).toMatch(/^tallies {2}version 1, at 0\ntimid {2}version 1, at \d+, records set aside: 1\n/)
  expect(text).toContain(`  ${record}  TallyRaised `)
  expect(text).toContain(': less than nothing\n')
  expect(await commanding(the, false, 'resume', 'timid', record)).toEqual({
    code: 0,
    text: 'Records of timid that are resumed: 1. The command status lists those that stay set aside.\n',
  })
  expect(await commanding(the, false, 'resume', 'tallies')).toMatchObject({ code: 2 })
  expect(await commanding(the, false, 'resume', 'nothing')).toEqual({
    code: 2,
    text: 'There is no consumer called "nothing". There are: tallies, timid.\n',
  })
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
