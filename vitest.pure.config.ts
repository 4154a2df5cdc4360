import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { defineConfig } from 'vitest/config'

const root = import.meta.dirname
const folders = 'access,applications,catalogue,customers,delivery,integrations,quotes,rating,stored-events,workflows'

/** The files of this project that a file imports for more than their types. */
const importsOf = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^(?:import (?!type )|export .* from |\} from ).*?'([.#][^']+)'/gm)].map(
    ([, name = '']) => (name.startsWith('#') ? join(root, name.slice(1)) : join(dirname(file), name)),
  )

const isPureFile = (file: string): boolean => /^(domain|test)\/.*\.ts$/.test(relative(root, file))

/** Whether a test is of pure functions alone: neither it nor what it imports reaches an adapter or a process. */
const isPure = (file: string, seen = new Set<string>()): boolean => {
  if (seen.has(file)) return true
  seen.add(file)
  return isPureFile(file) && importsOf(file).every((imported) => isPure(imported, seen))
}

/** The tests that need no database, no HTTP and no other process: what the mutation tests run (`npm run mutate`). */
export default defineConfig({
  test: {
    testTimeout: 30_000,
    include: globSync(['test/pattern.test.ts', `test/{${folders}}/**/*.test.ts`], { cwd: root }).filter((test) =>
      isPure(join(root, test)),
    ),
  },
})
