import { beforeAll, afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { route, teamRoute, write } from '#infra/http/route.ts'
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

/** Sends a body in both ways: of a known length, which is read here, and in pieces, which Express reads. */
const sentBothWays = async (body: string | Buffer<ArrayBuffer>) => {
  const pieces = new ReadableStream({
    start: (controller) => {
      controller.enqueue(new Uint8Array(typeof body === 'string' ? Buffer.from(body) : body))
      controller.close()
    },
  })
  const response = await fetch(`${api.origin}/api/v1/echo`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: pieces,
    duplex: 'half',
  })
  const inPieces = { status: response.status, body: await response.json() }
  return [await send(body), inPieces]
}

const given = (name: string) => ({ status: 200, body: { data: { name } } })
const refused = { status: 422, body: { error: expect.objectContaining({ code: 'validation_failed' }) as unknown } }

test.each<[string, string | Buffer<ArrayBuffer>, object]>([
  ['of two equal keys the last counts', '{"name":"first","name":"last"}', given('last')],
  ['__proto__ is a key like any', '{"__proto__":{"name":"inherited"},"name":"own"}', given('own')],
  ['__proto__ stands for no other key', '{"__proto__":{"name":"inherited"}}', refused],
  ['half a surrogate pair, escaped', String.raw`{"name":"\ud800"}`, refused],
  ['half a surrogate pair, as bytes', Buffer.from('{"name":"\xed\xa0\x80"}', 'latin1'), refused],
  ['U+0000, escaped', String.raw`{"name":"a\u0000b"}`, refused],
  ['U+0000, as it is', '{"name":"a\0b"}', refused],
  ['nested 10,000 deep', `{"name":"x","more":${deep(10_000)}}`, refused],
  ['opened 10,000 times and never closed', '['.repeat(10_000), refused],
  ['brackets within a text', JSON.stringify({ name: `"${'['.repeat(10_000)}\\` }), given(`"${'['.repeat(10_000)}\\`)],
  ['a number beyond all', '{"name":"x","more":1e400}', given('x')],
  ['a number of 100,000 digits', `{"name":"x","more":${'9'.repeat(100_000)}}`, given('x')],
  ['no JSON number', '{"name":"x","more":NaN}', refused],
  ['a byte order mark before it', '\ufeff{"name":"x"}', given('x')],
  ['two objects', '{"name":"x"}{"name":"y"}', refused],
  ['blanks and nothing else', '  ', refused],
])('a body is answered the same whichever way it is sent: %s', async (_what, body, expected) => {
  expect(await sentBothWays(body)).toEqual([expected, expected])
})

test('where a body is taken as given numbers keep their digits, however it is sent, and elsewhere they are what they are worth', async () => {
  const asGiven = route(
    {
      method: 'post',
      address: '/api/v1/echo',
      tag: 'Test',
      summary: 'Give back what was sent as given',
      access: { kind: 'application', scopes: write, serverOnly: false },
      asGiven: ['own', 'list.own'],
      body: z.object({ own: z.unknown(), list: z.array(z.object({ own: z.unknown(), count: z.int() })) }),
      answers: { 200: z.object({ data: z.unknown(), numbers: z.array(z.string()).readonly() }) },
    },
    async ({ body, numbers }) => ({ status: 200, body: { data: body, numbers: [...numbers] } }),
  )
  await using served = await serve([asGiven])
  const body = '{"own":12345678901234567890,"list":[{"own":{"a":[1.10]},"count":2.0}]}'
  const post = async (sent: string | Blob | ReadableStream, more: object) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${served.origin}/api/v1/echo`, { method: 'POST', headers, body: sent, ...more })
    return { status: response.status, body: await response.json() }
  }
  const data = { own: '12345678901234567890', list: [{ own: { a: ['1.10'] }, count: 2 }] }
  const expected = { status: 200, body: { data, numbers: ['12345678901234567890', '1.10', '2.0'] } }

  expect(await post(body, {})).toEqual(expected)
  expect(await post(new Blob([body]).stream(), { duplex: 'half' })).toEqual(expected)
  expect(await post('{', {})).toMatchObject(refused)
  expect(await post(new Blob(['{']).stream(), { duplex: 'half' })).toMatchObject(refused)
})

test('the body of a public form is as small as any, and that of the operator’s set-up file may be larger', async () => {
  const received = (access: 'public' | 'team') =>
    route(
      {
        method: 'post',
        address: `/${access}`,
        tag: 'Test',
        summary: 'Take a text',
        access: access === 'team' ? teamRoute('operator').access : { kind: access },
        textBody: 'text/plain',
        answers: { 200: z.object({ characters: z.int() }) },
      },
      async ({ text = '' }) => ({ status: 200, body: { characters: text.length } }),
    )
  await using texts = await serve([received('public'), received('team')])
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
  expect(await post('/team', 262_145)).toEqual({ status: 200, body: { characters: 262_145 } })
  expect(await post('/team', 8_388_609)).toMatchObject({
    body: { error: { message: 'The body is larger than 8192 KB. Send less.' } },
  })
})
