import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { listen } from '#infra/http/listen.ts'
import { importFile } from '../../cli/lead-files/import.ts'
import { send } from '../../cli/lead-files/service.ts'
import { compiled } from '../compiled.ts'
import { leadService, type LeadService, type Shown } from './fixture.ts'

// A command takes seconds to start on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

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
  const program = join(import.meta.dirname, '../../cli/leads.ts')
  const where = ['--base-url', service.origin, '--operator-key', 'the operator key of the tests']
  const child = spawn(process.execPath, [program, '--organisation', service.organisation_id, ...where, ...options], {
    cwd: folder,
    env: compiled(),
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
    '3 leads would be taken in, 1 would be held, 0 were known, 3 faults.',
    '',
  ])
  const { body } = await service.send<readonly unknown[]>('GET', `${service.admin}/ingests?source=upload`)
  expect(body.data).toEqual([])

  const named = await run('export', '--organisation', 'northlight')
  expect(named).toMatchObject({ code: 1, output: '' })
  expect(named.errors).toContain('--organisation must be the id of the organisation')
})

test('a dry run names what of a row cannot be read, although no rule asks for it', async () => {
  const rows = ['E-mail,Telephone,BirthDate,Zip', 'ann@example.com,07700 900123,31/02/1990,LS1 4AP']
  const unread = ['bob@example.com,ring the office,1990-02-01,nowhere', 'no address,not mine,soon,LS1 4AP']
  await writeFile(join(folder, 'unread.csv'), [...rows, ...unread, ''].join('\n'))
  const { code, output } = await run('import', 'unread.csv', '--dry-run')

  expect(code).toBe(1)
  expect(output.split('\n')).toEqual([
    'unread.csv:2: BirthDate is left out: must be a date, as YYYY-MM-DD',
    'unread.csv:3: Telephone is left out: must be a telephone number',
    'unread.csv:3: Zip is left out: must be a UK postcode',
    'unread.csv:4: E-mail is not an email address',
    'unread.csv:4: Telephone is left out: must be a telephone number',
    'unread.csv:4: BirthDate is left out: must be a date, as YYYY-MM-DD',
    '3 leads would be taken in, 1 would be held, 0 were known, 6 faults.',
    '',
  ])
})

test('a row with more or fewer values than there are columns is told with its line, and holds up no other', async () => {
  const rows = ['email,first_name,last_name', 'dee@example.com,Dee', 'eve@example.com,Eve,Ash, the elder']
  await writeFile(join(folder, 'shapes.csv'), [...rows, 'fay@example.com,Fay,Elm', ''].join('\n'))
  const { code, output } = await run('import', 'shapes.csv', '--dry-run')

  expect(code).toBe(1)
  expect(output.split('\n')).toEqual([
    'shapes.csv:2: the row has 2 values, the first line names 3. Add a comma for every value that is empty.',
    'shapes.csv:3: the row has 4 values, the first line names 3. Put a text with a comma between double quotes.',
    '1 lead would be taken in, 0 would be held, 0 were known, 2 faults.',
    '',
  ])
})

test('a double quote that is not in its place is told with its line, and what to do', async () => {
  for (const name of ['Gil "the elder"', '"Gil" Ash', '"Gil']) {
    await writeFile(join(folder, 'quotes.csv'), `email,first_name\nhal@example.com,Hal\ngil@example.com,${name}\n`)
    const { code, errors } = await run('import', 'quotes.csv', '--dry-run')

    expect({ name, code }).toEqual({ name, code: 1 })
    expect(errors).toMatch(/^quotes\.csv:[34]: a double quote is not in its place\. Put the whole text between/m)
    expect(errors).not.toContain('    at ')
  }
})

test('of a file that must be changed to be read to its end nothing is taken in, however far down that is', async () => {
  const uploaded = async () => (await service.send('GET', `${service.admin}/ingests?source=upload&limit=200`)).body.data
  const before = await uploaded()
  // Longer than what is read of it at once.
  const rows = Array.from({ length: 300 }, (_, index) => `unread-${index}@example.com,${'Long '.repeat(150)}`)
  await writeFile(join(folder, 'unread.csv'), ['email,notes', ...rows, 'uma@example.com,"Uma" Ash', ''].join('\n'))
  const { code, output, errors } = await run('import', 'unread.csv')

  expect({ code, output }).toEqual({ code: 1, output: '' })
  expect(errors).toContain('unread.csv:302: a double quote is not in its place.')
  expect(await uploaded()).toEqual(before)
})

test('a file with many columns of long names is taken in, however much longer its rows are with the names beside them', async () => {
  const columns = Array.from({ length: 100 }, (_, index) => `what the person answered to question number ${index}`)
  const sparse = (email: string) => `${email},yes${','.repeat(99)}`
  const full = (email: string) => `${email}${',yes'.repeat(100)}`
  const rows = Array.from({ length: 240 }, (_, index) => (index < 120 ? sparse : full)(`wide-${index}@example.com`))
  await writeFile(join(folder, 'wide.csv'), [['email', ...columns].join(','), ...rows, ''].join('\n'))

  const { output } = await run('import', 'wide.csv', '--dry-run')
  expect(output).toBe('240 leads would be taken in, 0 would be held, 0 were known, 0 faults.\n')
})

test('a column whose name the service cannot take is named before anything is sent', async () => {
  const question = 'Do you or does anybody who lives with you smoke, or did you within the last twelve months? '.repeat(
    3,
  )
  for (const [name, reason] of [
    [question, 'has a column whose name is longer than 200 characters: Do you or does anybody'],
    ['no\0tes', 'has a column whose name holds the character U+0000'],
  ] as const) {
    await writeFile(join(folder, 'names.csv'), `email,${name.replaceAll(',', '')}\nmia@example.com,yes\n`)
    const { code, output, errors } = await run('import', 'names.csv', '--dry-run')

    expect({ code, output }).toEqual({ code: 1, output: '' })
    expect(errors).toContain(`names.csv ${reason}`)
  }
})

test('a value that the service cannot take is told with its line, and holds up no other row', async () => {
  const odd = [`jon@example.com,${'long '.repeat(2_001)}`, 'lea@example.com,a\0b']
  const rows = ['email,notes', 'ivy@example.com,short', ...odd, 'kim@example.com,']
  await writeFile(join(folder, 'notes.csv'), [...rows, ''].join('\n'))

  const { code, output } = await run('import', 'notes.csv', '--dry-run')
  expect(code).toBe(1)
  expect(output.split('\n')).toEqual([
    'notes.csv:3: notes is longer than 10000 characters. Shorten it.',
    'notes.csv:4: notes holds the character U+0000, which is no text. Remove it.',
    '2 leads would be taken in, 0 would be held, 0 were known, 2 faults.',
    '',
  ])
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
    { timeout: 60_000, interval: 20 },
  )
})

test('leads are exported as CSV and as JSON lines', async () => {
  await vi.waitFor(
    async () => {
      const { body } = await service.send<readonly { person: object | null }[]>('GET', `${service.admin}/leads`)
      expect(body.data.filter(({ person }) => person)).toHaveLength(2)
    },
    { timeout: 60_000, interval: 20 },
  )
  const asCsv = await run('export')
  const asLines = await run('export', '--format', 'jsonl')

  const [heading, ...rows] = asCsv.output.trim().split('\n')
  expect(heading).toBe(
    'contact_id,external_system_id,title,first_name,last_name,email,phone_number,dob,postal_code,status,stage,owner_id,score,grade,source,campaign,facts,updated_at',
  )
  expect(asCsv.output).toContain(',,,Ada,Finch,ada.upload@example.com,+447700900123,1988-03-14,LS1 4AP,open,new,')
  expect(rows).toHaveLength(2)
  expect(rows[0]).toContain('open,new')
  expect(
    asLines.output
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { source: string }).source),
  ).toEqual(['upload', 'upload'])
})

const outcomes = `external_id,type,occurred_at,deal_ref,product,premium,commission
CRM-7,sold,2026-01-10,D-1,term,"1,250.50",100
CRM-7,sold,2026-01-11,D-2,term,12.345,
CRM-7,flown,2026-01-11,D-3,,,
CRM-7,cancelled,2026-01-12,D-1,,,
nobody@example.com,quoted,soon,,,,
`

test('outcomes are imported: a dry run names bad rows, a row is recorded once, and a cancellation finds its sale', async () => {
  await service.setUp(`
organisations:
  - slug: firm
    name: A firm
    outcome_products: [{ key: term, name: Term }]
`)
  const lead = await service.process({ identity: { external_id: 'CRM-7', email: 'seven@example.com' } })
  await writeFile(join(folder, 'outcomes.csv'), outcomes)
  const dry = await run('import', 'outcomes.csv', '--what', 'outcomes', '--dry-run')
  const first = await run('import', 'outcomes.csv', '--what', 'outcomes')
  const again = await run('import', 'outcomes.csv', '--what', 'outcomes')

  const faults = [
    'outcomes.csv:3: premium must be an amount in pounds, as 12.50',
    'outcomes.csv:4: type must be one of quoted, sold, cancelled, commission_paid, lost',
    expect.stringMatching(/^outcomes.csv:6: occurred_at must be/) as string,
  ]
  expect(dry.output.trim().split('\n')).toEqual([
    ...faults,
    '2 outcomes would be recorded, 0 would be held, 0 were known, 3 faults.',
  ])
  expect(first.output.trim().split('\n').slice(3)).toEqual([
    expect.stringContaining('Import the rows that are named, corrected, in a file of their own') as string,
    '2 outcomes were recorded, 0 are held, 0 were known, 3 faults.',
  ])
  expect(again.output.trim().split('\n').at(-1)).toBe('0 outcomes were recorded, 0 are held, 2 were known, 3 faults.')
  const { body } = await service.send('GET', `${service.admin}/outcomes?contact_id=${lead.contact_id}`)
  expect(body.data).toMatchObject([
    {
      type: 'sold',
      source: 'upload',
      deal_ref: 'D-1',
      product: 'term',
      values: { premium: 125_050, commission: 10_000 },
    },
    { type: 'cancelled', deal_ref: 'D-1' },
  ])
})

test('an outcome of somebody whom nobody knows is held', async () => {
  await writeFile(join(folder, 'held.csv'), 'email,type,occurred_at\nunheard@example.com,quoted,2026-01-10\n')

  expect((await run('import', 'held.csv', '--what', 'outcomes')).output).toBe(
    '0 outcomes were recorded, 1 is held, 0 were known, 0 faults.\n',
  )
  const { body } = await service.send('GET', `${service.admin}/held_outcomes`)
  expect(body.data).toMatchObject([{ source: 'upload', reason: 'no_match' }])
})

test('outcomes and events are exported as CSV and as JSON lines', async () => {
  const rows = (await run('export', '--what', 'outcomes')).output.trim().split('\n')
  expect(rows[0]).toBe(
    'id,event_id,type,contact_id,occurred_at,source,deal_ref,product,values,missing_values,currency,reversed,reversal_of',
  )
  expect(rows).toHaveLength(3)
  const lines = (await run('export', '--what', 'events', '--format', 'jsonl')).output.trim().split('\n')
  const types = lines.map((line) => (JSON.parse(line) as { event_type: string }).event_type)
  expect(types).toContain('lead.created')
  expect(types).toContain('activity.outcome')
})

test('outcomes of one lead are recorded in the order of their rows, also where a later row finds it sooner', async () => {
  const { contact_id } = await service.process({ identity: { external_id: 'CRM-8', email: 'eight@example.com' } })
  const rows = [`,eight@example.com,sold,2026-01-10,D-8,term`, `${contact_id},,cancelled,2026-01-12,D-8,`]
  await writeFile(
    join(folder, 'ordered.csv'),
    ['contact_id,email,type,occurred_at,deal_ref,product', ...rows].join('\n'),
  )

  await run('import', 'ordered.csv', '--what', 'outcomes')

  const { body } = await service.send('GET', `${service.admin}/outcomes?contact_id=${contact_id}`)
  expect(body.data).toMatchObject([{ type: 'sold' }, { type: 'cancelled' }])
})

test('what cannot be done is said', async () => {
  await writeFile(join(folder, 'broken.csv'), 'a,b\n1,"2\n')

  await writeFile(join(folder, 'latin.csv'), Buffer.from('email,first_name\nzoe@example.com,Zo\u00eb\n', 'latin1'))
  await writeFile(join(folder, 'twice.csv'), 'email,email\none@example.com,two@example.com\n')
  expect((await run('import', 'latin.csv')).errors).toContain('latin.csv is not encoded in UTF-8')
  expect((await run('import', 'twice.csv')).errors).toContain('twice.csv has two columns named email')
  await writeFile(join(folder, 'semicolons.csv'), 'email;first_name\nzoe@example.com;Zoe\n')
  expect((await run('import', 'semicolons.csv')).errors).toContain('semicolons.csv has no commas between its columns')
  expect((await run('import', 'missing.csv')).errors).toBe('There is no file missing.csv, or none that can be read.\n')
  await writeFile(join(folder, 'empty.csv'), '')
  expect((await run('import', 'empty.csv')).errors).toContain(
    'empty.csv is empty. Its first line must name the columns',
  )
  expect((await run('import', 'broken.csv')).errors).toContain('broken.csv:2: a double quote')
  expect((await run('import', 'leads.csv', '--campaign', 'paused')).errors).toContain('paused')
  expect((await run('export', '--format', 'xml')).errors).toContain('csv or jsonl')
})

test('rows are sent again while the service asks for that, and while it is away for a moment', async () => {
  const answers = [
    { status: 200, body: '{"data":1}' },
    { status: 503, body: '{"error":{"message":"Send the request again."}}' },
    { status: 502, body: '<html>Bad gateway</html>' },
    undefined,
    { status: 200, body: '{"data":2}' },
    { status: 422, body: '{"error":{"message":"Correct campaign."}}' },
  ].values()
  const { port, close } = await listen(
    (request, response) => {
      const answer = answers.next().value
      if (!answer) request.socket.destroy()
      else response.writeHead(answer.status).end(answer.body)
    },
    '127.0.0.1',
    0,
  )
  const away = { address: `http://127.0.0.1:${port}`, operatorKey: 'key' }

  expect(await send(away, '/leads')).toEqual({ data: 1 })
  expect(await send(away, '/leads', {})).toEqual({ data: 2 })
  await expect(send(away, '/leads', {})).rejects.toThrow('Correct campaign.')
  await close()
})

test('an import that has to stop in the middle says how far it came, and that it can be repeated', async () => {
  const answers = [
    { status: 200, body: '{"data":{"taken":98,"known":0,"held":2,"faults":[]}}' },
    { status: 409, body: '{"error":{"message":"There is no such organisation."}}' },
  ].values()
  const { port, close } = await listen(
    (_request, response) => {
      const { status = 500, body } = answers.next().value ?? {}
      response.writeHead(status).end(body)
    },
    '127.0.0.1',
    0,
  )
  const file = join(folder, 'long.csv')
  await writeFile(file, `email,type\n${'ada@example.com,sold\n'.repeat(101)}`)

  const importing = importFile({ address: `http://127.0.0.1:${port}`, operatorKey: 'key' }, file, 'outcomes', {
    campaign: undefined,
    dry_run: false,
  })
  await expect(importing).rejects.toThrow(
    'There is no such organisation. 100 rows are taken in: import the same file again, and the rest follows.',
  )
  await close()
})

test('while what was sent is not processed, an import goes on slowly and says so once', async () => {
  const answers = [true, true, false, false]
    .map((waits) => ({ data: { taken: 100, known: 0, held: 0, waits, faults: [] } }))
    .values()
  const { port, close } = await listen(
    (_request, response) => response.writeHead(200).end(JSON.stringify(answers.next().value)),
    '127.0.0.1',
    0,
  )
  const file = join(folder, 'standstill.csv')
  await writeFile(file, `email\n${'ada@example.com\n'.repeat(400)}`)
  const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true)

  const service = { address: `http://127.0.0.1:${port}`, operatorKey: 'key' }
  await importFile(service, file, 'leads', { campaign: undefined, dry_run: false })

  const lines = said.mock.calls.map(([line]) => line)
  said.mockRestore()
  expect(lines).toEqual([
    'What was sent is taken in, but not processed yet: the rest is sent slowly, so that other leads do not wait for it.\n',
    '400 leads were taken in, 0 were known, 0 faults.\n',
  ])
  await close()
})

test('rows of a file are answered when it is their turn, so that other leads of the organisation never stand behind a whole file', async () => {
  const rows = [{ line: 2, fields: { email: 'turn@example.com' } }]
  const sent = () =>
    service.send('POST', `${service.admin}/uploaded_leads`, { body: { upload: 'a file of its own', rows } })
  const [answer, again] = [await sent(), await sent()]

  expect([answer.body.data, again.body.data]).toMatchObject([
    { taken: 1, waits: false },
    { taken: 0, known: 1, waits: false },
  ])
  const { id } = (await service.send<readonly Shown[]>('GET', `${service.admin}/ingests?limit=1`)).body.data[0] ?? {}
  const events = await service.parts.eventLog.read(`ingest-${id}`)
  expect(events.map(({ type }) => type).slice(0, 2)).toEqual(['IngestReceived', 'IngestResolutionStarted'])
})

test('an import names what of a row is left out as its dry run does, and takes the row in', async () => {
  const rows = ['E-mail,Telephone', 'gus@example.com,4.47911E+11', 'hal@example.com,0113 245 0100 ext 5']
  await writeFile(join(folder, 'left-out.csv'), [...rows, 'ivy@example.com,"07700 90012"', ''].join('\n'))
  const dry = await run('import', 'left-out.csv', '--dry-run')
  const { code, output } = await run('import', 'left-out.csv')

  const faults = [
    'left-out.csv:2: Telephone is left out: a spreadsheet has rounded the number; write all of its digits, as text',
    'left-out.csv:4: Telephone is left out: the number has too few digits',
  ]
  expect(dry.output.split('\n').slice(0, 2)).toEqual(faults)
  expect(code).toBe(1)
  expect(output.split('\n').slice(0, 2)).toEqual(faults)
  expect(output).toContain('3 leads were taken in, 0 were known, 2 faults.')
})

test('a file with line ends of several kinds is read row by row, each by its own line', async () => {
  const text = 'email,notes\r\nned@example.com,one\nola@example.com,"two\nlines"\rpip@example.com,three,\r\n'
  await writeFile(join(folder, 'mixed.csv'), text)
  const { output } = await run('import', 'mixed.csv', '--dry-run')

  expect(output.split('\n')).toEqual([
    'mixed.csv:5: the row has 3 values, the first line names 2. Put a text with a comma between double quotes.',
    '2 leads would be taken in, 0 would be held, 0 were known, 1 fault.',
    '',
  ])
})
