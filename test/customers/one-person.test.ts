import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { demoApplication, setUpDemo } from '../../demo/demo.ts'
import { testDatabase } from '../database.ts'
import { freePort, startServiceProcess } from '../journeys/service-process.ts'

/** Two command-api processes on one database, with the demo organisation set up. */
const startTwo = async () => {
  const database = await testDatabase()
  const ports = [await freePort(), await freePort()] as const
  const [first, second] = [`http://127.0.0.1:${ports[0]}`, `http://127.0.0.1:${ports[1]}`] as const
  const operatorKey = randomBytes(24).toString('hex')
  const environment = {
    BASE_URL: first,
    DATABASE_URL: database.url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    OPERATOR_KEY: operatorKey,
    READ_YOUR_WRITES_MS: '0',
    DELIVERY_ALLOWED_HOSTS: '127.0.0.1',
    DELIVERY_ALLOW_HTTP: 'true',
  }
  const processes = ports.map((port) =>
    startServiceProcess({
      dataDir: '.data',
      port,
      environment,
      program: 'command-api/main.ts',
      saysWhenReady: 'role ready',
    }),
  )
  await Promise.all(processes.map(async ({ ready }) => ready))
  await setUpDemo(first, operatorKey)

  const form = { ...(await demoApplication()), grant_type: 'client_credentials', scope: 'read write' }
  const body = new URLSearchParams({ ...form, resource: `${first}/api/v1` })
  const answered = await fetch(`${first}/oauth/token`, { method: 'POST', body })
  const { access_token } = z.object({ access_token: z.string() }).parse(await answered.json())

  const send = async (origin: string, method: string, path: string, sent: object) => {
    const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
    const response = await fetch(`${origin}/api/v1${path}`, { method, headers, body: JSON.stringify(sent) })
    return { status: response.status, body: Answer.parse(await response.json()) }
  }
  // The other process follows the log: it must know the organisation and its products first.
  await expect
    .poll(async () => (await send(second, 'POST', '/applications', term)).status, { timeout: 60_000 })
    .toBe(201)

  return {
    database,
    origins: [first, second] as const,
    send,
    [Symbol.asyncDispose]: async () => {
      for (const each of processes) await each.kill('process')
      await database[Symbol.asyncDispose]()
    },
  }
}

const Answer = z.object({
  data: z.object({ id: z.uuid(), customer: z.object({ id: z.uuid() }).nullable() }).optional(),
})
const term = { product_slug: 'term-life', journey_slug: 'standard' }
const people = Array.from({ length: 12 }, (_, index) => `person-${index}@example.org`)
const named = (email: string) => ({ first_name: 'Anna', last_name: 'Ash', email })

test('two processes that save one email address at the same time make one person', { timeout: 60_000 }, async () => {
  await using service = await startTwo()
  const { send, origins, database } = service

  const ids = new Set<string>()
  for (const email of people) {
    const anonymous = await Promise.all(origins.map(async (origin) => send(origin, 'POST', '/applications', term)))
    const answers = await Promise.all([
      ...origins.map(async (origin) => send(origin, 'POST', '/applications', { ...term, customer: named(email) })),
      ...origins.map(async (origin, index) =>
        send(origin, 'PATCH', `/applications/${anonymous[index]?.body.data?.id}/customer`, { customer: named(email) }),
      ),
    ])
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 200, 200])
    const found = new Set(answers.map(({ body }) => body.data?.customer?.id))
    expect(found.size).toBe(1)
    for (const id of found) ids.add(String(id))
  }
  expect(ids.size).toBe(people.length)

  const count = async (type: string) => {
    const { rows } = await database.pool.query<{ count: number }>(
      'select count(*)::int as count from event_log.event where type = $1',
      [type],
    )
    return rows[0]?.count
  }
  expect(await count('IdentityClaimed')).toBe(people.length)
  await expect.poll(async () => count('CustomerCreated'), { timeout: 60_000 }).toBe(people.length)
})
