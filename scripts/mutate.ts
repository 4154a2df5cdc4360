import { existsSync, statSync } from 'node:fs'
import { endMisunderstood, readOptions } from '#infra/command-line.ts'

const usage = `Usage: npm run mutate -- FOLDER|FILE ...

Changes files of the domain in one small place at a time, runs the tests that need no database, and lists the changes that no
test notices. A capability is its folder in the domain: npm run mutate -- rating domain/quotes/record.ts
`

const { positionals } = readOptions(usage, { allowPositionals: true })
const named = positionals.map((name) => (existsSync(name) ? name : `domain/${name}`))
const absent = named.filter((path) => !existsSync(path))
if (named.length === 0 || absent.length > 0) endMisunderstood(absent, usage)

process.env['MUTATED'] = named.join(',')

const { Stryker } = await import('@stryker-mutator/core')
await new Stryker({
  mutate: named.map((path) =>
    statSync(path, { throwIfNoEntry: false })?.isDirectory() ? `${path.replace(/\/$/, '')}/**/*.ts` : path,
  ),
  plugins: ['@stryker-mutator/vitest-runner', './scripts/stryker.ts'],
  testRunner: 'vitest-with-loading',
  ignorers: ['documentation'],
  // Finding related files does not know the aliases of package.json. Coverage by test narrows them down anyway.
  vitest: { configFile: 'vitest.pure.config.ts', related: false },
  coverageAnalysis: 'perTest',
  concurrency: 1,
  // All tests that concern what is changed, on a machine that may be busy with something else.
  dryRunTimeoutMinutes: 60,
  tempDirName: '.stryker',
  // Stryker rewrites tsconfig.json through an interface that TypeScript 7 does not have; the tests run without it.
  disableTypeChecks: false,
  ignorePatterns: ['tsconfig.json', '.data', '.bench', 'bench'],
  reporters: ['clear-text'],
  clearTextReporter: { allowColor: false, allowEmojis: false, reportTests: false },
  thresholds: { high: 98, low: 95, break: 95 },
}).runMutationTest()
