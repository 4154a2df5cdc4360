import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '#infra/postgres/embedded/embedded-postgres.ts'
import { migrate } from '#infra/postgres/migrations.ts'
import { createPool } from '#infra/postgres/postgres.ts'

declare module 'vitest' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface can be added to.
  interface ProvidedContext {
    /** A database of the server that the tests make their own databases on. */
    serverUrl: string
    /** A database of that server with all migrations, which those of the tests are copied from. */
    templateDatabase: string
    /** Where the first test that needs Kafka starts it, for all. */
    kafkaDirectory: string
  }
}

// One server for the whole run. What it forgets in a crash nobody misses.
const fast = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum_naptime: '10s' }

export const setup = async (project: TestProject) => {
  // Tests start many processes, and a second of each start is the compiling of the same modules.
  const compiled = await mkdtemp(join(tmpdir(), 'coverstream-compiled-'))
  process.env['NODE_COMPILE_CACHE'] = compiled
  const kafkaDirectory = await mkdtemp(join(tmpdir(), 'coverstream-kafka-'))
  project.provide('kafkaDirectory', kafkaDirectory)
  const endDatabases = await setUpDatabases(project)
  return async () => {
    await endKafka(kafkaDirectory)
    await endDatabases()
    await rm(compiled, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}

const endKafka = async (directory: string): Promise<void> => {
  const pid = Number(await readFile(join(directory, 'pid'), 'utf8').catch(() => '0'))
  if (pid > 0) process.kill(pid, 'SIGKILL')
  // Until it has ended it may write.
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}

const setUpDatabases = async (project: TestProject) => {
  const given = process.env['TEST_DATABASE_URL']
  if (given) {
    const template = await makeTemplate(given)
    project.provide('serverUrl', given)
    project.provide('templateDatabase', template)
    return () => onServer(given, `drop database ${template}`)
  }

  const directory = await mkdtemp(join(tmpdir(), 'coverstream-test-'))
  // PostgreSQL may run as another user than we do.
  await chmod(directory, 0o755)
  const { url, stop } = await startEmbeddedPostgres({ dataDir: join(directory, 'postgres'), settings: fast })
  project.provide('serverUrl', url)
  project.provide('templateDatabase', await makeTemplate(url))
  return async () => {
    await stop()
    await rm(directory, { recursive: true, force: true })
  }
}

const makeTemplate = async (serverUrl: string): Promise<string> => {
  const name = `template_${randomUUID().replaceAll('-', '')}`
  await onServer(serverUrl, `create database ${name} template template0`)
  const pool = createPool(Object.assign(new URL(serverUrl), { pathname: name }).href)
  await migrate(pool)
  await pool.end()
  return name
}

const onServer = async (connectionString: string, statement: string): Promise<void> => {
  const client = new Client({ connectionString })
  await client.connect()
  await client.query(statement)
  await client.end()
}
