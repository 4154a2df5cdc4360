import { afterAll, describe, expect, test, vi } from 'vitest'
import { ApiApplicationId, OrganisationId } from '#domain/values.ts'
import type { Scope } from '#infra/http/route.ts'
import { accessApi, errorOf, resource } from './access-api.ts'

const api = await accessApi()
afterAll(() => api[Symbol.asyncDispose]())

const page = 'https://www.example.com'
const server = await api.apiApplication(['read', 'write', 'crm', 'outcomes'])
const browser = await api.apiApplication(['read', 'write'], [page, 'http://localhost:3000'])

const serverToken = await api.tokenOf(server, 'read write crm outcomes')
const browserToken = await api.tokenOf(browser)
const tokenFor = async (scope: string) => api.tokenOf(server, scope)

/** A refusal in the envelope of the API, which says something of use. */
const refusal = (status: number, code: string, hint: RegExp) => ({
  status,
  body: { error: { code, message: expect.stringMatching(hint) as unknown } },
})

describe('access tokens', () => {
  test('200: every API request sends Authorization: Bearer', async () => {
    const { status, body } = await api.call(serverToken, '/api/v1/read')

    expect(status).toBe(200)
    expect(body).toEqual({
      data: {
        organisation_id: server.organisation_id,
        api_application_id: server.client_id,
        kind: 'server',
        scopes: ['read', 'write', 'crm', 'outcomes'],
      },
    })
  })

  test('200: the word Bearer may be written in any case', async () => {
    expect((await api.get('/api/v1/read', { authorization: `bearer ${serverToken}` })).status).toBe(200)
  })

  test('401: no token sent', async () => {
    const answer = await api.get('/api/v1/read')

    expect(answer).toMatchObject(refusal(401, 'invalid_token', /No access token was sent.*oauth\/token/))
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="Coverstream API"')
  })

  const [header = '', payload = '', signature = ''] = serverToken.split('.')
  const following = (character: string) => String.fromCharCode(character.charCodeAt(0) + 1)
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
  test.each([
    ['a word', 'hello'],
    ['cut short', serverToken.slice(0, -4)],
    ['without its signature', `${header}.${payload}.`],
    ['unsigned', `${encoded({ alg: 'none', typ: 'at+jwt' })}.${payload}.`],
    [
      'signed with a secret that everybody knows',
      `${encoded({ alg: 'HS256', typ: 'at+jwt' })}.${payload}.${signature}`,
    ],
    ['with other claims', `${header}.${encoded({ ...claims, scope: 'read write crm outcomes admin' })}.${signature}`],
    [
      'with other bits at its end that say nothing',
      `${serverToken.slice(0, -1)}${following(serverToken.at(-1) ?? '')}`,
    ],
    ['with more after it', `${serverToken} x`],
    ['as long as a book', 'x'.repeat(8000)],
  ])('401: token not issued by the service, or cut short: %s', async (_what, token) => {
    const answer = await api.call(token, '/api/v1/read')

    expect(answer).toMatchObject(refusal(401, 'invalid_token', /not issued by this service, or was cut short/))
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer .*error="invalid_token"/)
  })

  test('401: another scheme than Bearer', async () => {
    const answer = await api.get('/api/v1/read', { authorization: `Basic ${serverToken}` })
    expect(answer).toMatchObject(refusal(401, 'invalid_token', /not issued/))
  })

  test('401: a token of an application that never was', async () => {
    const { access_token } = await api.tokens.issue({
      organisation_id: OrganisationId.parse(server.organisation_id),
      api_application_id: ApiApplicationId.parse('7b0c1f4e-9d7d-4f0e-8f43-0c2d0b0f6a11'),
      epoch: 0,
      scopes: new Set<Scope>(['read']),
      resource,
    })
    expect(await api.call(access_token, '/api/v1/read')).toMatchObject(refusal(401, 'invalid_token', /not issued/))
  })

  test('401: a token lasts two hours', async () => {
    await using later = await accessApi()
    const token = await later.tokenOf(await later.apiApplication(['read']), 'read')

    later.advance(7198)
    expect((await later.call(token, '/api/v1/read')).status).toBe(200)
    later.advance(3)
    expect(await later.call(token, '/api/v1/read')).toMatchObject(refusal(401, 'invalid_token', /has expired/))
  })

  test('401: a token that nobody used before it expired', async () => {
    await using later = await accessApi()
    const token = await later.tokenOf(await later.apiApplication(['read']), 'read')

    later.advance(7201)
    expect(await later.call(token, '/api/v1/read')).toMatchObject(refusal(401, 'invalid_token', /has expired/))
  })

  test('401: rotating the secret immediately invalidates every token issued with it', async () => {
    const { path, ...client } = await api.apiApplication(['read'])
    const tokens = [await api.tokenOf(client, 'read'), await api.tokenOf(client, 'read')]
    expect((await api.call(tokens[0] ?? '', '/api/v1/read')).status).toBe(200)

    const { client_secret } = await api.operate('POST', `${path}/rotate_secret`)

    for (const token of tokens)
      expect(await api.call(token, '/api/v1/read')).toMatchObject(refusal(401, 'invalid_token', /revoked.*rotated/))
    const renewed = await api.tokenOf({ ...client, client_secret: String(client_secret) }, 'read')
    expect((await api.call(renewed, '/api/v1/read')).status).toBe(200)
  })

  test('with an overlap the former secret and its tokens go on, until its end', async () => {
    const { path, ...client } = await api.apiApplication(['read'])
    const token = await api.tokenOf(client, 'read')
    const rotated = await api.operate('POST', `${path}/rotate_secret`, { overlap_seconds: 86_400 })
    const renewed = { ...client, client_secret: String(rotated['client_secret']) }

    expect(rotated['former_secret_ends_at']).toMatch(/^20/)
    const tokens = [token, await api.tokenOf(client, 'read'), await api.tokenOf(renewed, 'read')]
    for (const each of tokens) expect((await api.call(each, '/api/v1/read')).status).toBe(200)

    // Rotated once more: the secret before the former one ends, and with no overlap the former one, too.
    const last = await api.operate('POST', `${path}/rotate_secret`)
    expect(last['former_secret_ends_at']).toBeNull()
    for (const each of tokens) expect((await api.call(each, '/api/v1/read')).status).toBe(401)
  })

  test('401: after the overlap the former secret gives no token, and those that it gave are revoked', async () => {
    const { path, ...client } = await api.apiApplication(['read'])
    const token = await api.tokenOf(client, 'read')
    const rotated = await api.operate('POST', `${path}/rotate_secret`, { overlap_seconds: 1 })
    const renewed = await api.tokenOf({ ...client, client_secret: String(rotated['client_secret']) }, 'read')

    await vi.waitUntil(async () => (await api.call(token, '/api/v1/read')).status === 401, { timeout: 60_000 })

    const form = { grant_type: 'client_credentials', scope: 'read', resource }
    const { client_id, client_secret } = client
    expect(await api.requestToken({ ...form, client_id, client_secret })).toMatchObject({ status: 401 })
    expect((await api.call(renewed, '/api/v1/read')).status).toBe(200)
    expect((await api.operate('GET', path))['former_secret_ends_at']).toBeNull()
  })

  test('422: an overlap of more than thirty days', async () => {
    const { path } = await api.apiApplication(['read'])
    await expect(api.operate('POST', `${path}/rotate_secret`, { overlap_seconds: 2_592_001 })).rejects.toThrow(
      'overlap_seconds',
    )
  })

  test('401: a removed scope revokes the tokens, a scope given does not', async () => {
    const { path, ...client } = await api.apiApplication(['read', 'write'])
    const token = await api.tokenOf(client, 'read')

    await api.operate('PATCH', path, { scopes: ['read', 'write', 'crm'], name: 'Renamed' })
    expect((await api.call(token, '/api/v1/read')).status).toBe(200)
    await api.operate('PATCH', path, { scopes: ['read', 'crm'] })
    expect(await api.call(token, '/api/v1/read')).toMatchObject(refusal(401, 'invalid_token', /scope was removed/))
  })

  test('401: its application deleted', async () => {
    const { path, ...client } = await api.apiApplication(['read'])
    const token = await api.tokenOf(client, 'read')
    await api.operate('DELETE', path)

    expect(await api.call(token, '/api/v1/read')).toMatchObject(refusal(401, 'invalid_token', /was deleted/))
  })

  test('401: no token is used any more once the rotation of its secret was answered', async () => {
    const { path, ...client } = await api.apiApplication(['read'])
    const token = await api.tokenOf(client, 'read')
    let answered = false
    const use = async () => {
      const usedAfter = answered
      const { status } = await api.call(token, '/api/v1/read')
      return { status, usedAfter }
    }
    const rotation = api.operate('POST', `${path}/rotate_secret`).then(() => {
      answered = true
    })

    const uses = []
    while (uses.filter(({ usedAfter }) => usedAfter).length < 20)
      uses.push(...(await Promise.all(Array.from({ length: 8 }, use))))
    await rotation

    expect(uses.some(({ status }) => status === 200)).toBe(true)
    expect(new Set(uses.filter(({ usedAfter }) => usedAfter).map(({ status }) => status))).toEqual(new Set([401]))
  })
})

describe('scopes', () => {
  const calls = [
    ['read', 'GET /api/v1/read', 200],
    ['write', 'GET /api/v1/read', 200],
    ['crm', 'GET /api/v1/read', /lacks the scope read, or write/],
    ['write', 'POST /api/v1/write', 200],
    ['read', 'POST /api/v1/write', /lacks the scope write\./],
    ['read crm', 'GET /api/v1/crm', 200],
    ['write crm', 'GET /api/v1/crm', 200],
    ['read', 'GET /api/v1/crm', /lacks the scope crm\./],
    ['crm', 'GET /api/v1/crm', /lacks the scope read, or write/],
    ['outcomes', 'GET /api/v1/crm', /lacks the scope read and crm, or write and crm/],
    ['write outcomes', 'GET /api/v1/outcomes', 200],
    ['write crm', 'GET /api/v1/outcomes', /lacks the scope outcomes\./],
  ] as const

  test.each(calls)('a token with %s at %s: %s', async (scope, call, expected) => {
    const [method = '', path = ''] = call.split(' ')
    const answer = await api.call(await tokenFor(scope), path, { method })

    if (expected === 200) expect(answer.status).toBe(200)
    else {
      expect(answer).toMatchObject(refusal(403, 'forbidden', expected))
      expect(answer.headers.get('www-authenticate')).toMatch(/error="insufficient_scope", scope="[a-z ]+"/)
    }
  })
})

describe('where each kind of application may be used', () => {
  test('403: a server-only application’s token used from a browser: the request has an Origin header', async () => {
    for (const origin of [page, 'https://elsewhere.example.com', 'null', ''])
      expect(await api.call(serverToken, '/api/v1/read', { origin })).toMatchObject(
        refusal(403, 'forbidden', /server-only application’s token cannot be used from a browser/),
      )
  })

  test.each([page, 'http://localhost:3000', 'HTTPS://WWW.EXAMPLE.COM', `${page}:443`])(
    '200: a browser application’s token from the allowed origin %s',
    async (origin) => {
      const { status, body } = await api.call(browserToken, '/api/v1/read', { origin })

      expect(status).toBe(200)
      expect(body).toMatchObject({ data: { kind: 'browser', scopes: ['read', 'write'] } })
    },
  )

  test.each([
    ['another scheme', 'http://www.example.com'],
    ['without www.', 'https://example.com'],
    ['another port', 'https://www.example.com:8443'],
    ['a subdomain', 'https://shop.www.example.com'],
    ['a longer host', 'https://www.example.com.evil.example'],
    ['a path', `${page}/`],
    ['a user', 'https://www.example.com@evil.example'],
    ['null', 'null'],
    ['empty', ''],
    ['two', `${page}, ${page}`],
  ])('403: a browser application’s token from an origin that is not allowed: %s', async (_what, origin) => {
    const answer = await api.call(browserToken, '/api/v1/read', { origin })
    expect(answer).toMatchObject(refusal(403, 'forbidden', /origin of this page is not among the allowed origins/))
  })

  test('403: a browser application’s token used without an Origin header', async () => {
    const answer = await api.call(browserToken, '/api/v1/read')
    expect(answer).toMatchObject(refusal(403, 'forbidden', /no Origin header/))
  })

  test('403: a browser application’s token on an endpoint for servers only', async () => {
    const answer = await api.call(browserToken, '/api/v1/crm', { origin: page })
    expect(answer).toMatchObject(refusal(403, 'forbidden', /for server-only applications/))
  })

  test('403: a token not valid for this resource', async () => {
    const { access_token } = await api.tokens.issue({
      organisation_id: OrganisationId.parse(server.organisation_id),
      api_application_id: ApiApplicationId.parse(server.client_id),
      epoch: 0,
      scopes: new Set<Scope>(['read']),
      resource: 'https://api.example.com',
    })
    const answer = await api.call(access_token, '/api/v1/read')
    expect(answer).toMatchObject(refusal(403, 'forbidden', /not valid for this resource/))
  })

  test('403: organisation account not active, at once, until it is activated', async () => {
    const client = await api.apiApplication(['read'])
    const token = await api.tokenOf(client, 'read')
    await api.operate('POST', `/organisations/${client.organisation_id}/deactivate`)

    expect(await api.call(token, '/api/v1/read')).toMatchObject(refusal(403, 'forbidden', /account is not active/))
    await api.operate('POST', `/organisations/${client.organisation_id}/activate`)
    expect((await api.call(token, '/api/v1/read')).status).toBe(200)
  })

  test('403: a removed origin is refused at once', async () => {
    const { path, ...client } = await api.apiApplication(['read'], [page, 'https://old.example.com'])
    const token = await api.tokenOf(client, 'read')
    const origin = 'https://old.example.com'
    expect((await api.call(token, '/api/v1/read', { origin })).status).toBe(200)

    await api.operate('PATCH', path, { allowed_origins: [page] })

    expect((await api.call(token, '/api/v1/read', { origin })).status).toBe(403)
  })

  test('each 403 has a message of its own', async () => {
    const inactive = await api.apiApplication(['read'])
    const inactiveToken = await api.tokenOf(inactive, 'read')
    await api.operate('POST', `/organisations/${inactive.organisation_id}/deactivate`)
    const answers = [
      await api.call(serverToken, '/api/v1/read', { origin: page }),
      await api.call(browserToken, '/api/v1/read', { origin: 'https://example.com' }),
      await api.call(browserToken, '/api/v1/read'),
      await api.call(browserToken, '/api/v1/crm', { origin: page }),
      await api.call(await tokenFor('read'), '/api/v1/crm'),
      await api.call(await tokenFor('read'), '/api/v1/write', { method: 'POST' }),
      await api.call(await tokenFor('crm'), '/api/v1/read'),
      await api.call(await tokenFor('write'), '/api/v1/outcomes'),
      await api.call(inactiveToken, '/api/v1/read'),
    ]

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]))
    expect(new Set(answers.map((answer) => errorOf(answer).message)).size).toBe(answers.length)
  })
})

describe('the order of checks', () => {
  test('a bad token comes before a bad origin', async () => {
    expect((await api.call('x', '/api/v1/read', { origin: 'https://elsewhere.example.com' })).status).toBe(401)
  })

  test('organisation and origin come before server-only, and that before the scope', async () => {
    const readOnly = await api.apiApplication(['read'], [page])
    const token = await api.tokenOf(readOnly, 'read')

    expect(errorOf(await api.call(token, '/api/v1/outcomes')).message).toMatch(/no Origin header/)
    expect(errorOf(await api.call(token, '/api/v1/outcomes', { origin: page })).message).toMatch(/server-only/)
    await api.operate('POST', `/organisations/${readOnly.organisation_id}/deactivate`)
    expect(errorOf(await api.call(token, '/api/v1/outcomes')).message).toMatch(/not active/)
  })

  test('404: an unknown path needs no token', async () => {
    expect(await api.get('/api/v1/nothing')).toMatchObject(refusal(404, 'not_found', /nothing at this address/))
  })
})
