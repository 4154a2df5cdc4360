import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { customerEvents } from '#domain/customers/events.ts'
import { leadEvents } from '#domain/leads/events.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { policyStreamEvents } from '#domain/policies/record.ts'
import { premiumEvents } from '#domain/premiums/events.ts'
import { firm } from '../audit/firm.ts'
import { pastOf } from '../audit/past.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { wholeService } from '../whole-service.ts'
import { commandsOf, runCommands } from './guide.ts'

type Service = Awaited<ReturnType<typeof wholeService>>

const root = join(import.meta.dirname, '..', '..')

/** A policy with a premium that is due, and somebody who was called; the id of the latter. */
const pastOfTheFirm = async (service: Service, organisation_id: string): Promise<string> => {
  const happened = pastOf(service, organisation_id)
  const [policy_id, contact_id] = [randomUUID(), randomUUID()]
  const bound = {
    organisation_id,
    policy_id,
    customer_id: randomUUID(),
    start_date: '2026-02-02',
    end_date: '2051-03-01',
  }
  await happened(`policy-${policy_id}`, policyStreamEvents, [
    ['2026-02-01T09:00:00.000Z', { ...sampleEvent(policyEvents, 'PolicyBound', 2), ...bound }],
    ['2026-02-02T00:00:00.000Z', { type: 'PolicyActivated', start_date: '2026-02-02' }],
    ['2026-02-02T09:00:00.000Z', sampleEvent(premiumEvents, 'PremiumDue')],
  ])
  const happened_at = '2026-06-15T09:00:00.000Z'
  const call = { activity_id: randomUUID(), kind: 'call', channel: 'phone', direction: 'outbound', happened_at }
  const sent = { ...sampleEvent(customerEvents, 'CustomerSentIn'), customer_id: contact_id, organisation_id }
  await happened(`customer-${contact_id}`, customerEvents, [['2026-01-01T09:00:00.000Z', sent]])
  await happened(`lead-${contact_id}`, leadEvents, [
    [
      '2026-01-01T09:01:00.000Z',
      { ...sampleEvent(leadEvents, 'LeadCreated'), organisation_id, contact_id, seen_by: [] },
    ],
    [happened_at, { ...sampleEvent(leadEvents, 'LeadActivityRecorded'), ...call }],
  ])
  return contact_id
}

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
  const MOMENT = new Date().toISOString()
  await vi.waitUntil(() => new Date().toISOString() > MOMENT)
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
    MOMENT,
  }
  const [begin = ''] = await commandsOf('docs/audit.md', 'Questions about the past')
  /** The guide's own moments are of before this test: others stand in for them. */
  const asked = async (heading: string, instead: Readonly<Record<string, () => string>> = {}) => {
    const [command = ''] = await commandsOf('docs/audit.md', heading)
    const changed = Object.entries(instead).reduce((text, [moment, other]) => {
      expect(text).toContain(moment)
      return text.replaceAll(moment, other())
    }, command)
    return runCommands(`${begin}\n${changed}`, { cwd: root, environment })
  }
  const answered = (heading: string, expected: string, instead: Readonly<Record<string, () => string>> = {}) =>
    vi.waitFor(async () => expect(await asked(heading, instead)).toContain(expected), { timeout: 60_000 })
  const now = () => new Date().toISOString()
  const called = await pastOfTheFirm(service, organisation_id)

  await answered('Who changed this record?', 'ApplicationStarted')
  await answered('The history of one record', 'An application was started.')
  await answered('What stood in a record then', '"cover_amount_pence":null')
  await answered('How was this price made?', '"result":"same"')
  await answered('Which release was on sale on a day, who approved it, and what changed with it?', '"data":[{"', {
    '2026-03-31': () => now().slice(0, 10),
  })
  await answered('All that one request caused', 'ApplicationStarted')
  const events = await service.send<{ event_id: string }[]>(
    'GET',
    `/audit/v1/organisations/${organisation_id}/events?limit=1`,
  )
  environment['EVENT'] = events.body.data[0]?.event_id ?? ''
  await answered('Was this event delivered, two years ago?', '"data":[]')
  // Nobody was shown anything about a person who is not there.
  await answered('Who read about this person?', '"data":[]')
  await answered('A person', customer.email)
  environment['PERSON'] = /"person_id":"([^"]+)/.exec(await asked('A person'))?.[1] ?? ''
  await answered('What is held on this person?', customer.email)
  await answered('Who read about this person?', '/people/:person_id/export"')
  const complaint = { contact_id: environment['PERSON'], cause: 'arrears', description: 'A letter too many.' }
  const complaints = `/admin/v1/organisations/${organisation_id}/complaints`
  const opened = await service.send<{ id: string }>('POST', complaints, { body: complaint })
  await answered('Complaints with their clocks and causes', opened.body.data.id)
  await answered('What did one person do last month?', '"data":[{"', {
    '2026-06-01T00:00:00Z': () => '2026-01-01T00:00:00Z',
    '2026-07-01T00:00:00Z': () => '2100-01-01T00:00:00Z',
  })
  await answered('Which policies were in force on 31 March, as it was known on 2 April?', '"total":1', {
    '2026-04-02T23:59:59Z': now,
  })
  // Nothing was sold through a journey that asks for a step.
  await answered('What was shown and confirmed before a purchase, and which sales lacked a step?', '"total":0')
  await answered('Was each call made under a valid screening?', `"contact_id":"${called}"`)
  environment['PERSON'] = called
  await answered('By which wording, on what basis, when and from where did somebody consent?', '"total":1')
  await answered('Did people who are vulnerable fare worse?', '"known_at":"2026-07-01T00:00:00.000Z"')
  const books = await asked('Did the books balance then?', { '2026-07-01T00:00:00Z': now })
  expect(books).toContain('"balanced":true')
  expect(books).toContain('"debit_pence":2875')
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
