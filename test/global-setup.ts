import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '#infra/postgres/embedded/embedded-postgres.ts'

declare module 'vitest' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface can be added to.
  interface ProvidedContext {
    /** A database of the server that the tests make their own databases on. */
    serverUrl: string
  }
}

// One server for the whole run. What it forgets in a crash nobody misses.
const fast = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum_naptime: '10s' }

export const setup = async (project: TestProject) => {
  const given = process.env['TEST_DATABASE_URL']
  if (given) {
    project.provide('serverUrl', given)
    return undefined
  }

  const directory = await mkdtemp(join(tmpdir(), 'coverstream-test-'))
  // PostgreSQL may run as another user than we do.
  await chmod(directory, 0o755)
  const { url, stop } = await startEmbeddedPostgres({ dataDir: join(directory, 'postgres'), settings: fast })
  project.provide('serverUrl', url)
  return async () => {
    await stop()
    await rm(directory, { recursive: true, force: true })
  }
}
