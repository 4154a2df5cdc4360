import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig } from 'vitest/config'

const root = import.meta.dirname

/** What is imported here computes, or reads a file: it reaches no database, no network and no other process. */
const purePackages = new Set([
  'fast-check',
  'libphonenumber-js/max',
  'node:crypto',
  'node:fs',
  'node:fs/promises',
  'node:path',
  'postcode',
  're2js',
  'uuid',
  'vitest',
  'zod',
])

/** What a file imports for more than its types. */
const importsOf = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^(?:import (?!type )|export .* from |\} from ).*?'([^']+)'/gm)].map(
    ([, name = '']) => name,
  )

/** Whether a test is of pure functions alone: neither it nor what it imports reaches an adapter or a process. */
const isPure = (file: string, seen = new Set<string>()): boolean => {
  if (seen.has(file)) return true
  seen.add(file)
  return importsOf(file).every((name) => {
    if (name.startsWith('.')) return isPure(join(dirname(file), name), seen)
    return name.startsWith('#') ? isPure(join(root, name.slice(1)), seen) : purePackages.has(name)
  })
}

/** The tests that need no database, no HTTP and no other process: what the mutation tests run (`npm run mutate`). */
export default defineConfig({
  test: {
    testTimeout: 30_000,
    include: globSync('test/**/*.test.ts', { cwd: root }).filter((test) => isPure(join(root, test))),
  },
})
