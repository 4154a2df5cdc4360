import express from 'express'
import { DatabaseError } from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { fromStored } from '#domain/event.ts'
import { UnreadableEvent } from '#infra/crypto/erased.ts'
import { Problem, problems } from '#infra/http/problem.ts'
import { shownError } from '#infra/reason.ts'
import { serveApp } from './serve.ts'

test('503 unavailable: a record with an event that cannot be read; the log names its stream, the answer does not', async () => {
  const lines: string[] = []
  const log = pino({ serializers: { error: shownError } }, { write: (line: string) => lines.push(line) })
  const app = express().get('/record', () => {
    throw new UnreadableEvent('CustomerUpdated 1 in customer-1 cannot be read: its data key 2 is missing')
  })
  await using api = await serveApp(app.use(problems(log)))

  const { status, headers, body } = await api.get('/record')

  const message = 'This record cannot be read at the moment. Send the request again later.'
  expect([status, headers.get('retry-after'), body]).toEqual([503, '60', { error: { code: 'unavailable', message } }])
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: 50, msg: 'request failed', error: { message: expect.stringContaining('in customer-1') as string } },
  ])
})

test('503 unavailable: what our own code refuses for a moment is no fault, and says when to send it again', async () => {
  const lines: string[] = []
  const app = express().get('/record', () => {
    throw new Problem('unavailable', 'This is not read yet. Send the request again.')
  })
  await using api = await serveApp(app.use(problems(pino({}, { write: (line: string) => lines.push(line) }))))

  const { status, headers } = await api.get('/record')

  expect([status, headers.get('retry-after')]).toEqual([503, '1'])
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: 30, msg: 'request refused for a moment', reason: 'This is not read yet. Send the request again.' },
  ])
})

test('503 unavailable: a record with an event that a newer version of the service has stored', async () => {
  const app = express().get('/record', () => {
    fromStored({}, { type: 'Added', schema_version: 1, data: {} })
  })
  await using api = await serveApp(app.use(problems(pino({ level: 'silent' }))))

  const { status, headers, body } = await api.get('/record')

  expect([status, headers.get('retry-after')]).toEqual([503, '60'])
  expect(body).toMatchObject({ error: { code: 'unavailable' } })
})

test.each([
  ['table', '42P01'],
  ['column', '42703'],
])(
  '503 unavailable: a %s of a read model that projections of the newer version have still to make',
  async (_, code) => {
    const app = express().get('/record', () => {
      throw Object.assign(new DatabaseError('It does not exist.', 0, 'error'), { code })
    })
    await using api = await serveApp(app.use(problems(pino({ level: 'silent' }))))

    const { status, headers, body } = await api.get('/record')

    expect([status, headers.get('retry-after')]).toEqual([503, '60'])
    expect(body).toMatchObject({ error: { code: 'unavailable' } })
  },
)
