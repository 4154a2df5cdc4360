import { expect, test } from 'vitest'
import { LogMisconfigured, LogUnavailable, type EventLog } from '#infra/event-log/event-log.ts'
import { eventStoreDbLog } from '#infra/event-log/eventstoredb/eventstoredb-log.ts'
import { appended, idsOf, newEvents, newStream, untilCaughtUp } from '../event-log/events.ts'
import { unauthenticated } from './behaviour.ts'
import { certificatePath, startEventStoreDb, type TestServer } from './server.ts'

// Wrong settings are separated from outages: the first call that shows them fails at once, with one line.

const logAt = (url: string) => {
  const log = eventStoreDbLog(url, { attemptMs: 1_000, wholeMs: 2_000 })
  return { ...log, [Symbol.asyncDispose]: log.close }
}

const authority = `tlsCAFile=${encodeURIComponent(certificatePath('ca.crt'))}`
const admin = { username: 'coverstream', password: 'right', readsAll: true }

const firstUses: Readonly<Record<string, (log: EventLog) => Promise<unknown>>> = {
  head: (log) => log.head(),
  readAll: (log) => log.readAll(),
  subscribe: (log) => untilCaughtUp(log, {}),
}

test('a user over TLS reads and writes, with the authority of the connection string', async () => {
  await using server = await startEventStoreDb({ certificate: 'server', user: admin })
  await using log = logAt(`esdb://coverstream:right@127.0.0.1:${server.port}?${authority}`)
  const events = newEvents(2)

  await appended(log, newStream(), events)

  expect(idsOf(await untilCaughtUp(log, {}))).toEqual(idsOf(events))
})

type Misfit = {
  readonly what: string
  readonly server: Parameters<typeof startEventStoreDb>[0]
  readonly url: (server: TestServer) => string
  readonly says: (server: TestServer) => RegExp
}

test.each<Misfit>([
  {
    what: 'a wrong password',
    server: { certificate: 'server', user: admin },
    url: ({ port }) => `esdb://coverstream:wrong@127.0.0.1:${port}?${authority}`,
    says: () => /does not accept the user and password$/,
  },
  {
    what: 'no right to read everything',
    server: { certificate: 'server', user: { ...admin, readsAll: false } },
    url: ({ port }) => `esdb://coverstream:right@127.0.0.1:${port}?${authority}`,
    says: () => /the user has no right to read all events \(\$all\)$/,
  },
  {
    what: 'a certificate of an authority that is not trusted',
    server: { certificate: 'server' },
    url: ({ port }) => `esdb://127.0.0.1:${port}`,
    says: ({ port }) => new RegExp(`the certificate of 127.0.0.1:${port} does not fit \\(.+\\): check tlsCAFile`),
  },
  {
    what: 'a certificate of another host',
    server: { certificate: 'elsewhere' },
    url: ({ port }) => `esdb://127.0.0.1:${port}?${authority}`,
    says: ({ port }) => new RegExp(`the certificate of 127.0.0.1:${port} does not fit \\(.+\\): check tlsCAFile`),
  },
  {
    what: 'TLS asked of a server without it',
    server: {},
    url: ({ port }) => `esdb://127.0.0.1:${port}`,
    says: ({ port }) => new RegExp(`127.0.0.1:${port} does not speak TLS: set tls=false`),
  },
  {
    what: 'no TLS with a server that requires it',
    server: { certificate: 'server' },
    url: ({ port }) => `esdb://127.0.0.1:${port}?tls=false`,
    says: ({ port }) => new RegExp(`127.0.0.1:${port} requires TLS: leave tls=false out`),
  },
  {
    what: 'a certificate that does not fit, in a cluster',
    server: { certificate: 'server' },
    url: ({ port }) => `esdb://127.0.0.1:${port},127.0.0.1:${port}`,
    says: () => /does not fit/,
  },
])('$what ends the first call with one line that names EVENTSTOREDB_URL', async ({ server: options, url, says }) => {
  await using server = await startEventStoreDb(options)

  for (const use of Object.values(firstUses)) {
    await using log = logAt(url(server))
    const first = use(log)
    await expect(first).rejects.toBeInstanceOf(LogMisconfigured)
    await expect(first).rejects.toThrow(says(server))
    await expect(first).rejects.toThrow(/^EVENTSTOREDB_URL: (?!.*(right|wrong)@).+$/)
  }
})

test('settings that worked before are not blamed: a changed password may be changed back', async () => {
  await using server = await startEventStoreDb()
  await using log = logAt(server.url)
  await log.head()
  server.refuseAll(unauthenticated)

  await expect(log.head()).rejects.toBeInstanceOf(LogUnavailable)
  const outage = log.outage()
  server.refuseAll()
  await log.head()

  expect(outage?.reason).toContain('401')
  expect(log.outage()).toBeUndefined()
})

test('a server that is not there is waited for, with and without TLS', async () => {
  await using server = await startEventStoreDb()
  await server.stop()

  for (const options of ['tls=false', authority]) {
    await using log = logAt(`esdb://127.0.0.1:${server.port}?${options}`)
    await expect(log.head()).rejects.toBeInstanceOf(LogUnavailable)
  }
})
