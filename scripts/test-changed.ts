import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Runs the tests of what was changed since main and is not committed: those of the capability or room, and of all pure
 * tests those that import a changed file. The whole suite is `npm test`.
 */

const root = join(import.meta.dirname, '..')
const git = (...args: readonly string[]): readonly string[] =>
  execFileSync('git', [...args], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '')

const changed = [
  ...new Set([
    ...git('diff', '--name-only', '--diff-filter=d', 'main...HEAD'),
    ...git('diff', '--name-only', '--diff-filter=d', 'HEAD'),
    ...git('ls-files', '--others', '--exclude-standard'),
  ]),
]

/** Whole processes are started and killed there: that takes minutes. */
const slow = new Set(['journeys', 'embedded-postgres'])

const foldersOf = (file: string): readonly string[] =>
  file
    .split('/')
    .slice(1, -1)
    .filter((name) => !slow.has(name) && existsSync(join(root, 'test', name)))
    .map((name) => `test/${name}/`)

const run = (...args: readonly string[]): Promise<number> =>
  new Promise((resolve) => {
    const vitest = spawn('npx', ['vitest', ...args], { cwd: root, stdio: 'inherit' })
    vitest.once('close', (code) => resolve(code ?? 1))
  })

const main = async (): Promise<number> => {
  const code = changed.filter((file) => file.endsWith('.ts'))
  if (code.length === 0) {
    process.stdout.write('No code was changed since main.\n')
    return 0
  }
  const folders = new Set(code.flatMap(foldersOf))
  const files = code.filter((file) => /^test\/[^/]+\.test\.ts$/.test(file))
  // Those of the folders below run there.
  const elsewhere = [...folders].flatMap((folder) => ['--exclude', `${folder}**`])
  const pure = await run(
    'related',
    '--run',
    '--config',
    'vitest.pure.config.ts',
    '--passWithNoTests',
    ...elsewhere,
    ...code,
  )
  const own = await run('run', 'test/boundaries.test.ts', 'test/stored-events/', ...folders, ...files)
  return pure || own
}

process.exit(await main())
