import { existsSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** Packages imported here compute, or read a file: they reach no database, no network and no other process. */
const purePackages = new Set([
  'chrono-node/en',
  'fast-check',
  'ipaddr.js',
  'libphonenumber-js/max',
  'lru-cache',
  'node:crypto',
  'node:fs',
  'node:fs/promises',
  'node:module',
  'node:os',
  'node:path',
  'postcode',
  're2js',
  'uuid',
  'vitest',
  'zod',
])

const inOwnCode = (file: string, name: string): string | undefined => {
  if (name.startsWith('.')) return join(dirname(file), name)
  return name.startsWith('#') ? join(root, name.slice(1)) : undefined
}

const known = new Map<string, readonly string[]>()

/** The imports of a file for more than its types: our files by their path, packages by their name. */
export const importsOf = (file: string): readonly string[] => {
  const before = known.get(file)
  if (before) return before
  const text = file.endsWith('.ts') && existsSync(file) ? readFileSync(file, 'utf8') : ''
  const imported = /^(?:import (?!type )|export .* from |\} from ).*?'([^']+)'|\bawait import\('([^']+)'\)/gm
  const names = [...text.matchAll(imported)].map(([, first, second]) => first ?? second ?? '')
  const found = names.map((name) => inOwnCode(file, name) ?? name)
  known.set(file, found)
  return found
}

/** The files that a file consists of, itself among them, and the packages that they import. */
export const reachedFrom = (file: string, reached = new Set<string>()): ReadonlySet<string> => {
  if (reached.has(file)) return reached
  reached.add(file)
  for (const name of importsOf(file)) {
    if (isAbsolute(name)) reachedFrom(name, reached)
    else reached.add(name)
  }
  return reached
}

/** True for a test of pure functions alone: neither it nor its imports reach an adapter or a process. */
export const isPure = (reached: ReadonlySet<string>): boolean =>
  [...reached].every((each) => isAbsolute(each) || purePackages.has(each))
