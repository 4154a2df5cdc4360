import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  beginRebuild,
  finishRebuild,
  readRequestedRebuilds,
  requestRebuild,
} from '#infra/consumers/requested-rebuilds.ts'
import { rebuild } from '../../projections/rebuild.ts'
import { followRebuildRequests } from '../../projections/requested-rebuilds.ts'
import { runProjection } from '../../projections/runner.ts'
import { fixture, soon, tallyId, type Fixture } from '../projections/fixture.ts'
import { doubled, fill, halting, live, total } from '../projections/rebuilding.ts'
import { tallies } from '../projections/tally.ts'

/** Rebuilds that an operator asks for, and processes that take them up. */

const follow = (
  { parts, until }: ReturnType<Fixture['makeProcess']>,
  projection: Parameters<typeof followRebuildRequests>[0][number] = tallies,
) => until(followRebuildRequests([projection], { ...parts, pollMs: 20 }).finished)
const asked = async ({ pool }: Fixture) => (await readRequestedRebuilds(pool)).get('tallies')
const spoil = ({ pool }: Fixture) => pool.query(`update tallies set total = 1000 where id = $1`, [tallyId(7)])

test('one of two processes does it, while the table in use is kept up to date, and says how far it is', async () => {
  await using the = await fixture()
  await fill(the, 30)
  const [one, other] = [the.makeProcess(), the.makeProcess()]
  await live(one.run((parts) => runProjection(tallies, parts)))
  await spoil(the)
  expect(await total(the)).toBe(1029)
  for (const each of [one, other]) follow(each)

  await requestRebuild(the.pool, 'tallies', randomUUID())

  const done = await soon(async () => {
    const found = await asked(the)
    expect(found?.finished_at).toBeInstanceOf(Date)
    return found
  })
  expect(await total(the)).toBe(30)
  expect(done).toMatchObject({ failure: null, total: done?.done })
  expect(done?.done).toBeGreaterThanOrEqual(30)
  const lines = [...one.lines, ...other.lines].filter(({ msg }) => msg === 'projection was rebuilt')
  expect(lines).toHaveLength(1)
})

test('the same one, or one that is asked for while another is to be finished, is no other', async () => {
  await using the = await fixture()
  const [id, another] = [randomUUID(), randomUUID()]
  await Promise.all([id, id, id].map((each) => requestRebuild(the.pool, 'tallies', each)))
  await requestRebuild(the.pool, 'tallies', another)
  expect((await asked(the))?.id).toBe(id)

  await the.pool.query('update requested_rebuild set finished_at = now()')
  await requestRebuild(the.pool, 'tallies', id)
  expect((await asked(the))?.finished_at).toBeInstanceOf(Date)
  await requestRebuild(the.pool, 'tallies', another)
  expect(await asked(the)).toMatchObject({ id: another, finished_at: null })
})

test('one whose process ends in the middle is begun again by another', async () => {
  await using the = await fixture()
  await fill(the, 10)
  await rebuild(tallies, the.makeProcess().parts)
  await spoil(the)
  const { log, reached } = halting(the)
  const killed = the.makeProcess('killed', log)
  follow(killed)
  await requestRebuild(the.pool, 'tallies', randomUUID())
  await reached
  expect((await asked(the))?.started_at).toBeInstanceOf(Date)

  await killed.stop()
  expect((await asked(the))?.finished_at).toBeNull()
  follow(the.makeProcess())

  await soon(async () => expect((await asked(the))?.finished_at).toBeInstanceOf(Date))
  expect(await total(the)).toBe(10)
})

test('a process of another version leaves it to those of the version in use', async () => {
  await using the = await fixture()
  await fill(the, 10)
  await rebuild(doubled, the.makeProcess().parts)
  follow(the.makeProcess())
  await requestRebuild(the.pool, 'tallies', randomUUID())

  expect(await rebuild(tallies, the.makeProcess().parts, { onlyIf: 'current' })).toBe(false)
  expect(await asked(the)).toMatchObject({ started_at: null, finished_at: null })
  expect(await total(the)).toBe(20)
})

test('one that cannot be done is given up, with the fault, and the read model is as it was', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const { parts } = the.makeProcess()
  await rebuild(tallies, parts)
  const failing = the.makeProcess('failing', {
    ...the.eventLog,
    head: async () => {
      throw new TypeError('a value of somebody')
    },
  })
  follow(failing)
  await requestRebuild(the.pool, 'tallies', randomUUID())

  await soon(async () => expect((await asked(the))?.failure).toMatch(/^TypeError at /))
  expect(await total(the)).toBe(10)
})

test('one that ends every process which begins it is given up, and not begun by a fourth', async () => {
  await using the = await fixture()
  await fill(the, 10)
  await rebuild(tallies, the.makeProcess().parts)
  await spoil(the)
  await requestRebuild(the.pool, 'tallies', randomUUID())
  // A process that is killed leaves no more than this.
  for (let killed = 0; killed < 3; killed++) expect(await beginRebuild(the.pool, 'tallies')).toBeDefined()

  follow(the.makeProcess())

  await soon(async () => expect((await asked(the))?.failure).toMatch(/^given up/))
  expect(await total(the)).toBe(1009)
})

test('what a process tells that was held up counts for the rebuild that it began alone', async () => {
  await using the = await fixture()
  const [one, another] = [randomUUID(), randomUUID()]
  await requestRebuild(the.pool, 'tallies', one)
  await finishRebuild(the.pool, one, null)
  await requestRebuild(the.pool, 'tallies', another)

  await finishRebuild(the.pool, one, null)

  expect(await asked(the)).toMatchObject({ id: another, finished_at: null })
})
