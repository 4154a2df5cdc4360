import { execFile } from 'node:child_process'
import { access, chmod, chown, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { accountToRunAs, surroundings } from '#infra/postgres/embedded/data-directory.ts'
import { freePort } from '../journeys/service-process.ts'

const run = promisify(execFile)
const needed = ['initdb', 'pg_ctl', 'pg_dump', 'pg_restore', 'createdb']
const debian = '/usr/lib/postgresql'

/** A folder with a server of PostgreSQL and the programs of the same version: PG_BIN, or where Debian installs them. */
export const postgresPrograms = async (): Promise<string | undefined> => {
  const versions = await readdir(debian).catch(() => [])
  const installed = versions
    .toSorted((one, other) => Number(other) - Number(one))
    .map((each) => join(debian, each, 'bin'))
  const given = process.env['PG_BIN']
  for (const folder of given === undefined ? installed : [given])
    if (
      await Promise.all(needed.map(async (name) => access(join(folder, name)))).then(
        () => true,
        () => false,
      )
    )
      return folder
  return undefined
}

/** A new server of its own, with the programs of a folder. */
export const startServer = async (programs: string) => {
  const account = await accountToRunAs()
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-server-'))
  await chmod(directory, 0o755)
  if (account) await chown(directory, account.uid, account.gid)
  const cluster = join(directory, 'cluster')
  const options = { ...account, ...surroundings }
  const server = (...parameters: readonly string[]) =>
    run(
      join(programs, 'pg_ctl'),
      ['--pgdata', cluster, '--wait', '--log', join(directory, 'log'), ...parameters],
      options,
    )
  await run(
    join(programs, 'initdb'),
    ['--username=postgres', '--auth=trust', '--no-sync', '--pgdata', cluster],
    options,
  )
  const port = await freePort()
  const settings = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories='' -c fsync=off -c max_connections=100`
  await server('start', '-o', settings)
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    [Symbol.asyncDispose]: async () => {
      await server('stop', '--mode', 'immediate')
      await rm(directory, { recursive: true, force: true })
    },
  }
}
