import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { firm } from '../audit/firm.ts'
import { wholeService } from '../whole-service.ts'
import { commandsOf, runCommands } from './guide.ts'

const root = join(import.meta.dirname, '..', '..')

test('each question about the past is asked as the guide says', { timeout: 240_000 }, async () => {
  await using service = await wholeService()
  await service.setUp(firm('audited'))
  const { body } = await service.send<{ id: string }[]>('GET', '/admin/v1/organisations')
  const organisation_id = body.data[0]?.id ?? ''
  const { token } = await service.client(organisation_id, ['read', 'write'])
  const request_id = randomUUID()
  const started = await service.send<{ id: string; product_id: string }>('POST', '/api/v1/applications', {
    token,
    headers: { 'x-request-id': request_id },
    body: { product_slug: 'simple-life', journey_slug: 'standard' },
  })
  const customer = { first_name: 'Ada', last_name: 'Okafor', email: `${request_id}@example.com`, dob: '1990-05-01' }
  const path = `/api/v1/applications/${started.body.data.id}/customer`
  await service.send('PATCH', path, { token, body: { customer } })
  const applied = `/api/v1/applications/${started.body.data.id}`
  await service.send('PATCH', applied, { token, body: { cover_amount_pence: 10_000_000, term_years: 20 } })
  const quoted = await service.send<{ id: string }>('POST', `${applied}/quotes`, { token, body: {} })
  const environment: Record<string, string> = {
    BASE_URL: service.origin,
    OPERATOR_KEY: 'the operator key of the tests',
    ORGANISATION: organisation_id,
    APPLICATION: started.body.data.id,
    PRODUCT: started.body.data.product_id,
    QUOTE: quoted.body.data.id,
    KEY_NAME: 'OPERATOR_KEY',
    REQUEST_ID: request_id,
    PERSON: String(randomUUID()),
    EMAIL: customer.email,
    MOMENT: '2100-01-01T00:00:00Z',
  }
  const [begin = ''] = await commandsOf('docs/audit.md', 'Questions about the past')
  const asked = async (heading: string) => {
    const [command = ''] = await commandsOf('docs/audit.md', heading)
    return runCommands(`${begin}\n${command}`, { cwd: root, environment })
  }
  const answered = (heading: string, expected: string) =>
    vi.waitFor(async () => expect(await asked(heading)).toContain(expected), { timeout: 60_000 })

  await answered('Who changed this record?', 'ApplicationStarted')
  await answered('The history of one record', 'An application was started.')
  await answered('What stood in a record then', started.body.data.id)
  await answered('How was this price made?', '"result":"same"')
  await answered('Which release was on sale on a day, who approved it, and what changed with it?', '"data":[]')
  await answered('All that one request caused', 'ApplicationStarted')
  const events = await service.send<{ event_id: string }[]>(
    'GET',
    `/audit/v1/organisations/${organisation_id}/events?limit=1`,
  )
  environment['EVENT'] = events.body.data[0]?.event_id ?? ''
  await answered('Was this event delivered, two years ago?', '"data":[]')
  await answered('Complaints with their clocks and causes', '"data":[]')
  // Nobody was shown anything about a person who is not there.
  await answered('Who read about this person?', '"data":[]')
  await answered('A person', customer.email)
  environment['PERSON'] = /"person_id":"([^"]+)/.exec(await asked('A person'))?.[1] ?? ''
  await answered('What is held on this person?', customer.email)
  // The guide names a month in which nothing was done.
  await answered('What did one person do last month?', '"data":[]')
  // Nothing was sold, and nobody called.
  await answered('Which policies were in force on 31 March, as it was known on 2 April?', '"total":0')
  await answered('What was shown and confirmed before a purchase, and which sales lacked a step?', '"total":0')
  await answered('Was each call made under a valid screening?', '"total":0')
  await answered('By which wording, on what basis, when and from where did somebody consent?', '"total":0')
  await answered('Did people who are vulnerable fare worse?', '"people":"<10"')
  await answered('Did the books balance then?', '"balanced":true')
})

test('a checkpoint that is kept as the guide says is compared with what is stored', { timeout: 240_000 }, async () => {
  const AUDIT_KEY = Buffer.alloc(32, 3).toString('base64')
  await using service = await wholeService({ AUDIT_KEY })
  const organisation = await service.organisation('audited')
  const cwd = await mkdtemp(join(tmpdir(), 'coverstream-kept-'))
  const [begin = ''] = await commandsOf('docs/audit.md', 'Questions about the past')
  const [keep = ''] = await commandsOf('docs/audit.md', 'What to keep elsewhere')
  const environment = {
    BASE_URL: service.origin,
    OPERATOR_KEY: 'the operator key of the tests',
    ORGANISATION: organisation,
  }
  await vi.waitFor(async () => runCommands(`${begin}\n${keep}`, { cwd, environment }), { timeout: 60_000 })
  await runCommands(`${begin}\n${keep}`, { cwd, environment })

  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(root, 'cli', 'audit.ts'), 'verify', '--checkpoints', join(cwd, 'checkpoints.txt')],
    { cwd: root, env: { ...process.env, BASE_URL: service.baseUrl, DATABASE_URL: service.database.url, AUDIT_KEY } },
  )

  await rm(cwd, { recursive: true })
  expect(stdout).toMatch(/: nothing was altered\.\n2 checkpoints that were kept elsewhere are there, too\.\n/)
})
