import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { route } from '#infra/http/route.ts'
import { serve } from './serve.ts'

const served: string[] = []
const api = await serve([
  route(
    {
      method: 'get',
      address: '/ping',
      summary: 'Answer.',
      tag: 'Lookups',
      access: { kind: 'public' },
      answers: { 200: z.object({}) },
    },
    async ({ request_id }) => {
      served.push(request_id)
      return { status: 200, body: {} }
    },
  ),
])
afterAll(() => api[Symbol.asyncDispose]())

const uuid = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/

test.each(['3d5e1f2a-7b6c-4d8e-9f00-112233445566', '4bf92f3577b34da6a3ce929d0e0e4736'])(
  'a request id that is a UUID or 32 hexadecimal digits is kept: %s',
  async (id) => {
    const { headers } = await api.get('/ping', { 'X-Request-Id': id })

    expect(served.at(-1)).toBe(id)
    expect(headers.get('x-request-id')).toBe(id)
  },
)

test.each(['Grace.Okafor.1992-03-10', '447700900123'])(
  'a request id that may name a person is answered, but another one is kept: %s',
  async (id) => {
    const { headers } = await api.get('/ping', { 'X-Request-Id': id })

    expect(served.at(-1)).toMatch(uuid)
    expect(headers.get('x-request-id')).toBe(id)
  },
)
