import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/**
 * The tests that take longest, most of it waiting for processes that they start: the whole run begins with them, so that
 * none runs on alone at the end, and `npm run test:changed` leaves them to it.
 */
export const longest: readonly string[] = [
  'journeys/many-processes',
  'explorer/explorer',
  'crypto/nothing-readable',
  'journeys/start',
  'journeys/restarts',
  'journeys/stopped',
  'unknown-callers/memory',
  'setup/setup-faults',
  'policies/killed-checkout',
  'wrong-types',
  'journeys/waiting',
  'sales-page/sales-page',
  'event-log/eventstoredb',
  'journeys/kill',
  'embedded-postgres/embedded-postgres',
  'guides/restore',
  'journeys/kill-ingests',
  'journeys/kill-premiums',
  'journeys/kill-outreach',
  'guides/operate',
  'erasures/erasure-api',
  'kafka/planning',
  'journeys/configuration',
  'customers/one-person',
  'ingests/lead-files',
  'guides/keys',
  'delivery/workers',
  'kafka/outages',
  'outreach/kinds',
  'listen',
  'policies/first-year',
  'delivery/lifecycle-webhooks',
  'guides/set-up',
  'journeys/call-centre',
  'postgres/network-loss',
].map((name) => `test/${name}.test.ts`)

const missing = longest.filter((file) => !existsSync(join(root, file)))
if (missing.length > 0) throw new Error(`test/longest.ts names tests that there are not: ${missing.join(', ')}`)
