import { randomBytes, randomUUID } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { BadConfiguration } from './config.ts'
import { makeFolder } from './make-folder.ts'
import { keptFile, textOf } from './kept-file.ts'

/** `npm start` keeps in DATA_DIR the secrets of its installation, and where its PostgreSQL listens. */

/** Those that are EARLIER are added by the operator who replaces a key. */
const Secrets = z.object({
  MASTER_KEY: z.string(),
  MASTER_KEYS_EARLIER: z.string().optional(),
  /** Not there in an installation of a version before. */
  AUDIT_KEY: z.string().optional(),
  AUDIT_KEYS_EARLIER: z.string().optional(),
  OPERATOR_KEY: z.string(),
})
export type Secrets = z.infer<typeof Secrets>

const secretsFile = (dataDir: string) => join(dataDir, 'secrets.json')
export const clusterDirectory = (dataDir: string): string => join(dataDir, 'postgres')

const parseSecrets = (dataDir: string, text: string): Secrets => {
  try {
    return Secrets.parse(JSON.parse(text))
  } catch {
    throw new BadConfiguration(
      `DATA_DIR: ${secretsFile(dataDir)} does not hold the keys of this installation; put it back from its backup`,
    )
  }
}

/** Undefined before the first `npm start`. */
export const readOwnSecrets = async (dataDir: string): Promise<Secrets | undefined> => {
  const text = await inDataDir(dataDir, () => textOf(secretsFile(dataDir)))
  return text === undefined ? undefined : parseSecrets(dataDir, text)
}

/** The message of a command that was given no operator key, and found none of `npm start`. */
export const askForOperatorKey = (dataDir: string): string =>
  `Give the operator key with --operator-key or OPERATOR_KEY. That of npm start is looked for in DATA_DIR, and is not in ${secretsFile(dataDir)}.`

const makeKey = () => randomBytes(32).toString('base64')

const makeSecrets = (): Secrets => ({
  MASTER_KEY: makeKey(),
  AUDIT_KEY: makeKey(),
  OPERATOR_KEY: randomBytes(24).toString('hex'),
})

/** The secrets of this installation, made at its first start. */
export const ownSecrets = async (dataDir: string): Promise<Secrets> => {
  const text = await inDataDir(dataDir, async () => {
    await makeFolder(dataDir)
    return keptFile(secretsFile(dataDir), () => JSON.stringify(makeSecrets()))
  })
  const secrets = parseSecrets(dataDir, text)
  return secrets.AUDIT_KEY === undefined ? inDataDir(dataDir, () => withAuditKey(dataDir, secrets)) : secrets
}

/** Adds the key that the version before did not have. */
const withAuditKey = async (dataDir: string, secrets: Secrets): Promise<Secrets> => {
  const all = { ...secrets, AUDIT_KEY: makeKey() }
  const unfinished = `${secretsFile(dataDir)}.${randomUUID()}`
  await writeFile(unfinished, JSON.stringify(all), { mode: 0o600, flush: true })
  await rename(unfinished, secretsFile(dataDir))
  return all
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

/** The hint for when nothing listens at an address that is that of the PostgreSQL of `npm start` in this DATA_DIR. */
export const stoppedClusterHint = async (dataDir: string, databaseUrl: string): Promise<string | undefined> => {
  const own = await textOf(`${clusterDirectory(dataDir)}.port`).catch(() => undefined)
  const { hostname, port } = URL.parse(databaseUrl) ?? {}
  return own !== undefined && port === own.trim() && /^(127\.0\.0\.1|localhost|\[::1\])$/.test(hostname ?? '')
    ? `this is the PostgreSQL of npm start in ${dataDir}, which does not run: start it, or name another one`
    : undefined
}

/** The database of the service that `npm start` runs now in this DATA_DIR. */
export const runningClusterUrl = async (dataDir: string): Promise<string> => {
  const read = (ending: string) => textOf(`${clusterDirectory(dataDir)}.${ending}`)
  const [password, port] = await Promise.all([read('password'), read('port')])
  if (password === undefined || port === undefined)
    throw new BadConfiguration(
      `DATABASE_URL: nothing was started in ${dataDir} yet; run npm start, or name a PostgreSQL`,
    )
  return `postgres://postgres:${password}@127.0.0.1:${port.trim()}/postgres`
}
