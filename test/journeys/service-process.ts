import { execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describeConfig } from '#infra/config.ts'

/** The whole service, started as a user starts it, on a PostgreSQL of its own. */
export type ServiceProcess = {
  readonly pid: number
  /** What it has written so far. */
  readonly output: () => string
  /** Resolves when it says that it is ready; rejects when it ends before. */
  readonly ready: Promise<void>
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  /** As Ctrl-C does. */
  readonly interrupt: () => void
  /** The process and all that it has started, as far as they live. */
  readonly family: () => Promise<readonly number[]>
  /** SIGKILL, to the process alone or at once to all that it has started. Resolves when those are gone. */
  readonly kill: (whom: 'process' | 'family') => Promise<void>
}

export type ServiceOptions = {
  /** Where the program is; by default this version of it. */
  readonly folder?: string
  readonly dataDir: string
  readonly port: number
  readonly environment?: Readonly<Record<string, string>>
  /** By default all roles in one process. */
  readonly program?: string
  readonly words?: readonly string[]
  /** What it writes when it is ready. */
  readonly saysWhenReady?: string
}

const ownFolder = join(import.meta.dirname, '..', '..')

export const startServiceProcess = (options: ServiceOptions): ServiceProcess => {
  const {
    folder = ownFolder,
    dataDir,
    port,
    environment,
    program = 'start.ts',
    words = [],
    saysWhenReady = 'is ready at',
  } = options
  const child = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    env: { ...withoutOurs(process.env), PORT: String(port), HEALTH_PORT: '0', DATA_DIR: dataDir, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const { pid } = child
  if (pid === undefined) throw new Error('The service cannot be started.')

  let output = ''
  const heard = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      for (const listen of heard) listen()
    })

  const ended = once(child, 'close').then(() => ({ code: child.exitCode, signal: child.signalCode }))
  const ready = new Promise<void>((resolve, reject) => {
    heard.add(() => {
      if (output.includes(saysWhenReady)) resolve()
    })
    void ended.then(() => reject(new Error(`The service ended before it was ready:\n${output}`)))
  })
  // Whoever kills it does not wait for it to be ready.
  ready.catch(() => undefined)

  const family = () => familyOf(pid)
  return {
    pid,
    output: () => output,
    ready,
    ended,
    interrupt: () => child.kill('SIGINT'),
    family,
    kill: async (whom) => {
      const doomed = whom === 'family' ? await family() : [pid]
      // The service first: it must not live to say that its database is gone.
      for (const each of [pid, ...doomed]) killIfThere(each)
      await untilGone(doomed)
    },
  }
}

/** Whatever this process was told of the service or by the test runner is not for the service that is started here. */
const withoutOurs = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  const ours = new Set(['NODE_ENV', 'NODE_OPTIONS', ...describeConfig().map(({ name }) => name)])
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !ours.has(name)))
}

const killIfThere = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

type Process = { readonly pid: number; readonly parent: number }

/** All processes of the machine but those that are dead and only wait for their parent to notice. */
const processes = async (): Promise<readonly Process[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,stat='])
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent, state] = line.trim().split(/\s+/)
    return pid && parent && !state?.startsWith('Z') ? [{ pid: Number(pid), parent: Number(parent) }] : []
  })
}

const familyOf = async (ancestor: number): Promise<readonly number[]> => {
  const all = await processes()
  const below = (parent: number): readonly number[] =>
    all.filter((each) => each.parent === parent).flatMap(({ pid }) => [pid, ...below(pid)])
  return all.some(({ pid }) => pid === ancestor) ? [ancestor, ...below(ancestor)] : []
}

/** Those of the processes that still live. */
export const alive = async (pids: readonly number[]): Promise<readonly number[]> => {
  const all = new Set((await processes()).map(({ pid }) => pid))
  return pids.filter((pid) => all.has(pid))
}

export const untilGone = async (pids: readonly number[]): Promise<void> => {
  const deadline = Date.now() + 30_000
  for (let left = await alive(pids); left.length > 0; left = await alive(left)) {
    if (Date.now() > deadline) throw new Error(`Processes ${left.join(', ')} do not end.`)
    await pause(20)
  }
}

// Below what the system gives to connections and to whoever asks for any port: there, one that was free is soon another's.
const [lowestPort, highestPort] = [15_000, 32_000]

/** A port that nobody listens at, for as long as no other test happens to get the same. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(lowestPort, highestPort)
    if (await isFree(port)) return port
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((tell) => {
    const probe = createServer().once('error', () => tell(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => tell(true)))
  })

/** The PostgreSQL that a service keeps in its data directory. */
export const databaseOf = async (dataDir: string): Promise<string> => {
  const [password, port] = await Promise.all(
    ['postgres.password', 'postgres.port'].map(async (name) => readFile(join(dataDir, name), 'utf8')),
  )
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
}
