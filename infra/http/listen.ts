import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { BadConfiguration } from '../config.ts'

export type Listening = {
  readonly port: number
  /** From now on every answer ends its connection: callers that keep connections open send what follows elsewhere. */
  readonly drain: () => void
  readonly close: () => Promise<void>
}

type Closing = {
  /** How long requests under way may take; by default less than half of what a process has to stop. */
  readonly finishMs?: number
  /** For how long a connection on which nothing is asked is left open, for a request that is on its way. */
  readonly idleMs?: number
}

const lookForIdleMs = 50
const usualFinishMs = 4_000
/** A pool of connections that is in use asks on each of them within that time. */
export const idleUnderLoadMs = 2_000

/**
 * Serves until closed. Closing takes no new connection, which its caller can make elsewhere; what comes on those that there
 * are is answered, with the word that the connection ends. One that was closed instead would break a request on its way.
 */
export const listen = async (
  serveRequest: RequestListener,
  host: string,
  port: number,
  variable: 'PORT' | 'HEALTH_PORT' = 'PORT',
  { finishMs = usualFinishMs, idleMs = 0 }: Closing = {},
): Promise<Listening> => {
  const server = createServer({ keepAliveTimeout: 65_000 })
  const drain = drainOf(server)
  const unused = unusedConnections(server)
  server.on('request', serveRequest)
  server.listen(port, host)
  await once(server, 'listening').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
      throw new BadConfiguration(`${variable}: ${port} on ${host} is in use by another program; choose another`)
    if (error instanceof Error && 'code' in error && /^(ENOTFOUND|EADDRNOTAVAIL|EAI_AGAIN)$/.test(String(error.code)))
      throw new BadConfiguration(`HOST: ${host} is no address of this machine; use 127.0.0.1, ::1 or 0.0.0.0`)
    throw error
  })
  return {
    port: (server.address() as AddressInfo).port, // a TCP server that listens has such an address
    drain: () => void drain(),
    close: async () => {
      const closed = once(server, 'close')
      const drainedAt = drain()
      // Connections that were made already are taken first: whoever made one may have sent a request.
      await setImmediate()
      // Of node:http, this would close the idle connections at once.
      NetServer.prototype.close.call(server)
      const endIdle = () => {
        if (performance.now() - drainedAt < idleMs) return
        for (const socket of unused) if (idleMs === 0 || socket.bytesRead === 0) socket.destroy()
        // A connection whose request ends now would be kept open for the next one; a request need never end.
        server.closeIdleConnections()
      }
      endIdle()
      const idle = setInterval(endIdle, lookForIdleMs)
      const late = setTimeout(() => server.closeAllConnections(), finishMs)
      await closed
      clearInterval(idle)
      clearTimeout(late)
      // Ends what else a server does.
      server.close()
    },
  }
}

/** Has every answer from now on say that its connection ends, those under way included; since when that is so. */
const drainOf = (server: Server): (() => number) => {
  const underWay = new Set<ServerResponse>()
  let drainedAt: number | undefined
  server.on('request', (_request, response: ServerResponse) => {
    if (drainedAt !== undefined) response.shouldKeepAlive = false
    underWay.add(response)
    response.once('close', () => underWay.delete(response))
  })
  return () => {
    for (const response of underWay) response.shouldKeepAlive = false
    return (drainedAt ??= performance.now())
  }
}

/** The connections on which no request has come yet, such as browsers open ahead. To the server they are never idle. */
const unusedConnections = (server: Server): ReadonlySet<Socket> => {
  const unused = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', ({ socket }) => unused.delete(socket))
  return unused
}
