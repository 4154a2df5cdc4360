import { notFound } from '#domain/rejection.ts'
import { connect } from 'node:net'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { route } from '#infra/http/route.ts'
import { makeLog } from '#infra/log.ts'
import { serve, serverCaller } from './serve.ts'

test('the log line of a request names the organisation, the API application and the error code', async () => {
  const written = vi.fn<(fields: object, message: string) => void>()
  const log = Object.assign(makeLog('silent', 'test'), { info: written })
  const caller = serverCaller()
  const missing = route(
    {
      method: 'get',
      address: '/missing',
      summary: 'Find nothing.',
      tag: 'Lookups',
      access: { kind: 'application', scopes: [['read']], serverOnly: false },
      answers: { 200: z.object({}) },
    },
    async () => {
      throw notFound('thing')
    },
  )
  await using api = await serve([missing], caller, { log })

  await api.get('/missing')

  const { organisation_id, api_application_id } = caller
  const line = { address: '/missing', status: 404, organisation_id, api_application_id, error_code: 'not_found' }
  await vi.waitUntil(() => written.mock.calls.length > 0)
  expect(written).toHaveBeenCalledWith(expect.objectContaining(line), 'request answered')
})

test('the log line of a request of the operator names the key', async () => {
  const written = vi.fn<(fields: object, message: string) => void>()
  const log = Object.assign(makeLog('silent', 'test'), { info: written })
  const nothing = route(
    {
      method: 'get',
      address: '/nothing',
      summary: 'Answer nothing.',
      tag: 'Operator',
      access: { kind: 'team', roles: ['operator'], showsPersonalData: false },
      answers: { 200: z.object({}) },
    },
    async () => ({ status: 200, body: {} }),
  )
  await using api = await serve([nothing], serverCaller(), { log })

  await api.get('/nothing')

  await vi.waitUntil(() => written.mock.calls.length > 0)
  const line = { address: '/nothing', status: 200, operator: 'tester' }
  expect(written).toHaveBeenCalledWith(expect.objectContaining(line), 'request answered')
})

test('a caller that goes away before the answer is logged as gone, and as no fault of ours', async () => {
  const written = vi.fn<(fields: object, message: string) => void>()
  const faults = vi.fn<(fields: object, message: string) => void>()
  const log = Object.assign(makeLog('silent', 'test'), { info: written, error: faults })
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: never } = Promise.withResolvers<never>()
  const slow = route(
    {
      method: 'get',
      address: '/slow',
      summary: 'Take long.',
      tag: 'Operator',
      access: { kind: 'team', roles: ['operator'], showsPersonalData: false },
      answers: { 200: z.object({}) },
    },
    () => {
      ask()
      return never
    },
  )
  const upload = route(
    {
      method: 'post',
      address: '/upload',
      summary: 'Take a file.',
      tag: 'Operator',
      access: { kind: 'team', roles: ['operator'], showsPersonalData: false },
      textBody: 'application/yaml',
      answers: { 200: z.object({}) },
    },
    async () => ({ status: 200, body: {} }),
  )
  await using api = await serve([slow, upload], serverCaller(), { log })
  const { hostname, port } = new URL(api.origin)
  const half = connect(Number(port), hostname)
  half.write('POST /upload HTTP/1.1\r\nHost: local\r\nContent-Type: application/yaml\r\nContent-Length: 10\r\n\r\nsome')
  const gone = connect(Number(port), hostname)
  gone.write('GET /slow HTTP/1.1\r\nHost: local\r\n\r\n')
  await asked

  half.destroy()
  gone.destroy()

  await vi.waitUntil(() => written.mock.calls.length === 2, { timeout: 60_000 })
  for (const address of ['/slow', '/upload'])
    expect(written).toHaveBeenCalledWith(
      expect.objectContaining({ address, status: 499 }),
      'caller gone before the answer',
    )
  expect(faults).not.toHaveBeenCalled()
})
