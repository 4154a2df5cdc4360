import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/**
 * What organisations name is reached through `infra/guarded-http.ts`, and mail servers by the same guard of addresses. All
 * other connections go to what the operator names.
 */
const whoConnects: Readonly<Record<string, readonly string[]>> = {
  'what organisations name': ['infra/guarded-http.ts', 'infra/message-channels/smtp.ts'],
  'the names of it are looked up': ['infra/name-lookup.ts'],
  PostgreSQL: [
    'infra/postgres/connection.ts',
    'infra/postgres/embedded/owner.ts',
    'infra/postgres/postgres.ts',
    // Only to find a port that is free.
    'infra/postgres/embedded/embedded-postgres.ts',
  ],
  EventStoreDB: [
    'infra/event-log/eventstoredb/connection.ts',
    'infra/event-log/eventstoredb/discovery.ts',
    'infra/event-log/eventstoredb/tls-fault.ts',
  ],
  Kafka: ['infra/kafka/feed.ts', 'infra/kafka/group.ts', 'infra/kafka/publisher.ts', 'infra/kafka/topic.ts'],
  'callers, who connect to us': ['infra/http/listen.ts'],
  'the address that a page came from, in a browser': [
    'query-api/console/browser/acts.ts',
    'query-api/console/browser/events.ts',
    'query-api/console/browser/files.ts',
    'query-api/console/browser/find.ts',
    'query-api/console/browser/live.ts',
    'query-api/console/browser/send.ts',
    'query-api/console/browser/setup-file.ts',
    'query-api/console/browser/sign-in.ts',
  ],
  'both APIs, as the pages of the console read them': ['query-api/console/read.ts'],
  // The library connects by what it is given: see below.
  Stripe: ['infra/stripe/library.ts'],
}

const connecting =
  /^(node:)?(https?|http2|net|tls|dgram|dns|dns\/promises)$|^(undici|stripe|nodemailer|pg|@eventstore\/.*|@grpc\/.*|@platformatic\/kafka)$/
/** What these modules hold that opens nothing. */
const harmless = new Set([
  'isIP',
  'createSecureContext',
  'DatabaseError',
  'NotLeaderError',
  'jsonEvent',
  'status',
  'WrongExpectedVersionError',
  'BACKWARDS',
  'END',
  'START',
  'StreamNotFoundError',
  'eventTypeFilter',
  'streamNameFilter',
])

const importing = /import\s+(?!type\s)([^;'"]*?)\s*from\s+'([^']+)'|(?:import|require)\('([^']+)'\)/g

const opensConnections = (source: string): boolean =>
  /(?<![.\w])(fetch|WebSocket|EventSource|XMLHttpRequest)\(/.test(source) ||
  [...source.matchAll(importing)].some(([, names = '', from, dynamically = '']) => {
    if (from === undefined) return connecting.test(dynamically)
    const values = names.replaceAll(/[{}]/g, ' ').split(',')
    return (
      connecting.test(from) &&
      values.map((name) => name.trim()).some((name) => !/^(type .*)?$/.test(name) && !harmless.has(name))
    )
  })

test('connections are opened by few files, and to what organisations name by the guarded ones alone', () => {
  const files = globSync('{command-api,delivery-worker,domain,infra,projections,query-api}/**/*.ts')
  expect(files.filter((file) => opensConnections(readFileSync(file, 'utf8'))).toSorted()).toEqual(
    Object.values(whoConnects).flat().toSorted(),
  )
})

test('the library of the payment provider is given a connector of ours', () => {
  const client = readFileSync('infra/stripe/client.ts', 'utf8')
  expect(client).toContain('createFetchHttpClient(')
  expect(client).not.toMatch(/httpAgent|from 'node:https?'/)
})
