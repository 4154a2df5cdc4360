import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compiled } from '../compiled.ts'

const program = join(import.meta.dirname, '../../cli/leads.ts')

/** Runs the command where no service is. */
const run = (words: readonly string[]) =>
  new Promise<{ readonly code: unknown; readonly output: string; readonly errors: string }>((resolve) => {
    const options = { env: { ...compiled(), BASE_URL: 'http://127.0.0.1:1' }, timeout: 60_000 }
    execFile(process.execPath, [program, ...words], options, (error, output, errors) =>
      resolve({ code: error?.code ?? 0, output, errors }),
    )
  })

test.each([
  [['export', 'outcomes'], '"export outcomes" is not understood.'],
  [['import', 'outcomes', 'sales.csv'], '"import outcomes sales.csv" is not understood.'],
  [['import'], '"import" is not understood.'],
  [['import', 'sales.csv', '--what', 'events'], '"import sales.csv --what events" is not understood.'],
  [['export', '--what', 'outcome'], '"export --what outcome" is not understood.'],
  [[], 'Say what is to be done.'],
])('what is not understood does nothing else instead: npm run leads -- %j', async (words, fault) => {
  const { code, output, errors } = await run(words)

  expect({ code, output }).toEqual({ code: 2, output: '' })
  expect(errors.startsWith(`${fault}\n\nUsage: npm run leads`)).toBe(true)
})
