import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { makeLeases } from '#infra/consumers/lease.ts'
import { makeGuardedHttp } from '#infra/guarded-http.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { startSendingAccesses } from '../../delivery-worker/accesses/send-accesses.ts'
import { testDatabase, type TestDatabase } from '../database.ts'

const organisation_id = '6f8f3a52-6f39-4f0e-9c5b-0d2c65d1a001'
const patience = { timeout: 30_000, interval: 10 }

type Behaviour = {
  status: number
  most: number
  /** Done before it answers. */
  before: () => Promise<unknown>
}

/** A collector of the operator, which answers with a status, and takes so many at a time. */
const startCollector = async (most = 500) => {
  const received: string[] = []
  const tokens = new Set<string | undefined>()
  const behaviour: Behaviour = { status: 200, most, before: async () => undefined }
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      tokens.add(request.headers.authorization)
      const lines = body.split('\n').filter((each) => each !== '')
      await behaviour.before()
      const status = lines.length > behaviour.most ? 413 : behaviour.status
      if (status === 200) received.push(...lines)
      response.writeHead(status).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}/accesses`,
    received,
    tokens,
    behaviour,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Accesses of a time, as long ago as makes sure that all of then are written. */
const recordAccesses = async (
  { pool }: TestDatabase,
  count: number,
  secondsAgo: number,
): Promise<readonly string[]> => {
  const ids = Array.from({ length: count }, () => randomUUID()).toSorted()
  await pool.query(sql`
    insert into access_record (id, at, organisation_id, actor_type, actor_id, method, route, record_type, record_ids, rows_shown,
      personal, filters, request_id)
    select id, date_trunc('milliseconds', now()) - make_interval(secs => ${secondsAgo}), ${organisation_id}, 'user', 'ada', 'GET',
      '/admin/v1/policies', 'policies', array[id], 1, null, '{email}', 'request'
    from unnest(${ids}::uuid[]) as id`)
  return ids
}

const start = ({ pool }: TestDatabase, url: string, allowedHosts: readonly string[] = ['127.0.0.1']) => {
  const ending = new AbortController()
  const http = makeGuardedHttp({ allowedHosts, allowHttp: true, timeoutMs: 2_000 })
  const sending = startSendingAccesses({
    config: { ACCESS_COLLECTOR_URL: url, ACCESS_COLLECTOR_TOKEN: 'a token' },
    pool,
    leases: makeLeases(pool, { pollMs: 20 }),
    http,
    log: pino({ level: 'silent' }),
    signal: ending.signal,
    pollMs: 20,
  })
  return {
    check: () => sending.check?.() ?? expect.fail(),
    [Symbol.asyncDispose]: async () => {
      ending.abort()
      await sending.finished
      await http.close()
    },
  }
}

const idsIn = (lines: readonly string[]) => lines.map((line) => (JSON.parse(line) as { readonly id: string }).id)

test('each access is sent on to the collector, in the order of their time, by one process after the other', async () => {
  await using database = await testDatabase()
  await using collector = await startCollector()
  const { received, tokens, url } = collector
  const oldest = await recordAccesses(database, 1_200, 40)
  {
    await using _former = start(database, url)
    await vi.waitUntil(() => received.length >= 1_200, patience)
  }
  const later = await recordAccesses(database, 3, 20)
  await recordAccesses(database, 1, 0)
  await using _one = start(database, url)
  await using _another = start(database, url)
  await vi.waitUntil(() => received.length >= 1_203, patience)

  expect(idsIn(received)).toEqual([...oldest, ...later])
  expect([...tokens]).toEqual(['Bearer a token'])
  expect(JSON.parse(received[0] ?? '')).toEqual({
    id: oldest[0],
    at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    organisation_id,
    actor_type: 'user',
    actor_id: 'ada',
    method: 'GET',
    route: '/admin/v1/policies',
    record_type: 'policies',
    record_ids: [oldest[0]],
    rows_shown: 1,
    personal: null,
    filters: ['email'],
    request_id: 'request',
  })
})

test('while the collector refuses them health says so, and afterwards none is left out', async () => {
  await using database = await testDatabase()
  await using collector = await startCollector()
  const { behaviour, received, url } = collector
  behaviour.status = 503
  const ids = await recordAccesses(database, 5, 20)
  await using sending = start(database, url)
  await vi.waitUntil(() => sending.check().detail === 'The collector answers 503.', patience)
  expect(sending.check().ok).toBe(false)

  behaviour.status = 200
  await vi.waitUntil(() => received.length >= 5 && sending.check().ok, patience)

  expect(idsIn(received)).toEqual(ids)
})

test('a collector at an address that is not public is reached only where the operator allows it', async () => {
  await using database = await testDatabase()
  await using collector = await startCollector()
  await recordAccesses(database, 1, 20)
  await using sending = start(database, collector.url, [])
  await vi.waitUntil(() => sending.check().detail?.startsWith('The collector could not be reached: '), patience)

  expect(collector.tokens.size).toBe(0)
})

test('a collector that takes few at a time is sent fewer, and each once', async () => {
  await using database = await testDatabase()
  await using collector = await startCollector(70)
  const ids = await recordAccesses(database, 300, 20)
  await using _sending = start(database, collector.url)
  await vi.waitUntil(() => collector.received.length >= 300, patience)

  expect(idsIn(collector.received)).toEqual(ids)
})

test('one access that is too large for the collector is named by health as what it does not take', async () => {
  await using database = await testDatabase()
  await using collector = await startCollector(0)
  await recordAccesses(database, 3, 20)
  await using sending = start(database, collector.url)

  await vi.waitUntil(() => sending.check().detail === 'The collector answers 413.', patience)

  expect(collector.received).toEqual([])
})

test('what another process has sent on meanwhile is not sent again by one that was slow', async () => {
  await using database = await testDatabase()
  await using collector = await startCollector()
  const { behaviour, received, url } = collector
  const ids = await recordAccesses(database, 3, 30)
  const newest: string[] = []
  behaviour.before = async () => {
    behaviour.before = async () => undefined
    const [sent] = await recordAccesses(database, 1, 25)
    await database.pool.query(
      sql`insert into access_sent_on (at, id) select at, id from access_record where id = ${sent}`,
    )
    newest.push(...(await recordAccesses(database, 1, 20)))
  }
  await using _sending = start(database, url)
  await vi.waitUntil(() => received.length >= 4, patience)

  expect(idsIn(received)).toEqual([...ids, ...newest])
})
