import { gunzipSync } from 'node:zlib'
import { request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { randomBytes } from 'node:crypto'
import express from 'express'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '#infra/clock.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { httpApp } from '#infra/http/http.ts'
import { makeSubjectCheck } from '#infra/http/subject.ts'
import { makeLog } from '#infra/log.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { answered } from '../../command-api/public-page.ts'
import { prepared } from '../../query-api/documentation/prepared.ts'
import { documentationRoutes } from '../../query-api/documentation/routes.ts'
import { serveApp } from '../serve.ts'

let counted = 0
let api: Awaited<ReturnType<typeof serveApp>>
beforeAll(async () => {
  const app = httpApp([], {
    log: makeLog('silent', 'test'),
    metrics: makeMetrics(),
    admission: {
      cors: () => false,
      limitRate: async () => {
        counted++
      },
      admit: async () => ({}),
    },
    subjectCheck: makeSubjectCheck({ keys: deriveKeys(randomBytes(32).toString('base64')) }),
    recordAccess: async () => undefined,
    clock: systemClock,
    trustedProxies: 0,
    checkAnswers: false,
    pages: [await documentationRoutes('http://localhost:4000')],
  })
  api = await serveApp(app)
})
afterAll(() => api[Symbol.asyncDispose]())

const explorer = '/api/v1/explorer'
/** What the page names as its own. */
const partsOf = (page: string) => [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path)

test('documents, the page of the explorer and all that it loads count as requests', async () => {
  const page = await (await fetch(api.origin + explorer)).text()
  const paths = ['/api/v1/openapi.json', explorer, ...partsOf(page)]
  const before = counted

  const answers = await Promise.all(paths.map(async (path) => fetch(api.origin + path)))

  expect(paths).toHaveLength(6)
  expect(counted - before).toBe(6)
  expect(answers.slice(1).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
})

test.each([
  'index.html',
  'oauth2-redirect.html',
  'swagger-ui.js',
  'swagger-ui-bundle.js.map',
  'package.json',
  'README.md',
])('what the page does not load is not served: %s', async (name) => {
  expect((await fetch(`${api.origin}${explorer}/${name}`)).status).toBe(404)
})

test('no page can be shown within another', async () => {
  const page = await fetch(api.origin + explorer)

  expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(answered('Title', '').headers['Content-Security-Policy']).toContain("frame-ancestors 'none'")
})

/** An answer as it came, not decompressed. */
const asItCame = async (origin: string, headers: Readonly<Record<string, string>>) => {
  const [response] = (await once(request(origin, { headers }).end(), 'response')) as [IncomingMessage]
  const chunks = await Array.fromAsync(response as AsyncIterable<Buffer>)
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }
}

test('a document is sent compressed to those who take that, and not again to those who have it', async () => {
  const text = JSON.stringify({ openapi: '3.1.0', paths: 'x'.repeat(10_000) })
  const handler = prepared(Buffer.from(text), 'application/json; charset=utf-8', {})
  await using served = await serveApp(express().disable('etag').get('/', handler))

  const plain = await asItCame(served.origin, {})
  const compressed = await asItCame(served.origin, { 'accept-encoding': 'gzip, br' })
  const again = await asItCame(served.origin, { 'if-none-match': String(plain.headers.etag) })
  const other = await asItCame(served.origin, { 'if-none-match': '"another"' })

  expect([plain.status, plain.body.toString()]).toEqual([200, text])
  expect(gunzipSync(compressed.body).toString()).toBe(text)
  expect(compressed.body.length).toBeLessThan(1_000)
  expect(compressed.headers).toMatchObject({
    'content-encoding': 'gzip',
    'content-type': 'application/json; charset=utf-8',
    etag: plain.headers.etag,
  })
  expect(compressed.headers.vary).toContain('Accept-Encoding')
  expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, plain.headers.etag])
  expect(other.status).toBe(200)
})
