import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LogUnavailable } from '#infra/event-log/event-log.ts'
import { called } from '#infra/kafka/failures.ts'
import { makeLog } from '#infra/log.ts'
import { tellingOutagesOnce } from '#infra/outage-lines.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const started = () => {
  const lines: Record<string, unknown>[] = []
  const written = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) }
  return { lines, log: tellingOutagesOnce(makeLog('info', 'projections', written)) }
}

const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' })
const logAway = () => new LogUnavailable('The log cannot be read at the moment.', { cause: refused() })

test('a database that is away for a minute and a half is three lines of a process with forty consumers', async () => {
  const { log, lines } = started()

  for (let seconds = 0; seconds < 90; seconds++) {
    for (let consumer = 0; consumer < 40; consumer++)
      log.warn({ error: consumer % 2 ? refused() : logAway(), consumer: `consumer ${consumer}` }, 'consumer failed')
    log.error({ error: logAway(), folds: ['directory'] }, 'live folds cannot read the log and try again')
    await vi.advanceTimersByTimeAsync(1_000)
  }
  await vi.advanceTimersByTimeAsync(60_000)

  expect(lines.map(({ msg, store, held_back }) => [msg, store, held_back])).toEqual([
    ['a store is away: what fails because of it is tried again', 'PostgreSQL', undefined],
    ['a store is still away', 'PostgreSQL', 60 * 41],
    ['a store that was away is back', 'PostgreSQL', 90 * 41 - 1],
  ])
  expect(lines[0]?.['reason']).toBe('connect ECONNREFUSED')
})

test('another outage is told of again, and so is that of another store', async () => {
  const { log, lines } = started()

  log.warn({ error: refused() }, 'consumer failed')
  log.warn({ error: new LogUnavailable('EventStoreDB is away.') }, 'consumer failed')
  await vi.advanceTimersByTimeAsync(30_000)
  log.warn({ error: refused() }, 'consumer failed')

  expect(lines.map(({ msg, store }) => `${String(store)}: ${String(msg).slice(0, 26)}`)).toEqual([
    'PostgreSQL: a store is away: what fail',
    'event log: a store is away: what fail',
    'PostgreSQL: a store that was away is b',
    'event log: a store that was away is b',
    'PostgreSQL: a store is away: what fail',
  ])
})

test('brokers that are away are neither the log nor the database', async () => {
  const { log, lines } = started()
  const error = await called('publish', Promise.reject(refused())).catch((failure: unknown) => failure)

  log.warn({ error, consumer: 'kafka relay' }, 'consumer failed')
  log.warn({ error: new LogUnavailable('EventStoreDB is away.') }, 'consumer failed')

  expect(lines.map(({ store }) => store)).toEqual(['Kafka', 'event log'])
})

test('what has nothing to do with a store, and what a request failed with, is written as it is', async () => {
  const { log, lines } = started()

  log.error({ error: refused(), request_id: 'r1' }, 'request failed')
  log.error({ error: new Error('a fault'), consumer: 'one' }, 'event set aside')
  log.info({ error: refused() }, 'for your information')
  log.warn({ seconds: 31 }, 'an append that stays open')

  expect(lines.map(({ msg }) => msg)).toEqual([
    'request failed',
    'event set aside',
    'for your information',
    'an append that stays open',
  ])
})
