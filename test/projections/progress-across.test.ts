import { expect, test, vi } from 'vitest'
import type { Position } from '#domain/event.ts'
import { findCheckpoint } from '#infra/consumers/checkpoint.ts'
import { announceProgress, followProgress } from '#infra/consumers/shared-progress.ts'
import type { Progress } from '#infra/consumers/progress.ts'
import type { SomeProjection } from '../../projections/projection.ts'
import { runProjection, runProjections } from '../../projections/runner.ts'
import { runReactions, type SomeReaction } from '../../command-api/reactions/reaction.ts'
import { newEvent, tallies, tallyEvents } from './tally.ts'
import { raised, soon, tallyId, fixture, type Fixture } from './fixture.ts'

/** A process that projects, and tells how far it has come. */
const projecting = (the: Fixture, projections: readonly SomeProjection[] = [tallies]) => {
  const process = the.makeProcess('projecting')
  const progress = announceProgress(process.parts)
  for (const projection of projections) process.run((parts) => runProjection(projection, { ...parts, progress }))
  process.until(progress.finished)
  return process
}

/** A process that writes, and knows how far the others have come. */
const writing = async (the: Fixture): Promise<Progress> => {
  const { parts, until, progress } = the.makeProcess('writing')
  const followed = await followProgress(progress, parts)
  until(followed.finished)
  return followed
}

const total = async ({ pool }: Fixture): Promise<number> => {
  const { rows } = await pool.query<{ total: number }>('select coalesce(sum(total), 0)::integer as total from tallies')
  return rows[0]?.total ?? 0
}

/** Takes note of nothing. */
const idleReaction: SomeReaction = {
  name: 'when-tally-raised-note',
  categories: ['tally'],
  events: tallyEvents,
  target: () => 'note-1',
  react: async () => Promise.resolve(),
}

/** Where no event is. */
const afterAll = '9'.repeat(41) as Position

const otherEvent = (type: string) => ({ ...newEvent(raised()), type })

test('whoever waits in one process for what another one projects can read what it wrote', async () => {
  await using the = await fixture()
  await the.append(1, raised())
  projecting(the)
  await soon(async () => expect(await findCheckpoint(the.pool, 'tallies')).toBeDefined())
  const { wait } = await writing(the)

  for (let written = 2; written <= 20; written++) {
    const position = await the.append(1, raised())
    expect(await wait('tally', position, 5_000)).toBe(true)
    expect(await total(the)).toBe(written)
  }
})

/** Both at work, and one event passed. */
const atWork = async (the: Fixture) => {
  const projector = projecting(the)
  const { wait } = await writing(the)
  const first = await the.append(1, raised())
  await soon(async () => expect(await findCheckpoint(the.pool, 'tallies')).toMatchObject({ position: first }))
  await soon(async () => expect(await wait('tally', afterAll, 1)).toBe(false))
  expect(await wait('tally', first, 5_000)).toBe(true)
  return { projector, wait, first }
}

test('what moves no row is announced as well, long before the checkpoint is saved', async () => {
  await using the = await fixture()
  const { wait, first } = await atWork(the)

  const appended = await the.eventLog.append(`tally-${tallyId(1)}`, 'any', [otherEvent('TallyAdmired')])

  if (appended.outcome !== 'appended') throw new Error('Somebody else appended.')
  expect(await wait('tally', appended.position, 900)).toBe(true)
  expect(await findCheckpoint(the.pool, 'tallies')).toMatchObject({ position: first })
})

test('what was announced while nobody listened is found in the table', async () => {
  await using the = await fixture()
  const { wait } = await atWork(the)

  await the.cutOff('coverstream progress')
  const position = await the.append(1, raised())

  expect(await wait('tally', position, 5_000)).toBe(true)
  expect(await total(the)).toBe(2)
})

test('what nobody announces is found in the table while somebody waits', async () => {
  await using the = await fixture()
  const { progress, run, parts } = the.makeProcess('silent')
  run(() => runProjection(tallies, parts))
  expect(await progress.wait('tally', await the.append(1, raised()), 5_000)).toBe(true)
  const { wait } = await writing(the)

  const position = await the.append(1, raised())

  expect(await wait('tally', position, 5_000)).toBe(true)
  expect(await total(the)).toBe(2)
})

test('an announcement that nobody understands does no harm', async () => {
  await using the = await fixture()
  const { wait } = await atWork(the)

  for (const payload of ['', '{', '[["tallies"]]', '[["nobody","1"]]'])
    await the.pool.query(`select pg_notify('consumer_progress', $1)`, [payload])

  expect(await wait('tally', await the.append(1, raised()), 5_000)).toBe(true)
  expect(await wait('tally', afterAll, 1)).toBe(false)
})

test('a projection that begins later is waited for too', async () => {
  await using the = await fixture()
  const { wait } = await writing(the)
  expect(await wait('tally', afterAll, 10)).toBe(true)

  projecting(the)

  await soon(async () => expect(await wait('tally', afterAll, 1)).toBe(false))
})

test('a wait ends at its time when nobody projects, and at once when there is nothing to wait for', async () => {
  await using the = await fixture()
  const { projector, wait } = await atWork(the)
  await projector.stop()

  const position = await the.append(1, raised())

  expect(await wait('other', position, 10)).toBe(true)
  expect(await wait('tally', position, 150)).toBe(false)
  expect(await total(the)).toBe(1)
})

test('nobody waits for a reaction, least of all in a process where it stands by', async () => {
  await using the = await fixture()
  const working = the.makeProcess('working')
  const [active] = runReactions([idleReaction], working.parts)
  if (active) working.run(() => active)
  await soon(() => expect(active?.status().state).toBe('live'))
  const waitingBehind = the.makeProcess('standing by')
  const [passive] = runReactions([idleReaction], waitingBehind.parts)
  if (passive) waitingBehind.run(() => passive)
  await soon(() => expect(passive?.status().state).toBe('standing by'))

  for (const { progress } of [working, waitingBehind]) expect(await progress.wait('tally', afterAll, 1)).toBe(true)
})

test('nobody waits for a projection that is no more', async () => {
  await using the = await fixture()
  const retired: SomeProjection = { ...tallies, name: 'retired' }
  const process = projecting(the, [tallies, retired])
  const { wait } = await writing(the)
  const first = await the.append(1, raised())
  await soon(async () => expect(await wait('tally', first, 10)).toBe(true))
  await process.stop()
  const { parts, run, until } = the.makeProcess('next')
  const progress = announceProgress(parts)
  until(progress.finished)
  const [running] = await runProjections([tallies], { ...parts, progress })
  if (running) run(() => running)

  const position = await the.append(1, raised())

  expect(await wait('tally', position, 5_000)).toBe(true)
})

test('news of a consumer that the table does not have costs no more than a look at the table now and then', async () => {
  await using the = await fixture()
  const { parts, until, progress } = the.makeProcess('writing')
  const followed = await followProgress(progress, parts)
  until(followed.finished)
  const query = vi.spyOn(parts.pool, 'query')
  const looks = () =>
    query.mock.calls.filter(([statement]) => JSON.stringify(statement).includes('"consumer-progress"')).length

  await the.pool.query(`
    select pg_notify('consumer_progress', '[["of another version", "' || sent || '"]]')
    from generate_series(1, 200) as news (sent)`)
  await soon(() => expect(looks()).toBeGreaterThan(0))
  const afterNews = looks()
  query.mockRestore()

  expect(afterNews).toBeLessThan(20)
})
