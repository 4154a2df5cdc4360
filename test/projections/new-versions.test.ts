import { expect, test } from 'vitest'
import { findCheckpoint } from '#infra/consumers/checkpoint.ts'
import { checkConsumer } from '#infra/role-parts.ts'
import { compareWithRebuild } from '../../projections/compare.ts'
import type { SomeProjection } from '../../projections/projection.ts'
import { rebuild } from '../../projections/rebuild.ts'
import { runProjection } from '../../projections/runner.ts'
import { raised, soon, tallyId, fixture } from './fixture.ts'
import { doubled, fill, halting, live, settling, total } from './rebuilding.ts'
import { newEvent, tallies, tallyEvents } from './tally.ts'

test('when a new version starts, the table is rebuilt while the old one goes on, and the old process stops', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const old = the.makeProcess('old')
  const running = old.run((parts) => runProjection(tallies, parts))
  await live(running)
  const { log, reached, open } = halting(the)

  const next = the.makeProcess('next', log)
  const succeeding = next.run((parts) => runProjection(doubled, parts))
  await reached
  expect(await old.progress.wait('tally', await the.append(11, raised()), 5_000)).toBe(true)
  expect(await total(the)).toBe(11)
  // Whoever replaces processes by their readiness keeps the old one, which keeps the table up to date, until then.
  expect(checkConsumer(succeeding)).toMatchObject({
    ok: false,
    detail: expect.stringContaining('is being rebuilt') as string,
  })
  expect(checkConsumer(running)).toMatchObject({ ok: true })

  open()
  await soon(async () => expect(await total(the)).toBe(22))
  await the.append(12, raised())
  await soon(() => expect(running.status().state).toBe('failed'))
  expect(running.status().failure?.message).toBe('Version 2 of tallies has taken over from version 1.')
  await live(succeeding)
  expect(checkConsumer(succeeding)).toMatchObject({ ok: true, detail: 'live' })
  await soon(async () => expect(await total(the)).toBe(24))
  expect(await findCheckpoint(the.pool, 'tallies')).toMatchObject({ version: 2 })
})

test('an event that only a newer process can read sets nothing aside: the old process leaves the table to the newer one', async () => {
  await using the = await fixture()
  await the.append(1, raised())
  const old = the.makeProcess('old').run((parts) => runProjection(tallies, parts))
  await live(old)
  const newer: SomeProjection = {
    ...tallies,
    events: { ...tallyEvents, TallyRaised: { ...tallyEvents.TallyRaised, version: 2, upcasts: [(v1) => v1] } },
  }
  const succeeding = the.makeProcess('newer').run((parts) => runProjection(newer, parts))
  await soon(() => expect(succeeding.status().state).toBe('standing by'))

  await the.eventLog.append(`tally-${tallyId(2)}`, 'no_stream', [{ ...newEvent(raised(5)), schema_version: 2 }])

  await live(succeeding)
  await soon(async () => expect(await total(the)).toBe(6))
  expect([old.status().setAside, succeeding.status().setAside]).toEqual([0, 0])
  expect(checkConsumer(succeeding)).toMatchObject({ ok: true })
})

test('an old process that stood by does not go on with what another version has rebuilt', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const [first, second] = [the.makeProcess('first'), the.makeProcess('second')]
  const working = first.run((parts) => runProjection(tallies, parts))
  await live(working)
  const waiting = second.run((parts) => runProjection(tallies, parts))
  await soon(() => expect(waiting.status().state).toBe('standing by'))

  await rebuild(doubled, the.makeProcess('operator').parts)
  await the.append(11, raised())

  await soon(() => {
    const states = [working, waiting].map((each) => each.status())
    expect(states).toMatchObject([{ state: 'failed' }, { state: 'failed' }])
  })
  expect(await total(the)).toBe(20)
  expect(await findCheckpoint(the.pool, 'tallies')).toMatchObject({ version: 2 })
})

test('a process whose rebuild was made by another meanwhile is ready', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const old = the.makeProcess('old')
  await live(old.run((parts) => runProjection(tallies, parts)))
  await old.stop()
  const stalling = halting(the)
  const stalled = the.makeProcess('stalled', stalling.log)
  // It believes to hold every lease that it asks for.
  const leases = { take: async () => ({ signal: stalled.parts.signal, isHeld: () => true, release: async () => {} }) }
  const running = stalled.run((parts) => runProjection(doubled, { ...parts, leases }))
  await stalling.reached
  await rebuild(doubled, the.makeProcess('other').parts)

  stalling.open()

  await live(running)
  expect(checkConsumer(running)).toMatchObject({ ok: true, detail: 'live' })
})

test('when processes of a new version start at the same time, the table is rebuilt once', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const old = the.makeProcess('old')
  await live(old.run((parts) => runProjection(tallies, parts)))
  await soon(async () => expect(await total(the)).toBe(10))
  await old.stop()

  const processes = [the.makeProcess(), the.makeProcess()]
  for (const { run } of processes) run((parts) => runProjection(doubled, parts))

  await soon(async () => expect(await total(the)).toBe(20))
  await soon(() => {
    const messages = processes.flatMap(({ lines }) => lines.map(({ msg }) => msg))
    expect(messages).toContain('consumer has caught up')
    expect(messages.filter((message) => message === 'projection is being rebuilt')).toHaveLength(1)
  })
})

test('a rebuild that has lost its lease without knowing does no harm to the next one', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const [stalling, slow] = [halting(the), halting(the)]
  const zombie = the.makeProcess('zombie', stalling.log)
  const stubborn = {
    ...zombie.parts,
    leases: { take: async () => ({ signal: zombie.parts.signal, isHeld: () => true, release: async () => {} }) },
  }
  const stalled = settling(rebuild(doubled, stubborn))
  await stalling.reached
  const { parts } = the.makeProcess('next', slow.log)
  const rebuilt = rebuild(tallies, parts)
  await slow.reached

  stalling.open()

  await expect(stalled.promise).rejects.toThrow('Another rebuild of tallies has begun')
  slow.open()
  await rebuilt
  expect(await total(the)).toBe(10)
  expect(await compareWithRebuild(tallies, parts)).toMatchObject({ different: 0 })
})
