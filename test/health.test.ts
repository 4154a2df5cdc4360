import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { withPublicHealth, type Check } from '#infra/http/health.ts'

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
