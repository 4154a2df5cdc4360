import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { testDatabase } from '../database.ts'
import { wayTo } from '../postgres/way.ts'
import { startRole } from './role-process.ts'
import { freePort } from './service-process.ts'

// A process takes long to start on a busy machine.
vi.setConfig({ testTimeout: 120_000 })
const soon = { timeout: 60_000 }

test('a role that starts while PostgreSQL is away waits, says for what, and is ready when it is back', async () => {
  await using database = await testDatabase()
  await using way = await wayTo(database.url)
  const { host } = new URL(way.url)
  way.refuse()
  await using role = await startRole({ DATABASE_URL: way.url })

  await vi.waitFor(async () => {
    const check = { name: 'start', ok: false, detail: `waits for DATABASE_URL at ${host}` }
    expect(await role.details()).toEqual({ status: 503, body: { status: 'not_ready', checks: [check] } })
    expect(role.output()).toMatch(new RegExp(`"variable":"DATABASE_URL","address":"${host}","reason":".+waiting for`))
  }, soon)
  way.restore()
  await role.ready

  expect(await role.details()).toMatchObject({ status: 200, body: { status: 'ready' } })
  expect(role.output()).not.toContain('    at ')
})

test.each([
  ['query-api', 'clock_timestamp()'],
  ['projections', 'set awaited = false'],
  ['delivery-worker', 'from delivery_planning'],
  ['command-api', 'from consumer_checkpoint where awaited'],
])('a %s that loses PostgreSQL in the middle of its start goes on by itself', async (name, statement) => {
  await using database = await testDatabase()
  await using way = await wayTo(database.url)
  way.cutBefore(statement)
  await using role = await startRole({ DATABASE_URL: way.url }, `${name}/main.ts`)
  await role.ready

  expect(way.wasCut()).toBe(true)
})

test('a role that starts while the PostgreSQL of npm start does not run says so', async () => {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'coverstream-stopped-'))
  await using _folder = { [Symbol.asyncDispose]: () => rm(DATA_DIR, { recursive: true }) }
  const port = await freePort()
  await writeFile(join(DATA_DIR, 'postgres.port'), String(port))

  await using role = await startRole({
    DATA_DIR,
    DATABASE_URL: `postgres://postgres:secret@127.0.0.1:${port}/postgres`,
  })

  await vi.waitFor(async () => {
    const { body } = await role.details()
    const says = `this is the PostgreSQL of npm start in ${DATA_DIR}, which does not run`
    expect(body).toMatchObject({ checks: [{ detail: expect.stringContaining(says) as unknown }] })
    expect(role.output()).toContain(says)
  }, soon)
})

test('a role that starts while the Unix socket of PostgreSQL is not there waits, and says where', async () => {
  const DATABASE_URL = 'postgres://postgres:secret@localhost/postgres?host=%2Fnowhere'
  await using role = await startRole({ DATABASE_URL })

  await vi.waitFor(async () => {
    const check = { name: 'start', ok: false, detail: 'waits for DATABASE_URL at /nowhere' }
    expect(await role.details()).toEqual({ status: 503, body: { status: 'not_ready', checks: [check] } })
  }, soon)

  expect(role.output()).not.toContain('secret')
})

test('the port of an API says whether it is up and no more; details and metrics are on the health port', async () => {
  await using database = await testDatabase()
  await using role = await startRole({ DATABASE_URL: database.url })
  await role.ready

  for (const path of ['/health/ready', '/health/READY', '/health/ready/', '/HEALTH/ready'])
    expect([path, await role.published(path)]).toEqual([path, { status: 200, body: { status: 'ready' } }])
  expect(await role.published('/health/live')).toEqual({ status: 200, body: { status: 'live' } })
  for (const path of ['/metrics', '/METRICS', '/metrics/'])
    expect([path, (await role.published(path)).status]).toEqual([path, 404])
  const check = { name: 'database', ok: true }
  expect(await role.details()).toMatchObject({ body: { checks: expect.arrayContaining([check]) as unknown } })
})

test('a role that starts while EventStoreDB is away waits and says for what, until it is told to stop', async () => {
  await using database = await testDatabase()
  const address = `127.0.0.1:${await freePort()}`
  const EVENTSTOREDB_URL = `esdb://admin:changeit@${address}?tls=false`
  await using role = await startRole({ DATABASE_URL: database.url, EVENT_LOG: 'eventstoredb', EVENTSTOREDB_URL })

  await vi.waitFor(async () => {
    expect(role.output()).toContain(`"variable":"EVENTSTOREDB_URL","address":"${address}"`)
    expect(await role.details()).toMatchObject({
      status: 503,
      body: { checks: [{ detail: `waits for EVENTSTOREDB_URL at ${address}` }] },
    })
  }, soon)
  role.interrupt()

  expect(await role.ended).toEqual({ code: 0, signal: null })
  expect(role.output()).not.toContain('changeit')
})

test.each([
  ['a wrong password', { password: 'wrong' }, 'the user or password is wrong'],
  ['no such user', { username: 'nobody_at_all' }, 'the user or password is wrong'],
  ['no such database', { pathname: 'no_such_database' }, 'there is no such database'],
  ['no right to make tables', { username: 'without_rights', password: 'x' }, 'the user has no right'],
])('%s ends the start with one line that names DATABASE_URL', async (_what, wrong, fault) => {
  await using database = await testDatabase()
  await database.pool
    .query(`create role without_rights login password 'x'`)
    .catch(() => database.pool.query(`alter role without_rights login password 'x'`))
  const DATABASE_URL = Object.assign(new URL(database.url), wrong).href
  await using role = await startRole({ DATABASE_URL })

  expect(await role.ended).toEqual({ code: 1, signal: null })
  expect(role.output()).toMatch(new RegExp(`^\\nquery-api cannot start:\\nDATABASE_URL: ${fault}.*\\n$`))
})

test('settings of EventStoreDB that cannot work end the start with one line that names EVENTSTOREDB_URL', async () => {
  await using database = await testDatabase()
  const EVENTSTOREDB_URL = 'esdb://127.0.0.1:2113?tls=true&tlsCAFile=/no/such/file'
  await using role = await startRole({ DATABASE_URL: database.url, EVENT_LOG: 'eventstoredb', EVENTSTOREDB_URL })

  expect(await role.ended).toEqual({ code: 1, signal: null })
  expect(role.output()).toMatch(/^\nquery-api cannot start:\nEVENTSTOREDB_URL: .+\n$/)
})

test('a DATA_DIR that cannot be used ends npm start with one line that names it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-waiting-'))
  const DATA_DIR = join(directory, 'file', 'data')
  await writeFile(join(directory, 'file'), '')
  await using service = await startRole({ DATA_DIR, MASTER_KEY: '', OPERATOR_KEY: '' }, 'start.ts')

  expect(await service.ended).toEqual({ code: 1, signal: null })
  expect(service.output()).toMatch(/^\nCoverstream cannot start:\nDATA_DIR: .+ cannot be used \(ENOTDIR.*\)\n$/)
  await rm(directory, { recursive: true })
})
