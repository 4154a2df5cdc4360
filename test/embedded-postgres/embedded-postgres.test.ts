import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BadConfiguration } from '#infra/config.ts'
import { accountToRunAs, findDirectory, surroundings } from '#infra/postgres/embedded/data-directory.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded/embedded-postgres.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { eventually } from '../event-log/events.ts'

/** A directory that everybody may enter: PostgreSQL may run as another user than we do. */
const newDirectory = async () => {
  const path = await mkdtemp(join(tmpdir(), 'coverstream-embedded-'))
  await chmod(path, 0o755)
  return {
    path,
    dataDir: join(path, 'postgres'),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

const start = async (dataDir: string) => {
  const server = await startEmbeddedPostgres({ dataDir })
  return { ...server, [Symbol.asyncDispose]: server.stop }
}

/** A cluster that was made, run and stopped: those tests copy it that are about how one is started. */
let made: Awaited<ReturnType<typeof newDirectory>>
beforeAll(async () => {
  made = await newDirectory()
  await (await start(made.dataDir)).stop()
})
afterAll(() => made[Symbol.asyncDispose]())

/** A directory with a cluster that has had no port yet. */
const madeDirectory = async () => {
  const directory = await newDirectory()
  // With its owner, who may be another user than we are.
  await promisify(execFile)('cp', ['-a', made.dataDir, `${made.dataDir}.password`, directory.path])
  return directory
}

/** The server of another process of ours. */
const startElsewhere = async (dataDir: string) => {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./server.ts', import.meta.url)), dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface(child.stdout)
  const [url] = (await once(lines, 'line')) as [string]
  const exited = once(child, 'exit')
  return {
    url,
    end: async (signal: NodeJS.Signals) => {
      child.kill(signal)
      await exited
    },
    [Symbol.asyncDispose]: async () => {
      child.stdin.end()
      await exited
    },
  }
}

const query = async (url: string, text: string): Promise<unknown[]> => {
  const client = new Client({ connectionString: url })
  // A server that ends tells it to whoever is connected, also between two statements.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<object>(text)).rows
  } finally {
    await client.end()
  }
}

const answers = (url: string): Promise<boolean> =>
  query(url, 'select').then(
    () => true,
    () => false,
  )

test('the server starts, keeps what it is given, and starts again at the same address', async () => {
  await using directory = await newDirectory()
  const first = await start(directory.dataDir)
  await query(first.url, `create table kept (name text); insert into kept values ('Grüße 🎉')`)
  await first.stop()
  const answeredBetween = await answers(first.url)

  await using second = await start(directory.dataDir)

  expect(answeredBetween).toBe(false)
  expect(second.url).toBe(first.url)
  expect(await query(second.url, 'select name from kept')).toEqual([{ name: 'Grüße 🎉' }])
})

test('the server keeps every commit on disk, speaks UTF-8, and is reachable from this machine alone', async () => {
  await using directory = await newDirectory()
  await using server = await start(directory.dataDir)

  const rows = await query(
    server.url,
    `select name, setting from pg_settings where name in
      ('fsync', 'synchronous_commit', 'full_page_writes', 'server_encoding', 'listen_addresses', 'unix_socket_permissions')
    order by name`,
  )

  expect(rows).toEqual([
    { name: 'fsync', setting: 'on' },
    { name: 'full_page_writes', setting: 'on' },
    { name: 'listen_addresses', setting: '127.0.0.1' },
    { name: 'server_encoding', setting: 'UTF8' },
    { name: 'synchronous_commit', setting: 'on' },
    { name: 'unix_socket_permissions', setting: '0700' },
  ])
  const wrong = Object.assign(new URL(server.url), { password: 'guessed' }).href
  await expect(query(wrong, 'select')).rejects.toThrow('password authentication failed')
})

test('the shortest way to the server is its socket, for which a killed server leaves no obstacle', async () => {
  await using directory = await madeDirectory()
  await using another = await madeDirectory()
  await using alive = await start(another.dataDir)
  const [{ pid }] = (await query(alive.url, `select pid from pg_stat_activity where pid <> pg_backend_pid()`)) as [
    { pid: number },
  ]
  const first = await start(directory.dataDir)
  const [place] = (await query(first.url, `select current_setting('data_directory') as path`)) as [{ path: string }]
  const { port } = new URL(first.url)
  const way = 'select inet_server_addr() is null as by_socket'
  const bySocket = await query(first.shortestUrl, way)
  const byAddress = await query(first.url, way)
  await first.stop()
  // As after a restart of a container: the number belongs to another process by now.
  await writeFile(join(place.path, `.s.PGSQL.${port}.lock`), `${pid}\n`)

  await using server = await start(directory.dataDir)

  expect(bySocket).toEqual([{ by_socket: true }])
  expect(byAddress).toEqual([{ by_socket: false }])
  expect(await query(server.shortestUrl, way)).toEqual(bySocket)
})

test.each(['x'.repeat(80), 'with, comma'])('a data directory that cannot hold a socket will do: %s', async (name) => {
  await using directory = await newDirectory()

  await using server = await start(join(directory.path, name))

  expect(server.shortestUrl).toBe(server.url)
  expect(await answers(server.url)).toBe(true)
})

test('a directory that only its owner may enter will do', async () => {
  await using directory = await newDirectory()
  await chmod(directory.path, 0o700)
  const account = await accountToRunAs()

  const first = await start(directory.dataDir)
  const [place] = (await query(first.url, `select current_setting('data_directory') as path`)) as [{ path: string }]
  await query(first.url, 'create table kept as select 1 as number')
  await first.stop()
  const second = await start(directory.dataDir)
  const kept = await query(second.url, 'select number from kept')
  await second.stop()
  if (account) await rm(dirname(place.path), { recursive: true })

  expect(kept).toEqual([{ number: 1 }])
  expect(place.path.startsWith(directory.path)).toBe(account === undefined)
})

test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
  'after a %s of its process no server stays behind, and nothing is lost',
  async (signal) => {
    await using directory = await madeDirectory()
    const killed = await startElsewhere(directory.dataDir)
    await query(killed.url, 'create table kept as select 1 as number')
    const connection = createPool(killed.url)
    await connection.query('select')

    await killed.end(signal)
    await eventually(async () => !(await answers(killed.url)), 'the server to end')
    await using server = await start(directory.dataDir)

    expect(await query(server.url, 'select number from kept')).toEqual([{ number: 1 }])
    await connection.end()
  },
)

test('a server that nobody owns any more is ended, and another takes over', async () => {
  await using directory = await madeDirectory()
  const first = await start(directory.dataDir)
  await query(first.url, 'create table kept as select 1 as number')
  await first.stop()
  const { port, password } = new URL(first.url)
  const account = await accountToRunAs()
  const place = await findDirectory(directory.dataDir, password, account)
  const listening = ['-p', port, '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=']
  const orphan = spawn(place.binaries.postgres, ['-D', place.directory, ...listening], {
    ...account,
    ...surroundings,
    stdio: 'ignore',
  })
  const orphanEnded = once(orphan, 'exit')
  await eventually(() => answers(first.url), 'the orphan to answer')

  await using server = await start(directory.dataDir)

  expect(await orphanEnded).toEqual([0, null])
  expect(await query(server.url, 'select number from kept')).toEqual([{ number: 1 }])
})

test('a server that another process uses is left alone', async () => {
  await using directory = await madeDirectory()
  await using other = await startElsewhere(directory.dataDir)

  await expect(startEmbeddedPostgres({ dataDir: directory.dataDir })).rejects.toMatchObject({
    name: 'BadConfiguration',
    message: expect.stringMatching(
      /^DATA_DIR: another process uses .*\. Stop that one, or choose another folder\.$/,
    ) as unknown,
  })

  expect(await answers(other.url)).toBe(true)
})

test('a password file that does not fit the data is named', async () => {
  await using directory = await madeDirectory()
  const first = await start(directory.dataDir)
  await first.stop()
  await writeFile(`${directory.dataDir}.password`, 'another')

  await expect(startEmbeddedPostgres({ dataDir: directory.dataDir })).rejects.toThrow('postgres.password')

  expect(await answers(first.url)).toBe(false)
})

test('a wanted port is used, and one that is taken is named', async () => {
  await using directory = await madeDirectory()
  await using other = await madeDirectory()
  await using server = await start(directory.dataDir)
  const port = Number(new URL(server.url).port)

  await expect(startEmbeddedPostgres({ dataDir: other.dataDir, port })).rejects.toThrow(`on port ${port}`)

  expect(await readFile(`${directory.dataDir}.port`, 'utf8')).toBe(String(port))
})

test('of two that make a cluster in one folder at the same moment one has it, and the other says so in one line', async () => {
  await using directory = await newDirectory()
  const started = await Promise.allSettled([1, 2].map(async () => start(directory.dataDir)))
  const [server] = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const refused = started.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  await using _server = server

  expect(refused).toEqual([expect.any(BadConfiguration)])
  expect(String(refused[0])).toMatch(
    /another process (has just started|uses) the PostgreSQL in [^\n]+ Stop that one, or choose another folder\.$/,
  )
})
