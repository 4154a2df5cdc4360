import { afterAll, describe, expect, test } from 'vitest'
import { clientCredentialsOf } from '../../command-api/access/client-credentials.ts'
import { makeSecretCheck, TooManyChecks } from '#infra/crypto/secret-hash.ts'
import { accessApi, resource } from './access-api.ts'

const api = await accessApi()
afterAll(() => api[Symbol.asyncDispose]())

const client = await api.apiApplication(['read', 'write', 'crm'])
const page = 'https://www.example.com'
const browser = await api.apiApplication(['read', 'write'], [page])

const { client_id, client_secret } = client
const form = { grant_type: 'client_credentials', client_id, client_secret, scope: 'read write', resource }

const without = (...names: (keyof typeof form)[]) =>
  Object.fromEntries(Object.entries(form).filter(([name]) => !names.some((each) => each === name)))

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
})

describe('200: a token is obtained with OAuth 2.0 client credentials', () => {
  test('200: access_token, token_type Bearer, expires_in 7200, scope, created_at in seconds since 1970', async () => {
    const before = Math.floor(Date.now() / 1000)
    const { status, body, headers } = await api.requestToken(form)

    expect(status).toBe(200)
    expect(body).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) as unknown,
      token_type: 'Bearer',
      expires_in: 7200,
      scope: 'read write',
      created_at: expect.any(Number) as unknown,
    })
    expect(body['created_at']).toBeGreaterThanOrEqual(before)
    expect(body['created_at']).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000))
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-request-id')).toBeTruthy()
  })

  test('200: the token is a signed JWT of the profile for access tokens', async () => {
    const { body } = await api.requestToken(form)
    const [header, payload] = String(body['access_token'])
      .split('.', 2)
      .map((part): unknown => JSON.parse(Buffer.from(part, 'base64url').toString()))

    expect(header).toMatchObject({ typ: 'at+jwt', alg: 'EdDSA' })
    expect(payload).toMatchObject({
      iss: 'https://api.example.com',
      sub: client_id,
      client_id,
      aud: resource,
      scope: 'read write',
      iat: body['created_at'],
      exp: Number(body['created_at']) + 7200,
    })
  })

  test.each([
    ['read', 'read'],
    ['write read', 'write read'],
    ['read read crm read', 'read crm'],
  ])('200: scope is a space-separated subset of the application’s scopes: %s', async (asked, granted) => {
    const { status, body } = await api.requestToken({ ...form, scope: asked })

    expect(status).toBe(200)
    expect(body['scope']).toBe(granted)
  })

  test('200: the client authenticates with HTTP Basic', async () => {
    const { status } = await api.requestToken(without('client_id', 'client_secret'), basic(client_id, client_secret))
    expect(status).toBe(200)
  })

  test('200: the form may repeat the client_id of HTTP Basic', async () => {
    const { status } = await api.requestToken(without('client_secret'), basic(client_id, client_secret))
    expect(status).toBe(200)
  })

  test('200: HTTP Basic credentials are percent-decoded', async () => {
    const encoded = client_id.replaceAll(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`)
    const authorization = `basic ${Buffer.from(`${encoded}:${client_secret}`).toString('base64')}`
    const { status } = await api.requestToken(without('client_id', 'client_secret'), { authorization })
    expect(status).toBe(200)
  })

  test('HTTP Basic credentials may hold a colon, a space and a plus sign, each encoded as in a form', () => {
    const authorization = `Basic ${Buffer.from('a%3Ab:c+d%2Be:f').toString('base64')}`
    const credentials = clientCredentialsOf(authorization, new URLSearchParams())
    expect(credentials).toEqual({ client_id: 'a:b', client_secret: 'c d+e:f' })
  })

  test('200: the content type may name its charset, and unknown parameters are ignored', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }
    expect((await api.requestToken({ ...form, audience: 'elsewhere' }, headers)).status).toBe(200)
  })

  test('200: applications of an inactive organisation get tokens', async () => {
    const inactive = await api.apiApplication(['read'])
    await api.operate('POST', `/organisations/${inactive.organisation_id}/deactivate`)

    const { status } = await api.requestToken({
      ...form,
      client_id: inactive.client_id,
      client_secret: inactive.client_secret,
      scope: 'read',
    })
    expect(status).toBe(200)
  })
})

/** An error in the form of the token endpoint, which says something of use. */
const refusal = (status: number, error: string, hint: RegExp) => ({
  status,
  body: { error, error_description: expect.stringMatching(hint) as unknown },
})

describe('401 invalid_client', () => {
  const wrong = /unknown or was deleted, or its secret is wrong or was rotated/

  test('401: unknown client', async () => {
    const client_id = '7b0c1f4e-9d7d-4f0e-8f43-0c2d0b0f6a11'
    expect(await api.requestToken({ ...form, client_id })).toMatchObject(refusal(401, 'invalid_client', wrong))
  })

  test('401: wrong secret', async () => {
    expect(await api.requestToken({ ...form, client_secret: `${client_secret}x` })).toMatchObject(
      refusal(401, 'invalid_client', wrong),
    )
  })

  test('401: another client’s secret', async () => {
    const { client_secret } = browser
    expect(await api.requestToken({ ...form, client_secret })).toMatchObject(refusal(401, 'invalid_client', wrong))
  })

  test('401: rotated secret, at once; the new one is good', async () => {
    const rotating = await api.apiApplication(['read'])
    const its = { ...form, scope: 'read', client_id: rotating.client_id }
    expect((await api.requestToken({ ...its, client_secret: rotating.client_secret })).status).toBe(200)
    const { client_secret } = await api.operate('POST', `${rotating.path}/rotate_secret`)

    const answer = await api.requestToken({ ...its, client_secret: rotating.client_secret })
    expect(answer).toMatchObject(refusal(401, 'invalid_client', wrong))
    expect((await api.requestToken({ ...its, client_secret: String(client_secret) })).status).toBe(200)
  })

  test('401: deleted application, at once', async () => {
    const { client_id, client_secret, path } = await api.apiApplication(['read'])
    const its = { ...form, scope: 'read', client_id, client_secret }
    expect((await api.requestToken(its)).status).toBe(200)
    await api.operate('DELETE', path)

    expect(await api.requestToken(its)).toMatchObject(refusal(401, 'invalid_client', wrong))
  })

  test.each([
    ['nothing at all', ''],
    ['no client_secret', without('client_secret')],
    ['no client_id', without('client_id')],
    ['an empty client_secret', { ...form, client_secret: '' }],
  ])('401: no client authentication: %s', async (_what, sent) => {
    expect(await api.requestToken(sent)).toMatchObject(refusal(401, 'invalid_client', /No client authentication/))
  })

  test.each(['application/json', 'text/plain', 'multipart/form-data'])(
    '401: client credentials are checked first, and a body of content type %s holds none',
    async (type) => {
      const headers = { 'content-type': type }
      const hint = /No client authentication: .*x-www-form-urlencoded/
      expect(await api.requestToken('', headers)).toMatchObject(refusal(401, 'invalid_client', hint))
      const answer = await api.requestToken(JSON.stringify(form), headers)
      expect(answer).toMatchObject(refusal(401, 'invalid_client', hint))
      expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm=/)

      const unproven = { ...headers, ...basic(client_id, 'wrong') }
      expect(await api.requestToken(JSON.stringify(form), unproven)).toMatchObject(
        refusal(401, 'invalid_client', wrong),
      )
    },
  )

  test('401: credentials in the URL are none, since parameters are sent as a form', async () => {
    const response = await fetch(`${api.origin}/oauth/token?${new URLSearchParams(form).toString()}`, {
      method: 'POST',
    })

    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ error: 'invalid_client' })
  })

  const encoded = (text: string) => Buffer.from(text).toString('base64')
  test.each([
    ['another scheme', 'Bearer abc'],
    ['not base64', 'Basic ***'],
    ['nothing after the scheme', 'Basic '],
    ['no colon', `Basic ${encoded(client_id)}`],
    ['no secret', `Basic ${encoded(`${client_id}:`)}`],
    ['no client_id', `Basic ${encoded(`:${client_secret}`)}`],
    ['a broken percent-encoding', `Basic ${encoded(`${client_id}:%zz`)}`],
    ['percent-encoded bytes that are no UTF-8', `Basic ${encoded(`${client_id}:%ff`)}`],
  ])('401: malformed HTTP Basic: %s', async (_what, authorization) => {
    const answer = await api.requestToken(without('client_id', 'client_secret'), { authorization })
    expect(answer).toMatchObject(refusal(401, 'invalid_client', /not HTTP Basic/))
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm=/)
  })

  test('401: wrong HTTP Basic credentials, with WWW-Authenticate', async () => {
    const answer = await api.requestToken(without('client_id', 'client_secret'), basic(client_id, 'wrong'))
    expect(answer).toMatchObject(refusal(401, 'invalid_client', wrong))
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm=/)
  })

  test('401: bad credentials come before anything else that is wrong', async () => {
    const bad = { ...form, client_secret: 'wrong', grant_type: 'password', resource: 'x', scope: 'x' }
    expect(await api.requestToken(bad)).toMatchObject(refusal(401, 'invalid_client', wrong))
    expect(await api.requestToken(`${String(new URLSearchParams(bad))}&scope=y`)).toMatchObject(
      refusal(401, 'invalid_client', wrong),
    )
  })
})

describe('400 invalid_target: resource is not exactly {base_url}/api/v1', () => {
  test.each([
    ['a slash at the end', `${resource}/`],
    ['another path', 'https://api.example.com/api/v2'],
    ['another host', 'https://api.example.org/api/v1'],
    ['upper case', resource.toUpperCase()],
    ['relative', '/api/v1'],
    ['a fragment', `${resource}#top`],
    ['a query', `${resource}?x=1`],
    ['a space before it', ` ${resource}`],
    ['an explicit port', 'https://api.example.com:443/api/v1'],
    ['empty', ''],
  ])('400: %s', async (_what, sent) => {
    const answer = await api.requestToken({ ...form, resource: sent })
    expect(answer).toMatchObject(refusal(400, 'invalid_target', /exactly so and once/))
    expect(answer.body['error_description']).toContain(`resource=${resource}`)
  })

  test('400: a missing resource', async () => {
    expect(await api.requestToken(without('resource'))).toMatchObject(refusal(400, 'invalid_target', /resource=https/))
  })

  test.each([resource, 'https://other.example.com'])('400: two resources, the second %s', async (second) => {
    const sent = new URLSearchParams([...Object.entries(form), ['resource', second]])
    expect(await api.requestToken(sent.toString())).toMatchObject(refusal(400, 'invalid_target', /once/))
  })

  test('400: a bad resource comes before a bad scope', async () => {
    expect(await api.requestToken({ ...form, resource: 'x', scope: 'x' })).toMatchObject(
      refusal(400, 'invalid_target', /resource/),
    )
  })
})

describe('400 invalid_scope: scope unknown, malformed, or not held by the application', () => {
  test.each([
    ['unknown', 'read admin', /no scope admin/],
    ['unknown in another case', 'READ', /no scope READ/],
    ['two spaces', 'read  write', /one space/],
    ['a space before', ' read', /one space/],
    ['a comma', 'read,write', /no scope read,write/],
    ['a quotation mark', '"read"', /one space/],
    ['a line break', 'read\nwrite', /one space/],
    ['not held', 'read outcomes', /does not hold outcomes/],
    ['empty', '', /Send scope/],
  ])('400: %s', async (_what, scope, hint) => {
    expect(await api.requestToken({ ...form, scope })).toMatchObject(refusal(400, 'invalid_scope', hint))
  })

  test('400: an omitted scope', async () => {
    expect(await api.requestToken(without('scope'))).toMatchObject(
      refusal(400, 'invalid_scope', /one or more of read write crm/),
    )
  })

  test('400: crm on a browser application', async () => {
    const { client_id, client_secret } = browser
    const answer = await api.requestToken({ ...form, client_id, client_secret, scope: 'read crm' })
    expect(answer).toMatchObject(refusal(400, 'invalid_scope', /browser application cannot have the scope crm/))
  })
})

describe('400 invalid_request', () => {
  test.each([
    ['missing', without('grant_type')],
    ['empty', { ...form, grant_type: '' }],
  ])('400: %s required parameter grant_type', async (_what, sent) => {
    expect(await api.requestToken(sent)).toMatchObject(refusal(400, 'invalid_request', /grant_type=client_credentials/))
  })

  test('400: a missing grant_type comes before a bad resource', async () => {
    expect(await api.requestToken({ ...without('grant_type'), resource: 'x' })).toMatchObject(
      refusal(400, 'invalid_request', /grant_type/),
    )
  })

  test.each(['grant_type', 'client_id', 'client_secret', 'scope'] as const)('400: %s sent twice', async (name) => {
    const sent = new URLSearchParams([...Object.entries(form), [name, form[name]]])
    expect(await api.requestToken(sent.toString())).toMatchObject(
      refusal(400, 'invalid_request', new RegExp(`${name} once`)),
    )
  })

  test('400: an unknown parameter sent twice', async () => {
    const sent = new URLSearchParams([...Object.entries(form), ['__proto__', 'a'], ['__proto__', 'b']])
    expect(await api.requestToken(sent.toString())).toMatchObject(refusal(400, 'invalid_request', /once/))
  })

  test('400: client credentials by HTTP Basic and in the form at once', async () => {
    const answer = await api.requestToken(form, basic(client_id, client_secret))
    expect(answer).toMatchObject(refusal(400, 'invalid_request', /not both/))
  })

  test('400: another client_id in the form than in HTTP Basic', async () => {
    const sent = { ...without('client_secret'), client_id: browser.client_id }
    expect(await api.requestToken(sent, basic(client_id, client_secret))).toMatchObject(
      refusal(400, 'invalid_request', /another/),
    )
  })

  test.each(['application/json', 'text/plain', 'multipart/form-data'])(
    '400: content type %s of a client that HTTP Basic proves',
    async (type) => {
      const headers = { 'content-type': type, ...basic(client_id, client_secret) }
      const answer = await api.requestToken(JSON.stringify(form), headers)
      expect(answer).toMatchObject(refusal(400, 'invalid_request', /x-www-form-urlencoded/))
    },
  )

  test('400: a form that is too large', async () => {
    expect(await api.requestToken({ ...form, x: 'x'.repeat(20_000) })).toMatchObject(
      refusal(400, 'invalid_request', /16kb/),
    )
  })

  test('400: a charset that nobody knows', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=klingon' }
    expect(await api.requestToken(form, headers)).toMatchObject(refusal(400, 'invalid_request', /UTF-8/))
  })
})

describe('400 unsupported_grant_type: grant other than client_credentials', () => {
  test.each(['password', 'authorization_code', 'refresh_token', 'CLIENT_CREDENTIALS'])(
    '400: %s',
    async (grant_type) => {
      const answer = await api.requestToken({ ...form, grant_type, resource: 'x', scope: 'x' })
      expect(answer).toMatchObject(refusal(400, 'unsupported_grant_type', /client_credentials/))
    },
  )
})

test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('404: %s of the token endpoint', async (method) => {
  const { status } = await fetch(`${api.origin}/oauth/token`, { method })
  expect(status).toBe(404)
})

test.each(['/oauth/token/', '/OAuth/Token', '/oauth'])('404: the token endpoint is not at %s', async (path) => {
  expect((await api.post(path)).status).toBe(404)
})

test('401: a token that was asked for before the secret was rotated, and is issued after it, is revoked', async () => {
  const checking = Promise.withResolvers<void>()
  const rotated = Promise.withResolvers<void>()
  const checkSecret = async () => {
    checking.resolve()
    await rotated.promise
    return true
  }
  await using slow = await accessApi({ checkSecret })
  const { path, ...client } = await slow.apiApplication(['read'])

  const asked = slow.tokenOf(client, 'read')
  await checking.promise
  await slow.operate('POST', `${path}/rotate_secret`)
  rotated.resolve()

  expect((await slow.call(await asked, '/api/v1/read')).status).toBe(401)
})

test('503 temporarily_unavailable with Retry-After: too many secrets wait to be checked', async () => {
  let isBusy = true
  const check = makeSecretCheck()
  const checkSecret = async (secret: string, stored: string) => {
    if (isBusy) throw new TooManyChecks('200 secrets wait to be checked.')
    return check(secret, stored)
  }
  await using busy = await accessApi({ checkSecret })
  const { client_id: id, client_secret: secret } = await busy.apiApplication(['read'])
  const asked = { ...form, client_id: id, client_secret: secret, scope: 'read' }

  const refused = await busy.requestToken(asked)
  isBusy = false

  expect(refused).toMatchObject({ status: 503, body: { error: 'temporarily_unavailable' } })
  expect(refused.headers.get('retry-after')).toBe('5')
  expect((await busy.requestToken(asked)).status).toBe(200)
})

test('401 invalid_client: an unknown client is told from others by nothing, also while very many ask', async () => {
  const check = makeSecretCheck({ atOnce: 1, waiting: 200, waitingForOneHash: 2 })
  await using busy = await accessApi({ checkSecret: check })
  const ask = async () =>
    busy.requestToken({ ...form, client_id: crypto.randomUUID(), client_secret: 'wrong', scope: 'read' })
  const answers = await Promise.all(Array.from({ length: 20 }, ask))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
})

test('401 takes the same work whether there is such a client, was one, or has a rotated secret', async () => {
  const checks: string[] = []
  const checkSecret = async (_secret: string, stored: string) => {
    checks.push(stored)
    return false
  }
  await using counting = await accessApi({ checkSecret })
  const [known, rotated, deleted] = await Promise.all([1, 2, 3].map(async () => counting.apiApplication(['read'])))
  await counting.operate('POST', `${rotated?.path}/rotate_secret`, { overlap_seconds: 3_600 })
  await counting.operate('DELETE', deleted?.path ?? '')
  const workOf = async (client_id = '') => {
    const from = checks.length
    const { status } = await counting.requestToken({ ...form, client_id, client_secret: 'wrong', scope: 'read' })
    return [status, checks.slice(from).map((hash) => hash.replaceAll(/[^$,=]/g, 'x'))]
  }

  const ids = [known?.client_id, rotated?.client_id, deleted?.client_id, crypto.randomUUID(), 'no id']
  const work = []
  for (const id of ids) work.push(await workOf(id))

  const hash = expect.stringMatching(/^\$x{6}\$/) as unknown
  expect(work).toEqual(ids.map(() => [401, [hash, hash]]))
  await workOf('no id')
  expect(checks.slice(-2)).toEqual(checks.slice(-4, -2))
})

test('401: a secret followed by U+0000, in the form and in HTTP Basic', async () => {
  const { client_id, client_secret } = await api.apiApplication(['read'])
  const asked = { ...without('client_id', 'client_secret'), scope: 'read' }

  const inForm = await api.requestToken({ ...asked, client_id, client_secret: `${client_secret}\0` })
  const inHeader = await api.requestToken(asked, basic(client_id, `${client_secret}\0`))

  expect([inForm.status, inHeader.status]).toEqual([401, 401])
})

test('a refusal has error and error_description and nothing more, and is not stored', async () => {
  const { body, headers } = await api.requestToken({ ...form, scope: '' })

  expect(Object.keys(body)).toEqual(['error', 'error_description'])
  expect(headers.get('cache-control')).toBe('no-store')
})
