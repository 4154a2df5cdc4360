import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/**
 * The tests that take longest, most of it waiting for processes that they start: the whole run begins with them, so that
 * none runs on alone at the end, and `npm run test:changed` leaves them to it.
 */
export const longest: readonly string[] = [
  'journeys/many-processes',
  'crypto/nothing-readable',
  'explorer/explorer',
  'journeys/start',
  'journeys/kill',
  'embedded-postgres/embedded-postgres',
  'kafka/planning',
  'postgres/network-loss',
  'journeys/kill-ingests',
  'outreach/kinds',
  'policies/killed-checkout',
  'sales-page/sales-page',
  'journeys/configuration',
  'setup/setup-faults',
  'event-log/eventstoredb',
  'journeys/kill-outreach',
  'journeys/waiting',
  'guides/restore',
  'guides/operate',
  'delivery/workers',
  'delivery/lifecycle-webhooks',
  'erasures/erasure-api',
  'journeys/call-centre',
  'policies/first-year',
].map((name) => `test/${name}.test.ts`)

const missing = longest.filter((file) => !existsSync(join(root, file)))
if (missing.length > 0) throw new Error(`test/longest.ts names tests that there are not: ${missing.join(', ')}`)
