import { randomUUID } from 'node:crypto'
import { status } from '@grpc/grpc-js'
import { binaryEvent, EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import { expect, test } from 'vitest'
import type { Position } from '#domain/event.ts'
import { LogUnavailable } from '#infra/event-log/event-log.ts'
import { eventStoreDbLog } from '#infra/event-log/eventstoredb/eventstoredb-log.ts'
import {
  appended,
  batchesOf,
  eventsIn,
  firstEvents,
  idsOf,
  newCategory,
  newEvent,
  newEvents,
  newStream,
  untilCaughtUp,
} from '../event-log/events.ts'
import { startEventStoreDb } from './server.ts'

// What the adapter does beyond the contract of all event logs, against a stand-in that can be made to misbehave.

const start = async (options: Parameters<typeof startEventStoreDb>[0] = {}) => {
  const server = await startEventStoreDb(options)
  const log = eventStoreDbLog(server.url)
  const client = EventStoreDBClient.connectionString(server.url)
  return {
    server,
    log,
    client,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([log.close(), client.dispose()])
      await server[Symbol.asyncDispose]()
    },
  }
}

test('events of the server itself are left out', async () => {
  await using made = await start({ systemEvents: true })
  const all = await made.log.readAll()
  const headBefore = await made.log.head()
  const events = newEvents(5)
  const { position } = await appended(made.log, newStream(), events)

  expect({ all, headBefore }).toEqual({ all: [], headBefore: undefined })
  expect(await made.log.head()).toBe(position)
  expect(idsOf(await made.log.readAll({ limit: 5 }))).toEqual(idsOf(events))
  expect(idsOf(await made.log.readAll({ limit: 5, direction: 'backwards' }))).toEqual(idsOf(events).toReversed())
  expect(idsOf(await untilCaughtUp(made.log, {}))).toEqual(idsOf(events))
  expect(idsOf(await untilCaughtUp(made.log, { types: ['SomethingHappened', '$>'] }))).toEqual(idsOf(events))
})

test.each([
  { what: 'JSON', event: jsonEvent({ type: 'Theirs', data: { a: 1 }, metadata: { by: 'them' } }), data: { a: 1 } },
  { what: 'JSON that is no object', event: jsonEvent({ type: 'Theirs', data: [1, 2] }), data: { value: [1, 2] } },
  {
    what: 'bytes',
    event: binaryEvent({ type: 'Theirs', data: Buffer.from('bytes') }),
    data: { value: Buffer.from('bytes').toString('base64') },
  },
])('an event that others wrote, of $what, can be read and appended after', async ({ event, data }) => {
  await using made = await start()
  const stream = newStream()
  await made.client.appendToStream(stream, event)

  const [read] = await made.log.read(stream)

  const actor = { type: 'system', id: null }
  expect(read).toMatchObject({
    id: event.id,
    type: 'Theirs',
    data,
    schema_version: 1,
    metadata: { actor },
    revision: 0,
  })
  expect(read?.metadata.occurred_at).toBe(read?.recorded_at.toISOString())
  expect(await made.log.append(stream, 0, newEvents(1))).toMatchObject({ outcome: 'appended', revision: 1 })
})

test('names that EventStoreDB keeps for itself are refused', async () => {
  await using made = await start()

  await expect(made.log.append('$ce-1', 'any', newEvents(1))).rejects.toThrow(RangeError)
  await expect(made.log.append(newStream(), 'any', [newEvent('$>')])).rejects.toThrow(RangeError)
  await expect(made.log.append(newStream(), 'any', [{ ...newEvent(), id: 'no uuid' }])).rejects.toThrow(RangeError)
})

test('data that is no JSON is refused', async () => {
  await using made = await start()

  await expect(made.log.append(newStream(), 'any', [newEvent('Odd', { big: 1n })])).rejects.toThrow(TypeError)
})

test('a repeated append has its position although the server does not say it', async () => {
  await using made = await start({ positionsOfRepeats: false })
  const stream = newStream()
  const events = newEvents(2)
  const first = await made.log.append(stream, 'no_stream', events)
  await appended(made.log, stream, newEvents(1))

  expect(await made.log.append(stream, 'no_stream', events)).toEqual(first)
})

test.each(['UNAVAILABLE', 'ABORTED', 'CANCELLED', 'DEADLINE_EXCEEDED', 'UNKNOWN', 'INTERNAL'] as const)(
  'an append is stored once although its answers are %s',
  async (name) => {
    await using made = await start()
    const stream = newStream()
    const events = newEvents(2)
    made.server.failAppends({ code: status[name], isWritten: false }, { code: status[name], isWritten: true })

    const result = await made.log.append(stream, 'no_stream', events)

    expect(result).toMatchObject({ outcome: 'appended', revision: 1 })
    expect(idsOf(await made.log.read(stream))).toEqual(idsOf(events))
  },
)

test('an append fails as unavailable when the server keeps failing', async () => {
  await using made = await start()
  const log = eventStoreDbLog(made.server.url, { wholeMs: 200 })
  const stream = newStream()
  made.server.failAppends(...Array.from({ length: 20 }, () => ({ code: status.UNAVAILABLE, isWritten: false })))

  const appending = log.append(stream, 'no_stream', newEvents(1))

  await expect(appending).rejects.toBeInstanceOf(LogUnavailable)
  await expect(appending).rejects.toThrow('UNAVAILABLE')
  expect(await made.log.read(stream)).toEqual([])
  await log.close()
})

test('an append that the server refuses is not tried again', async () => {
  await using made = await start()
  const stream = newStream()
  made.server.failAppends({ code: status.INVALID_ARGUMENT, isWritten: false })

  await expect(made.log.append(stream, 'any', newEvents(1))).rejects.toThrow('INVALID_ARGUMENT')
  expect(await made.log.read(stream)).toEqual([])
})

test('an append that is too large is refused', async () => {
  await using made = await start({ maxAppendSize: 1_000 })

  const appending = made.log.append(newStream(), 'any', [newEvent('Large', { text: 'x'.repeat(1_000) })])

  await expect(appending).rejects.toThrow('maximum-append-size-exceeded')
})

test('a broken connection of one log does not disturb another', async () => {
  await using one = await start()
  await using other = await start()
  const write = (log: typeof one.log) =>
    Promise.all(Array.from({ length: 100 }, () => log.append(newStream(), 'no_stream', newEvents(1))))

  for (let round = 0; round < 5; round++) {
    const [theirs] = await Promise.all([write(other.log), write(one.log), one.server.dropConnections()])
    expect(theirs.every(({ outcome }) => outcome === 'appended')).toBe(true)
  }
})

test('a first subscription that finds nothing can be resumed at its position', async () => {
  await using made = await start({ systemEvents: false })
  const category = newCategory()
  await appended(made.log, newStream(), newEvents(3))
  const [first] = await batchesOf(made.log, { categories: [category] }, () => true)
  const events = newEvents(2)
  await appended(made.log, newStream(category), events)

  const seen = await firstEvents(made.log, { categories: [category], ...(first && { after: first.position }) }, 2)

  expect(first).toMatchObject({ events: [], caughtUp: true })
  expect(idsOf(seen)).toEqual(idsOf(events))
})

test('a subscription that has caught up is past the last event, wanted or not', async () => {
  await using made = await start({ systemEvents: false })
  const { position: last } = await appended(made.log, newStream(), newEvents(3))

  const batches = await batchesOf(made.log, { categories: [newCategory()] }, (taken) =>
    taken.some(({ position }) => position >= last),
  )

  expect(batches.at(-1)).toEqual({ events: [], position: last, caughtUp: true })
})

test('it says that it has caught up after events that were written while its connection was lost', async () => {
  await using made = await start({ systemEvents: false })
  const events = newEvents(5)

  const batches = await batchesOf(made.log, { batchSize: 5 }, async (taken) => {
    if (taken.length === 1) {
      await made.server.dropConnections()
      await appended(made.log, newStream(), events)
    }
    return eventsIn(taken).length === 5 && taken.at(-1)?.caughtUp === true
  })

  expect(idsOf(eventsIn(batches))).toEqual(idsOf(events))
})

test('the position of any batch is a place to read the whole log from, in both directions', async () => {
  await using made = await start()
  const category = newCategory()
  const { position: last } = await appended(made.log, newStream(), newEvents(300))
  const batches = await batchesOf(made.log, { categories: [category], batchSize: 7 }, (taken) =>
    taken.some(({ position }) => position >= last),
  )

  const all = await made.log.readAll()
  for (const { position } of batches) {
    const before = await made.log.readAll({ beyond: position, direction: 'backwards' })
    const after = await made.log.readAll({ beyond: position })
    const at = all.filter((event) => event.position === position)
    expect(idsOf([...before.toReversed(), ...at, ...after])).toEqual(idsOf(all))
  }
})

test('a reader that has fallen far behind the writers misses nothing', async () => {
  await using made = await start()
  const category = newCategory()
  const events = newEvents(3_000)
  const isLive = Promise.withResolvers<void>()
  const writing = isLive.promise.then(async () => {
    for (let from = 0; from < events.length; from += 100) {
      await appended(made.log, newStream(category), events.slice(from, from + 100))
      await appended(made.log, newStream(), newEvents(20))
    }
  })

  const batches = await batchesOf(made.log, { categories: [category], batchSize: 40 }, async (taken) => {
    if (!taken.at(-1)?.caughtUp) return false
    isLive.resolve()
    // Nothing is taken while they write.
    await writing
    return eventsIn(taken).length >= events.length
  })

  expect(idsOf(eventsIn(batches))).toEqual(idsOf(events))
})

test('a subscription ends without an error when its log is closed', async () => {
  await using made = await start()
  await appended(made.log, newStream(), newEvents(1))

  const batches = []
  for await (const batch of made.log.subscribe({ signal: new AbortController().signal })) {
    batches.push(batch)
    if (batch.caughtUp) setImmediate(() => void made.log.close())
  }

  expect(eventsIn(batches)).toHaveLength(1)
})

test('a subscription fails when the server refuses it', async () => {
  await using made = await start()
  const { position } = await appended(made.log, newStream(), newEvents(1))
  await appended(made.log, newStream(), newEvents(1))
  // Of the form of a position, but in the midst of an event.
  const within = position.replaceAll(/\d+/g, (place) => String(BigInt(place) + 1n).padStart(20, '0')) as Position

  for (const after of [within, 'nowhere' as Position]) {
    const reading = made.log.subscribe({ after, signal: AbortSignal.timeout(5_000) })
    await expect(Array.fromAsync(reading)).rejects.toThrow('position')
  }
})

test('a conflict is one even where the connection string makes the client keep it to itself', async () => {
  await using made = await start()
  const log = eventStoreDbLog(`${made.server.url}&throwOnAppendFailure=false`)
  const stream = newStream()
  expect(await log.append(stream, 0, newEvents(1))).toEqual({ outcome: 'conflict', revision: undefined })
  await appended(log, stream, newEvents(2))

  expect(await log.append(stream, 'no_stream', newEvents(1))).toEqual({ outcome: 'conflict', revision: 1 })
  await log.close()
})

test('KurrentDB is found by an address of its own kind', async () => {
  await using made = await start()
  const log = eventStoreDbLog(made.server.url.replace('esdb://', 'kurrentdb://'))

  expect(await log.append(`kurrent-${randomUUID()}`, 'no_stream', newEvents(1))).toMatchObject({ outcome: 'appended' })
  await log.close()
})
