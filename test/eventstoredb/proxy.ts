import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { pipeline } from 'node:stream'

/** A way to a server whose connections can be cut, or kept open while nothing passes. */
export const severableWayTo = async (host: string, port: number, at = 0) => {
  const sockets = new Map<Socket, Promise<unknown>>()
  let isCut = false
  let isFrozen = false
  const server = createServer({ noDelay: true }, (near) => {
    if (isCut) {
      near.destroy()
      return
    }
    const far = connect({ host, port, noDelay: true })
    for (const socket of [near, far]) {
      sockets.set(socket, new Promise((resolve) => socket.once('close', resolve)))
      socket.once('close', () => sockets.delete(socket))
    }
    pipeline(near, far, near, () => undefined)
    if (isFrozen) for (const socket of [near, far]) socket.pause()
  })
  server.listen(at, '127.0.0.1')
  await once(server, 'listening')
  const sever = async () => {
    const closed = [...sockets.values()]
    for (const socket of sockets.keys()) socket.destroy()
    await Promise.all(closed)
  }
  const stop = async () => {
    if (!server.listening) return
    server.close()
    await Promise.all([once(server, 'close'), sever()])
  }

  return {
    // A server on a TCP port has an address of this form.
    port: (server.address() as AddressInfo).port,
    dropConnections: sever,
    /** Drops all connections, and all new ones until `mend`. */
    cut: async () => {
      isCut = true
      await sever()
    },
    mend: () => {
      isCut = false
    },
    /** Nothing passes until `thaw`, and connections stay open. */
    freeze: () => {
      isFrozen = true
      for (const socket of sockets.keys()) socket.pause()
    },
    thaw: () => {
      isFrozen = false
      for (const socket of sockets.keys()) socket.resume()
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
