import { expect, test } from 'vitest'
import { OwnError } from '#domain/own-error.ts'
import { listSetAside, requestResume } from '#infra/consumers/set-aside.ts'
import { runReactions, type SomeReaction } from '../../command-api/reactions/reaction.ts'
import { fixture, raised, soon, tallyId } from '../projections/fixture.ts'
import type { TallyEvent } from '../projections/tally.ts'
import { valuesOf, whenTallyRaisedSetMirror, writerOn } from './fixture.ts'

const name = 'when-tally-raised-set-mirror'

test(
  'behind an event that cannot be reacted to, all events of the same target wait, whatever their stream',
  { timeout: 60_000 },
  async () => {
    await using the = await fixture()
    const [shared, own] = [tallyId(101), tallyId(102)]
    const mirrorOf = (tally: string) => (tally === tallyId(3) ? own : shared)
    let isMended = false
    const reaction = whenTallyRaisedSetMirror(writerOn(the.eventLog), { mirrorOf })
    const refusing: SomeReaction = {
      ...reaction,
      react: async (event: TallyEvent & { type: 'TallyRaised' }, recorded, context) => {
        if (event.by < 0 && !isMended) throw new OwnError('less than nothing')
        await reaction.react(event, recorded, context)
      },
    }
    // Tallies 1 and 2 have the same mirror.
    await the.append(1, raised(10))
    await the.append(1, raised(-20))
    await the.append(2, raised(30))
    await the.append(3, raised(100))
    const process = the.makeProcess()
    const [running] = runReactions([refusing], { ...process.parts, againMs: 5 })
    if (!running) throw new Error('There is one reaction.')
    process.run(() => running)

    await soon(() => expect(running.status()).toMatchObject({ state: 'live', setAside: 1 }))
    await the.append(2, raised(40))
    await the.append(1, raised(50))
    await the.append(3, raised(101))
    await soon(async () => expect(await valuesOf(the, own)).toEqual([100, 101]))
    expect(await valuesOf(the, shared)).toEqual([10])
    expect(await listSetAside(the.pool, name, 10)).toMatchObject([
      { record: `mirror-${shared}`, stream: `tally-${tallyId(1)}`, revision: 1, reason: 'less than nothing' },
      { record: `mirror-${shared}`, stream: `tally-${tallyId(2)}`, revision: 0, reason: null },
    ])

    isMended = true
    await requestResume(the.pool, name)

    await soon(() => expect(running.status().setAside).toBe(0))
    expect(await valuesOf(the, shared)).toEqual([10, -20, 30, 40, 50])
    await the.append(2, raised(60))
    await soon(async () => expect(await valuesOf(the, shared)).toEqual([10, -20, 30, 40, 50, 60]))
  },
)

test(
  'an event whose target was unknown is reacted to once it is resumed, although later events of other streams were first',
  { timeout: 60_000 },
  async () => {
    await using the = await fixture()
    const shared = tallyId(101)
    let isMended = false
    const reaction = whenTallyRaisedSetMirror(writerOn(the.eventLog), { mirrorOf: () => shared })
    const choosy: SomeReaction = {
      ...reaction,
      target: (event: TallyEvent & { type: 'TallyRaised' }, recorded) => {
        if (event.by === 20 && !isMended) throw new OwnError('unreadable')
        return reaction.target(event, recorded)
      },
    }
    const start = () => {
      const process = the.makeProcess()
      const [running] = runReactions([choosy], { ...process.parts, againMs: 5 })
      if (!running) throw new Error('There is one reaction.')
      process.run(() => running)
      return { ...process, running }
    }
    await the.append(1, raised(10))
    await the.append(2, raised(20), raised(30))
    await the.append(1, raised(40))
    const first = start()
    await soon(() => expect(first.running.status()).toMatchObject({ state: 'live', setAside: 1 }))
    expect(await valuesOf(the, shared)).toEqual([10, 40])

    isMended = true
    await requestResume(the.pool, name)

    await soon(() => expect(first.running.status().setAside).toBe(0))
    expect(await valuesOf(the, shared)).toEqual([10, 40, 20, 30])
    await first.stop()
    await the.pool.query(`update consumer_checkpoint set position = null where name = '${name}'`)
    const repeating = start()
    await soon(() => expect(repeating.running.status()).toMatchObject({ state: 'live', setAside: 0 }))
    expect(await valuesOf(the, shared)).toEqual([10, 40, 20, 30])
  },
)

test('what an error says that may repeat what a person entered is neither kept nor logged', async () => {
  await using the = await fixture()
  const entered = 'ann@example.com'
  const failing: SomeReaction = {
    ...whenTallyRaisedSetMirror(writerOn(the.eventLog)),
    react: async () => JSON.parse(`{ "email": ${entered} }`) as unknown,
  }
  await the.append(1, raised(1))
  const process = the.makeProcess()
  const [running] = runReactions([failing], { ...process.parts, againMs: 5 })
  if (!running) throw new Error('There is one reaction.')
  process.run(() => running)

  await soon(() => expect(running.status()).toMatchObject({ state: 'live', setAside: 1 }))

  expect(await listSetAside(the.pool, name, 10)).toMatchObject([
    { reason: expect.stringMatching(/^SyntaxError at set-aside\.test\.ts:\d+$/) as unknown },
  ])
  expect(process.lines.map(({ msg }) => msg)).toContain('reaction failed and is tried again')
  expect(JSON.stringify(process.lines)).not.toContain(entered)
})

test('a reason that PostgreSQL cannot hold stops nothing: the record is set aside, and again when it is resumed', async () => {
  await using the = await fixture()
  const failing: SomeReaction = {
    ...whenTallyRaisedSetMirror(writerOn(the.eventLog)),
    react: async () => {
      throw new OwnError('a\0b\ud800c')
    },
  }
  await the.append(1, raised(1))
  const process = the.makeProcess()
  const [running] = runReactions([failing], { ...process.parts, againMs: 5 })
  if (!running) throw new Error('There is one reaction.')
  process.run(() => running)
  await soon(() => expect(running.status()).toMatchObject({ state: 'live', setAside: 1 }))

  await the.pool.query(`update consumer_set_aside set reason = 'before'`)
  await requestResume(the.pool, name)

  await soon(async () => {
    expect(await listSetAside(the.pool, name, 10)).toMatchObject([{ reason: 'a\ufffdb\ufffdc' }])
    expect(running.status()).toMatchObject({ state: 'live', setAside: 1 })
  })
})
