import { open, rm } from 'node:fs/promises'
import type { Pool } from 'pg'
import { publicKeysOf, signingKeyOf } from '#infra/audit-tree/audit-keys.ts'
import { compareKept, notesIn } from '#infra/audit-tree/kept-checkpoints.ts'
import { linesOf } from '#infra/audit-tree/lines.ts'
import { readVerifier } from '#infra/audit-tree/signed-note.ts'
import { endMisunderstood, readOptions } from '#infra/command-line.ts'
import { readConfig, type Config } from '#infra/config.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { readOwnSecrets, runningClusterUrl } from '#infra/local-installation.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { logIsHere, openEventLog } from '#infra/role-parts.ts'
import { exportEvents } from './audit/export.ts'
import type { Selection } from './audit/export-rows.ts'
import { beginNewLog } from './audit/new-log.ts'
import { pagesOfLog } from './audit/pages-of-log.ts'
import { readSelection } from './audit/read-selection.ts'
import { keysOfDatabase, shownFile, shownResult } from './audit/shown-result.ts'
import { verifyFile } from './audit/verify-file.ts'
import { verifyAccesses } from './audit/verify-accesses.ts'
import { verifyAuditLog } from './audit/verify.ts'

const usage = `Usage: npm run audit -- verify [--checkpoints FILE]
       npm run audit -- verify FILE [--key KEY]
       npm run audit -- export --organisation ID --to FILE [--record RECORD | --person ID] [--from TIME] [--until TIME]
       npm run audit -- new-log --because TEXT
       npm run audit -- replay --schema NAME (--until TIME | --position POSITION) [--role ROLE] [--organisation ID]
         [--personal opened] [--keep 7d] [--key KEY]
       npm run audit -- replay --drop NAME

verify   makes the audit logs again from the events, and compares them with all that is stored of them and with every checkpoint
         that was signed. It names the first place of each log that is not as it was recorded. --checkpoints names a file of
         checkpoints that were kept elsewhere, one after the other: each must still be there.
         With a FILE, verifies an export alone, without the service and its database. --key says which key must have signed it.
export   writes the events of an organisation, or of the "installation", to a new file, each with the proof that it is in the audit
         log: those of a RECORD (policy-<id>), those about a person, or those that were recorded from one time on and before another.
         AUDIT_KEY signs it.
new-log  begins the audit log of every organisation again, from the first event, under a new name. The first entry of each names
         the last checkpoint of the one before, and why: for after a restore, and for a log that is not signed any more.
replay   makes the read models as they were at a moment, from the events that were recorded until then, in a schema of the database
         that only ROLE may read. Values that may identify a person are empty, but with --personal opened. It is dropped after
         --keep, seven days at most, and before that when somebody is erased whose values it may hold. --key is that of an auditor:
         it then shows what they may see. One that was not finished is begun again.

Reads the database that DATABASE_URL names, or the one that npm start made, and the log of EVENT_LOG. Ends with 0 where nothing
was altered, with 1 where something was, and with 2 where nothing can be compared.
`

const hourMs = 3_600_000

type Stores = { readonly pool: Pool; readonly log: EventLog }

const databaseOf = async ({ DATABASE_URL, DATA_DIR }: Config): Promise<string> =>
  DATABASE_URL === 'embedded' ? runningClusterUrl(DATA_DIR) : DATABASE_URL

/** Does work with the database and the log, and leaves both. */
const withStores = async (config: Config, work: (stores: Stores) => Promise<number>): Promise<number> => {
  const url = await databaseOf(config)
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
    const accesses = await verifyAccesses(pool, config.ACCESS_RETENTION_DAYS)
    const kept = file === undefined ? undefined : await compareKept(pool, notesIn(linesOf(file)), publicKeys)
    process.stdout.write(shownResult({ verified, accesses, kept, isKeyGiven: given.length > 0 }))
    return [verified, accesses, kept].every((each) => (each?.findings ?? []).length === 0) ? 0 : 1
  })

const verifyExport = async (file: string, key: string | undefined): Promise<number> => {
  const known = key === undefined ? undefined : readVerifier(key)
  if (key !== undefined && !known)
    throw new Error('--key is no key of an audit log: its name, its id and the key, joined by +.')
  const found = await verifyFile(linesOf(file), known)
  process.stdout.write(shownFile(file, found, known !== undefined))
  return 'reason' in found ? 1 : 0
}

const exportTo = (file: string, organisation: string, selection: Selection, config: Config): Promise<number> => {
  const key = signingKeyOf(config)
  if (!key) throw new Error('AUDIT_KEY is not set: an export is signed with it.')
  return withStores(config, async ({ pool, log }) => {
    const opened = await open(file, 'wx', 0o600)
    try {
      const write = (line: string) => opened.appendFile(line)
      const entries = await exportEvents({
        pool,
        log,
        organisation,
        selection,
        key,
        publicKeys: publicKeysOf(config),
        write,
      })
      await opened.sync()
      process.stdout.write(`${entries} events were written to ${file}.\n`)
    } catch (error) {
      await rm(file)
      throw error
    } finally {
      await opened.close()
    }
    return 0
  })
}

const beginAgain = (config: Config, because: string): Promise<number> =>
  withStores(config, async ({ pool }) => {
    const generation = await beginNewLog(pool, because, config.AUDIT_WITNESS_FILE)
    process.stdout.write(`The audit logs begin again, for the ${generation}. time; projections fills them now.\n`)
    return 0
  })

const replayOrDrop = async ({ drop, ...options }: { readonly drop?: string }, config: Config): Promise<number> => {
  const { runDrop, runReplay } = await import('./audit/replay.ts')
  const { readReplay } = await import('./audit/read-replay.ts')
  const url = await databaseOf(config)
  if (drop !== undefined) {
    const isDropped = await runDrop(drop, url)
    process.stdout.write(isDropped ? `${drop} was dropped.\n` : `There is no replay ${drop}.\n`)
    return isDropped ? 0 : 2
  }
  const asked = readReplay(options)
  if (typeof asked === 'string') return endMisunderstood([], usage, asked)
  await runReplay(asked, config, url)
  return 0
}

const text = { type: 'string' } as const

const main = async (): Promise<number> => {
  const { values, positionals } = readOptions(usage, {
    allowPositionals: true,
    options: {
      because: text,
      checkpoints: text,
      key: text,
      organisation: text,
      record: text,
      person: text,
      from: text,
      until: text,
      to: text,
      schema: text,
      position: text,
      personal: text,
      keep: text,
      role: text,
      drop: text,
    },
  })
  const [act, file, ...others] = positionals
  const isKnown = act === 'verify' || act === 'new-log' || act === 'export' || act === 'replay'
  if (!isKnown || others.length > 0 || (file !== undefined && act !== 'verify'))
    return endMisunderstood(positionals, usage)
  if (file !== undefined) return verifyExport(file, values.key)
  const config = readConfig(process.env, await readOwnSecrets(readConfig(process.env).DATA_DIR))
  if (act === 'verify') return verify(config, values.checkpoints)
  if (act === 'export') {
    const asked = readSelection(values)
    if (typeof asked === 'string') return endMisunderstood(positionals, usage, asked)
    return exportTo(asked.to, asked.organisation, asked.selection, config)
  }
  if (act === 'replay') return replayOrDrop(values, config)
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
