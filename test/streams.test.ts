import { connect } from 'node:net'
import express, { type Request } from 'express'
import { expect, test, vi } from 'vitest'
import { makeMetrics } from '#infra/metrics.ts'
import { makeLog } from '#infra/log.ts'
import { problems } from '#infra/http/problem.ts'
import type { Admitted, StreamedEvent } from '#infra/http/route.ts'
import { makeStreams } from '#infra/http/streams.ts'
import { serveApp } from './serve.ts'
import { openStream } from './work/event-stream.ts'

const log = makeLog('silent', 'test')
const access = { kind: 'team', roles: ['leads'], showsPersonalData: false } as const

/** An API whose every request opens a stream, of the key that it names. */
const serving = async (
  given: { readonly most?: number; readonly beatMs?: number } = {},
  isAdmitted: (request: Request) => Promise<unknown> = async () => true,
) => {
  const metrics = makeMetrics()
  const told = new Set<(event: StreamedEvent) => void>()
  let admits: (requests: readonly Request[]) => Promise<readonly Request[]> = async (requests) => requests
  const streams = makeStreams({
    log,
    metrics,
    checkMs: 20,
    ...given,
    stillAdmitted: async (asked) =>
      new Map((await admits(asked.map(({ request }) => request))).map((request) => [request, {}])),
  })
  const app = express()
    .use(async (request, response) => {
      await isAdmitted(request)
      const admitted: Admitted = { operator: request.get('x-key') ?? '' }
      streams.serve({ request, response, access, admitted }, (tell) => {
        told.add(tell)
        return () => told.delete(tell)
      })
    })
    .use(problems(log))
  const api = await serveApp(app)
  return {
    ...api,
    streams,
    told,
    tell: (data: unknown) => told.forEach((tell) => tell({ id: '1', data })),
    admit: (which: typeof admits) => {
      admits = which
    },
    open: async () => (await metrics.openStreams.get()).values[0]?.value ?? 0,
  }
}

test('a client that does not read is ended, and what it was told is not kept for it', async () => {
  await using api = await serving()
  const socket = connect(Number(new URL(api.origin).port), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await vi.waitUntil(() => api.told.size === 1)

  let sent = 0
  while (api.told.size > 0 && sent < 100) {
    api.tell('x'.repeat(2 ** 20))
    sent++
    await new Promise(setImmediate)
  }

  expect(api.told.size).toBe(0)
  expect(await api.open()).toBe(0)
  socket.destroy()
})

test('whoever has left before they are admitted has no stream, and takes no room', async () => {
  let waiting = 0
  const left = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  await using api = await serving({}, async (request) => {
    waiting++
    request.socket.once('close', () => left.resolve())
    await left.promise
    await new Promise(setImmediate)
    over.resolve()
  })
  const socket = connect(Number(new URL(api.origin).port), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await vi.waitUntil(() => waiting === 1)
  socket.destroy()
  await over.promise
  await new Promise(setImmediate)

  expect(api.told.size).toBe(0)
  expect(await api.open()).toBe(0)
})

test('503 a process has so many, and the answer says when to come again', async () => {
  await using api = await serving({ most: 2 })
  using first = await openStream(api.origin, { 'x-key': 'one' })
  using second = await openStream(api.origin, { 'x-key': 'two' })
  const third = await openStream(api.origin, { 'x-key': 'three' })

  expect([first.status, second.status, third.status]).toEqual([200, 200, 503])
  expect(third.headers['retry-after']).toBe('15')
  expect(await third.body()).toEqual({ error: { code: 'unavailable', message: expect.any(String) as string } })
})

test('a stream on which nothing is told still shows that it is there', async () => {
  await using api = await serving({ beatMs: 20 })
  const socket = connect(Number(new URL(api.origin).port), '127.0.0.1')
  socket.setEncoding('utf8').write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  let came = ''
  socket.on('data', (part: string) => {
    came += part
  })

  await vi.waitUntil(() => came.split('\n:\n\n').length > 2)
  expect(came).not.toContain('data:')
  socket.destroy()
})

test('whoever is no longer admitted is told nothing more, and the others are', async () => {
  await using api = await serving()
  const [gone, stays] = [
    await openStream(api.origin, { 'x-key': 'gone' }),
    await openStream(api.origin, { 'x-key': 'stays' }),
  ]

  api.admit(async (requests) => requests.filter((request) => request.get('x-key') !== 'gone'))

  expect(await gone.rest()).toEqual([])
  api.tell('still here')
  expect((await stays.next())?.data).toBe('still here')
  stays.close()
})

test('where it cannot be read who is admitted, nobody is told more', async () => {
  await using api = await serving()
  const stream = await openStream(api.origin, {})

  api.admit(async () => {
    throw new Error('The database is away.')
  })

  expect(await stream.rest()).toEqual([])
})

test('a process that stops ends its streams, and begins none', async () => {
  await using api = await serving()
  const stream = await openStream(api.origin, {})

  api.streams.end()

  expect(await stream.rest()).toEqual([])
  const late = await openStream(api.origin, {})
  expect([late.status, late.headers['retry-after']]).toEqual([503, '1'])
  late.close()
})
