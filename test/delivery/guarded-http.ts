import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Server as TcpServer, Socket } from 'node:net'
import { expect } from 'vitest'
import { makeGuardedHttp, type GuardedHttpOptions } from '#infra/guarded-http.ts'

export const listening = async (server: Server | TcpServer) => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined).resume()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

export const serverThat = (answer: RequestListener) => listening(createServer(answer))

export const client = (options: Partial<GuardedHttpOptions> = {}) => {
  const http = makeGuardedHttp({ allowedHosts: [], allowHttp: true, timeoutMs: 20_000, ...options })
  return {
    ...http,
    post: (url: string, body = '{}') => http.request({ method: 'POST', url, headers: {}, body }),
    [Symbol.asyncDispose]: () => http.close(),
  }
}

export const saying = (part: string) => expect.stringContaining(part) as unknown

/** Allows the test's own servers. */
export const local = { allowedHosts: ['127.0.0.1'] }

export const resolvingTo = (...addresses: readonly string[]) => ({
  lookup: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
})
