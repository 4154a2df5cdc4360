import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Decider } from '#domain/decider.ts'
import { event, type Position } from '#domain/event.ts'
import { isTransient } from '#infra/consumers/failures.ts'
import { LogUnavailable, type EventLog } from '#infra/event-log/event-log.ts'
import { approximateBytes } from '#infra/size.ts'
import { commandHandler, type Cause, type Context } from '../command-api/writing/handle.ts'
import { makeWriter } from '../command-api/writing/writer.ts'
import { barrier, fixture } from './projections/fixture.ts'

const noteEvents = { NoteWritten: event({ text: z.string() }) }

const note: Decider<{ readonly text: string }, typeof noteEvents, readonly string[]> = {
  category: 'note',
  events: noteEvents,
  initialState: [],
  decide: ({ text }) => [{ type: 'NoteWritten', text }],
  evolve: (texts, { text }) => [...texts, text],
}

const context: Context = {
  organisation_id: null,
  actor: { type: 'system', id: null },
  correlation_id: 'test',
  now: '2026-01-15T12:00:00.000Z',
}
const seen = async () => undefined

test('everything that writes a kind of stream in a process shares what is known of it', async () => {
  await using the = await fixture()
  let reads = 0
  const counting: EventLog = {
    ...the.eventLog,
    read: async (...page) => {
      reads++
      return the.eventLog.read(...page)
    },
  }
  const writer = makeWriter({ log: counting, seen })
  await commandHandler(writer, note).handle('1', { text: 'a' }, context)

  const { state } = await commandHandler(writer, note).handle('1', { text: 'b' }, context)

  expect(state).toEqual(['a', 'b'])
  expect(reads).toBe(0)
})

test('one decider folds the streams of a category', () => {
  const writer = makeWriter({ log: {} as EventLog, seen }) // which nobody uses
  commandHandler(writer, note)

  expect(() => commandHandler(writer, { ...note })).toThrow('There are two deciders of note streams.')
})

/** A log whose appends wait until they are released. */
const held = (log: EventLog) => {
  const released = barrier()
  const append: EventLog['append'] = async (...appended) => {
    await released.passed
    return log.append(...appended)
  }
  return { slow: { ...log, append }, released }
}

test('when too many commands wait for one stream, further ones are told to come back later', async () => {
  await using the = await fixture()
  const { slow, released } = held(the.eventLog)
  const { handle } = commandHandler(makeWriter({ log: slow, seen }, { waitingMost: 2 }), note)
  const taken = ['a', 'b', 'c'].map((text) => handle('1', { text }, context))

  const refused: unknown = await handle('1', { text: 'd' }, context).catch((error: unknown) => error)
  const other = handle('2', { text: 'e' }, context)
  released.open()

  expect(refused).toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '1' } })
  expect(isTransient(refused)).toBe(true)
  expect((await Promise.all(taken)).at(-1)?.state).toEqual(['a', 'b', 'c'])
  expect((await other).state).toEqual(['e'])
  expect((await handle('1', { text: 'd' }, context)).state).toEqual(['a', 'b', 'c', 'd'])
})

test('a command whose turn does not come in time is told to come back later, and changes nothing', async () => {
  await using the = await fixture()
  const { slow, released } = held(the.eventLog)
  const { handle } = commandHandler(makeWriter({ log: slow, seen }, { waitingMs: 20 }), note)
  const first = handle('1', { text: 'a' }, context)

  await expect(handle('1', { text: 'b' }, context)).rejects.toMatchObject({ code: 'unavailable' })
  released.open()

  expect((await first).state).toEqual(['a'])
  expect((await handle('1', { text: 'c' }, context)).state).toEqual(['a', 'c'])
})

test('when the log is away, all commands that wait for a stream are refused together', async () => {
  await using the = await fixture()
  let appends = 0
  const away: EventLog = {
    ...the.eventLog,
    append: (...append) => {
      appends++
      return appends === 1 ? Promise.reject(new LogUnavailable('away')) : the.eventLog.append(...append)
    },
  }
  const { handle } = commandHandler(makeWriter({ log: away, seen }), note)

  const results = await Promise.allSettled(['a', 'b', 'c'].map((text) => handle('1', { text }, context)))

  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(appends).toBe(1)
  expect((await handle('1', { text: 'd' }, context)).state).toEqual(['d'])
})

test('what is known of streams takes a bounded number of bytes, and a stream beyond that still works', async () => {
  await using the = await fixture()
  const cacheBytes = 20_000
  const writer = makeWriter({ log: the.eventLog, seen }, { cacheBytes })
  const { handle } = commandHandler(writer, note)
  const text = 'x'.repeat(1_000)

  for (let id = 1; id <= 30; id++) await handle(String(id), { text }, context)
  expect(writer.cache().size).toBeGreaterThan(5)
  expect(writer.cache().size).toBeLessThan(10)
  for (let count = 0; count < 12; count++) await handle('1', { text }, context)

  expect((await commandHandler(writer, note).load('1')).length).toBe(13)
  expect(writer.cache().has('note-1')).toBe(false)
  expect(writer.cache().calculatedSize).toBeLessThanOrEqual(cacheBytes)
})

test('what was read before all is forgotten is not remembered after it', async () => {
  await using the = await fixture()
  const { passed, open } = barrier()
  const asked = barrier()
  const slow: EventLog = {
    ...the.eventLog,
    read: async (...given) => {
      const page = await the.eventLog.read(...given)
      asked.open()
      await passed
      return page
    },
  }
  const writer = makeWriter({ log: slow, seen })
  await commandHandler(makeWriter({ log: the.eventLog, seen }), note).handle('1', { text: 'a' }, context)

  const loading = commandHandler(writer, note).load('1')
  await asked.passed
  writer.forget()
  open()

  expect(await loading).toEqual(['a'])
  expect(writer.cache().size).toBe(0)
})

test('of two processes that decide otherwise because of the same cause, the second knows what the first has written', async () => {
  await using the = await fixture()
  const cause: Cause = {
    event_id: '10000000-0000-4000-8000-000000000001',
    stream: 'tally-1',
    position: '1' as Position,
    resumed: false,
    reaction: 'when-tally-raised-write-note',
    target: 'note-1',
    signal: new AbortController().signal,
  }
  const [one, other] = [the, the].map(({ eventLog: log }) => commandHandler(makeWriter({ log, seen }), note))
  await one?.handle('1', { text: 'the first' }, { ...context, cause })

  await other?.handle('1', { text: 'the second' }, { ...context, cause })
  const after = await other?.handle('1', { text: 'a third' }, context)

  expect(after?.state).toEqual(['the first', 'a third'])
})

test('the bytes of plain data are near what they take', () => {
  expect(approximateBytes('x'.repeat(1_000))).toBe(2_024)
  expect(approximateBytes(null)).toBe(8)
  expect(approximateBytes([1, 2, 3])).toBe(approximateBytes(new Set([1, 2, 3])))
  expect(approximateBytes({ a: { b: ['x'] } })).toBeGreaterThan(approximateBytes(['x']))
  expect(approximateBytes(new Map([['a', 'x'.repeat(100)]]))).toBeGreaterThan(200)
})
