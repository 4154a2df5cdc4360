import { expect, test } from 'vitest'
import { checkConsumer } from '#infra/role-parts.ts'
import { runReactions, type SomeReaction } from '../../command-api/reactions/reaction.ts'
import { runProjection } from '../../projections/runner.ts'
import { fixture, raised, soon, tallyId } from './fixture.ts'
import { tallies, tallyEvents } from './tally.ts'

// That a table or column is not there says nothing about the event: nothing is set aside for it.

test('a reaction that reads a read model which is not made yet waits for it', async () => {
  await using the = await fixture()
  const { run, parts } = the.makeProcess()
  const seen: number[] = []
  const reading: SomeReaction = {
    name: 'when-tally-raised-look',
    categories: ['tally'],
    events: tallyEvents,
    target: () => 'note-1',
    react: async (_event, { revision }) => {
      await the.pool.query('select from looked_at')
      seen.push(revision)
    },
  }
  await the.append(1, raised())
  const [reaction] = runReactions([reading], parts)
  if (!reaction) throw new Error('There should be a reaction.')
  run(() => reaction)
  await soon(() => expect(checkConsumer(reaction).ok).toBe(false))
  expect(checkConsumer(reaction).detail).toContain('42P01')

  await the.pool.query('create table looked_at (id uuid)')

  await soon(() => expect(seen).toEqual([0]))
  await soon(() => expect(checkConsumer(reaction).ok).toBe(true))
  expect(reaction.status().setAside).toBe(0)
})

test('the table of a read model that is removed while it runs is made again, from the first event', async () => {
  await using the = await fixture()
  const { run } = the.makeProcess()
  const projection = run((parts) => runProjection(tallies, parts))
  const shown = async () =>
    (await the.pool.query<{ id: string }>('select id from tallies order by id')).rows.map(({ id }) => id)
  await the.append(1, raised())
  await soon(async () => expect(await shown()).toEqual([tallyId(1)]))

  await the.pool.query('drop table tallies')
  await the.append(2, raised())

  await soon(async () => expect(await shown()).toEqual([tallyId(1), tallyId(2)]))
  expect(projection.status().setAside).toBe(0)
})
