import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'
import { buffer } from 'node:stream/consumers'

/**
 * A reverse proxy as they are used in production: it keeps its connections to the servers open, asks each in turn, and asks
 * the next one when a server takes no connection. A request that was sent is not sent again: it may have been carried out.
 * A connection that lies idle it gives up before a server that stops does.
 */
export const startPoolingProxy = async (portsOf: (incoming: IncomingMessage) => readonly number[], idleMs = 1_000) => {
  const agent = new Agent({ keepAlive: true, scheduling: 'fifo', timeout: idleMs })
  const broken: string[] = []
  const underWay = new Map<number, number>()
  const count = (port: number, by: number) => underWay.set(port, (underWay.get(port) ?? 0) + by)
  let requests = 0

  const pass = (incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer, ports: readonly number[]): void => {
    const [port, ...others] = ports
    const { method, url: path, headers } = incoming
    if (port === undefined) {
      broken.push('no server takes a connection')
      return void outgoing.writeHead(502).end()
    }
    count(port, 1)
    const passed = request({ host: '127.0.0.1', port, agent, method, path, headers }, (answer) => {
      // A caller that has gone meanwhile waits for nothing.
      if (outgoing.destroyed) {
        count(port, -1)
        return void answer.destroy()
      }
      const { connection: _own, ...passedOn } = answer.headers
      outgoing.writeHead(answer.statusCode ?? 502, { ...passedOn, 'x-answered-by': String(port) })
      pipeline(answer, outgoing, (error) => {
        count(port, -1)
        if (error) broken.push(`${error.code} in the middle of an answer`)
      })
    })
    passed.on('error', (error: NodeJS.ErrnoException) => {
      count(port, -1)
      if (error.code === 'ECONNREFUSED') return pass(incoming, outgoing, body, others)
      broken.push(`${error.code} ${error.message}`)
      outgoing.writeHead(502).end()
    })
    passed.end(body)
  }

  // Callers end their idle connections themselves: one that the proxy ends may be about to carry the next request.
  const proxy = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    void buffer(incoming).then((body) => {
      const ports = portsOf(incoming)
      const first = requests++ % ports.length
      pass(incoming, outgoing, body, [...ports.slice(first), ...ports.slice(0, first)])
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    origin: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, // a TCP server that listens has such an address
    /** What became of requests that were not answered. */
    broken,
    /** How many requests are with a server. */
    underWay: (port: number): number => underWay.get(port) ?? 0,
    [Symbol.asyncDispose]: async () => {
      proxy.closeAllConnections()
      proxy.close()
      agent.destroy()
    },
  }
}
