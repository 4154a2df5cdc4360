import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Decider } from '#domain/decider.ts'
import { event, type RecordedEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import type { Consuming } from '#infra/consumers/consumer.ts'
import { listSetAside } from '#infra/consumers/set-aside.ts'
import { commandHandler, type Context } from '../../command-api/writing/handle.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { contextOf, runReactions, type SomeReaction } from '../../command-api/reactions/reaction.ts'
import { organisation_id, tallyEvents, type TallyEvent } from './tally.ts'
import { raised, soon, fixture, type Fixture } from './fixture.ts'

const whenRaised = (react: (by: number) => void, name = 'when-tally-raised-note'): SomeReaction => ({
  name,
  categories: ['tally'],
  events: tallyEvents,
  target: () => 'note-1',
  react: async (event: TallyEvent) => {
    if (event.type === 'TallyRaised') react(event.by)
    await Promise.resolve()
  },
})

/** Reactions, which are tried again so much after they first failed. */
const runningAgainAfter =
  (againMs: number) =>
  (the: Fixture, ...reactions: readonly SomeReaction[]) => {
    const process = the.makeProcess()
    const started = runReactions(reactions, { ...process.parts, againMs })
    for (const each of started) process.run(() => each)
    return { ...process, started }
  }
const running = runningAgainAfter(5)

const state = ([first]: readonly Consuming[]) => first?.status().state

test('a reaction sees every event of its kind, in order, also those from while it did not run', async () => {
  await using the = await fixture()
  await the.append(1, raised(1), { type: 'TallyOpened', title: 'apples' })
  const seen: number[] = []
  const first = running(
    the,
    whenRaised((by) => seen.push(by)),
  )
  await soon(() => expect(seen).toEqual([1]))
  await first.stop()
  await the.append(1, raised(2))

  running(
    the,
    whenRaised((by) => seen.push(by)),
  )

  await soon(() => expect(seen).toEqual([1, 2]))
})

test('under heavy traffic a reaction rests between batches, and still sees every event', async () => {
  await using the = await fixture()
  const seen: number[] = []
  let asked = 0
  const traffic = { isHeavy: () => ++asked > 0 }
  const process = the.makeProcess()
  const reaction = whenRaised((by) => seen.push(by))
  for (const each of runReactions([reaction], { ...process.parts, traffic })) process.run(() => each)
  await the.append(1, raised(1))
  await soon(() => expect(seen).toEqual([1]))

  await the.append(1, raised(2))

  await soon(() => expect(seen).toEqual([1, 2]))
  expect(asked).toBeGreaterThan(0)
})

test('a reaction that fails is tried again a few times', async () => {
  await using the = await fixture()
  await the.append(1, raised(1), raised(2))
  const seen: number[] = []
  let failures = 0

  running(
    the,
    whenRaised((by) => {
      if (by === 1 && failures++ < 2) throw new Error('not now')
      seen.push(by)
    }),
  )

  await soon(() => expect(seen).toEqual([1, 2]))
  expect(failures).toBe(3)
})

test('a reaction that fails time and again sets the record aside, and others go on', { timeout: 60_000 }, async () => {
  await using the = await fixture()
  await the.append(1, raised(1), raised(2), raised(3))
  const seen: number[] = []

  const { started, lines } = running(
    the,
    whenRaised((by) => {
      if (by === 2) throw new OwnError('never')
    }),
    whenRaised((by) => seen.push(by), 'when-tally-raised-count'),
  )

  await soon(() => expect(started[0]?.status().setAside).toBe(1))
  const [first] = await listSetAside(the.pool, 'when-tally-raised-note', 10)
  expect(first).toMatchObject({ record: 'note-1', type: 'TallyRaised', reason: 'never' })
  expect(lines.filter(({ msg }) => msg === 'reaction failed and is tried again')).toHaveLength(3)
  expect(seen).toEqual([1, 2, 3])
})

test('a reaction that is stopped while it fails does not count as failed', async () => {
  await using the = await fixture()
  await the.append(1, raised(1))
  const failing = runningAgainAfter(60_000)(
    the,
    whenRaised(() => {
      throw new Error('not now')
    }),
  )
  await soon(() => expect(failing.lines.map(({ msg }) => msg)).toContain('reaction failed and is tried again'))
  await failing.stop()
  expect(state(failing.started)).toBe('stopped')
  const seen: number[] = []

  running(
    the,
    whenRaised((by) => seen.push(by)),
  )

  await soon(() => expect(seen).toEqual([1]))
  expect(failing.lines.filter(({ level }) => level === 50)).toEqual([])
})

test('a command that follows from an event says so', async () => {
  await using the = await fixture()
  await the.append(1, raised(1))
  const [recorded] = await the.eventLog.readAll()
  if (!recorded) throw new Error('There is one.')

  const { signal } = new AbortController()
  expect(
    contextOf(
      whenRaised(() => undefined),
      recorded,
      signal,
    ),
  ).toEqual({
    organisation_id,
    actor: { type: 'system', id: 'when-tally-raised-note' },
    correlation_id: 'test',
    cause: {
      event_id: recorded.id,
      stream: recorded.stream,
      position: recorded.position,
      resumed: false,
      reaction: 'when-tally-raised-note',
      target: 'note-1',
      signal,
    },
    now: '2026-01-15T12:00:00.000Z',
  })
})

const noteEvents = { NoteWritten: event({ text: z.string() }) }
const note: Decider<{ readonly text: string }, typeof noteEvents, null> = {
  category: 'note',
  events: noteEvents,
  initialState: null,
  decide: ({ text }) => [{ type: 'NoteWritten', text }],
  evolve: () => null,
}

test('after a kill a reaction sees again what came since its checkpoint, and appends nothing twice', async () => {
  await using the = await fixture()
  const [first, second] = [await the.append(1, raised(1)), await the.append(2, raised(2))]
  await the.append(1, raised(3))
  const started = () => {
    const seen: number[] = []
    const { handle } = commandHandler(makeWriter({ log: the.eventLog, seen: async () => undefined }), note)
    const noting: SomeReaction = {
      name: 'when-tally-raised-note',
      categories: ['tally'],
      events: tallyEvents,
      target: () => 'note-1',
      react: async (happened: TallyEvent, _recorded: RecordedEvent, context: Context) => {
        if (happened.type !== 'TallyRaised') return
        await handle('1', { text: String(happened.by) }, context)
        seen.push(happened.by)
      },
    }
    return { ...running(the, noting), seen }
  }
  const written = async () => (await the.eventLog.read('note-1')).map(({ data }) => data['text'])
  const begun = started()
  await soon(() => expect(begun.seen).toEqual([1, 2, 3]))
  await begun.stop()

  for (const position of [second, first, undefined]) {
    // What a kill leaves, since the checkpoint is saved only now and then.
    await the.pool.query('update consumer_checkpoint set position = $1', [position ?? null])
    const again = started()
    const expected = position === second ? [3] : position === first ? [2, 3] : [1, 2, 3]
    await soon(() => expect(again.seen).toEqual(expected))
    await again.stop()
    expect(await written()).toEqual(['1', '2', '3'])
  }
  await the.append(2, raised(4))
  const { seen } = started()
  await soon(() => expect(seen).toEqual([4]))
  expect(await written()).toEqual(['1', '2', '3', '4'])
})
