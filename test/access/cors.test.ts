import { afterAll, expect, test } from 'vitest'
import { accessApi } from './access-api.ts'

const page = 'https://www.example.com'

const api = await accessApi()
afterAll(() => api[Symbol.asyncDispose]())
const browser = await api.apiApplication(['read', 'write'], [page])
const token = await api.tokenOf(browser)

const preflight = async (path: string, origin: string, method = 'POST') =>
  api.send('OPTIONS', path, undefined, {
    origin,
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization,content-type,x-share-token',
  })

/** The names of a header's list, in lower case. */
const listed = (headers: Headers, name: string) =>
  (headers.get(name) ?? '').split(',').map((each) => each.trim().toLowerCase())

test.each([page, 'HTTPS://www.Example.com:443'])(
  '204: a preflight is answered without a token for an origin that some browser application allows: %s',
  async (origin) => {
    const { status, headers, body } = await preflight('/api/v1/write', origin)

    expect(status).toBe(204)
    expect(body).toBeUndefined()
    expect(headers.get('access-control-allow-origin')).toBe(origin)
    expect(listed(headers, 'access-control-allow-methods')).toEqual(
      expect.arrayContaining(['get', 'post', 'patch', 'put']),
    )
    expect(listed(headers, 'access-control-allow-headers')).toEqual(
      expect.arrayContaining(['authorization', 'content-type', 'idempotency-key', 'x-share-token', 'x-request-id']),
    )
    expect(Number(headers.get('access-control-max-age'))).toBeGreaterThan(0)
    expect(listed(headers, 'vary')).toContain('origin')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  },
)

test.each([
  ['of another origin', '/api/v1/write', 'https://elsewhere.example.com'],
  ['of the origin null', '/api/v1/write', 'null'],
  ['of the token endpoint', '/oauth/token', page],
  ['of the operator’s routes', '/admin/v1/organisations', page],
])('404: a preflight %s gets no CORS headers', async (_what, path, origin) => {
  const { status, headers } = await preflight(path, origin)

  expect(status).toBe(404)
  expect(headers.get('access-control-allow-origin')).toBeNull()
  expect(headers.get('access-control-allow-methods')).toBeNull()
})

test('404: OPTIONS that is no preflight is a method that no path has', async () => {
  expect((await api.send('OPTIONS', '/api/v1/read', undefined, { origin: page })).status).toBe(404)
  expect((await api.send('OPTIONS', '/api/v1/read')).status).toBe(404)
})

test('answers can be read by the page that asked: Access-Control-Allow-Origin, Vary: Origin, exposed headers', async () => {
  const { status, headers } = await api.call(token, '/api/v1/read', { origin: page })

  expect(status).toBe(200)
  expect(headers.get('access-control-allow-origin')).toBe(page)
  expect(listed(headers, 'vary')).toContain('origin')
  expect(listed(headers, 'access-control-expose-headers')).toEqual(
    expect.arrayContaining(['x-ratelimit-reset', 'idempotent-replay', 'location', 'x-request-id']),
  )
})

test.each([
  [401, 'x', '/api/v1/read'],
  [403, token, '/api/v1/crm'],
  [404, token, '/api/v1/nothing'],
])('Access-Control-Allow-Origin stands on errors too: %s', async (expected, sent, path) => {
  const { status, headers } = await api.call(sent, path, { origin: page })

  expect(status).toBe(expected)
  expect(headers.get('access-control-allow-origin')).toBe(page)
})

test('an answer to a page that no browser application allows can be read by nobody there', async () => {
  const { status, headers } = await api.call(token, '/api/v1/read', { origin: 'https://elsewhere.example.com' })

  expect(status).toBe(403)
  expect(headers.get('access-control-allow-origin')).toBeNull()
  expect(listed(headers, 'vary')).toContain('origin')
})

test('an answer differs by origin, which a cache must know also when there was none', async () => {
  const { headers } = await api.get('/api/v1/read')
  expect(listed(headers, 'vary')).toContain('origin')
})

test('an origin is allowed from the moment that a browser application allows it, to the moment that none does', async () => {
  const origin = 'https://new.example.com'
  const isAllowed = async () => (await preflight('/api/v1/read', origin)).status === 204

  expect(await isAllowed()).toBe(false)
  const { path } = await api.apiApplication(['read'], [origin])
  expect(await isAllowed()).toBe(true)
  await api.operate('DELETE', path)
  expect(await isAllowed()).toBe(false)
})
