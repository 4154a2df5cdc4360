import { expect, test, vi } from 'vitest'
import { testDatabase } from '../database.ts'
import { severableWayTo } from '../eventstoredb/proxy.ts'
import { startEventStoreDb } from '../eventstoredb/server.ts'
import { startRole } from './role-process.ts'

// A process takes long to start on a busy machine.
vi.setConfig({ testTimeout: 120_000 })
const soon = { timeout: 60_000, interval: 100 }

const programs = ['command-api', 'projections', 'query-api', 'delivery-worker'].map((name) => `${name}/main.ts`)

test('every role of its own is not ready while its log is away, says since when, and is ready again afterwards', async () => {
  await using database = await testDatabase()
  await using server = await startEventStoreDb()
  const { hostname, port } = new URL(server.url)
  await using way = await severableWayTo(hostname, Number(port))
  const EVENTSTOREDB_URL = Object.assign(new URL(server.url), { host: `127.0.0.1:${way.port}` }).href
  const environment = { DATABASE_URL: database.url, EVENT_LOG: 'eventstoredb', EVENTSTOREDB_URL }
  const roles = await Promise.all(programs.map((program) => startRole(environment, program)))
  await using stack = new AsyncDisposableStack()
  for (const role of roles) stack.use(role)
  const answers = () => Promise.all(roles.map(({ details }) => details()))
  const statuses = async () => (await answers()).map(({ status }) => status)
  await Promise.all(roles.map(({ ready }) => ready))
  await vi.waitFor(async () => expect(await statuses()).toEqual([200, 200, 200, 200]), soon)

  const cutAt = Date.now()
  await way.cut()

  const away = {
    status: 503,
    body: {
      status: 'not_ready',
      checks: expect.arrayContaining([
        { name: 'event_log', ok: false, detail: expect.stringMatching(/^away since \d{4}-.+: ./) as unknown },
      ]) as unknown,
    },
  }
  const during = await vi.waitFor(async () => {
    const all = await answers()
    expect(all).toMatchObject([away, away, away, away])
    return all
  }, soon)
  for (const since of during.flatMap(({ body }) => [...JSON.stringify(body).matchAll(/away since ([\dTZ.:-]+Z)/g)]))
    expect(Date.parse(since[1] ?? '')).toBeGreaterThanOrEqual(cutAt)
  way.mend()
  await vi.waitFor(async () => expect(await statuses()).toEqual([200, 200, 200, 200]), soon)
})
