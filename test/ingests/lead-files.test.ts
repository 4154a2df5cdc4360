import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { leadService, type LeadService } from './fixture.ts'

let service: LeadService
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coverstream-leads-'))
  service = await leadService()
}, 60_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** Runs the command as a shell would. */
const run = async (...options: readonly string[]) => {
  const program = join(import.meta.dirname, '../../lead-files/main.ts')
  const where = ['--base-url', service.origin, '--operator-key', 'the operator key of the tests']
  const child = spawn(process.execPath, [program, ...options, '--organisation', service.organisation_id, ...where], {
    cwd: folder,
    env: {},
    stdio: 'pipe',
  })
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code: child.exitCode, output, errors }
}

const csv = `First name,Surname,E-mail,Telephone,BirthDate,Zip
Ada,Finch,ada.upload@example.com,07700 900123,14/03/1988,LS1 4AP
Ben,"Oak, the elder",ben.upload@example.com,,01/02/2020,BT1 5GS
Cleo,Elm,cleo.upload@example.com,07700 900456,1990-05-06,M1 1AE
`

test('a dry run names bad rows, and takes nothing in', async () => {
  await writeFile(join(folder, 'leads.csv'), csv)
  const { code, output } = await run('import', 'leads.csv', '--campaign', 'spring', '--dry-run')

  expect(code).toBe(1)
  expect(output.split('\n')).toEqual([
    'leads.csv:3: phone is missing',
    'leads.csv:3: BirthDate is the birthday of somebody under 18',
    'leads.csv:3: Zip is in an area that is excluded',
    '2 leads would be taken in, 0 were known, 3 faults.',
    '',
  ])
  const { body } = await service.send<readonly unknown[]>('GET', `${service.admin}/ingests?source=upload`)
  expect(body.data).toEqual([])
})

test('a file is imported with source upload, and once however often it is', async () => {
  await writeFile(join(folder, 'again.csv'), csv)
  const first = await run('import', 'again.csv', '--campaign', 'spring')
  const again = await run('import', 'again.csv', '--campaign', 'spring')

  expect(first).toMatchObject({ code: 0, output: '3 leads were taken in, 0 were known, 0 faults.\n' })
  expect(again.output).toBe('0 leads were taken in, 3 were known, 0 faults.\n')
  await vi.waitFor(
    async () => {
      const path = `${service.admin}/ingests?source=upload`
      const { body } = await service.send<readonly { status: string }[]>('GET', path)
      expect(body.data.map(({ status }) => status).toSorted()).toEqual(['applied', 'applied', 'held'])
    },
    { timeout: 20_000, interval: 20 },
  )
})

test('leads are exported as CSV and as JSON lines', async () => {
  const asCsv = await run('export')
  const asLines = await run('export', '--format', 'jsonl')

  const [heading, ...rows] = asCsv.output.trim().split('\n')
  expect(heading).toBe('contact_id,status,stage,owner_id,score,grade,source,campaign,facts,updated_at')
  expect(rows).toHaveLength(2)
  expect(rows[0]).toContain('open,new')
  expect(
    asLines.output
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { source: string }).source),
  ).toEqual(['upload', 'upload'])
})

test('what cannot be done is said', async () => {
  await writeFile(join(folder, 'broken.csv'), 'a,b\n1,"2\n')

  expect(await run('import', 'missing.csv')).toMatchObject({ code: 1, errors: 'missing.csv cannot be read.\n' })
  expect((await run('import', 'broken.csv')).errors).toContain('broken.csv: Quote')
  expect((await run('import', 'leads.csv', '--campaign', 'paused')).errors).toContain('paused')
  expect((await run('export', '--format', 'xml')).errors).toContain('csv or jsonl')
})
