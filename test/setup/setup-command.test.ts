import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import express from 'express'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { derivedId } from '#infra/ids.ts'
import { serveApp } from '../serve.ts'
import { compiled } from '../compiled.ts'
import { setupApi } from './setup-api.ts'
import { file, lineOf } from './builders.ts'

const folder = await mkdtemp(join(tmpdir(), 'coverstream-setup-'))
beforeAll(() => writeFile(join(folder, 'acme.yaml'), file))
afterAll(() => rm(folder, { recursive: true }))

/** Runs the command as a shell would, from the folder of the files. */
const run = async (origin: string, options: readonly string[], input = '') => {
  const program = join(import.meta.dirname, '../../cli/setup.ts')
  const child = spawn(process.execPath, [program, '--base-url', origin, '--operator-key', 'any', ...options], {
    cwd: folder,
    env: compiled(),
    stdio: 'pipe',
  })
  child.stdin.end(input)
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code: child.exitCode, output, errors }
}

/** Passes plans on, and refuses whatever applies something, as a read-only key is. */
const refusing = (origin: string) =>
  serveApp(
    express()
      .use(express.text({ type: '*/*' }))
      .post('/admin/v1/setup/plan', async (request, response) => {
        const headers = { 'content-type': 'application/yaml' }
        const answer = await fetch(`${origin}${request.url}`, { method: 'POST', headers, body: String(request.body) })
        response.json(await answer.json())
      })
      .post('/admin/v1/setup', (_request, response) => {
        response.status(403).json({ error: { code: 'forbidden', message: 'Only read.' } })
      }),
  )

test('the plan is shown, applied without being asked, and secrets are shown once', async () => {
  await using api = await setupApi()

  const first = await run(api.origin, ['acme.yaml', '--yes'])
  const again = await run(api.origin, ['acme.yaml', '--yes'])

  expect(first).toMatchObject({ code: 0, errors: '' })
  expect(first.output).toContain('+ acme: product term\n    drafts 1 cover')
  expect(first.output).toContain('Applied: 4 things changed.')
  expect(first.output).toMatch(/acme: API application Server: client_secret \S{20,}/)
  expect(again).toMatchObject({ code: 0, errors: '' })
  expect(again.output).toContain('Nothing to change.')
  expect(again.output).not.toContain('client_secret')
})

test('a set-up that is refused as a whole says that nothing was applied', async () => {
  await using api = await setupApi()
  await using proxy = await refusing(api.origin)

  const { code, output, errors } = await run(proxy.origin, ['acme.yaml', '--yes'])

  expect(code).toBe(1)
  expect(output).toContain('client_secret')
  expect(errors).toContain('Only read.\n\nNothing was applied. The secrets above are not in force.')
})

test('nothing is applied without a yes', async () => {
  await using api = await setupApi()

  const { code, output } = await run(api.origin, ['acme.yaml'], 'n\n')

  expect(code).toBe(0)
  expect(output).toContain('Nothing was changed.')
  expect(await api.written()).toEqual([])
})

test.each([
  ['', 'empty.yaml:1: the file is empty'],
  ['# only a comment\n', 'empty.yaml:1: the file is empty'],
  [undefined, 'There is no file empty.yaml.'],
])('a file that holds %j is told of in a sentence', async (content, line) => {
  await using api = await setupApi()
  const path = join(folder, 'empty.yaml')
  if (content === undefined) await rm(path, { force: true })
  else await writeFile(path, content)

  const { code, errors } = await run(api.origin, ['empty.yaml'])

  expect(code).toBe(1)
  expect(errors).toContain(line)
})

test.each([
  [['acme.yaml', 'other.yaml'], 'Name one set-up file, not 2.'],
  [['acme.yaml', '--base-url', 'localhost:4000'], 'BASE_URL: must be an address that begins with http:// or https://'],
  [['acme.yaml', '--base-url', 'http://localhost:4000/'], 'BASE_URL: must not end with a slash'],
])('a command line that cannot be used says why: %j', async (args, sentence) => {
  await using api = await setupApi()

  const { code, errors } = await run(api.origin, args)

  expect(code).toBe(1)
  expect(errors).toContain(sentence)
})

test('a base address with the path of the API is told of', async () => {
  await using api = await setupApi()

  const { code, errors } = await run(`${api.origin}/api/v1`, ['acme.yaml'])

  expect(code).toBe(1)
  expect(errors).toContain(`The address was ${api.origin}/api/v1: name it as callers use it, without /api/v1.`)
})

test('--plan shows what would change, and changes nothing', async () => {
  await using api = await setupApi()

  const { code, output } = await run(api.origin, ['acme.yaml', '--plan'])

  expect(code).toBe(0)
  expect(output).toContain('+ acme: product term')
  expect(output).not.toContain('Apply these changes?')
  expect(await api.written()).toEqual([])
})

test('an input that ends without an answer ends with exit code 2 and a sentence', async () => {
  await using api = await setupApi()

  const { code, errors } = await run(api.origin, ['acme.yaml'], '')

  expect(code).toBe(2)
  expect(errors).toContain('Nothing was changed: the input ended without an answer. Use --yes to apply')
  expect(await api.written()).toEqual([])
})

test('a key that the service does not know is named by where it came from', async () => {
  const refusingAll = express().use((_request, response) => {
    response.status(401).json({ error: { code: 'unauthorized', message: 'No key of ours.' } })
  })
  await using service = await serveApp(refusingAll)

  const { code, errors } = await run(service.origin, ['acme.yaml', '--plan'])

  expect({ code, errors }).toEqual({
    code: 1,
    errors: `No key of ours.\nThe key of --operator-key, OPERATOR_KEY or DATA_DIR is not one of the service at ${service.origin}.\n`,
  })
})

test('a file with faults ends with exit code 1, each fault as file:line: what is wrong', async () => {
  await using api = await setupApi()
  const faulty = file
    .replace('product_type: term', 'product_type: car')
    .replace('term_years_min: 5', 'term_years_min: many')
  await writeFile(join(folder, 'faulty.yaml'), faulty)

  const { code, errors } = await run(api.origin, ['faulty.yaml', '--yes'])

  expect(code).toBe(1)
  const lines = errors.split('\n')
  expect(lines[0]).toMatch(`faulty.yaml:${lineOf(file, 'product_type')}: organisations[0].products[0].product_type: `)
  expect(lines[1]).toMatch(
    `faulty.yaml:${lineOf(file, 'term_years_min')}: organisations[0].products[0].covers[0].term_years_min: `,
  )
})

test('rates in a file beside it are sent along, and a missing one is named', async () => {
  await using api = await setupApi()
  const named = file.replace(/csv: \|\n(.*\n){3}/, 'file: rates.csv\n')
  await writeFile(join(folder, 'named.yaml'), named)

  const missing = await run(api.origin, ['named.yaml', '--yes'])
  await writeFile(join(folder, 'rates.csv'), 'age,term,smoker,rate_e4\n30,10,n,23360\n')
  const found = await run(api.origin, ['named.yaml', '--yes'])

  expect(missing).toMatchObject({ code: 1 })
  expect(missing.errors).toContain(
    `named.yaml:${lineOf(named, 'file: rates')}: organisations[0].rate_tables[0].file: rates.csv was not sent`,
  )
  expect(found).toMatchObject({ code: 0 })
  expect(found.output).toContain('publishes 1 rate ')
})

test('export writes the set-up file with the files that it names, which changes nothing, and no file of another content', async () => {
  await using api = await setupApi()
  await run(api.origin, ['acme.yaml', '--yes'])
  const acme = ['export', '--organisation', derivedId('organisation', 'acme')]

  const exported = await run(api.origin, [...acme, '--file', 'exported/acme.yaml'])
  const planned = await run(api.origin, ['exported/acme.yaml', '--plan'])
  const again = await run(api.origin, [...acme, '--file', 'exported/acme.yaml'])
  await writeFile(join(folder, 'exported/rates/life.level.v1.csv'), 'mine')
  const refused = await run(api.origin, [...acme, '--file', 'exported/acme.yaml'])
  const printed = await run(api.origin, acme)

  expect(exported).toEqual({ code: 0, output: 'Wrote exported/acme.yaml, and 1 file that it names.\n', errors: '' })
  expect(planned).toMatchObject({ code: 0, errors: '' })
  expect(planned.output).toContain('Nothing to change.')
  expect(again.code).toBe(0)
  expect(refused).toMatchObject({ code: 1, output: '' })
  expect(refused.errors).toContain('There is another exported/rates/life.level.v1.csv already.')
  expect(printed.output).toContain('organisations:\n  - slug: acme\n')
  expect(printed.output).toContain('\n---\n{"files":{"rates/life.level.v1.csv":"age,term')
})

test('export needs to know of which organisation', async () => {
  const unnamed = await run('http://127.0.0.1:1', ['export'])
  const misplaced = await run('http://127.0.0.1:1', ['acme.yaml', '--file', 'other.yaml'])

  for (const { code, errors } of [unnamed, misplaced]) {
    expect(code).toBe(1)
    expect(errors).toContain('--organisation and --file are for export, which needs the organisation.')
  }
})

test('without a file, and without a service, the command says what to do', async () => {
  const none = await run('http://127.0.0.1:1', [])
  const unreachable = await run('http://127.0.0.1:1', ['acme.yaml', '--yes'])

  expect(none).toMatchObject({ code: 1 })
  expect(none.errors).toContain('Usage:')
  expect(unreachable).toMatchObject({ code: 1 })
  expect(unreachable.errors).toContain('does not answer at http://127.0.0.1:1')
})
