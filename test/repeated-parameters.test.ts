import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { route } from '#infra/http/route.ts'
import { serve } from './serve.ts'

const list = route(
  {
    method: 'get',
    address: '/listed',
    summary: 'List.',
    tag: 'Test',
    access: { kind: 'public' },
    query: z.object({ status: z.string().optional(), limit: z.coerce.number().optional() }),
    answers: { 200: z.object({}) },
  },
  async () => ({ status: 200, body: {} }),
)
const service = await serve([list])
afterAll(() => service[Symbol.asyncDispose]())

test.each([
  ['?status=open&status=won', ['status']],
  ['?limit=1&status=&limit=1&status=', ['status', 'limit']],
])('a repeated parameter: 422 invalid_parameter naming it, and saying what is wrong: %s', async (query, names) => {
  const { status, body } = await service.get(`/listed${query}`)

  const fields = Object.fromEntries(names.map((name) => [name, 'must not be sent more than once']))
  expect(status).toBe(422)
  expect(body).toMatchObject({ error: { code: 'invalid_parameter', fields } })
  expect((body as { error: { message: string } }).error.message).toMatch(`Send ${names.join(', ')} once.`)
})

test('several values in one parameter are not a repeat, and a repeat of what is not known is as one of it', async () => {
  expect((await service.get('/listed?status=open,won&other=1&other=2')).status).toBe(200)
})
