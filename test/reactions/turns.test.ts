import { expect, test } from 'vitest'
import { OwnError } from '#domain/own-error.ts'
import { requestResume } from '#infra/consumers/set-aside.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { runReactions, type SomeReaction } from '../../command-api/reactions/reaction.ts'
import { fixture, raised, soon, tallyId, type Fixture } from '../projections/fixture.ts'
import { newEvent, organisation_id, type TallyEvent } from '../projections/tally.ts'
import { valuesOf, whenTallyRaisedSetMirror, writerOn } from './fixture.ts'

const other = '6f8f3a52-6f39-4f0e-9c5b-0d2c65d1a002'

type Raised = TallyEvent & { readonly type: 'TallyRaised' }

const busy = Array.from({ length: 300 }, (_, index) => index + 1)
const few = [901, 902, 903]

/** One organisation has much waiting; behind it, another one has little. Each raises every tally of its own twice. */
const fill = async (the: Fixture) => {
  for (const by of [10, 20])
    for (const [organisation, tallies] of [
      [organisation_id, busy],
      [other, few],
    ] as const)
      for (const tally of tallies) {
        const event = newEvent(raised(by))
        const metadata = { ...event.metadata, organisation_id: organisation }
        const appended = await the.eventLog.append(`tally-${tallyId(tally)}`, 'any', [{ ...event, metadata }])
        if (appended.outcome === 'appended' && by === 20 && tally === few.at(-1)) await the.settled(appended.position)
      }
}

const reacting = (
  the: Fixture,
  processName: string,
  log: EventLog = the.eventLog,
  change: (reaction: SomeReaction) => SomeReaction = (reaction) => reaction,
) => {
  const process = the.makeProcess(processName, log)
  const reaction: SomeReaction = { ...whenTallyRaisedSetMirror(writerOn(log)), takesTurns: true }
  const [running] = runReactions([change(reaction)], { ...process.parts, againMs: 5 })
  if (!running) throw new Error('There is one reaction.')
  process.run(() => running)
  return { ...process, running }
}

const mirrorOf = (tally: number) => `mirror-${tallyId(tally)}`

const isOfFew = (stream: string) => few.some((tally) => stream.endsWith(tallyId(tally)))

const expectAllOnce = async (the: Fixture) => {
  for (const tally of [...busy, ...few]) expect(await valuesOf(the, tallyId(tally))).toEqual([10, 20])
}

test('an organisation with little to do does not wait for all of another', { timeout: 60_000 }, async () => {
  await using the = await fixture()
  await fill(the)
  const order: string[] = []
  const noting: EventLog = {
    ...the.eventLog,
    append: async (stream, ...append) => {
      order.push(stream)
      return the.eventLog.append(stream, ...append)
    },
  }
  reacting(the, 'one', noting)

  await soon(async () => {
    for (const tally of few) expect(await valuesOf(the, tallyId(tally))).toEqual([10, 20])
  })
  expect(order.findLastIndex(isOfFew)).toBeLessThan(150)
  await soon(() => expectAllOnce(the))
})

test(
  'of two processes one is killed while it takes turns: the other loses nothing, and does nothing twice',
  { timeout: 60_000 },
  async () => {
    await using the = await fixture()
    await fill(the)
    const appended: string[] = []
    // All of the organisation with little is done, and of the other one only what came first.
    const isDone = () =>
      few.every((tally) => appended.filter((stream) => stream === mirrorOf(tally)).length === 2) &&
      busy.slice(0, 6).every((tally) => appended.includes(mirrorOf(tally)))
    const dying: EventLog = {
      ...the.eventLog,
      append: async (stream, ...append) => {
        if (stream === mirrorOf(7)) {
          await soon(() => expect(isDone()).toBe(true))
          first.abort()
          throw new OwnError('The process is gone.')
        }
        const result = await the.eventLog.append(stream, ...append)
        appended.push(stream)
        return result
      },
    }
    const first = reacting(the, 'killed', dying)
    await soon(() => expect(isDone()).toBe(true))
    const second = reacting(the, 'next')
    await first.stop()

    await soon(() => expect(second.running.status()).toMatchObject({ state: 'live', setAside: 0 }))
    await soon(() => expectAllOnce(the))
  },
)

test(
  'what was set aside while others wait is resumed when its turn has passed, and nothing of it is lost',
  { timeout: 60_000 },
  async () => {
    await using the = await fixture()
    await fill(the)
    // It is asked for at once, while most of the other organisation still waits.
    await the.pool.query(`
      create function resume_at_once() returns trigger language plpgsql as
        'begin new.resume_requested_at = now(); return new; end';
      create trigger resume_at_once before insert on consumer_set_aside
        for each row execute function resume_at_once()`)
    let failures = 0
    const refusing = (reaction: SomeReaction): SomeReaction => ({
      ...reaction,
      react: async (event: Raised, recorded, context) => {
        if (recorded.stream.endsWith(tallyId(902)) && failures < 4) {
          failures++
          throw new OwnError('not yet')
        }
        await (reaction.react as (...given: unknown[]) => Promise<unknown>)(event, recorded, context)
      },
    })
    const { running } = reacting(the, 'one', the.eventLog, refusing)

    await soon(() => expect(failures).toBe(4))
    await soon(() => expectAllOnce(the))
    await soon(() => expect(running.status()).toMatchObject({ state: 'live', setAside: 0 }))
  },
)

test(
  'what cannot be reacted to is set aside also before anything was handled, while others take their turns',
  { timeout: 60_000 },
  async () => {
    await using the = await fixture()
    await fill(the)
    let isMended = false
    const refusing = (reaction: SomeReaction): SomeReaction => ({
      ...reaction,
      target: (event: never, recorded) => {
        if (recorded.stream.endsWith(tallyId(1)) && !isMended) throw new OwnError('its target is not known yet')
        return reaction.target?.(event, recorded) ?? recorded.stream
      },
    })
    const { running } = reacting(the, 'one', the.eventLog, refusing)

    await soon(() => expect(running.status()).toMatchObject({ state: 'live', setAside: 1 }))
    expect(await valuesOf(the, tallyId(1))).toEqual([])
    isMended = true
    await requestResume(the.pool, whenTallyRaisedSetMirror(writerOn(the.eventLog)).name)

    await soon(() => expectAllOnce(the))
    await soon(() => expect(running.status()).toMatchObject({ state: 'live', setAside: 0 }))
  },
)
