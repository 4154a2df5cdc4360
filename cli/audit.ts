import { open } from 'node:fs/promises'
import type { Pool } from 'pg'
import { publicKeysOf } from '#infra/audit-tree/audit-keys.ts'
import { endMisunderstood, readOptions } from '#infra/command-line.ts'
import { readConfig, type Config } from '#infra/config.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { readOwnSecrets, runningClusterUrl } from '#infra/local-installation.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { logIsHere, openEventLog } from '#infra/role-parts.ts'
import { compareKept, notesIn } from './audit/kept-checkpoints.ts'
import { beginNewLog } from './audit/new-log.ts'
import { pagesOfLog } from './audit/pages-of-log.ts'
import { keysOfDatabase, shownResult } from './audit/shown-result.ts'
import { verifyAuditLog } from './audit/verify.ts'

const usage = `Usage: npm run audit -- verify [--checkpoints FILE]
       npm run audit -- new-log --because TEXT

verify   makes the audit logs again from the events, and compares them with all that is stored of them and with every checkpoint
         that was signed. It names the first place of each log that is not as it was recorded. --checkpoints names a file of
         checkpoints that were kept elsewhere, one after the other: each must still be there.
new-log  begins the audit log of every organisation again, from the first event, under a new name. The first entry of each names
         the last checkpoint of the one before, and why: for after a restore, and for a log that is not signed any more.

Reads the database that DATABASE_URL names, or the one that npm start made, and the log of EVENT_LOG. Ends with 0 where nothing
was altered, with 1 where something was, and with 2 where nothing can be compared.
`

const hourMs = 3_600_000

type Stores = { readonly pool: Pool; readonly log: EventLog }

/** Does work with the database and the log, and leaves both. */
const withStores = async (config: Config, work: (stores: Stores) => Promise<number>): Promise<number> => {
  const url = config.DATABASE_URL === 'embedded' ? await runningClusterUrl(config.DATA_DIR) : config.DATABASE_URL
  const pool = createPool(url, { max: 2, name: 'coverstream audit', statementMs: hourMs, transactionMs: hourMs })
  const log = await openEventLog(config, url)
  try {
    return await work({ pool, log })
  } finally {
    await log.close()
    await pool.end()
  }
}

const verify = (config: Config, file: string | undefined): Promise<number> =>
  withStores(config, async ({ pool, log }) => {
    const given = publicKeysOf(config)
    const publicKeys = given.length > 0 ? given : await keysOfDatabase(pool)
    const events = pagesOfLog(log)
    const verified = await verifyAuditLog({ db: pool, events, logIsHere: logIsHere(config), publicKeys })
    const kept = file === undefined ? undefined : await compareKept(pool, notesIn(linesOf(file)), publicKeys)
    process.stdout.write(shownResult(verified, given.length > 0, kept))
    return verified.findings.length === 0 && (kept?.findings ?? []).length === 0 ? 0 : 1
  })

/** Nothing is read before the first line is wanted, since lines that nobody waits for are lost. */
async function* linesOf(file: string): AsyncGenerator<string> {
  const opened = await open(file)
  for await (const line of opened.readLines()) yield line
}

const beginAgain = (config: Config, because: string): Promise<number> =>
  withStores(config, async ({ pool }) => {
    const generation = await beginNewLog(pool, because)
    process.stdout.write(`The audit logs begin again, for the ${generation}. time; projections fills them now.\n`)
    return 0
  })

const main = async (): Promise<number> => {
  const { values, positionals } = readOptions(usage, {
    allowPositionals: true,
    options: { because: { type: 'string' }, checkpoints: { type: 'string' } },
  })
  const [act, ...others] = positionals
  if (others.length > 0 || (act !== 'verify' && act !== 'new-log')) return endMisunderstood(positionals, usage)
  const config = readConfig(process.env, await readOwnSecrets(readConfig(process.env).DATA_DIR))
  if (act === 'verify') return verify(config, values.checkpoints)
  const { because = '' } = values
  if (because.trim() === '' || Buffer.byteLength(because) > 300)
    return endMisunderstood(positionals, usage, 'Say --because TEXT, with at most 300 letters.')
  return beginAgain(config, because.trim())
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}
