import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { readSetupText } from '../cli/setup-plan/plan-text.ts'
import { nothingToDeclare } from '../demo/answers.ts'
import type { Child, Environment } from './environment.ts'

/** The service, with an organisation to measure with. */
export type Service = {
  readonly origin: string
  /** Where reads are answered, if not at the same address. */
  readonly reads: string
  readonly child: Child
  /** Its database. */
  readonly database: string
  readonly send: (method: string, path: string, body?: object) => Promise<Sent>
  /** What every request to it carries. */
  readonly headers: Readonly<Record<string, string>>
  readonly operatorKey: string
  /** Stops it and starts it again, on what it has stored. */
  readonly restart: () => Promise<Child>
}

type Sent = { readonly id: string } & Readonly<Record<string, unknown>>

const client = { client_id: 'be5c0000-0000-4000-8000-000000000001', client_secret: 'secret-of-the-bench' }

export const freePort = (): Promise<number> =>
  new Promise((found, failed) => {
    const probe = createServer().once('error', failed)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo // of a TCP server
      probe.close(() => found(port))
    })
  })

type Start = {
  readonly flags?: readonly string[]
  /** Of its database and its data. */
  readonly name?: string
  readonly settings?: Readonly<Record<string, string>>
}

/** Starts the service on a database of the server that all measurements share, without its request limit. */
export const startService = async (
  environment: Environment,
  { flags = [], name = 'service', settings = {} }: Start = {},
): Promise<Service> => {
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const dataDir = join(environment.directory, name)
  const database = await environment.database(name)
  const start = async (): Promise<Child> => {
    const started = environment.run(process.execPath, [...flags, 'start.ts'], {
      PORT: String(port),
      HEALTH_PORT: '0',
      BASE_URL: origin,
      DATABASE_URL: database,
      DATA_DIR: dataDir,
      RATE_LIMIT_REQUESTS: '0',
      LOG_LEVEL: 'warn',
      ...settings,
    })
    await started.says(/is ready at/)
    return started
  }
  const child = await start()
  const secrets = z
    .object({ OPERATOR_KEY: z.string() })
    .parse(JSON.parse(await readFile(join(dataDir, 'secrets.json'), 'utf8')))
  await setUp(origin, secrets.OPERATOR_KEY)
  const restart = async () => {
    await child.stop()
    return start()
  }
  const operatorKey = secrets.OPERATOR_KEY
  return { ...(await serviceAt(origin)), reads: origin, child, database, operatorKey, restart }
}

/** A process for each role, as the service runs where it is not only tried. */
export type Roles = Omit<Service, 'child' | 'database' | 'operatorKey' | 'restart'> & {
  /** Another command-api; its address. */
  readonly startAnother: () => Promise<string>
  readonly stop: () => Promise<void>
}

export const startRoles = async (environment: Environment): Promise<Roles> => {
  const children: Child[] = []
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const operatorKey = randomBytes(24).toString('hex')
  const settings = {
    BASE_URL: origin,
    DATABASE_URL: await environment.database('roles'),
    MASTER_KEY: randomBytes(32).toString('base64'),
    OPERATOR_KEY: operatorKey,
    RATE_LIMIT_REQUESTS: '0',
    LOG_LEVEL: 'warn',
  }
  const start = async (role: string, ownPort: number): Promise<string> => {
    const healthPort = await freePort()
    const own = { PORT: String(ownPort), HEALTH_PORT: String(healthPort) }
    children.push(environment.run(process.execPath, [`${role}/main.ts`], { ...settings, ...own }))
    await isReady(`http://localhost:${healthPort}/health/ready`)
    return `http://localhost:${ownPort}`
  }
  await start('projections', await freePort())
  await start('command-api', port)
  const reads = await start('query-api', await freePort())
  await start('delivery-worker', await freePort())
  await setUp(origin, operatorKey)
  return {
    ...(await serviceAt(origin)),
    reads,
    startAnother: async () => start('command-api', await freePort()),
    stop: async () => {
      await Promise.all(children.map(async (child) => child.stop()))
    },
  }
}

const isReady = async (address: string): Promise<void> => {
  for (let attempt = 1; attempt <= 600; attempt++) {
    const answer = await fetch(address).catch(() => undefined)
    await answer?.text()
    if (answer?.ok) return
    await pause(100)
  }
  throw new Error(`${address} does not say that the process is ready.`)
}

const serviceAt = async (origin: string) => {
  const headers = {
    authorization: `Bearer ${await tokenFor(origin)}`,
    'content-type': 'application/json',
  }

  const send = async (method: string, path: string, body?: object): Promise<Sent> => {
    const response = await fetch(origin + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${await response.text()}`)
    return Answered.parse(await response.json()).data
  }
  return { origin, send, headers }
}

const Answered = z.object({ data: z.looseObject({ id: z.string() }) })
const Declared = z.object({
  organisations: z.tuple([z.looseObject({ rate_tables: z.unknown(), products: z.unknown() })]),
})

/** Products as those of the demo, but of an organisation of its own, which has no webhooks to send. */
const setUp = async (origin: string, operatorKey: string): Promise<void> => {
  const demo = await readSetupText(join(import.meta.dirname, '..', 'demo', 'organisation.yaml'))
  const [declaration = '', ...files] = demo.split('\n---\n')
  const { rate_tables, products } = Declared.parse(parse(declaration)).organisations[0]
  const organisation = {
    slug: 'bench',
    name: 'Bench',
    api_applications: [{ name: 'Bench', ...client, scopes: ['read', 'write', 'crm'] }],
    rate_tables,
    products,
    loyalty_programmes: [{ slug: 'vitality', name: 'Vitality' }],
  }
  const response = await fetch(`${origin}/admin/v1/setup?apply=true`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/yaml' },
    body: [stringify({ organisations: [organisation] }), ...files].join('\n---\n'),
  })
  if (!response.ok) throw new Error(`The organisation could not be set up: ${await response.text()}`)
}

const tokenFor = async (origin: string): Promise<string> => {
  const form = { grant_type: 'client_credentials', ...client, scope: 'read write crm', resource: `${origin}/api/v1` }
  const response = await fetch(`${origin}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  if (!response.ok) throw new Error(`There is no token: ${await response.text()}`)
  return z.object({ access_token: z.string() }).parse(await response.json()).access_token
}

/** An application as far as it comes before it is priced. */
export const fillIn = async ({ send }: Pick<Service, 'send'>, number: number): Promise<Sent> => {
  const { id } = await send('POST', '/api/v1/applications', {
    product_slug: 'term-life',
    journey_slug: 'standard',
    idempotency_key: `filled-${number}`,
    answers: nothingToDeclare,
  })
  await send('PATCH', `/api/v1/applications/${id}`, { cover_amount_pence: 25_000_000, term_years: 25 })
  return send('PATCH', `/api/v1/applications/${id}/customer`, {
    customer: {
      first_name: 'Ada',
      last_name: 'Byron',
      email: `ada.${number}@example.com`,
      dob: '1986-02-11',
      postal_code: 'SW1A 2AA',
    },
  })
}
