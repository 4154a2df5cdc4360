import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '#infra/postgres/embedded/embedded-postgres.ts'
import { migrate } from '#infra/postgres/migrations.ts'
import { createPool } from '#infra/postgres/postgres.ts'

declare module 'vitest' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface can be added to.
  interface ProvidedContext {
    /** A database of each server that tests make their own databases on: one server for each worker. */
    serverUrls: readonly string[]
    /** A database of every server with all migrations, which those of the tests are copied from. */
    templateDatabase: string
    /** Where the first test that needs Kafka starts it, for all. */
    kafkaDirectory: string
  }
}

// What a server forgets in a crash nobody misses. Its log may lie in memory.
const fast = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum_naptime: '10s',
  min_wal_size: '80MB',
  max_wal_size: '256MB',
}

const root = join(import.meta.dirname, '..')

/**
 * Tests start many processes, and a second of each start is the compiling of the same modules. What was compiled is written
 * when a process ends by itself, which most of them do not: so the first run has one that loads all roles, and only that.
 */
const keepCompiled = async (): Promise<void> => {
  const compiled = join(root, 'node_modules', '.cache', 'coverstream-compiled')
  const isFirst = (await mkdir(compiled, { recursive: true })) !== undefined
  process.env['NODE_COMPILE_CACHE'] = compiled
  // Without it the run only takes longer.
  const load = "await import('./one-process.ts'); await import('./infra/start-role.ts')"
  const words = ['--input-type=module', '--eval', load]
  if (isFirst) await promisify(execFile)(process.execPath, words, { cwd: root }).catch(() => undefined)
}

/** Where Linux has files in memory alone. */
const inMemory = '/dev/shm'
const neededBytes = 4 * 2 ** 30

/**
 * A database is a thousand files, which most tests make and delete again. A disk takes half of the time of the suite for
 * that, the longer the more were deleted shortly before; where there is the room for it, they are kept in memory.
 */
const keepFilesInMemory = async (): Promise<() => Promise<void>> => {
  const { bavail, bsize } = await statfs(inMemory).catch(() => ({ bavail: 0, bsize: 0 }))
  const hasRoom = Math.min(bavail * bsize, process.availableMemory()) >= neededBytes
  if (process.env['TMPDIR'] !== undefined || !hasRoom) return () => Promise.resolve()
  await removeLeftBehind()
  const directory = await mkdtemp(join(inMemory, `coverstream-${process.pid}-`))
  // PostgreSQL may run as another user than we do.
  await chmod(directory, 0o755)
  process.env['TMPDIR'] = directory
  return () => rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}

/** What runs have left in memory that were killed. */
const removeLeftBehind = async (): Promise<void> => {
  for (const name of await readdir(inMemory)) {
    const pid = /^coverstream-(\d+)-/.exec(name)?.[1]
    if (pid !== undefined && !existsSync(join('/proc', pid)))
      await rm(join(inMemory, name), { recursive: true, force: true })
  }
}

export const setup = async (project: TestProject) => {
  await keepCompiled()
  const removeFiles = await keepFilesInMemory()
  const kafkaDirectory = await mkdtemp(join(tmpdir(), 'coverstream-kafka-'))
  project.provide('kafkaDirectory', kafkaDirectory)
  const endDatabases = await setUpDatabases(project)
  return async () => {
    await endKafka(kafkaDirectory)
    await endDatabases()
    await removeFiles()
  }
}

const endKafka = async (directory: string): Promise<void> => {
  const pid = Number(await readFile(join(directory, 'pid'), 'utf8').catch(() => '0'))
  if (pid > 0) process.kill(pid, 'SIGKILL')
  // Until it has ended it may write.
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}

const setUpDatabases = async (project: TestProject) => {
  const template = `template_${randomUUID().replaceAll('-', '')}`
  project.provide('templateDatabase', template)
  const given = process.env['TEST_DATABASE_URL']
  if (given) {
    await makeTemplate(given, template)
    project.provide('serverUrls', [given])
    return () => onServer(given, `drop database ${template}`)
  }

  const directory = await mkdtemp(join(tmpdir(), 'coverstream-test-'))
  // PostgreSQL may run as another user than we do.
  await chmod(directory, 0o755)
  // While a transaction that has written is open, readers of every log on its server wait: no test waits for one of another.
  const workers = Array.from({ length: Number(project.vitest.config.maxWorkers) }, (_, index) => String(index + 1))
  const servers = await Promise.all(
    workers.map(async (worker) => startEmbeddedPostgres({ dataDir: join(directory, worker), settings: fast })),
  )
  await Promise.all(servers.map(async ({ url }) => makeTemplate(url, template)))
  project.provide(
    'serverUrls',
    servers.map(({ url }) => url),
  )
  return async () => {
    await Promise.all(servers.map(async ({ stop }) => stop()))
    await rm(directory, { recursive: true, force: true })
  }
}

const makeTemplate = async (serverUrl: string, name: string): Promise<void> => {
  await onServer(serverUrl, `create database ${name} template template0`)
  const pool = createPool(Object.assign(new URL(serverUrl), { pathname: name }).href)
  await migrate(pool)
  await pool.end()
}

const onServer = async (connectionString: string, statement: string): Promise<void> => {
  const client = new Client({ connectionString })
  await client.connect()
  await client.query(statement)
  await client.end()
}
