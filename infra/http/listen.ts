import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { BadConfiguration } from '../config.ts'

export type Listening = { readonly port: number; readonly close: () => Promise<void> }

const lookForIdleMs = 50
/** Less than half of what a process has to stop. */
const usualFinishMs = 4_000

/** Serves until closed; closing lets the requests under way finish, for so long. */
export const listen = async (
  serveRequest: RequestListener,
  host: string,
  port: number,
  variable: 'PORT' | 'HEALTH_PORT' = 'PORT',
  finishMs = usualFinishMs,
): Promise<Listening> => {
  const server = createServer({ keepAliveTimeout: 65_000 }, serveRequest)
  const unused = unusedConnections(server)
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
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of unused) socket.destroy()
      // A connection whose request ends now would be kept open for the next one; a request need never end.
      const idle = setInterval(() => server.closeIdleConnections(), lookForIdleMs)
      const late = setTimeout(() => server.closeAllConnections(), finishMs)
      await closed
      clearInterval(idle)
      clearTimeout(late)
    },
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
