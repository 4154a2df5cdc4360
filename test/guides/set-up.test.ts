import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { wholeService } from '../whole-service.ts'
import { commandsOf, runCommands } from './guide.ts'

const root = join(import.meta.dirname, '..', '..')

let service: Awaited<ReturnType<typeof wholeService>>
let folder: string
/** What the commands about setting a firm up have printed. */
let setUp: string

/** A folder in which a reader who has the project would be, without what they write getting into the project. */
beforeAll(async () => {
  service = await wholeService()
  folder = await mkdtemp(join(tmpdir(), 'coverstream-guide-'))
  for (const name of await readdir(root)) await symlink(join(root, name), join(folder, name))
  const headings = ['The firm and its server', 'A product with a price', 'Ask for a price']
  const script = await commands('docs/set-up.md', ...headings)
  setUp = await runCommands(script, { cwd: folder, environment: environment() })
}, 120_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const commands = async (guide: string, ...headings: readonly string[]) =>
  (await Promise.all(headings.map(async (heading) => commandsOf(guide, heading)))).flat().join('\n')

const environment = () => ({
  BASE_URL: service.origin,
  RESOURCE: `${service.baseUrl}/api/v1`,
  OPERATOR_KEY: 'the operator key of the tests',
})

test('a firm is set up from an empty file, and gets a price, as the guide says', () => {
  expect(setUp).toContain('+ acme: API application Acme server')
  expect(setUp).toContain('Applied: 2 things changed.')
  expect(setUp).toMatch(/client_secret \S{43}/)
  expect(setUp).toContain('"premium_pence":400,')
})

test('a web page sells as the guide says', { timeout: 120_000 }, async () => {
  const { body } = await service.send<{ id: string; slug: string }[]>('GET', '/admin/v1/organisations')
  const acme = body.data.find(({ slug }) => slug === 'acme')?.id ?? ''
  const created = await service.send<{ client_id: string; client_secret: string }>(
    'POST',
    `/admin/v1/organisations/${acme}/api_applications`,
    { body: { name: 'Web pages', scopes: ['read', 'write'], allowed_origins: ['https://www.example.com'] } },
  )
  const { client_id, client_secret } = created.body.data
  const script = await commands('docs/web-pages.md', 'The token', 'What the page does')

  const output = await runCommands(script, {
    cwd: folder,
    environment: {
      ...environment(),
      CLIENT_ID: client_id,
      CLIENT_SECRET: client_secret,
      PAGE: 'https://www.example.com',
      KEY: 'a1b2c3d4-0000-4000-8000-000000000001',
    },
  })

  expect(output).toMatch(/^access-control-allow-origin: https:\/\/www\.example\.com/im)
  expect(output).toContain('"risk_factors":{"smoker":false}')
  expect(output.trimEnd()).toMatch(/404$/)
})
