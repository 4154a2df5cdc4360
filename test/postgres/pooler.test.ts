import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeLeases } from '#infra/consumers/lease.ts'
import { misconfiguration } from '#infra/postgres/misconfiguration.ts'
import { migrate } from '#infra/postgres/migrations.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { checkSessions } from '#infra/postgres/session.ts'
import { testDatabase } from '../database.ts'
import { eventually, newEvents, newStream } from '../event-log/events.ts'
import { openLog } from '../event-log/postgres-log.ts'

const isThere = spawnSync('pgbouncer', ['--version']).status === 0
const why = isThere ? '' : ' (skipped: no pgbouncer on this machine)'

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens on TCP has an address of this form.
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** A real PgBouncer in front of a database, as its packages come, but for the mode. */
const pgBouncer = async (databaseUrl: string, mode: 'session' | 'transaction') => {
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-pooler-'))
  await chmod(directory, 0o755)
  const port = await freePort()
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl)
  const file = join(directory, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
`,
  )
  // It does not run as root.
  const isRoot = process.getuid?.() === 0
  const child = spawn('pgbouncer', [file], { stdio: 'ignore', ...(isRoot && { uid: 65_534, gid: 65_534 }) })
  const url = Object.assign(new URL(databaseUrl), { hostname: '127.0.0.1', port: String(port), search: '' }).href
  const probe = createPool(url, { max: 1 })
  await eventually(
    () =>
      probe.query('select').then(
        () => true,
        () => false,
      ),
    'PgBouncer to answer',
  )
  await probe.end()
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await rm(directory, { recursive: true, force: true })
    },
  }
}

test.skipIf(!isThere)(
  `a pooler that gives each transaction another session is refused at the start${why}`,
  async () => {
    await using database = await testDatabase()
    await using pooler = await pgBouncer(database.url, 'transaction')
    const pool = createPool(pooler.url)

    await expect(checkSessions(pool)).rejects.toThrow(
      'DATABASE_URL: a pooler there shares sessions between transactions; set its pool_mode to session',
    )
    await pool.end()
  },
)

test.skipIf(!isThere)(`all connections work through a pooler that keeps sessions apart${why}`, async () => {
  await using database = await testDatabase()
  await using pooler = await pgBouncer(database.url, 'session')
  const pool = createPool(pooler.url)
  const leaving = new AbortController()
  {
    await using log = openLog(pooler.url)

    await checkSessions(pool)
    await migrate(pool)
    const lease = await makeLeases(pool).take('work', leaving.signal)
    const stream = newStream()
    await log.append(stream, 'no_stream', newEvents(2))

    expect(await log.read(stream)).toHaveLength(2)
    await lease?.release()
  }
  await pool.end()
})

test.skipIf(!isThere)(`an address that asks a pooler for what it does not know is a wrong setting${why}`, async () => {
  await using database = await testDatabase()
  await using pooler = await pgBouncer(database.url, 'session')
  const pool = createPool(`${pooler.url}?options=-c%20geqo%3Doff`)

  const failure: unknown = await pool.query('select').catch((error: unknown) => error)
  await pool.end()

  expect(misconfiguration(failure, 'here')?.message).toContain('unsupported startup parameter')
})

test('PostgreSQL itself is never taken for a pooler that shares sessions', async () => {
  await using database = await testDatabase()

  await expect(checkSessions(database.pool)).resolves.toBeUndefined()
})
