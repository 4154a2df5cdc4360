import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export const ownFolder = join(import.meta.dirname, '..', '..')

/** The version before cannot be had here: there is no history, or no registry. */
export class NoVersionBefore extends Error {
  override readonly name = 'NoVersionBefore'
}

export const commitBefore = async (): Promise<string> =>
  (await readFile(join(import.meta.dirname, 'from'), 'utf8')).trim()

const lastLineOf = (error: unknown): string =>
  error instanceof Error ? (error.message.trim().split('\n').at(-1) ?? '') : String(error)

const git = async (folder: string, ...words: readonly string[]): Promise<void> => {
  await run('git', ['-C', folder, ...words])
}

/** Copies the commit of the version before into an empty folder, and installs what it needs. */
export const installVersionBefore = async (folder: string, commit: string): Promise<void> => {
  await git(ownFolder, 'cat-file', '-e', `${commit}^{commit}`).catch(() => {
    throw new NoVersionBefore(`there is no git history here with the commit ${commit}, which test/upgrade/from names`)
  })
  await git(ownFolder, 'clone', '--quiet', '--no-checkout', ownFolder, folder)
  await git(folder, 'checkout', '--quiet', '--detach', commit)
  // With the version of Node.js that runs this, as its processes are.
  const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
  const environment = { ...process.env, PATH }
  await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, env: environment }).catch((error: unknown) => {
    throw new NoVersionBefore(`its dependencies cannot be installed, for want of a registry: ${lastLineOf(error)}`)
  })
  await run(process.execPath, ['scripts/openapi.ts'], { cwd: folder })
}
