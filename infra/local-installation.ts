import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { BadConfiguration } from './config.ts'

/** What `npm start` keeps in DATA_DIR: the secrets of its installation, and where its PostgreSQL listens. */

const Secrets = z.object({ MASTER_KEY: z.string(), OPERATOR_KEY: z.string() })
type Secrets = z.infer<typeof Secrets>

const secretsFile = (dataDir: string) => join(dataDir, 'secrets.json')
export const clusterDirectory = (dataDir: string): string => join(dataDir, 'postgres')

const unlessMissing = async (reading: Promise<string>): Promise<string | undefined> => {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Undefined before the first `npm start`. */
export const readOwnSecrets = async (dataDir: string): Promise<Secrets | undefined> => {
  const text = await inDataDir(dataDir, () => unlessMissing(readFile(secretsFile(dataDir), 'utf8')))
  return text === undefined ? undefined : Secrets.parse(JSON.parse(text))
}

/** The secrets of this installation, made at its first start. */
export const ownSecrets = async (dataDir: string): Promise<Secrets> => {
  const known = await readOwnSecrets(dataDir)
  if (known) return known
  const made = { MASTER_KEY: randomBytes(32).toString('base64'), OPERATOR_KEY: randomBytes(24).toString('hex') }
  await inDataDir(dataDir, async () => {
    await mkdir(dataDir, { recursive: true })
    await writeFile(secretsFile(dataDir), JSON.stringify(made), { flag: 'wx', mode: 0o600 })
  })
  return made
}

const unusable = /^(EACCES|EEXIST|EISDIR|ENOENT|ENOSPC|ENOTDIR|EPERM|EROFS)$/

/** Does something in DATA_DIR; a place that cannot be used ends the start with one line. */
export const inDataDir = async <Result>(dataDir: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error && 'code' in error && unusable.test(String(error.code)))
      throw new BadConfiguration(`DATA_DIR: ${dataDir} cannot be used (${error.message})`)
    throw error
  }
}

/** The database of the service that `npm start` runs now in this DATA_DIR. */
export const runningClusterUrl = async (dataDir: string): Promise<string> => {
  const read = (ending: string) => unlessMissing(readFile(`${clusterDirectory(dataDir)}.${ending}`, 'utf8'))
  const [password, port] = await Promise.all([read('password'), read('port')])
  if (password === undefined || port === undefined)
    throw new BadConfiguration(
      `DATABASE_URL: nothing was started in ${dataDir} yet; run npm start, or name a PostgreSQL`,
    )
  return `postgres://postgres:${password}@127.0.0.1:${port.trim()}/postgres`
}
