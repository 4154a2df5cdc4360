import { once } from 'node:events'
import { Agent, get, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, test, vi } from 'vitest'
import { listen } from '#infra/http/listen.ts'
import { startPoolingProxy } from './pooling-proxy.ts'

const end = (socket: Socket) =>
  new Promise<true>((resolve) => {
    socket.on('error', () => undefined).once('close', () => resolve(true))
    socket.resume()
  })

test('a server closes as soon as the requests under way are answered, though their connections are kept alive', async () => {
  const { promise: received, resolve: receive } = Promise.withResolvers<ServerResponse>()
  const server = await listen((_request, response) => receive(response), '127.0.0.1', 0)
  const agent = new Agent({ keepAlive: true })
  const answered = once(get({ port: server.port, agent }), 'response')
  const response = await received

  let isClosed = false
  const closed = server.close().then(() => (isClosed = true))
  expect(isClosed).toBe(false)
  response.end('finished')

  await answered
  await closed
  agent.destroy()
})

test('connections without a request do not keep a server from closing', async () => {
  const server = await listen((_request, response) => response.end(), '127.0.0.1', 0)
  const silent = connect(server.port, '127.0.0.1')
  const halfAsked = connect(server.port, '127.0.0.1')
  // So that the server knows of both before it closes.
  await Promise.all([once(silent, 'connect'), once(halfAsked, 'connect')])
  halfAsked.write('GET / HTTP/1.1\r\nHost: local')
  await (await fetch(`http://127.0.0.1:${server.port}`)).text()
  const ended = Promise.all([silent, halfAsked].map(end))

  await server.close()

  await expect(ended).resolves.toBeDefined()
})

test('a request whose body never ends does not keep a server from closing', async () => {
  const { promise: received, resolve: receive } = Promise.withResolvers<void>()
  const server = await listen((request) => void request.once('data', () => receive()), '127.0.0.1', 0, 'PORT', {
    finishMs: 100,
  })
  const endless = connect(server.port, '127.0.0.1')
  endless.write('POST / HTTP/1.1\r\nHost: local\r\nContent-Length: 10\r\n\r\nsome')
  await received
  const ended = end(endless)

  await server.close()

  await expect(ended).resolves.toBeDefined()
})

test('servers that are replaced twelve times under load break no request of a proxy that keeps its connections open', async () => {
  const start = () =>
    listen((_request, response) => void setImmediate(() => response.end('answered')), '127.0.0.1', 0, 'PORT', {
      idleMs: 300,
    })
  const servers = [await start(), await start()]
  await using proxy = await startPoolingProxy(() => servers.map(({ port }) => port), 150)
  const ending = new AbortController()
  const statuses = new Map<number, number>()
  const ask = async () => {
    while (!ending.signal.aborted) {
      const answer = await fetch(proxy.origin, { method: 'POST', body: 'something' })
      await answer.text()
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    }
  }
  const asking = Promise.all(Array.from({ length: 16 }, ask))

  for (let stop = 0; stop < 12; stop++) {
    const [oldest] = servers
    servers.push(await start())
    const before = statuses.get(200) ?? 0
    await vi.waitFor(() => expect(statuses.get(200)).toBeGreaterThan(before + 100), { timeout: 60_000 })
    await oldest?.close()
    servers.shift()
  }
  ending.abort()
  await asking

  expect(proxy.broken).toEqual([])
  expect([...statuses.keys()]).toEqual([200])
  await Promise.all(servers.map(async ({ close }) => close()))
})
