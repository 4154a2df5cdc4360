import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/**
 * A way to a PostgreSQL that can lose packets: a silent connection stays open, and nothing goes through it any more. A
 * connection that fell silent stays so, like one that a firewall has forgotten.
 */
export const wayTo = async (url: string) => {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const silent = new WeakSet<Socket>()
  let isSilent = false
  let refuses = false
  let cutBefore: string | undefined

  const cutsAt = (bytes: Buffer): boolean => {
    if (cutBefore === undefined || !bytes.includes(cutBefore)) return false
    cutBefore = undefined
    for (const socket of sockets) socket.destroy()
    return true
  }

  const server = createServer({ noDelay: true }, (near) => {
    if (refuses) {
      near.destroy()
      return
    }
    const far = connect({ host: hostname, port: Number(port), noDelay: true })
    if (isSilent) silent.add(near)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('data', (bytes) => {
        if (socket === near && cutsAt(bytes)) return
        if (!silent.has(near)) other.write(bytes)
      })
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        if (!silent.has(near)) other.destroy()
      })
    }
    near.on('close', () => far.destroy())
    if (!silent.has(near)) return
    far.on('connect', () => far.pause())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const silence = () => {
    for (const socket of sockets) silent.add(socket)
  }
  return {
    // A server on a TCP port has an address of this form.
    url: Object.assign(new URL(url), { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }).href,
    /** Connections that are open fall silent, new ones work. */
    silence,
    /** Connections that are open and those to come are silent. */
    silenceAll: () => {
      isSilent = true
      silence()
    },
    /** Cuts all connections and takes no more, like a server that is down. */
    refuse: () => {
      refuses = true
      for (const socket of sockets) socket.destroy()
    },
    /** Cuts all connections, once, when a statement with this text is sent; it does not arrive. */
    cutBefore: (text: string) => {
      cutBefore = text
    },
    wasCut: () => cutBefore === undefined,
    /** New connections work again. */
    restore: () => {
      isSilent = false
      refuses = false
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
