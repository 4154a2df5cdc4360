import { globSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { isPure, reachedFrom } from './scripts/imports.ts'

const root = import.meta.dirname

/** Set by `npm run mutate`: the other tests cannot notice a change there. Those of stored events look for what they import. */
const mutated = (process.env['MUTATED'] ?? '').split(',').filter((path) => path !== '')
const concerns = (test: string, reached: ReadonlySet<string>): boolean =>
  mutated.length === 0 ||
  test.startsWith('test/stored-events/') ||
  [...reached].some((each) => mutated.some((path) => each.startsWith(join(root, path))))

/** The tests that need no database, no HTTP and no other process: what the mutation tests run (`npm run mutate`). */
export default defineConfig({
  test: {
    testTimeout: 30_000,
    include: globSync('test/**/*.test.ts', { cwd: root }).filter((test) => {
      const reached = reachedFrom(join(root, test))
      return isPure(reached) && concerns(test, reached)
    }),
  },
})
