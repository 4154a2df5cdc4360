import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '#infra/config.ts'
import { ownSecrets, readOwnSecrets } from '#infra/local-installation.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'coverstream-secrets-'))
})
afterAll(async () => rm(directory, { recursive: true, force: true }))

test('first starts at the same moment have the same keys, which only their owner can read', async () => {
  const dataDir = join(directory, 'new')
  expect(await readOwnSecrets(join(directory, 'never started'))).toBeUndefined()

  const all = await Promise.all(Array.from({ length: 5 }, () => ownSecrets(dataDir)))

  const [first] = all
  expect(all).toEqual(all.map(() => first))
  expect(await readOwnSecrets(dataDir)).toEqual(first)
  expect(await ownSecrets(dataDir)).toEqual(first)
  expect(await readdir(dataDir)).toEqual(['secrets.json'])
  const { mode } = await stat(join(dataDir, 'secrets.json'))
  expect(mode & 0o777).toBe(process.platform === 'win32' ? 0o666 : 0o600)
})

test('a folder that cannot be made in one that is there is named, and the start does not hang', async () => {
  await expect(ownSecrets('/proc/nothing/here')).rejects.toThrow(/^DATA_DIR: \/proc\/nothing\/here cannot be used \(E/)
})

test('a file of keys that is cut short is named, and never replaced', async () => {
  await writeFile(join(directory, 'secrets.json'), '{"MASTER_KEY":"abc')

  const reason = /^DATA_DIR: .*secrets\.json does not hold the keys of this installation/
  await expect(ownSecrets(directory)).rejects.toThrow(reason)
  await expect(readOwnSecrets(directory)).rejects.toThrow(reason)
})

test('the key of an installation is replaced in its file, which then names the former one', async () => {
  const dataDir = join(directory, 'replaced')
  const { MASTER_KEY: former, OPERATOR_KEY } = await ownSecrets(dataDir)
  const replaced = { MASTER_KEY: 'n'.repeat(43), MASTER_KEYS_EARLIER: former, OPERATOR_KEY }
  await writeFile(join(dataDir, 'secrets.json'), JSON.stringify(replaced))

  const config = readConfig({ DATA_DIR: dataDir }, await ownSecrets(dataDir))

  expect(config).toMatchObject({ ...replaced, MASTER_KEYS_EARLIER: [former] })
})

test('npm run keys takes the key of this installation where MASTER_KEY is empty', async () => {
  const DATA_DIR = join(directory, 'with keys')
  await ownSecrets(DATA_DIR)
  const env = { ...process.env, BASE_URL: '', DATA_DIR, MASTER_KEY: '', DATABASE_URL: 'embedded' }

  const said = await new Promise<string>((resolve) => {
    execFile(process.execPath, ['cli/keys.ts', 'rotate'], { env, timeout: 60_000 }, (_error, _printed, stderr) => {
      resolve(stderr)
    })
  })

  expect(said).toMatch(/^DATABASE_URL: nothing was started in /m)
})
