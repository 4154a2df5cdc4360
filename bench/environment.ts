import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { startEmbeddedPostgres } from '#infra/postgres/embedded/embedded-postgres.ts'

/** Everything that the measurements start or write; removed when it is cleared. */
export type Environment = {
  readonly directory: string
  /** An empty database on the server that all measurements share. */
  readonly database: (name: string) => Promise<string>
  /** Runs a program in a process group of its own. */
  readonly run: (command: string, args: readonly string[], environment?: Readonly<Record<string, string>>) => Child
  readonly clear: () => Promise<void>
  /** Whether it is being cleared, or was. */
  readonly isCleared: () => boolean
}

export type Child = {
  readonly pid: number
  /** Resolves with the first match in what the program writes; rejects when it ends before. */
  readonly says: (pattern: RegExp) => Promise<RegExpExecArray>
  /** As Ctrl-C would; after ten seconds by force. */
  readonly stop: () => Promise<void>
}

export const makeWorkplace = async (): Promise<Environment> => {
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-bench-'))
  const leftovers = new AsyncDisposableStack()
  leftovers.defer(() => rm(directory, { recursive: true, force: true }))
  // PostgreSQL may run as another user than we do.
  await chmod(directory, 0o755)

  let clearing: Promise<void> | undefined
  const clear = () => (clearing ??= leftovers.disposeAsync())

  const startServer = async (): Promise<string> => {
    const { url, stop } = await startEmbeddedPostgres({ dataDir: join(directory, 'postgres') })
    leftovers.defer(stop)
    return url
  }
  let server: Promise<string> | undefined

  return {
    directory,
    database: async (name) => {
      const url = await (server ??= startServer())
      const client = new Client({ connectionString: url })
      await client.connect()
      await client.query(`drop database if exists ${name} with (force)`)
      await client.query(`create database ${name}`)
      await client.end()
      return Object.assign(new URL(url), { pathname: name }).href
    },
    run: (command, args, environment = {}) => {
      const child = spawn(command, args, {
        cwd: join(import.meta.dirname, '..'),
        env: { ...process.env, ...environment },
        stdio: ['ignore', 'pipe', 'inherit'],
        detached: true,
      })
      const running = asChild(child)
      leftovers.defer(running.stop)
      return running
    },
    clear,
    isCleared: () => clearing !== undefined,
  }
}

const asChild = (child: ChildProcess): Child => {
  const ended = once(child, 'exit').catch(() => undefined)
  let said = ''
  const listeners = new Set<() => void>()
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text
    for (const listener of listeners) listener()
  })
  const signal = (name: NodeJS.Signals) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    process.kill(-child.pid, name)
  }

  return {
    pid: child.pid ?? 0,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(said)
          if (!found) return
          listeners.delete(look)
          resolve(found)
        }
        listeners.add(look)
        look()
        void ended.then(() =>
          reject(new Error(`${child.spawnargs.join(' ')} ended before it said ${pattern}:\n${said}`)),
        )
      }),
    stop: async () => {
      signal('SIGINT')
      const timer = setTimeout(() => signal('SIGKILL'), 10_000)
      await ended
      clearTimeout(timer)
    },
  }
}
