import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { BadConfiguration } from '../../config.ts'
import type { Log } from '../../log.ts'
import { sql } from '../postgres.ts'

// The process that started the cluster holds this lock on a dedicated connection; when it ends, the server releases it.
const ownership = 7_236_018_447

type PidFile = { readonly pid: number; readonly port: number; readonly status: string }

/** The server's own record of itself while it runs; a crash leaves it behind. */
export const readPidFile = async (directory: string): Promise<PidFile | undefined> => {
  try {
    const lines = (await readFile(join(directory, 'postmaster.pid'), 'utf8')).split('\n')
    return { pid: Number(lines[0]), port: Number(lines[3]), status: lines[7]?.trim() ?? '' }
  } catch {
    return undefined
  }
}

/** Marks the cluster as ours until we release it or die. */
export const claimCluster = async (url: string): Promise<() => Promise<void>> => {
  const client = new Client({ connectionString: url, application_name: 'coverstream owner' })
  client.on('error', () => undefined)
  await client.connect()
  await client.query(sql`select pg_advisory_lock(${ownership})`)
  return () => client.end()
}

/**
 * A server that still runs on the directory is ended, if the process that started it has ended, and waited for. One whose
 * owner lives is in use, and left alone.
 */
export const endOrphan = async (directory: string, password: string, log?: Log): Promise<void> => {
  const deadline = Date.now() + 60_000
  let inUse = 0
  let absent = 0
  while (Date.now() < deadline) {
    const server = await readPidFile(directory)
    if (!server) return
    if (!(await isServed(directory, server.pid))) {
      await rm(join(directory, 'postmaster.pid'), { force: true })
      return
    }

    const state = await examine(directory, `postgres://postgres:${password}@127.0.0.1:${server.port}/postgres`)
    if (state === 'another') return
    if (state === 'orphan') {
      log?.info({ pid: server.pid }, 'Ending a PostgreSQL that its process left behind')
      process.kill(server.pid, 'SIGINT')
    }
    // The connection of an owner that has just died may live a moment longer.
    if (state === 'in use' && ++inUse > 20)
      throw new BadConfiguration(
        `DATA_DIR: another process uses the PostgreSQL in ${directory} (process ${server.pid}, port ${server.port}). Stop that one, or choose another folder.`,
      )
    // A process of another kind may have come by the number of a server that crashed.
    if (state === 'absent' && ++absent > 10) return
    await pause(100)
  }
  throw new Error(`The PostgreSQL in ${directory} does not end.`)
}

/**
 * Every process of a server works in its data directory. The number in the pid file says less: it may belong to a zombie
 * that is never reaped, or to another process by now, and then PostgreSQL would not start.
 */
const isServed = async (directory: string, pid: number): Promise<boolean> => {
  if (process.platform !== 'linux') return isAlive(pid)
  const home = await realpath(directory)
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const workplaces = await Promise.all(processes.map((name) => readlink(`/proc/${name}/cwd`).catch(() => '')))
  return workplaces.includes(home)
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** `another`: what answers is not the server of this directory. `busy`: it starts or ends. `absent`: no server answers. */
const examine = async (
  directory: string,
  url: string,
): Promise<'orphan' | 'in use' | 'another' | 'busy' | 'absent'> => {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ directory: string; free: boolean }>(sql`
      select current_setting('data_directory') as directory, pg_try_advisory_lock(${ownership}) as free`)
    if (!rows[0] || (await realpath(rows[0].directory)) !== (await realpath(directory))) return 'another'
    return rows[0].free ? 'orphan' : 'in use'
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'ECONNREFUSED') return 'absent'
    // 28…: the server knows nothing of our password.
    return code.startsWith('28') ? 'another' : 'busy'
  } finally {
    await client.end().catch(() => undefined)
  }
}
