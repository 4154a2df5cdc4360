import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import type { ConsumerStatus } from '#infra/consumers/consumer.ts'
import { withPublicHealth, type Check } from '#infra/http/health.ts'
import { checkConsumer } from '#infra/role-parts.ts'

test('however many ask at once whether a process is ready, its checks are made once', async () => {
  const { promise: answered, resolve } = Promise.withResolvers<readonly Check[]>()
  let checked = 0
  const checks = () => {
    checked++
    return answered
  }
  const server = createServer(withPublicHealth(checks, (_request, response) => response.end()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A TCP server that listens has such an address.
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/health/ready`
  let received = 0
  server.on('request', () => {
    if (++received === 20) resolve([{ name: 'database', ok: true, detail: 'of nobody’s concern' }])
  })

  const answers = await Promise.all(Array.from({ length: 20 }, async () => (await fetch(address)).json()))

  expect(answers).toEqual(answers.map(() => ({ status: 'ready' })))
  expect(checked).toBe(1)
  expect(await (await fetch(address)).json()).toEqual({ status: 'ready' })
  expect(checked).toBe(2)
  server.close()
})

test('a consumer that has stopped, or waits, makes its process not ready; one on standby, or that set records aside, does not', () => {
  const since = new Date('2026-03-01T10:00:00Z')
  const problem = { since, reason: 'the log is away' }
  const shown = (status: Partial<ConsumerStatus>) =>
    checkConsumer({ status: () => ({ name: 'quotes', position: undefined, state: 'live', setAside: 0, ...status }) })

  expect(shown({})).toEqual({ name: 'consumer quotes', ok: true, detail: 'live' })
  expect(shown({ state: 'failed', failure: new Error('no luck') })).toMatchObject({ ok: false, detail: 'no luck' })
  expect(shown({ problem })).toMatchObject({ ok: false, detail: `waits since ${since.toISOString()}: the log is away` })
  expect(shown({ state: 'standing by', problem })).toMatchObject({ ok: true, detail: 'standing by' })
  expect(shown({ setAside: 2 })).toMatchObject({ ok: true, detail: 'live, records set aside: 2' })
})
