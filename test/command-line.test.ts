import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command, halvesOf } from '../command-api/command.ts'

const root = join(import.meta.dirname, '..')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>
}

/** Those that make a file of the project, or look at it, and have no options. */
const withoutOptions = ['prestart', 'prequery-api', 'openapi', 'readme', 'proxy', 'roles', 'test:changed']
const commands = Object.entries(scripts).flatMap(([name, line]) => {
  const program = /^node (\S+\.ts)$/.exec(line)?.[1]
  return program === undefined || withoutOptions.includes(name) ? [] : [{ name, program }]
})

/** Runs a program, with no store and no service to be found, until it ends. */
const run = (program: string, word: string) =>
  new Promise<{ readonly code: unknown; readonly printed: string; readonly said: string }>((resolve) => {
    const env = { ...process.env, DATA_DIR: '/nowhere', DATABASE_URL: 'postgres://127.0.0.1:1/none' }
    execFile(process.execPath, [program, word], { cwd: root, env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, printed: stdout, said: stderr }),
    )
  })

test('every command of the project is looked at', () => {
  expect(commands.length).toBeGreaterThan(15)
})

test.each(commands)('npm run $name -- --help prints how it is used, and does nothing', async ({ program }) => {
  const { code, printed, said } = await run(program, '--help')

  expect({ code, said }).toEqual({ code: 0, said: '' })
  expect(printed).toMatch(/^(Usage: npm run |Commands for |\S+ is configured by the environment:)/)
})

test.each(commands)('npm run $name says that it does not know an option, and does nothing', async ({ program }) => {
  const { code, printed, said } = await run(program, '--hlep')

  expect({ code, printed }).toEqual({ code: 2, printed: '' })
  expect(said).toMatch(/--hlep['"]/)
  expect(said).toMatch(/Usage: npm run |Commands for |takes no words but --help/)
  expect(said).not.toMatch(/^\s+at /m)
})

test.each([
  [[], ['serve', 'work']],
  [['--serve'], ['serve']],
  [['--work'], ['work']],
  [['--serv'], undefined],
  [['--serve', '--work'], undefined],
])('npm run command-api -- with the words %j does the halves %j', (words, halves) => {
  expect(halvesOf(words)).toEqual(halves)
  expect(command.understands(words)).toBe(halves !== undefined)
})
