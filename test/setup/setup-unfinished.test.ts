import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { makeSecretCheck } from '#infra/crypto/secret-hash.ts'
import { LogUnavailable, type EventLog } from '#infra/event-log/event-log.ts'
import { file } from './builders.ts'
import { setupApi } from './setup-api.ts'

/** The log takes nothing of rate tables, which come after API applications. */
const withoutTables = (log: EventLog): EventLog => ({
  ...log,
  append: async (stream, expected, events) => {
    if (stream.startsWith('rate_table-')) throw new LogUnavailable('The log is away.')
    return log.append(stream, expected, events)
  },
})

const Stored = z.object({ secret_hash: z.string() })

const isInForce = async ({ eventLog }: { readonly eventLog: EventLog }, secret = ''): Promise<boolean> => {
  const created = (await eventLog.readAll()).find(({ type }) => type === 'ApiApplicationCreated')
  return makeSecretCheck()(secret, Stored.parse(created?.data).secret_hash)
}

test('503: a set-up that fails in the middle shows what was applied, with the secrets that were made', async () => {
  await using api = await setupApi({ logOf: withoutTables })

  const { status, body, headers } = await api.apply(file)

  expect(status).toBe(503)
  expect(headers.get('retry-after')).toBe('1')
  const { error, data } = z
    .object({
      error: z.object({ code: z.string(), message: z.string() }),
      data: z.object({
        applied: z.boolean(),
        steps: z.array(z.object({ what: z.string(), secrets: z.record(z.string(), z.string()).optional() })),
      }),
    })
    .parse(body)
  expect(error).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(
      'What comes before “acme: rate table life.level version 1” was applied',
    ) as unknown,
  })
  expect(data.applied).toBe(false)
  expect(data.steps.map(({ what }) => what)).toEqual([
    'organisation acme',
    'API application Server',
    'rate table life.level version 1',
  ])
  expect(await isInForce(api, data.steps[1]?.secrets?.['client_secret'])).toBe(true)
})

test('the command shows the secrets before it applies anything, so that none is lost whatever happens then', async () => {
  await using api = await setupApi({ logOf: withoutTables })
  const folder = await mkdtemp(join(tmpdir(), 'coverstream-unfinished-'))
  await using _folder = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
  await writeFile(join(folder, 'acme.yaml'), file)
  const program = join(import.meta.dirname, '../../cli/setup.ts')
  const options = ['acme.yaml', '--yes', '--base-url', api.origin, '--operator-key', 'any']

  const child = spawn(process.execPath, [program, ...options], { cwd: folder, env: {}, stdio: 'pipe' })
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])

  expect(child.exitCode).toBe(1)
  expect(errors).toContain('was applied, what comes after it was not. Send the file again')
  expect(errors).toContain('Keep the secrets above: what was applied has them.')
  const [, secret] = /acme: API application Server: client_secret (\S+)/.exec(output) ?? []
  expect(await isInForce(api, secret)).toBe(true)
})

test('secrets that the sender has made up are those that are set, and another is made for what has none', async () => {
  await using api = await setupApi()
  const made_secrets = { 'acme: API application Server': { client_secret: 'made up by the sender' } }

  const { body } = await api.apply(`${file}\n---\n${JSON.stringify({ files: {}, made_secrets })}\n`)

  expect(body).toMatchObject({ data: { steps: [{}, { secrets: { client_secret: 'made up by the sender' } }, {}, {}] } })
  expect(await isInForce(api, 'made up by the sender')).toBe(true)
})
