import { once } from 'node:events'
import { Agent, get, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { listen } from '#infra/http/listen.ts'

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
  const server = await listen((request) => void request.once('data', () => receive()), '127.0.0.1', 0, 'PORT', 100)
  const endless = connect(server.port, '127.0.0.1')
  endless.write('POST / HTTP/1.1\r\nHost: local\r\nContent-Length: 10\r\n\r\nsome')
  await received
  const ended = end(endless)

  await server.close()

  await expect(ended).resolves.toBeDefined()
})
