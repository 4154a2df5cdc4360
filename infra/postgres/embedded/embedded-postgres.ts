import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { claimCluster, endOrphan, readPidFile } from './owner.ts'
import { accountToRunAs, exists, findDirectory, surroundings, type Account, type Binaries } from './data-directory.ts'
import { BadConfiguration } from '../../config.ts'
import { keptFile } from '../../kept-file.ts'
import type { Log } from '../../log.ts'

export type EmbeddedPostgresOptions = {
  /** Created when missing. Next to it are `<dataDir>.password` and `<dataDir>.port`. */
  readonly dataDir: string
  /** The port of the last time by default, or a free one. */
  readonly port?: number
  /** Server settings in addition to or instead of the defaults. */
  readonly settings?: Readonly<Record<string, string>>
  readonly log?: Log
}

export type EmbeddedPostgres = {
  readonly url: string
  /** The shortest way to it: its Unix socket where there is one, which takes a fifth less time than the loopback address. */
  readonly shortestUrl: string
  readonly stop: () => Promise<void>
  /** Resolves when it has ended although `stop` was not called. */
  readonly lost: Promise<void>
}

const defaults: Readonly<Record<string, string>> = {
  shared_buffers: '128MB',
  max_connections: '200',
  max_wal_size: '2GB',
  min_wal_size: '256MB',
  // An open transaction that has appended hides newer events from every reader: none may stay open for long.
  idle_in_transaction_session_timeout: '60s',
  transaction_timeout: '10min',
  jit: 'off',
  // Statements and details hold personal data, which must not be in a log.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
}

/** A PostgreSQL of our own on this machine, reachable by this machine alone. It ends when this process does, however that happens. */
export const startEmbeddedPostgres = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const { settings, log } = options
  const wanted = resolve(options.dataDir)
  await mkdir(dirname(wanted), { recursive: true })
  const password = await keptFile(`${wanted}.password`, () => randomBytes(24).toString('hex'))
  const account = await accountToRunAs()
  const { directory, binaries } = await findDirectory(wanted, password, account, log)
  const hasSocket = canHoldSocket(directory)

  await endOrphan(directory, password, log)
  if (!(await exists(join(directory, 'PG_VERSION')))) await initialize(directory, password, binaries, account)

  const portFile = `${wanted}.port`
  const ports = await portsToTry(options.port, portFile)
  const sockets = { unix_socket_directories: hasSocket ? directory : '', unix_socket_permissions: '0700' }
  const launched = { binaries, account, directory, settings: { ...defaults, ...settings, ...sockets }, log }
  const server = await launch(launched, ports)
  await writeFile(portFile, String(server.port))
  const url = `postgres://postgres:${password}@127.0.0.1:${server.port}/postgres`
  const shortestUrl = hasSocket ? `${url}?host=${encodeURIComponent(directory)}` : url
  const release = await claimCluster(url).catch(async (error: unknown) => {
    await server.stop()
    throw new Error(`${wanted}.password does not open the PostgreSQL in ${directory}.`, { cause: error })
  })
  log?.info({ port: server.port, directory }, 'PostgreSQL is ready')

  const stop = async () => {
    await release()
    await server.stop()
  }
  let stopping: Promise<void> | undefined
  const { promise: lost, resolve: lose } = Promise.withResolvers<void>()
  void server.ended.then(() => {
    if (!stopping) lose()
  })
  return { url, shortestUrl, stop: () => (stopping ??= stop()), lost }
}

const isStartedTwice = (directory: string) =>
  new BadConfiguration(
    `DATA_DIR: another process has just started the PostgreSQL in ${directory}. Stop that one, or choose another folder.`,
  )

const isOfAnotherUser = (directory: string) =>
  new BadConfiguration(
    `DATA_DIR: the user that PostgreSQL runs as may not read its files in ${directory}. Copy the folder again with its owners (cp -a), or give the files back to the user they belonged to (chown -R).`,
  )

const longestSocketPath = 103

/** The path of a socket is bounded, and the setting is a list in which some characters mean something. */
const canHoldSocket = (directory: string): boolean =>
  process.platform !== 'win32' &&
  /^[\w./-]+$/.test(directory) &&
  join(directory, '.s.PGSQL.65535').length <= longestSocketPath

/** A cluster is complete or absent: it is made under another name, so that a crash meanwhile leaves nothing half made. */
const initialize = async (directory: string, password: string, { initdb }: Binaries, account: Account) => {
  const environment = await mkdtemp(`${directory}.new-`)
  const cluster = join(environment, 'data')
  const passwordFile = join(environment, 'password')
  try {
    await writeFile(passwordFile, password, { mode: 0o600 })
    if (account) for (const path of [environment, passwordFile]) await chown(path, account.uid, account.gid)
    const login = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`]
    const text = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    await promisify(execFile)(initdb, [...login, ...text, '--no-instructions', '--pgdata', cluster], {
      ...account,
      ...surroundings,
    })
    await rename(cluster, directory).catch((error: unknown) => {
      // What is complete is there already: another process was started in this folder at the same moment.
      throw error instanceof Error && 'code' in error && /^(ENOTEMPTY|EEXIST)$/.test(String(error.code))
        ? isStartedTwice(directory)
        : error
    })
  } finally {
    await rm(environment, { recursive: true, force: true })
  }
}

const portsToTry = async (port: number | undefined, portFile: string): Promise<readonly number[]> => {
  if (port) return [port]
  const recorded = Number(await readFile(portFile, 'utf8').catch(() => ''))
  const free = [await freePort(), await freePort()]
  return recorded > 0 ? [recorded, ...free] : free
}

const freePort = (): Promise<number> =>
  new Promise((found, failed) => {
    const probe = createServer()
    probe.once('error', failed)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => found(address && typeof address === 'object' ? address.port : 0))
    })
  })

type Launch = {
  readonly binaries: Binaries
  readonly account: Account
  readonly directory: string
  readonly settings: Readonly<Record<string, string>>
  readonly log: Log | undefined
}

type Server = { readonly port: number; readonly ended: Promise<void>; readonly stop: () => Promise<void> }

const launch = async (how: Launch, [port, ...others]: readonly number[]): Promise<Server> => {
  if (port === undefined) throw new Error('There is no free port for PostgreSQL.')
  const { binaries, account, directory, log } = how
  const listening = { listen_addresses: '127.0.0.1', port: String(port) }
  const settings = Object.entries({ ...how.settings, ...listening }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  // What a killed server left names its process, whose number another may have by now: the server would not start.
  for (const name of await readdir(directory))
    if (name.startsWith('.s.PGSQL.')) await rm(join(directory, name), { force: true })
  const child = spawn(binaries.postgres, ['-D', directory, ...settings], {
    ...account,
    ...surroundings,
    // In a session of its own a Ctrl-C does not reach it, so that we can end our work before it ends.
    detached: process.platform !== 'win32',
    windowsHide: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const said: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log?.debug({ text: text.trimEnd() }, 'PostgreSQL says')
    said.push(text)
    if (said.length > 20) said.shift()
  })
  const ended = new Promise<void>((end) => {
    child.once('error', (error) => {
      said.push(error.message)
      end()
    })
    child.once('exit', () => end())
  })
  let running = true
  void ended.then(() => (running = false))

  const untie = tieToThisProcess(child, ended, account)

  if (await becomesReady(directory, child, () => running))
    return { port, ended, stop: () => shutDown(child, ended, untie, directory, binaries) }
  child.kill('SIGKILL')
  const words = said.join('')
  if (/could not create any TCP\/IP sockets/.test(words) && others.length > 0) return launch(how, others)
  if (/lock file "postmaster.pid" already exists/.test(words)) throw isStartedTwice(directory)
  if (/postgresql\.conf.*Permission denied|has wrong ownership/.test(words)) throw isOfAnotherUser(directory)
  throw new Error(`PostgreSQL does not start on port ${port} with ${directory}:\n${words.trim()}`)
}

const becomesReady = async (directory: string, child: ChildProcess, isRunning: () => boolean): Promise<boolean> => {
  // Replaying the log after a crash may take its time.
  const deadline = Date.now() + 300_000
  while (isRunning() && Date.now() < deadline) {
    const { pid, status } = (await readPidFile(directory)) ?? {}
    if (pid === child.pid && status === 'ready') return true
    await pause(10)
  }
  return false
}

/**
 * A signal that ends us, SIGKILL too, leaves us no time to end PostgreSQL. A shell does it instead, as soon as the pipe
 * between us breaks.
 */
const tieToThisProcess = (child: ChildProcess, ended: Promise<void>, account: Account): (() => void) => {
  const end = () => child.kill('SIGINT')
  process.once('exit', end)
  if (process.platform === 'win32' || !child.pid) return () => process.off('exit', end)

  const script = 'read -r nothing; kill -INT "$1"'
  const guard = spawn('/bin/sh', ['-c', script, 'sh', String(child.pid)], {
    ...account,
    ...surroundings,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.once('error', () => undefined)
  const untie = () => {
    process.off('exit', end)
    guard.kill('SIGKILL')
  }
  void ended.then(untie)
  return untie
}

/** A fast shutdown: open transactions are rolled back, everything is written, nothing needs recovery. */
const shutDown = async (
  child: ChildProcess,
  ended: Promise<void>,
  untie: () => void,
  directory: string,
  { pg_ctl }: Binaries,
): Promise<void> => {
  untie()
  if (process.platform === 'win32') await promisify(execFile)(pg_ctl, ['stop', '-m', 'fast', '-D', directory])
  else child.kill('SIGINT')
  const timer = setTimeout(() => child.kill('SIGQUIT'), 30_000)
  await ended
  clearTimeout(timer)
}
