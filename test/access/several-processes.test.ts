import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, expect, test, vi } from 'vitest'
import { emptyDirectory } from '#domain/access/record.ts'
import type { Outage } from '#infra/event-log/outage.ts'
import { makeAuthenticate } from '#infra/http/authenticate.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import type { Scope } from '#infra/http/route.ts'
import { makeTokens } from '#infra/crypto/tokens.ts'
import { wholeService } from '../whole-service.ts'
import { accessApi, resource, type Client } from './access-api.ts'

const api = await accessApi()
afterAll(() => api[Symbol.asyncDispose]())

const server = await api.apiApplication(['read'])

test('200: a token that comes before the events behind it is waited with, for it is this process that is behind', async () => {
  const tokens = makeTokens(deriveKeys(randomBytes(32).toString('base64')), 'https://api.example.com')
  const directory = emptyDirectory()
  const authenticate = makeAuthenticate(directory, tokens, 'https://api.example.com/oauth/token')
  const client = api.directory.applications.get(server.client_id)
  if (!client) throw new Error('The application is missing.')
  const { id: api_application_id, organisation_id } = client
  const grant = { organisation_id, api_application_id, epoch: 1, scopes: new Set<Scope>(['read']), resource }
  const { access_token } = await tokens.issue(grant)
  await tokens.verify(access_token)
  const nextTurn = async () => new Promise((resolve) => setImmediate(resolve))

  const authenticated = authenticate(`Bearer ${access_token}`)
  await nextTurn()
  directory.applications.set(client.id, client)
  await nextTurn()
  directory.applications.set(client.id, { ...client, epoch: 1 })

  expect(await authenticated).toMatchObject({ application: { epoch: 1 } })
})

test('200: what one process has answered counts for tokens at once at all others, however far behind they are', async () => {
  const [rotating, growing] = [await api.apiApplication(['read']), await api.apiApplication(['read'])]
  await using behind = await accessApi({ beside: api, isBehind: true })
  const made = await api.apiApplication(['read'])
  const { client_secret } = await api.operate('POST', `${rotating.path}/rotate_secret`)
  await api.operate('PATCH', growing.path, { scopes: ['read', 'write'] })
  const statusOf = async ({ client_id, client_secret }: Client, scope: string) =>
    (await behind.requestToken({ grant_type: 'client_credentials', client_id, client_secret, scope, resource })).status

  expect(await statusOf(made, 'read')).toBe(200)
  expect(await statusOf({ ...rotating, client_secret: String(client_secret) }, 'read')).toBe(200)
  expect(await statusOf(growing, 'write')).toBe(200)
  expect(await statusOf({ ...made, client_secret: 'guessed' }, 'read')).toBe(401)
  expect(await statusOf(made, 'write')).toBe(400)
})

test('a rotated secret, a removed scope and an inactive organisation act at once in every process', async () => {
  await using other = await accessApi({ beside: api })
  const rotating = await api.apiApplication(['read'])
  const shrinking = await api.apiApplication(['read', 'write'])
  const pausing = await api.apiApplication(['read'])
  const [one, two, three] = await Promise.all(
    [rotating, shrinking, pausing].map(async (client) => api.tokenOf(client, 'read')),
  )
  if (!one || !two || !three) throw new Error('A token is missing.')

  // The other process waits for the events behind a token that it does not know yet.
  for (const token of [one, two, three]) expect((await other.call(token, '/api/v1/read')).status).toBe(200)

  await api.operate('POST', `${rotating.path}/rotate_secret`)
  await api.operate('PATCH', shrinking.path, { scopes: ['read'] })
  await api.operate('POST', `/organisations/${pausing.organisation_id}/deactivate`)

  await vi.waitFor(async () => {
    expect((await other.call(three, '/api/v1/read')).status).toBe(403)
  })
  expect((await other.call(one, '/api/v1/read')).status).toBe(401)
  expect((await other.call(two, '/api/v1/read')).status).toBe(401)
})

test('503: the directory could not be followed for 30 seconds, so no token is given or honoured; the operator goes on', async () => {
  const away = (seconds: number): Outage => ({ since: new Date(Date.now() - seconds * 1_000), reason: 'no quorum' })
  let outage: Outage | undefined
  await using own = await accessApi({ outage: () => outage })
  const client = await own.apiApplication(['read'])
  const token = await own.tokenOf(client, 'read')

  outage = away(29)
  expect((await own.call(token, '/api/v1/read')).status).toBe(200)
  outage = away(31)
  const refused = await own.call(token, '/api/v1/read')
  expect(refused).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } })
  expect(refused.headers.get('retry-after')).toBe('1')
  const form = { grant_type: 'client_credentials', ...client, scope: 'read', resource }
  expect((await own.requestToken(form)).status).toBe(503)
  expect((await own.operate('POST', '/organisations', { slug: 'meanwhile', name: 'A firm' }))['slug']).toBe('meanwhile')

  outage = undefined
  expect((await own.call(token, '/api/v1/read')).status).toBe(200)
})

test('503: an event of an application cannot be taken in, so its organisation is refused and all others go on', async () => {
  await using own = await accessApi({ mayLagMs: 0 })
  const [concerned, other] = [await own.apiApplication(['read']), await own.apiApplication(['read'])]
  const [token, otherToken] = [await own.tokenOf(concerned, 'read'), await own.tokenOf(other, 'read')]
  const { organisation_id, client_id } = concerned

  await own.eventLog.append(`api_application-${client_id}`, 'any', [
    {
      id: randomUUID(),
      type: 'ApiApplicationSecretRotated',
      schema_version: 1,
      data: { secret_hash: 1 },
      metadata: {
        organisation_id,
        actor: { type: 'system', id: null },
        correlation_id: 'test',
        causation_id: null,
        occurred_at: '2026-01-15T12:00:00.000Z',
      },
    },
  ])
  await vi.waitFor(() => expect(own.folds.status()[0]?.setAside).toHaveLength(1), { timeout: 60_000 })

  const refused = await own.call(token, '/api/v1/read')
  expect(refused).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } })
  const form = (client: Client) => ({ grant_type: 'client_credentials', ...client, scope: 'read', resource })
  expect((await own.requestToken(form(concerned))).status).toBe(503)
  expect((await own.requestToken(form(other))).status).toBe(200)
  expect((await own.call(otherToken, '/api/v1/read')).status).toBe(200)
})

test.each([
  ['production', 403],
  ['test', 200],
])(
  'in %s a page of the service’s own address that uses the token of a server is answered %i',
  async (ENVIRONMENT, status) => {
    await using service = await wholeService({ ENVIRONMENT })
    const { token } = await service.client(await service.organisation('own-page'), ['read'])

    const answer = await service.send('GET', '/api/v1/products', { token, headers: { origin: service.origin } })

    expect(answer.status).toBe(status)
  },
)
