import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { OrganisationId } from '#domain/values.ts'
import { SubjectErased } from '#infra/crypto/erased.ts'
import { LogUnavailable } from '#infra/event-log/event-log.ts'
import { makeLog } from '#infra/log.ts'
import { runOutreach } from '../../command-api/outreach/dispatch.ts'
import { eachOf } from '../../command-api/outreach/each-of.ts'
import { outreachTimers } from '../../command-api/outreach/timers.ts'
import { makeToEverybody } from '../../command-api/outreach/to-everybody.ts'
import type { Turn, WorkDeps } from '../../command-api/outreach/turn.ts'
import { contact_id, joined, place, startedStream } from './builders.ts'
import { outreachPerson } from '#domain/outreach/person.ts'
import { stateOf } from '../scenario.ts'

const log = makeLog('silent', 'test')
const never = new AbortController().signal
const numbers = Array.from({ length: 40 }, (_, number) => number)

describe('a page of work', () => {
  test('one that fails keeps no other from its turn, and is told of', async () => {
    const done: number[] = []
    const { failure } = await eachOf(log, never)(numbers, async (number) => {
      if (number % 3 === 0) throw new Error(`of ${number}`)
      done.push(number)
    })
    expect(done).toEqual(numbers.filter((number) => number % 3 !== 0))
    expect(failure?.message).toBe('of 0')
  })
  test('about somebody who was erased is no failure', async () => {
    const { failure } = await eachOf(log, never)(numbers, async () => {
      throw new SubjectErased('erased')
    })
    expect(failure).toBeUndefined()
  })
  test('ends when the log is away, and when the process is to end', async () => {
    const begun: number[] = []
    const away = eachOf(log, never)(numbers, async (number) => {
      begun.push(number)
      throw new LogUnavailable('away')
    })
    await expect(away).rejects.toThrow('away')
    await eachOf(log, AbortSignal.abort())(numbers, async (number) => begun.push(number))
    expect(begun.length).toBeLessThan(numbers.length)
  })
})

/** A list of five people, of which a page has two, and what is done with each. */
const everybody = (isPassed: () => boolean, work: (contact: string) => void) => {
  const people = ['1', '2', '3', '4', '5'].map((digit) => `c0000000-0000-4000-8000-00000000000${digit}`)
  const finished: string[] = []
  const list = async (_organisation: string, _stream: string, _number: number, after: string) =>
    people.filter((each) => each > after).slice(0, 2)
  const deps = {
    queue: { isPassed: async () => isPassed(), membersAfter: list },
    people: {
      load: async () => stateOf(outreachPerson, [joined]),
      factsOf: async () => ({}),
      handle: async (contact: string) => work(contact),
    },
    streams: { handle: async (_id: string, { type }: { type: string }) => finished.push(type) },
  } as unknown as WorkDeps // what else there is is not asked for
  const failures: Error[] = []
  const turn: Turn = {
    eachOf: eachOf(log, never),
    note: (failure) => {
      if (failure) failures.push(failure)
    },
    contextOf: () => ({
      organisation_id: '',
      actor: { type: 'system', id: null },
      correlation_id: '',
      now: '2026-01-20T12:00:00.000Z',
    }),
    page: async () => ({ waiting: [], isFull: false }),
  }
  const stream = { ...startedStream({}, 'reminder'), timing: 1, timing_moved: 0 }
  const { moveReminders } = makeToEverybody(deps)
  return { goOn: async () => moveReminders(stream, turn), finished, failures }
}

describe('what is done for everybody in a stream', () => {
  test('begins once the list knows all who joined before, reaches each, and ends', async () => {
    let isPassed = false
    const reached: string[] = []
    const { goOn, finished } = everybody(
      () => isPassed,
      (contact) => reached.push(contact.slice(-1)),
    )
    expect([await goOn(), reached]).toEqual([false, []])
    isPassed = true
    const rounds = [await goOn(), await goOn(), await goOn(), await goOn()]
    expect([rounds, reached, finished]).toEqual([
      [true, true, true, false],
      ['1', '2', '3', '4', '5'],
      ['RemindersMoved'],
    ])
  })
  test('is not over while it fails for one of them', async () => {
    let isFailing = true
    const { goOn, finished, failures } = everybody(
      () => true,
      (contact) => {
        if (isFailing && contact.endsWith('2')) throw new Error('cannot be opened')
      },
    )
    for (let round = 0; round < 4; round++) await goOn()
    expect([finished, failures.length]).toEqual([[], 1])
    isFailing = false
    for (let round = 0; round < 4; round++) await goOn()
    expect(finished).toEqual(['RemindersMoved'])
  })
})

const leases = {
  take: async () => ({ signal: never, isHeld: () => true, release: async () => undefined }),
}

test('while many streams do not come to an end, all others have their turn in what is left', async () => {
  const ending = new AbortController()
  const streams = Array.from({ length: 64 }, (_, number) => ({
    organisation_id: `organisation ${number}`,
    stream_id: `stream ${number}`,
  }))
  const worked: string[] = []
  const running = runOutreach({
    queue: { streams: async () => streams },
    canWork: () => true,
    work: async (stream_id) => {
      worked.push(stream_id)
      if (worked.length === 100) ending.abort()
      if (worked.length <= 31) await new Promise((resolve) => ending.signal.addEventListener('abort', resolve))
    },
    leases,
    log,
    signal: ending.signal,
    pollMs: 1,
  })
  await running.finished
  expect(new Set(worked).size).toBe(64)
})

test('an organisation with many streams leaves places for others', async () => {
  const ending = new AbortController()
  const streamsOf = (organisation_id: string, count: number) =>
    Array.from({ length: count }, (_, number) => ({ organisation_id, stream_id: `${organisation_id} ${number}` }))
  const worked: string[] = []
  const running = runOutreach({
    queue: { streams: async () => [...streamsOf('many', 100), ...streamsOf('few', 2)] },
    canWork: () => true,
    work: async (stream_id) => {
      worked.push(stream_id)
      if (worked.length === 6) return ending.abort()
      await new Promise((resolve) => ending.signal.addEventListener('abort', resolve))
    },
    leases,
    log,
    signal: ending.signal,
  })
  await running.finished
  expect(worked).toEqual(['many 0', 'few 0', 'many 1', 'few 1', 'many 2', 'many 3'])
})

test('a stream that can do nothing takes no place of one that can', async () => {
  const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
  const ending = new AbortController()
  const worked: string[] = []
  const paused = Array.from({ length: 100 }, (_, number) => `paused-${number}`)
  const running = runOutreach({
    queue: { streams: async () => [...paused, 'busy'].map((stream_id) => ({ organisation_id, stream_id })) },
    canWork: (stream_id) => stream_id === 'busy',
    work: async (stream_id) => {
      worked.push(stream_id)
      ending.abort()
    },
    leases,
    log,
    signal: ending.signal,
  })
  await running.finished
  await turnOfTheLoop()
  expect(worked).toEqual(['busy'])
})

test('a person who was erased is due nothing for ever', async () => {
  const commands: string[] = []
  const stream = startedStream()
  const timers = outreachTimers({
    people: {
      load: async () => stateOf(outreachPerson, [joined]),
      factsOf: async () => ({}),
      handle: async (_id: string, { type }: { type: string }) => {
        commands.push(type)
        if (type === 'NextDue') throw new SubjectErased('erased')
      },
    },
    live: { streams: new Map([[stream.id, stream]]), settings: new Map() },
  } as unknown as Parameters<typeof outreachTimers>[0])
  const due = { organisation_id: '', kind: 'outreach_next', id: place.member_id, due_at: '', stream: '' }
  await timers[0]?.fire({ ...due, stream: `outreach_person-${contact_id}` }, {} as never)
  expect(commands).toEqual(['NextDue', 'EndAll'])
})
