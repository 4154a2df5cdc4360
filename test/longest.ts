import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/**
 * The tests that take longest, most of it waiting for processes that they start: the whole run begins with them, so that
 * none runs on alone at the end, and `npm run test:changed` leaves them to it.
 */
export const longest: readonly string[] = [
  'explorer/explorer',
  'journeys/start',
  'journeys/many-processes',
  'crypto/nothing-readable',
  'journeys/restarts',
  'journeys/stopped',
  'unknown-callers/memory',
  'journeys/kill-premiums',
  'command-line',
  'erasures/erasure-api',
  'setup/setup-faults',
  'journeys/kill',
  'embedded-postgres/embedded-postgres',
  'sales-page/sales-page',
  'journeys/waiting',
  'journeys/kill-ingests',
  'policies/killed-checkout',
  'guides/operate',
  'journeys/configuration',
  'event-log/eventstoredb',
  'kafka/planning',
  'journeys/kill-outreach',
  'guides/after-the-sale',
  'ingests/lead-files',
  'guides/restore',
  'policies/first-year',
  'guides/set-up',
  'crypto/sealed-log.contract',
  'delivery/lifecycle-webhooks',
  'setup/setup',
  'outreach/kinds',
  'customers/one-person',
  'delivery/workers',
  'ledger/reconcile',
  'policies/operator-acts',
  'setup/setup-command',
  'journeys/call-centre',
].map((name) => `test/${name}.test.ts`)

const missing = longest.filter((file) => !existsSync(join(root, file)))
if (missing.length > 0) throw new Error(`test/longest.ts names tests that there are not: ${missing.join(', ')}`)
