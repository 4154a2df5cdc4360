import { execFileSync, spawn } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { longest } from '../test/longest.ts'
import { importsOf, isPure, reachedFrom } from './imports.ts'

/**
 * Runs the tests of what was changed since main and is not committed, in about a minute: of the pure tests all that depend
 * on a changed file; of the others those of its capability or room that do, and those that import it themselves or by a
 * helper of their own folder. What takes longest, and what else may notice the change, is left to the whole suite.
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

/** The folders of tests that bear the name of a capability or room. */
const foldersOf = (file: string): readonly string[] =>
  file
    .split('/')
    .slice(1, -1)
    .filter((name) => existsSync(join(root, 'test', name)))
    .map((name) => `test/${name}/`)

/** The imports of a test itself, or of a helper of its own folder. */
const nearest = (path: string): readonly string[] => {
  const own = importsOf(path)
  const helpers = own.filter((name) => dirname(name) === dirname(path) && dirname(name) !== join(root, 'test'))
  return [...own, ...helpers.flatMap(importsOf)]
}

const always = (test: string): boolean => test === 'test/boundaries.test.ts' || test.startsWith('test/stored-events/')

/** True where a test is to run for a changed file. */
const concerns = (test: string, file: string): boolean => {
  if (test === file) return true
  const path = join(root, test)
  const isOfIts = foldersOf(file).some((folder) => test.startsWith(folder))
  // What is read and not imported shows nowhere.
  if (!file.endsWith('.ts')) return isOfIts
  const reached = reachedFrom(path)
  if (!reached.has(join(root, file))) return false
  if (isOfIts || isPure(reached)) return true
  // Nearly everything imports values and events of the domain: the pure tests show what they do.
  return !file.startsWith('domain/') && nearest(path).includes(join(root, file))
}

const run = (tests: readonly string[]): Promise<number> =>
  new Promise((resolve) => {
    const vitest = spawn('npx', ['vitest', 'run', ...tests], { cwd: root, stdio: 'inherit' })
    vitest.once('close', (code) => resolve(code ?? 1))
  })

const main = async (): Promise<number> => {
  if (!changed.some((file) => file.endsWith('.ts') || foldersOf(file).length > 0)) {
    process.stdout.write('No code was changed since main.\n')
    return 0
  }
  const tests = globSync('test/**/*.test.ts', { cwd: root }).toSorted()
  const concerned = tests.filter((test) => always(test) || changed.some((file) => concerns(test, file)))
  const left = concerned.filter((test) => longest.includes(test) && !changed.includes(test))
  const chosen = concerned.filter((test) => !left.includes(test))
  const depend = tests.filter((test) => changed.some((file) => reachedFrom(join(root, test)).has(join(root, file))))
  const others = depend.filter((test) => !chosen.includes(test))
  process.stdout.write(`Runs ${chosen.length} files of tests.`)
  if (others.length > 0) {
    process.stdout.write(` Left to npm test: ${others.length} others that depend on what was changed`)
    process.stdout.write(left.length > 0 ? `, among them the longest of its own: ${left.join(', ')}.` : '.')
  }
  process.stdout.write('\n')
  return run(chosen)
}

process.exit(await main())
