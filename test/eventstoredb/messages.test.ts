import { expect, test } from 'vitest'
import { eventStoreDbLog } from '#infra/event-log/eventstoredb/eventstoredb-log.ts'
import { appended, batchesOf, eventsIn, idsOf, newCategory, newEvents, newStream } from '../event-log/events.ts'
import { startEventStoreDb } from './server.ts'

// One live subscription costs the server and us little more than a message for each event.

test('a live subscription gets at most 1.1 messages for each event, wanted or not', async () => {
  await using server = await startEventStoreDb({ systemEvents: false })
  const log = eventStoreDbLog(server.url)
  const category = newCategory()
  const wanted = newEvents(1_000)
  let before: number | undefined

  const batches = await batchesOf(log, { categories: [category] }, async (taken) => {
    if (before === undefined && taken.at(-1)?.caughtUp) {
      before = server.messagesSent()
      for (let from = 0; from < wanted.length; from += 20) {
        await appended(log, newStream(category), wanted.slice(from, from + 20))
        await appended(log, newStream(), newEvents(5))
      }
    }
    return eventsIn(taken).length >= wanted.length
  })
  const messages = server.messagesSent() - (before ?? 0)
  await log.close()

  expect(idsOf(eventsIn(batches))).toEqual(idsOf(wanted))
  expect(messages / 1_250).toBeLessThanOrEqual(1.1)
})

test('to move past events that nobody wants takes at most 1.1 messages for each', async () => {
  await using server = await startEventStoreDb({ systemEvents: false })
  const log = eventStoreDbLog(server.url, { silenceMs: 50 })
  let last = ''
  let before = 0

  await batchesOf(log, { categories: [newCategory()] }, async (taken) => {
    if (last === '') {
      before = server.messagesSent()
      for (let round = 0; round < 50; round += 1) last = (await appended(log, newStream(), newEvents(20))).position
    }
    return (taken.at(-1)?.position ?? '') >= last
  })
  const messages = server.messagesSent() - before
  await log.close()

  expect(messages / 1_000).toBeLessThanOrEqual(1.1)
})
