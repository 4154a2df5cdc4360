import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startDeliveryWorker } from '../../delivery-worker/delivery-worker.ts'
import { freePort } from '../journeys/service-process.ts'
import { wholeService } from '../whole-service.ts'
import { commandsOf, runCommands } from './guide.ts'

const root = join(import.meta.dirname, '..', '..')

let service: Awaited<ReturnType<typeof wholeService>>
let worker: Awaited<ReturnType<typeof startDeliveryWorker>>
let folder: string
const ending = new AbortController()
/** What the commands about setting a firm up have printed. */
let setUp: string

/** A folder in which a reader who has the project would be, without what they write getting into the project. */
beforeAll(async () => {
  const port = await freePort()
  service = await wholeService({
    DELIVERY_ALLOW_HTTP: 'true',
    DELIVERY_ALLOWED_HOSTS: '127.0.0.1',
    PORT: String(port),
    BASE_URL: `http://127.0.0.1:${port}`,
  })
  worker = await startDeliveryWorker({ ...service.parts, signal: ending.signal })
  folder = await mkdtemp(join(tmpdir(), 'coverstream-guide-'))
  for (const name of await readdir(root)) await symlink(join(root, name), join(folder, name))
  const headings = ['The firm and its server', 'A product with a price', 'Ask for a price']
  const script = await commands('docs/set-up.md', ...headings)
  setUp = await runCommands(script, { cwd: folder, environment: environment() })
}, 120_000)
afterAll(async () => {
  ending.abort()
  await worker.stop()
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const commands = async (guide: string, ...headings: readonly string[]) =>
  (await Promise.all(headings.map(async (heading) => commandsOf(guide, heading)))).flat().join('\n')

/** The id of the firm that the guide sets up. */
const acme = async () => {
  const { body } = await service.send<{ id: string; slug: string }[]>('GET', '/admin/v1/organisations')
  return body.data.find(({ slug }) => slug === 'acme')?.id ?? ''
}

const environment = () => ({
  BASE_URL: service.origin,
  RESOURCE: `${service.baseUrl}/api/v1`,
  OPERATOR_KEY: 'the operator key of the tests',
})

test('a firm is set up from an empty file, and gets a price, as the guide says', () => {
  expect(setUp).toContain('+ acme: API application Acme server')
  expect(setUp).toContain('Applied: 2 things changed.')
  expect(setUp).toMatch(/client_secret \S{43}/)
  expect(setUp).toContain('"premium_pence":400,')
})

test('what is set up is exported as the guide says, and changes nothing', { timeout: 120_000 }, async () => {
  const script = await commands('docs/set-up.md', 'Export what is set up')

  const said = await runCommands(script, { cwd: folder, environment: { ...environment(), ORGANISATION: await acme() } })

  expect(said).toContain('Wrote exported/acme.yaml, and 1 file that it names.')
  expect(said).toContain('Nothing to change.')
})

test('a web page sells as the guide says', { timeout: 120_000 }, async () => {
  const created = await service.send<{ client_id: string; client_secret: string }>(
    'POST',
    `/admin/v1/organisations/${await acme()}/api_applications`,
    { body: { name: 'Web pages', scopes: ['read', 'write'], allowed_origins: ['https://www.example.com'] } },
  )
  const { client_id, client_secret } = created.body.data
  const script = await commands('docs/web-pages.md', 'The token', 'What the page does')

  const output = await runCommands(script, {
    cwd: folder,
    environment: {
      ...environment(),
      CLIENT_ID: client_id,
      CLIENT_SECRET: client_secret,
      PAGE: 'https://www.example.com',
      KEY: 'a1b2c3d4-0000-4000-8000-000000000001',
    },
  })

  expect(output).toMatch(/^access-control-allow-origin: https:\/\/www\.example\.com/im)
  expect(output).toContain('"risk_factors":{"smoker":false}')
  expect(output.trimEnd()).toMatch(/404$/)
})

test('the demo’s page is served to the visitors of a firm as the guide says', { timeout: 120_000 }, async () => {
  const created = await service.send<{ client_id: string; client_secret: string }>(
    'POST',
    `/admin/v1/organisations/${await acme()}/api_applications`,
    { body: { name: 'Own page', scopes: ['read', 'write'], allowed_origins: ['http://localhost:5174'] } },
  )
  const { client_id, client_secret } = created.body.data
  const block = await commands('docs/web-pages.md', 'Your own page from the page of the demo')
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', block.replace('--port 5174', '--port 0')], {
    cwd: folder,
    env: { ...process.env, ...environment(), CLIENT_ID: client_id, CLIENT_SECRET: client_secret },
    detached: true,
  })
  let output = ''
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (text) => (output += String(text)))
  try {
    const page = await vi.waitUntil(() => /The page is at (\S+)/.exec(output)?.[1], { timeout: 60_000 })
    const html = await (await fetch(page)).text()
    expect(html).toContain('/main.ts')
    const given: unknown = await (await fetch(`${page}/token`, { method: 'POST' })).json()
    expect(given).toEqual({ access_token: expect.stringMatching(/^\S{20,}$/) as unknown, api: service.baseUrl })
    const confirmed = await fetch(`${page}/stand-in/payment_intents/pi_1/confirm`, { method: 'POST' })
    expect(confirmed.status).toBe(404)
  } finally {
    if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL')
  }
})

/** What the commands of a guide print that goes on in the shell in which a price was asked for. */
const goOnWith = async (guide: string, ...headings: readonly string[]) => {
  const script = await commands(guide, ...headings)
  return goOn(script)
}
const goOn = async (script: string) => {
  const asked = await commands('docs/set-up.md', 'Ask for a price')
  return runCommands(`${asked}\n${script}`, { cwd: folder, environment: environment() })
}

test('a server sells a policy as the guide says', { timeout: 120_000 }, async () => {
  const output = await goOnWith('docs/servers.md', 'What to ask', 'Buy', 'While the customer types')

  expect(output).toContain('"label":"Do you smoke?"')
  // The guide's firm has no accounts with the providers.
  expect(output).toContain('{"data":{"valid":true,"normalised":"+442071838750","reason":"lookup_unavailable"}}')
  expect(output).toContain('{"data":{"addresses":[],"valid":false,"town":null}}')
  expect(output).toContain('{"data":{"owed":[]}}')
  expect(output).toMatch(/"policy_number":"POL-\d{9}".*"collection_day":28,/)
})

test('a price is explained, and told how it came about, as the guide says', { timeout: 120_000 }, async () => {
  const buying = await commands('docs/servers.md', 'Buy')
  const output = await goOn(
    `${buying}\n${await commands('docs/operate.md', 'What happened, when, by whom, on what basis')}`,
  )

  expect(output).toContain('"step":"rate","name":"level 1: 20|n","value":"40000"')
  expect(output).toMatch(/"type":"QuoteIssued","actor":\{"type":"api"/)
  // The guide's product has nothing to be shown before buying.
  expect(output).toContain('{"data":[]}')
  expect(output).toContain('"cells":{"10|n":30000')
  expect(output).toMatch(
    /"type":"RateTablePublished".*"operator":"OPERATOR_KEY".*"names":\{"key":"level","version":1\}/,
  )
})

test(
  'a server sends leads and reports outcomes, and leads are written to, as the guides say',
  { timeout: 180_000 },
  async () => {
    const headings = ['Set it up', 'Send a lead', 'Work leads', 'Report an outcome', 'Follow your leads', 'Files']
    const leads = await commands('docs/leads.md', ...headings)
    const output = await goOn(`${leads}\n${await commands('docs/outreach.md', 'Who is in a stream')}`)

    expect(output).toMatch(/"summary":"Wants a price".*"actor":\{"type":"user","name":"Ann Agent"\}/)
    expect(output).toContain('"event_id":"sale-1","type":"sold"')
    expect(output).toMatch(/"reversal_of":"[0-9a-f-]{36}"/)
    expect(output).toContain('1 lead was taken in, 0 were known, 0 faults.')
    expect(output).toMatch(/^[0-9a-f-]{36},,,Cy,Park,cy@example\.com,,,,open,new,.*,upload,spring,/m)
    expect(output).toMatch(/"contact_id":"[0-9a-f-]{36}","state":"in"/)
    expect(output).toContain('"act":"approve"')
  },
)

test('a partner confirms members and sends points as the guide says', { timeout: 120_000 }, async () => {
  const output = await goOnWith('docs/loyalty.md', 'Set it up', 'Confirm a member', 'Send points and tiers')

  expect(output).toContain('"replayed":true')
  expect(output).toMatch(/"external_member_ref":"member-77","current_tier_key":"silver","cycle_points":200,/)
})

test('a receiver is told of events, and catches up, as the guide says', { timeout: 120_000 }, async () => {
  const sending = await commands('docs/webhooks.md', 'Have events sent')
  const replacing = await commands('docs/keys.md', 'Replace the signing secret of an endpoint connection')
  const told = await goOn(`${sending}\n${replacing}`)

  expect(told).toMatch(/signing_secret \S{43}/)
  expect(told).toContain('"event_type":"webhook.ping"')
  expect(told).toMatch(/"former_secret_signs_until":"20.*"signing_secret":"\S{43}"/)

  const { token } = await service.client(await acme(), ['read'])
  const feed = async () =>
    (await service.send<unknown[]>('GET', '/api/v1/lifecycle_events?type=quote.issued', { token })).body
  await vi.waitFor(async () => expect((await feed()).data).not.toEqual([]), { timeout: 60_000, interval: 50 })
  const feedPages = await goOn(`ORGANISATION=${await acme()}\n${await commands('docs/webhooks.md', 'Catch up')}`)

  expect(feedPages).toContain('"type":"quote.issued"')
})
