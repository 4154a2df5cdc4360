import { OwnError } from '#domain/own-error.ts'
import { endMisunderstood, readOptions } from '#infra/command-line.ts'
import { readConfig } from '#infra/config.ts'
import { readOwnSecrets, runningClusterUrl } from '#infra/local-installation.ts'
import { makeLog } from '#infra/log.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { openParts, type Parts } from '#infra/role-parts.ts'
import { toReader } from '#infra/shown-progress.ts'
import { daysOf, periodOf, readAsked, type AskedReprice } from './applications/read-asked.ts'
import { repriceBook } from './applications/reprice-book.ts'
import { findAsker } from './audit/replay-asker.ts'
import { readDraft, readOrganisation } from './catalogue/read-draft.ts'
import { readSetupFile } from './setup-plan/plan-text.ts'

const usage = `Usage: npm run reprice -- --organisation ID --product SLUG --release draft|FILE
         [--from YYYY-MM-DD] [--until YYYY-MM-DD] [--csv FILE] [--key KEY]

Prices all quotes of a product that were issued in a period again, with a release that is not published yet, and names each that
would be another: its price before and after, or that it would be declined, referred, postponed or without a price. Each is priced
on the answers that it was quoted on, and from the same start date. One that cannot be read is named, too. At the end come the totals.
Nothing is changed by it. It is recorded who was shown which quotes.

  --organisation ID   its id, as GET /admin/v1/organisations shows it
  --product SLUG      the product whose quotes are priced
  --release draft     with the draft of the product, as a set-up file with publish: false has left it
  --release FILE      with the product as a set-up file declares it, and the rate tables of the file: none of it need be applied
  --from, --until     the first and the last day, where the organisation is: the last 30 days, unless said otherwise
  --csv FILE          names the differences in a new file, and shows the totals alone
  --key KEY           that of a user with the role owner, underwriting or auditor, for whom it is recorded

Reads the database that DATABASE_URL names, or the one that npm start made, and the log of EVENT_LOG; needs MASTER_KEY to open
answers. Ends with 0 when all quotes were gone through, and with 2 where nothing can be.
`

/** Prices the quotes that were asked for, and says before of which product, with which release and of which days they are. */
const reprice = async (asked: AskedReprice, parts: Parts): Promise<void> => {
  const { eventLog, clock, signal } = parts
  const { organisation: organisation_id, product: slug, release, csv, key, ...given } = asked
  const asker = await findAsker(
    { key, organisation_id, personal: 'opened', roles: ['owner', 'underwriting', 'auditor'] },
    eventLog,
    signal,
  )
  const organisation = await readOrganisation(eventLog, organisation_id)
  const { time_zone } = organisation
  const from = release === 'draft' ? release : { ...(await readSetupFile(release)), file: release }
  const draft = await readDraft(eventLog, { organisation, slug, from })
  const days = daysOf(given, time_zone, clock.now().toISOString())
  const book = { organisation_id, product_id: draft.release.product_id, ...periodOf(days, time_zone) }
  const by = key === undefined ? { ...asker, actor_id: 'npm run reprice' } : asker
  const title =
    `${slug} of ${organisation.slug}, with ${release === 'draft' ? 'its draft' : release}: ` +
    `quotes from ${days.from} to ${days.until} (${time_zone})\n`
  await repriceBook(
    { book, draft, asker: by, csv, filters: Object.keys(given), title },
    { ...parts, output: toReader(process.stdout), progress: process.stderr },
  )
}

const text = { type: 'string' } as const

const main = async (): Promise<void> => {
  const { values } = readOptions(usage, {
    options: {
      organisation: text,
      product: text,
      release: text,
      from: text,
      until: text,
      csv: text,
      key: text,
    },
  })
  const asked = readAsked(values)
  if (typeof asked === 'string') return endMisunderstood([], usage, asked)
  const config = readConfig(process.env, await readOwnSecrets(readConfig(process.env).DATA_DIR))
  const url = config.DATABASE_URL === 'embedded' ? await runningClusterUrl(config.DATA_DIR) : config.DATABASE_URL
  const ending = new AbortController()
  const stop = () => ending.abort(new OwnError('It was stopped before all quotes were priced.'))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const health = { metrics: makeMetrics() }
  const { parts, close } = await openParts(config, makeLog('warn', 'reprice'), ending.signal, url, 'many', health)
  try {
    await reprice(asked, parts)
  } finally {
    await close()
  }
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}
