import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { CsvError, parse } from 'csv-parse'
import { z } from 'zod'
import { progressShown } from '#infra/shown-progress.ts'
import { counted } from '#domain/plural.ts'
import { fromCell } from './cells.ts'
import { Failed, say, send, type Service } from './service.ts'

const Fault = z.object({ line: z.int(), field: z.string().nullable(), reason: z.string() })
const Uploaded = z.object({
  data: z.object({
    taken: z.int(),
    known: z.int(),
    held: z.int().default(0),
    waits: z.boolean().default(false),
    faults: z.array(Fault),
  }),
})

const CsvRow = z.object({
  // A row that is too short lacks its last columns.
  record: z.record(z.string(), z.string().optional()),
  info: z.object({
    lines: z.int(),
    bytes: z.int(),
    columns: z.array(z.unknown()),
    error: z.object({ record: z.array(z.string()) }).optional(),
  }),
})

// As much as the service takes: of rows at once, with all in a body of 256 KB, and of one value.
const mostRows = 100
const mostBytes = 240_000
const longestValue = 10_000
const longestName = 200
const longestRow = 100_000

type Row = { readonly line: number; readonly fields: Readonly<Record<string, string>> }

/** The values of a row; empty ones are left out. */
const fieldsOf = (record: Readonly<Record<string, string | undefined>>): Row['fields'] =>
  Object.fromEntries(
    Object.entries(record).flatMap(([column, cell = '']) => (cell === '' ? [] : [[column, fromCell(cell)]])),
  )

/** Reads the file once before anything of it is sent: what is not text of the one encoding would be stored spoilt. */
const digestOf = async (file: string): Promise<string> => {
  const digest = createHash('sha256')
  const text = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of createReadStream(file)) {
      digest.update(chunk as Buffer) // without an encoding, it gives those
      text.decode(chunk as Buffer, { stream: true })
    }
    text.decode()
  } catch (error) {
    if (error instanceof TypeError)
      throw new Failed(`${basename(file)} is not encoded in UTF-8. Save it as "CSV UTF-8" and import it again.`)
    throw error
  }
  return digest.digest('hex')
}

/**
 * A second column of the same name would take the place of the first; and one that holds all others says nothing of anybody.
 * The names go with every row: what the service does not take of them, it would refuse of each.
 */
const usableColumns = (file: string) => (names: readonly string[]) => {
  if (names.length === 1 && /[;\t|]/.test(names[0] ?? ''))
    throw new Failed(
      `${basename(file)} has no commas between its columns. Save it as "CSV UTF-8" with commas, and import it again.`,
    )
  const twice = names.find((name, index) => name !== '' && names.indexOf(name) !== index)
  if (twice !== undefined)
    throw new Failed(`${basename(file)} has two columns named ${twice}. Rename or remove one, and import it again.`)
  for (const name of names) {
    if (name.length > longestName)
      throw new Failed(
        `${basename(file)} has a column whose name is longer than ${longestName} characters: ${name.slice(0, 60)}… Shorten it, and import the file again.`,
      )
    if (name.includes('\0'))
      throw new Failed(
        `${basename(file)} has a column whose name holds ${noText}. Remove it, and import the file again.`,
      )
  }
  return [...names]
}

const noText = 'the character U+0000, which is no text'

/** A row is refused whose values may stand below other names than their own. */
const misshapen = (values: number, columns: number): string => {
  const advice =
    values > columns ? 'Put a text with a comma between double quotes' : 'Add a comma for every value that is empty'
  return `the row has ${counted(values, 'value')}, the first line names ${columns}. ${advice}.`
}

/** The reason why the service cannot take a row; undefined when it can. */
const unfit = ({ fields }: Row, size: number): string | undefined => {
  for (const [column, value] of Object.entries(fields)) {
    if (value.length > longestValue) return `${column} is longer than ${longestValue} characters. Shorten it.`
    if (value.includes('\0')) return `${column} holds ${noText}. Remove it.`
  }
  return size > mostBytes
    ? `the row is longer than ${mostBytes / 1000} KB with the names of its columns. Shorten it.`
    : undefined
}

/** Nobody can say where a row ends behind such a place. */
const unreadable = ({ code }: CsvError): string =>
  code === 'CSV_MAX_RECORD_SIZE'
    ? `the row is longer than ${longestRow / 1000} KB. Shorten it, and import the file again.`
    : 'a double quote is not in its place. Put the whole text between double quotes, write each that is part of it twice, and import the file again.'

const howToGoOn =
  'Import the rows that are named, corrected, in a file of their own: once it is changed, this file is another one, and all of its rows are taken in again.'

/** The contents of a file, and where its rows go. */
const kinds = {
  leads: { path: '/uploaded_leads', one: 'lead', done: 'taken in' },
  outcomes: { path: '/uploaded_outcomes', one: 'outcome', done: 'recorded' },
}
export type Importable = keyof typeof kinds
export const isImportable = (what: string): what is Importable => what in kinds

/** The rows of a file, however long it is, as they are read. */
const rowsOf = (file: string) =>
  createReadStream(file).pipe(
    parse({
      columns: usableColumns(file),
      info: true,
      bom: true,
      trim: true,
      skip_empty_lines: true,
      // A file that was put together from several has several: by the first alone, rows would be glued together.
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      max_record_size: longestRow,
    }),
  )

/** Reads the file to its end before anything of it is sent: to be put right it must be changed, and is another file then. */
const refuseUnreadable = async (file: string): Promise<void> => {
  try {
    for await (const _row of rowsOf(file));
  } catch (error) {
    if (error instanceof CsvError) throw new Failed(`${basename(file)}:${Number(error['lines'])}: ${unreadable(error)}`)
    throw error
  }
}

/** Sends the rows of a file, a few at a time: however long it is, no more of it is held in memory. */
export const importFile = async (
  service: Service,
  file: string,
  what: Importable,
  { campaign, dry_run }: { readonly campaign: string | undefined; readonly dry_run: boolean },
): Promise<void> => {
  const total = await stat(file).then(
    ({ size }) => size,
    () => {
      throw new Failed(`There is no file ${file}, or none that can be read.`)
    },
  )
  if (total === 0) throw new Failed(`${basename(file)} is empty. Its first line must name the columns.`)
  const upload = await digestOf(file)
  await refuseUnreadable(file)
  const shown = progressShown(dry_run ? 'checking' : 'importing', process.stderr)
  const counts = { taken: 0, known: 0, held: 0, faults: 0 }
  let isToldOfWait = false

  const flush = async (rows: readonly Row[], done: number) => {
    const body = { upload, dry_run, rows, ...(campaign !== undefined && { campaign }) }
    const { data } = Uploaded.parse(await send(service, kinds[what].path, body))
    counts.taken += data.taken
    counts.known += data.known
    counts.held += data.held
    counts.faults += data.faults.length
    if (data.waits && !isToldOfWait)
      say(
        'What was sent is taken in, but not processed yet: the rest is sent slowly, so that other leads do not wait for it.',
      )
    isToldOfWait = data.waits
    for (const { line, field, reason } of data.faults) say(`${basename(file)}:${line}: ${field ?? 'the row'} ${reason}`)
    shown.report({ done, total })
  }

  let rows: Row[] = []
  let bytes = 0
  let done = 0
  try {
    for await (const each of rowsOf(file)) {
      const { record, info } = CsvRow.parse(each)
      if (info.error) {
        counts.faults += 1
        say(`${basename(file)}:${info.lines}: ${misshapen(info.error.record.length, info.columns.length)}`)
        continue
      }
      const row = { line: info.lines, fields: fieldsOf(record) }
      const size = Buffer.byteLength(JSON.stringify(row))
      const reason = unfit(row, size)
      if (reason !== undefined) {
        counts.faults += 1
        say(`${basename(file)}:${row.line}: ${reason}`)
        continue
      }
      if (rows.length === mostRows || bytes + size > mostBytes) {
        await flush(rows, done)
        rows = []
        bytes = 0
      }
      rows.push(row)
      bytes += size
      done = info.bytes
    }
    if (rows.length > 0) await flush(rows, total)
  } catch (error) {
    const sent = counts.taken + counts.known + counts.held
    if (error instanceof Failed && sent > 0 && !dry_run)
      throw new Failed(
        `${error.message} ${counted(sent, 'row')} ${sent === 1 ? 'is' : 'are'} taken in: import the same file again, and the rest follows.`,
      )
    throw error
  } finally {
    shown.end()
  }
  const { one, done: taken } = kinds[what]
  const was = (count: number) => (count === 1 ? 'was' : 'were')
  const are = (now: string) => (dry_run ? 'would be' : now)
  // Which leads are held is decided after they were taken in: only a dry run can say it here.
  const held = what === 'outcomes' || dry_run ? [`${counts.held} ${are(counts.held === 1 ? 'is' : 'are')} held`] : []
  const parts = [
    `${counted(counts.taken, one)} ${are(was(counts.taken))} ${taken}`,
    ...held,
    `${counts.known} ${was(counts.known)} known`,
    counted(counts.faults, 'fault'),
  ]
  if (counts.faults > 0 && !dry_run && counts.taken + counts.known + counts.held > 0) say(howToGoOn)
  say(`${parts.join(', ')}.`)
  if (counts.faults > 0) process.exitCode = 1
}
