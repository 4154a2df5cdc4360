import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server of somebody else, on every address of this machine, with the one page that it is given. */
export const startOtherPages = async (html: string) => {
  const server: Server = createServer((_request, response) => {
    response
      .writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' })
      .end(`<!doctype html><title>Other</title>${html}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // of a TCP server
  return {
    /** On another port of the host of the console: of the same site, and of another origin. */
    sameHost: `http://localhost:${port}/`,
    /** Of another site. */
    otherSite: `http://127.0.0.1:${port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
