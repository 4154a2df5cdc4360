import { Pool } from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { makeLog } from '#infra/log.ts'
import { addressOf, makeRateLimit, rateLimitHeaders, type RateLimit } from '#infra/http/rate-limit.ts'
import { testDatabase } from '../database.ts'
import { accessApi, asOperator } from './access-api.ts'

const log = makeLog('silent', 'test')
const seconds = () => Date.now() / 1000

/** How many of so many requests at once were served. */
const servedOf = async (limit: RateLimit, count: number, who = 'one') => {
  const decisions = await Promise.all(Array.from({ length: count }, async () => limit(who)))
  return decisions.filter(({ served }) => served).length
}

afterEach(() => {
  vi.useRealTimers()
})

test('429: 300 requests in 5 minutes from one IP address, counting all requests including token requests', async () => {
  await using api = await accessApi({ requests: 300, windowSeconds: 300 })
  const client = await api.apiApplication(['read'])
  const token = await api.tokenOf(client, 'read')

  const statuses: number[] = []
  for (let sent = 1; sent < 300; sent++) statuses.push((await api.call(token, '/api/v1/read')).status)
  const refused = await api.call(token, '/api/v1/read')

  expect(statuses).toEqual(statuses.map(() => 200))
  expect(refused.status).toBe(429)
  expect(refused.body).toEqual({
    error: {
      code: 'rate_limited',
      message: expect.stringMatching(
        /Too many requests.* Continue at \d\d:\d\d:\d\d UTC on \d+ [A-Z][a-z]+ \d{4}\./,
      ) as unknown,
    },
  })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  const reset = Number(refused.headers.get('x-ratelimit-reset'))
  expect(Number.isInteger(reset)).toBe(true)
  expect(reset).toBeGreaterThan(seconds())
  expect(reset).toBeLessThanOrEqual(seconds() + 301)

  const ofToken = await api.requestToken({})
  expect(ofToken.status).toBe(429)
  expect(ofToken.body).toEqual({
    error: 'rate_limited',
    error_description: expect.stringMatching(/Too many requests/) as unknown,
  })
  expect(Number(ofToken.headers.get('x-ratelimit-reset'))).toBe(reset)
})

test('Retry-After is the time until the window ends, which RateLimit-Reset says too', () => {
  const use = { limit: 300, remaining: 0, resetSeconds: 12 }
  const standing = { 'RateLimit-Limit': '300', 'RateLimit-Remaining': '0', 'RateLimit-Reset': '12' }

  expect(rateLimitHeaders({ served: true, use })).toEqual(standing)
  expect(rateLimitHeaders({ served: false, use, resumesAt: 1_900_000_012 })).toEqual({
    ...standing,
    'X-RateLimit-Reset': '1900000012',
    'Retry-After': '12',
  })
  expect(rateLimitHeaders({ served: true })).toEqual({})
})

test('200: every answer says how many requests are left in the window, and when it ends', async () => {
  await using api = await accessApi({ requests: 3, windowSeconds: 300 })

  const answers = [await api.get('/nowhere'), await api.requestToken({}), await api.get('/nowhere')]
  const refused = await api.get('/nowhere')

  const all = [...answers, refused].map(({ headers }) => headers)
  expect(all.map((headers) => headers.get('ratelimit-limit'))).toEqual(['3', '3', '3', '3'])
  expect(all.map((headers) => headers.get('ratelimit-remaining'))).toEqual(['2', '1', '0', '0'])
  for (const headers of all) expect(Number(headers.get('ratelimit-reset'))).toBeGreaterThan(290)
})

test('429: every request counts, whatever becomes of it, and the limit comes before the token', async () => {
  await using api = await accessApi({ requests: 3 })
  const answers = [
    await api.requestToken({}),
    await api.get('/api/v1/read'),
    await api.get('/nowhere'),
    await api.get('/api/v1/read'),
    await api.get('/nowhere'),
  ]
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 404, 429, 429])
})

test('the operator is not limited, who tries to be is', async () => {
  await using api = await accessApi({ requests: 2 })
  const list = '/admin/v1/organisations'

  for (let sent = 0; sent < 5; sent++) expect((await api.get(list, asOperator)).status).toBe(200)
  const guesses = [await api.get(list), await api.get(list, { authorization: 'Bearer guess' }), await api.get(list)]
  expect(guesses.map(({ status }) => status)).toEqual([401, 401, 429])
})

test('a limit of 0 requests is none', async () => {
  expect(await servedOf(makeRateLimit({ requests: 0, windowSeconds: 300, log }), 1000)).toBe(1000)
})

test('X-RateLimit-Reset gives when to continue: refused requests do not extend the window', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-15T12:00:00.500Z') })
  const limit = makeRateLimit({ requests: 3, windowSeconds: 300, log })
  expect(await servedOf(limit, 3)).toBe(3)

  const first = await limit('one')
  vi.setSystemTime(new Date('2026-01-15T12:04:59.000Z'))
  const last = await limit('one')

  const resumesAt = Date.parse('2026-01-15T12:05:01Z') / 1000
  expect(first).toMatchObject({ served: false, resumesAt })
  expect(last).toMatchObject({ served: false, resumesAt })
  vi.setSystemTime(resumesAt * 1000)
  expect(await servedOf(limit, 5)).toBe(3)
})

test('each address has a limit of its own', async () => {
  const limit = makeRateLimit({ requests: 3, windowSeconds: 300, log })

  expect(await servedOf(limit, 5, 'one')).toBe(3)
  expect(await servedOf(limit, 5, 'two')).toBe(3)
})

test('several processes count together in PostgreSQL', async () => {
  await using database = await testDatabase()
  const options = { requests: 50, windowSeconds: 300, pool: database.pool, log }
  const limits = Array.from({ length: 4 }, () => makeRateLimit(options))

  const served = await Promise.all(limits.map(async (limit) => servedOf(limit, 25)))

  expect(served.reduce((sum, each) => sum + each)).toBe(50)
  const decisions = await Promise.all(limits.map(async (limit) => limit('one')))
  expect(new Set(decisions.map(({ served: wasServed }) => wasServed))).toEqual(new Set([false]))
  const ends = new Set(decisions.map((decision) => ('resumesAt' in decision ? decision.resumesAt : 0)))
  expect([...ends].every((end) => end > seconds() && end <= seconds() + 301)).toBe(true)
})

test('in PostgreSQL too, refused requests do not extend the window, and afterwards as many are served again', async () => {
  await using database = await testDatabase()
  const options = { requests: 3, windowSeconds: 300, pool: database.pool, log }
  const limit = makeRateLimit(options)
  // Another process, which asks PostgreSQL since it has not heard that the limit is reached.
  const other = makeRateLimit(options)
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-15T12:00:00.500Z') })
  expect(await servedOf(limit, 5)).toBe(3)

  vi.setSystemTime(new Date('2026-01-15T12:04:59.000Z'))
  const resumesAt = Date.parse('2026-01-15T12:05:01Z') / 1000
  expect(await other('one')).toMatchObject({ served: false, resumesAt })
  expect(await limit('one')).toMatchObject({ served: false, resumesAt })

  vi.setSystemTime(resumesAt * 1000)
  expect((await servedOf(limit, 5)) + (await servedOf(other, 5))).toBe(3)
})

test('limits of different names do not touch each other', async () => {
  await using database = await testDatabase()
  const options = { requests: 3, windowSeconds: 300, pool: database.pool, log }

  expect(await servedOf(makeRateLimit({ ...options, name: 'api' }), 5)).toBe(3)
  expect(await servedOf(makeRateLimit({ ...options, name: 'inbound' }), 5)).toBe(3)
})

test('PostgreSQL failing does not take the API down: each process then counts for itself', async () => {
  const nowhere = new Pool({ connectionString: 'postgres://nobody@127.0.0.1:1/none', connectionTimeoutMillis: 1000 })
  const limit = makeRateLimit({ requests: 3, windowSeconds: 300, pool: nowhere, log })

  expect(await servedOf(limit, 5)).toBe(3)
  await nowhere.end()
})

test('when PostgreSQL is there again, processes count together again', async () => {
  await using database = await testDatabase()
  const limit = makeRateLimit({ requests: 3, windowSeconds: 300, pool: database.pool, log })
  await limit('one')
  await database.pool.query('alter table rate_limit rename to elsewhere')
  expect((await limit('one')).served).toBe(true)
  await database.pool.query('alter table elsewhere rename to rate_limit')

  const countShared = async () => {
    await limit('two')
    const { rows } = await database.pool.query<{ key: string }>('select key from rate_limit')
    return rows
  }
  await vi.waitFor(async () => expect(await countShared()).toContainEqual({ key: 'api:two' }), { timeout: 5000 })
})

/** Requests through so many trusted proxies, of which some are of this address: how many were served. */
const statusesFrom = async (trustedProxies: number, forwarded: readonly string[]) => {
  await using api = await accessApi({ requests: 1, trustedProxies })
  const statuses = []
  for (const each of forwarded) {
    const { status } = await api.get('/api/v1/read', { 'x-forwarded-for': each })
    statuses.push(status)
  }
  return statuses
}

test('X-Forwarded-For counts only from trusted proxies', async () => {
  expect(await statusesFrom(0, ['192.0.2.1', '192.0.2.2'])).toEqual([401, 429])
  expect(await statusesFrom(1, ['192.0.2.1', '192.0.2.2', '192.0.2.1'])).toEqual([401, 401, 429])
})

test('what stands before the entry of the first trusted proxy was written by the caller and does not count', async () => {
  expect(await statusesFrom(1, ['192.0.2.7, 192.0.2.1', '192.0.2.8, 192.0.2.1'])).toEqual([401, 429])
  expect(await statusesFrom(2, ['192.0.2.1, 10.0.0.1', '192.0.2.1, 10.0.0.2', '192.0.2.2, 10.0.0.1'])).toEqual([
    401, 429, 401,
  ])
})

test('an entry with a port counts as its address', async () => {
  expect(await statusesFrom(1, ['192.0.2.1:5678', '192.0.2.1:5679', '192.0.2.2:5678'])).toEqual([401, 429, 401])
})

test('an entry that is no address counts for the proxy', async () => {
  expect(await statusesFrom(1, ['unknown', '_hidden', 'x'.repeat(1000)])).toEqual([401, 429, 429])
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2:ffff::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['::1', '0:0:0:0::/64'],
  ['192.0.2.1:5678', '192.0.2.1'],
  ['[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::1]:5678', '2001:db8:1:2::/64'],
  ['[::ffff:192.0.2.1]:5678', '192.0.2.1'],
  ['192.0.2.1:port', '203.0.113.9'],
  ['[192.0.2.1', '203.0.113.9'],
  [`fe80::1%${'z'.repeat(1_000)}`, '203.0.113.9'],
  ['nonsense', '203.0.113.9'],
  [undefined, '203.0.113.9'],
])('the address %s counts as %s', (ip, counted) => {
  const socket = { remoteAddress: '203.0.113.9' }
  expect(addressOf({ ip, socket } as Parameters<typeof addressOf>[0])).toBe(counted) // all that it looks at
})
