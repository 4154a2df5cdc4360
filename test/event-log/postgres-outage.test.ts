import { expect, test } from 'vitest'
import { severableWayTo } from '../eventstoredb/proxy.ts'
import { appended, eventually, firstEvents, idsOf, newEvents, newStream, untilCaughtUp } from './events.ts'
import { openLog, preparedDatabase } from './postgres-log.ts'

test('an outage is noticed, and its end, although nobody follows the log any more', async () => {
  await using database = await preparedDatabase()
  const url = new URL(database.url)
  await using way = await severableWayTo(url.hostname, Number(url.port))
  await using log = openLog(Object.assign(url, { hostname: '127.0.0.1', port: String(way.port) }).href)
  await untilCaughtUp(log, {})
  const before = log.outage()

  await way.cut()

  await eventually(() => Promise.resolve(log.outage() !== undefined), 'the outage to be noticed')
  way.mend()
  await eventually(() => Promise.resolve(log.outage() === undefined), 'the outage to end')
  expect(before).toBeUndefined()
})

test('the log says since when it cannot be followed, until it can be followed again', async () => {
  await using database = await preparedDatabase()
  const url = new URL(database.url)
  await using way = await severableWayTo(url.hostname, Number(url.port))
  await using log = openLog(Object.assign(url, { hostname: '127.0.0.1', port: String(way.port) }).href)
  const events = newEvents(1)
  const reading = firstEvents(log, {}, events.length)
  await log.head()
  const before = log.outage()
  const cutAt = Date.now()

  await way.cut()
  await eventually(() => Promise.resolve(log.outage() !== undefined), 'the outage to be noticed')
  const during = log.outage()
  way.mend()
  await eventually(() => Promise.resolve(log.outage() === undefined), 'the outage to end')
  await appended(log, newStream(), events)

  expect(before).toBeUndefined()
  expect(during?.since.getTime()).toBeGreaterThanOrEqual(cutAt)
  expect(during?.reason).toMatch(/\w/)
  expect(idsOf(await reading)).toEqual(idsOf(events))
})
