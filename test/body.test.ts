import { beforeAll, afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { route, write } from '#infra/http/route.ts'
import { serve } from './serve.ts'

const echo = route(
  {
    method: 'post',
    address: '/api/v1/echo',
    tag: 'Test',
    summary: 'Give back what was sent',
    access: { kind: 'application', scopes: write, serverOnly: false },
    body: z.object({ name: z.string() }),
    answers: { 200: z.object({ data: z.object({ name: z.string() }) }) },
  },
  async ({ body }) => ({ status: 200, body: { data: body } }),
)

let api: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  api = await serve([echo])
})
afterAll(() => api[Symbol.asyncDispose]())

const send = async (body: string | Buffer<ArrayBuffer>, type = 'application/json') => {
  const response = await fetch(`${api.origin}/api/v1/echo`, { method: 'POST', headers: { 'content-type': type }, body })
  return { status: response.status, body: await response.json() }
}

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

test('200: the body is one JSON object in UTF-8', async () => {
  expect(await send('{"name":"Zoë 👩"}')).toEqual({ status: 200, body: { data: { name: 'Zoë 👩' } } })
  expect(await send(`{"name":"x","more":${deep(60)}}`, 'application/json; charset=utf-8')).toMatchObject({
    status: 200,
  })
})

test.each<[string, string | Buffer<ArrayBuffer>, string?]>([
  ['malformed', '{'],
  ['no object', '[]'],
  ['no object', 'null'],
  ['of another content type', '{"name":"x"}', 'text/plain'],
  ['in another charset', Buffer.from('{"name":"x"}', 'utf16le'), 'application/json; charset=utf-16le'],
  ['not UTF-8 throughout', Buffer.from('{"name":"Zo\xeb"}', 'latin1')],
  ['nested too deep', `{"name":"x","more":${deep(65)}}`],
  [
    'nested too deep, in a charset whose bytes look otherwise',
    Buffer.from(`{"name":"\u2200","more":${deep(65)}}`, 'utf16le'),
    'application/json; charset=utf-16le',
  ],
  ['larger than 256 KB', JSON.stringify({ name: 'x'.repeat(262_144) })],
])('422 validation_failed: a body that is %s', async (_what, body, type) => {
  expect(await send(body, type)).toMatchObject({ status: 422, body: { error: { code: 'validation_failed' } } })
})

test('the body of a public form is as small as any, and that of the operator’s set-up file may be larger', async () => {
  const received = (access: 'public' | 'operator') =>
    route(
      {
        method: 'post',
        address: `/${access}`,
        tag: 'Test',
        summary: 'Take a text',
        access: { kind: access },
        textBody: 'text/plain',
        answers: { 200: z.object({ characters: z.int() }) },
      },
      async ({ text = '' }) => ({ status: 200, body: { characters: text.length } }),
    )
  await using texts = await serve([received('public'), received('operator')])
  const post = async (path: string, characters: number) => {
    const headers = { 'content-type': 'text/plain' }
    const response = await fetch(texts.origin + path, { method: 'POST', headers, body: 'x'.repeat(characters) })
    return { status: response.status, body: await response.json() }
  }

  expect(await post('/public', 262_144)).toEqual({ status: 200, body: { characters: 262_144 } })
  expect(await post('/public', 262_145)).toMatchObject({
    status: 422,
    body: { error: { message: 'The body is larger than 256 KB. Send less.' } },
  })
  expect(await post('/operator', 262_145)).toEqual({ status: 200, body: { characters: 262_145 } })
  expect(await post('/operator', 8_388_609)).toMatchObject({
    body: { error: { message: 'The body is larger than 8192 KB. Send less.' } },
  })
})
