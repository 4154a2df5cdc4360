import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { route } from '#infra/http/route.ts'
import { serve } from './serve.ts'

const shown = route(
  {
    method: 'get',
    address: '/quotes/:name',
    summary: 'Show.',
    tag: 'Test',
    access: { kind: 'public' },
    path: z.object({ name: z.string() }),
    answers: { 200: z.object({ name: z.string() }) },
  },
  async ({ path }) => ({ status: 200, body: { name: path.name } }),
)
const service = await serve([shown])
afterAll(() => service[Symbol.asyncDispose]())

test.each([
  ['/quotes/7', '7'],
  ['/quotes/7/', '7'],
  ['/quotes/a%2Fb%20c', 'a/b c'],
])('%s is answered for %s', async (path, name) => {
  expect(await service.get(path)).toMatchObject({ status: 200, body: { name } })
})

test('HEAD is answered as GET is, without a body', async () => {
  const [asked, given] = [await service.send('HEAD', '/quotes/7'), await service.get('/quotes/7')]

  expect([asked.status, asked.body]).toEqual([200, undefined])
  expect(asked.headers.get('content-length')).toBe(given.headers.get('content-length'))
})

test.each([
  ['GET', '/quotes/7//'],
  ['GET', '/Quotes/7'],
  ['GET', '/quotes'],
  ['POST', '/quotes/7'],
  ['OPTIONS', '/quotes/7'],
])('404 not_found: %s %s, where there is no route', async (method, path) => {
  const { status, body, headers } = await service.send(method, path)

  expect([status, headers.get('allow')]).toEqual([404, null])
  expect(body).toMatchObject({ error: { code: 'not_found' } })
})

test('404 not_found: what cannot be decoded, saying so', async () => {
  const { status, body } = await service.get('/quotes/%E0%A4%A')

  expect(status).toBe(404)
  expect(body).toMatchObject({ error: { code: 'not_found', message: expect.stringContaining('encoding') as string } })
})
