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
  /** The time that requests under way may take; by default less than half of what a process has to stop. */
  readonly finishMs?: number
  /** The time for which a connection on which nothing is asked is left open, for a request that is on its way. */
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
  const { drain, turns } = drainOf(server)
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
    drain,
    close: async () => {
      const closed = once(server, 'close')
      drain()
      // Connections that were made already are taken first: whoever made one may have sent a request.
      await setImmediate()
      // Of node:http, this would close the idle connections at once.
      NetServer.prototype.close.call(server)
      const endIdle = () => {
        if (turns() * lookForIdleMs < idleMs) return
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

/**
 * `drain` has every answer from now on say that its connection ends, those under way included. `turns` says for how long
 * that is so by the turns that the process took: one that stood still has not read what came in the meantime.
 */
const drainOf = (server: Server): { readonly drain: () => void; readonly turns: () => number } => {
  const underWay = new Set<ServerResponse>()
  let counting: NodeJS.Timeout | undefined
  let turns = 0
  server.on('request', (_request, response: ServerResponse) => {
    if (counting) response.shouldKeepAlive = false
    underWay.add(response)
    response.once('close', () => underWay.delete(response))
  })
  server.once('close', () => clearInterval(counting))
  return {
    drain: () => {
      for (const response of underWay) response.shouldKeepAlive = false
      counting ??= setInterval(() => turns++, lookForIdleMs).unref()
    },
    turns: () => turns,
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
