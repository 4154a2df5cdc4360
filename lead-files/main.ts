import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { parse } from 'csv-parse'
import { stringify } from 'csv-stringify/sync'
import { z } from 'zod'
import { readConfig } from '#infra/config.ts'
import { readOwnSecrets } from '#infra/local-installation.ts'
import { progressShown } from '#infra/shown-progress.ts'

const usage = `Usage: npm run leads -- import FILE.csv --organisation ID [--campaign KEY] [--dry-run]
       npm run leads -- export --organisation ID [--format csv|jsonl]

Imports leads from a CSV file whose first line names the fields, or writes all leads to standard output. An import that
was interrupted can be run again: what was taken in is not taken in twice.

  --dry-run           only says which rows could not be taken in, or would be held
  --base-url URL      where the service is (BASE_URL)
  --operator-key KEY  the key of the operator (OPERATOR_KEY, or the one that npm start made)
`

/** What ends the program with exit code 1, as it is written to the terminal. */
class Failed extends Error {
  override readonly name = 'Failed'
}

const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

const Fault = z.object({ line: z.int(), field: z.string().nullable(), reason: z.string() })
const Uploaded = z.object({ data: z.object({ taken: z.int(), known: z.int(), faults: z.array(Fault) }) })
const Page = z.object({ data: z.array(z.record(z.string(), z.unknown())), next_cursor: z.string().nullable() })
const Refusal = z.object({ error: z.object({ message: z.string() }) })

const readOptions = () =>
  parseArgs({
    allowPositionals: true,
    options: {
      organisation: { type: 'string' },
      campaign: { type: 'string' },
      format: { type: 'string', default: 'csv' },
      'dry-run': { type: 'boolean', default: false },
      'base-url': { type: 'string' },
      'operator-key': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })

type Service = { readonly address: string; readonly operatorKey: string }

const send = async ({ address, operatorKey }: Service, path: string, body?: object): Promise<unknown> => {
  const request = fetch(`${address}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const response = await request.catch(() => {
    throw new Failed('The service does not answer. Start it with npm start, or name it with --base-url.')
  })
  const answer: unknown = await response.json()
  if (!response.ok) throw new Failed(Refusal.parse(answer).error.message)
  return answer
}

const CsvRow = z.object({
  record: z.record(z.string(), z.string()),
  info: z.object({ lines: z.int(), bytes: z.int() }),
})

// As many rows as the service takes at once, and as much as fits into a body of 256 KB.
const mostRows = 100
const mostBytes = 100_000

type Row = { readonly line: number; readonly fields: Readonly<Record<string, string>> }

const digestOf = async (file: string): Promise<string> => {
  const digest = createHash('sha256')
  for await (const chunk of createReadStream(file)) digest.update(chunk as Buffer) // without an encoding, it gives those
  return digest.digest('hex')
}

const importLeads = async (
  service: Service,
  file: string,
  { campaign, dry_run }: { readonly campaign: string | undefined; readonly dry_run: boolean },
): Promise<void> => {
  const total = await stat(file).then(
    ({ size }) => size,
    () => {
      throw new Failed(`${file} cannot be read.`)
    },
  )
  const upload = await digestOf(file)
  const shown = progressShown(dry_run ? 'checking' : 'importing', process.stderr)
  const counts = { taken: 0, known: 0, faults: 0 }

  const flush = async (rows: readonly Row[], done: number) => {
    const body = { upload, dry_run, rows, ...(campaign !== undefined && { campaign }) }
    const { data } = Uploaded.parse(await send(service, '/uploaded_leads', body))
    counts.taken += data.taken
    counts.known += data.known
    counts.faults += data.faults.length
    for (const { line, field, reason } of data.faults) say(`${basename(file)}:${line}: ${field ?? 'the row'} ${reason}`)
    shown.report({ done, total })
  }

  const parser = createReadStream(file).pipe(
    parse({ columns: true, info: true, bom: true, trim: true, skip_empty_lines: true, max_record_size: mostBytes }),
  )
  let rows: Row[] = []
  let bytes = 0
  let done = 0
  try {
    for await (const each of parser) {
      const { record, info } = CsvRow.parse(each)
      const size = info.bytes - done
      if (rows.length === mostRows || (rows.length > 0 && bytes + size > mostBytes)) {
        await flush(rows, done)
        rows = []
        bytes = 0
      }
      rows.push({ line: info.lines, fields: record })
      bytes += size
      done = info.bytes
    }
    if (rows.length > 0) await flush(rows, total)
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_'))
      throw new Failed(`${basename(file)}: ${error.message}`)
    throw error
  } finally {
    shown.end()
  }
  const verb = dry_run ? 'would be taken in' : 'were taken in'
  say(`${counts.taken} leads ${verb}, ${counts.known} were known, ${counts.faults} faults.`)
  if (counts.faults > 0) process.exitCode = 1
}

const columns = [
  'contact_id',
  'status',
  'stage',
  'owner_id',
  'score',
  'grade',
  'source',
  'campaign',
  'facts',
  'updated_at',
]

const exportLeads = async (service: Service, format: string): Promise<void> => {
  if (format !== 'csv' && format !== 'jsonl') throw new Failed('The format is csv or jsonl.')
  if (format === 'csv') process.stdout.write(stringify([columns]))
  let cursor: string | undefined
  for (;;) {
    const path = `/leads?limit=200${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
    const { data, next_cursor } = Page.parse(await send(service, path))
    const lines =
      format === 'jsonl'
        ? data.map((lead) => `${JSON.stringify(lead)}\n`).join('')
        : stringify(data.map((lead) => columns.map((column) => cellOf(lead, column))))
    // What reads us may be slower than we are: no more than a page is kept.
    if (!process.stdout.write(lines)) await new Promise((resolve) => process.stdout.once('drain', resolve))
    if (data.length < 200 || next_cursor === null || next_cursor === cursor) return
    cursor = next_cursor
  }
}

const Shown = z.record(z.string(), z.unknown())

const cellOf = (lead: Readonly<Record<string, unknown>>, column: string): string => {
  const shown = Shown.safeParse(lead['shown']).data ?? {}
  const value = lead[column] ?? shown[column] ?? ''
  const named = Shown.safeParse(value).data
  const text = column === 'stage' || column === 'campaign' ? (named?.['key'] ?? '') : value
  const written = typeof text === 'string' ? text : JSON.stringify(text)
  // A spreadsheet would take it for a formula.
  return /^[=+\-@\t\r]/.test(written) ? `'${written}` : written
}

const main = async (): Promise<void> => {
  const { values, positionals } = readOptions()
  const [what, file] = positionals
  if (values.help) return say(usage)
  const { BASE_URL, DATA_DIR, OPERATOR_KEY } = readConfig(process.env)
  const operatorKey = values['operator-key'] ?? OPERATOR_KEY ?? (await readOwnSecrets(DATA_DIR))?.OPERATOR_KEY
  if (operatorKey === undefined) throw new Failed('Give the operator key with --operator-key or OPERATOR_KEY.')
  if (values.organisation === undefined) throw new Failed(`Name the organisation.\n\n${usage}`)
  const address = `${values['base-url'] ?? BASE_URL}/admin/v1/organisations/${values.organisation}`
  const service = { address, operatorKey }
  if (what === 'export') return exportLeads(service, values.format)
  if (what !== 'import' || file === undefined) throw new Failed(usage)
  return importLeads(service, file, { campaign: values.campaign, dry_run: values['dry-run'] })
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
