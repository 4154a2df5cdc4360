import { CalendarDate, OrganisationId } from '#domain/values.ts'
import { endMisunderstood, readOptions } from '#infra/command-line.ts'
import { readConfig } from '#infra/config.ts'
import { readOwnSecrets, runningClusterUrl } from '#infra/local-installation.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { reconcile } from './reconciliation/reconcile.ts'

const usage = `Usage: npm run ledger -- reconcile FILE --organisation ID [--test] [--until YYYY-MM-DD]

Compares the ledger with what the payment provider has exported of its balance: Stripe's report “Itemised balance change from
activity” as CSV, with the columns reporting_category, currency, gross, fee, source_id and payment_intent_id. Every payment,
refund and dispute that differs is named in a line of its own; all others are summed by kind, and so are fees and payouts.

  --organisation ID   its id, as GET /admin/v1/organisations shows it
  --test              compares what was paid to the provider's test account
  --until DATE        compares up to the end of this day, where the organisation is; needs the column created_utc

Reads the database that DATABASE_URL names, or the one that npm start made. Ends with 0 where all is equal, with 1 where something
differs, and with 2 where nothing can be compared.
`

const hourMs = 3_600_000

const main = async (): Promise<number> => {
  const { values, positionals } = readOptions(usage, {
    allowPositionals: true,
    options: {
      organisation: { type: 'string' },
      test: { type: 'boolean', default: false },
      until: { type: 'string' },
    },
  })
  const [act, file, ...others] = positionals
  if (act !== 'reconcile') return endMisunderstood(positionals, usage)
  if (file === undefined || others.length > 0)
    return endMisunderstood(positionals, usage, 'Name the FILE that is to be compared, and one alone.')
  const organisation = OrganisationId.safeParse(values.organisation)
  if (!organisation.success)
    throw new Error('--organisation must be the id of the organisation, as GET /admin/v1/organisations shows it.')
  const until = CalendarDate.optional().safeParse(values.until)
  if (!until.success) throw new Error('--until must be a date such as 2026-07-31.')
  const { DATABASE_URL, DATA_DIR } = readConfig(process.env, await readOwnSecrets(readConfig(process.env).DATA_DIR))
  const url = DATABASE_URL === 'embedded' ? await runningClusterUrl(DATA_DIR) : DATABASE_URL
  const pool = createPool(url, { max: 1, name: 'coverstream ledger', statementMs: hourMs, transactionMs: hourMs })
  try {
    const asked = { organisation_id: organisation.data, test: values.test, until: until.data }
    return await reconcile(pool, file, asked, process.stdout)
  } finally {
    await pool.end()
  }
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}
