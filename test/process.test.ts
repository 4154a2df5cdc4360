import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from '#infra/config.ts'

const root = join(import.meta.dirname, '..')

/** Runs a process whose start is the given code, until it ends. */
const run = (code: string, environment: Readonly<Record<string, string>> = {}) =>
  new Promise<{ readonly code: unknown; readonly said: string }>((resolve) => {
    const program = `import { runProcess } from './infra/process.ts'\nimport { readConfig } from './infra/config.ts'\n${code}`
    execFile(
      process.execPath,
      ['--input-type=module', '--eval', program],
      { cwd: root, env: { ...process.env, ...environment } },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, said: stdout + stderr }),
    )
  })

const lastLine = (said: string) => said.trimEnd().split('\n\n').at(-1)

test('a value that cannot be used stops the process with the variable named', async () => {
  const { code, said } = await run(`runProcess('X', async () => readConfig(process.env))`, {
    PORT: 'many',
    MASTER_KEY: 'short',
    BASE_URL: '',
  })

  expect(code).toBe(1)
  expect(said).toMatch(/^\nX cannot start:\nPORT: .+\nMASTER_KEY: .+\n$/)
})

test('what was logged comes before the last line, where both are read together', async () => {
  const program = `import { runProcess } from './infra/process.ts'
    import { makeLog } from './infra/log.ts'
    runProcess('X', async () => { makeLog('info', 'x').info('begun'); throw new Error('no luck') })`
  const command = ['-c', '"$0" --input-type=module --eval "$1" 2>&1', process.execPath, program]

  const said = await new Promise<string>((resolve) => {
    execFile('sh', command, { cwd: root }, (_error, stdout) => resolve(stdout))
  })

  expect(said).toMatch(/"begun"[\s\S]+X failed: Error: no luck/)
})

test('what fails at the start is the last line', async () => {
  const { code, said } = await run(`runProcess('X', async () => { throw new Error('no luck') })`)

  expect(code).toBe(1)
  expect(lastLine(said)).toContain('X failed: Error: no luck')
})

test.each([
  ['throws', `setTimeout(() => { throw new Error('no luck') }, 10)`],
  ['rejects', `setTimeout(() => { void Promise.reject(new Error('no luck')) }, 10)`],
])(
  'a role that %s where nobody catches it ends the process with a clear last line, after the others have stopped',
  async (_how, fault) => {
    const start = `async () => { setInterval(() => {}, 1000); ${fault}; return { stop: async () => console.log('others stopped') } }`
    const { code, said } = await run(`runProcess('X', ${start})`)

    expect(code).toBe(1)
    expect(said).toContain('X failed: Error: no luck')
    expect(said).toContain('others stopped')
  },
)

test('an empty variable counts as unset, also beside the keys that npm start makes', () => {
  const made = { MASTER_KEY: 'm'.repeat(43), OPERATOR_KEY: 'an operator key of npm start' }

  expect(readConfig({ MASTER_KEY: '', OPERATOR_KEY: '' }, made)).toMatchObject(made)
  expect(readConfig({ OPERATOR_KEY: 'an operator key of my own' }, made)).toMatchObject({
    OPERATOR_KEY: 'an operator key of my own',
  })
})
