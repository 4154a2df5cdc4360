import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request to a stand-in: its body as text, and one value of each header. */
export type StandInRequest = {
  readonly method: string
  readonly url: URL
  readonly header: (name: string) => string | undefined
  readonly text: string
}

/** `hang` never answers, as a provider that has stopped does. */
export type StandInAnswer =
  | {
      readonly status: number
      readonly body: unknown
      /** The type of a body that is no JSON but text. */
      readonly type?: string
    }
  | 'hang'

export type StandIn = {
  readonly url: string
  /** Every request that came, in order. */
  readonly requests: readonly StandInRequest[]
  /** Answers like this, instead of as it should, wherever the function gives an answer; undefined behaves again. */
  readonly misbehave: (answer: ((request: StandInRequest) => StandInAnswer | undefined) | undefined) => void
  readonly close: () => Promise<void>
}

const mostRemembered = 1_000

/** A small server that speaks the protocol of an outside party, for the demo and the tests. */
export const startStandIn = async (
  answer: (request: StandInRequest) => StandInAnswer | Promise<StandInAnswer>,
  port = 0,
): Promise<StandIn> => {
  const requests: StandInRequest[] = []
  let misbehaves: ((request: StandInRequest) => StandInAnswer | undefined) | undefined

  const read = async (incoming: IncomingMessage): Promise<StandInRequest> => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
    return {
      method: incoming.method ?? 'GET',
      url: new URL(incoming.url ?? '/', 'http://stand-in'),
      header: (name) => [incoming.headers[name]].flat()[0],
      text: Buffer.concat(chunks).toString(),
    }
  }

  const server = createServer((incoming, response) => {
    const reply = async () => {
      const request = await read(incoming)
      requests.push(request)
      if (requests.length > mostRemembered) requests.shift()
      const answered = misbehaves?.(request) ?? (await answer(request))
      if (answered === 'hang') return
      const { status, body, type } = answered
      const text = type === undefined ? JSON.stringify(body) : String(body)
      response.writeHead(status, { 'content-type': type ?? 'application/json' }).end(text)
    }
    reply().catch(() => response.destroy())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: listening } = server.address() as AddressInfo // of a TCP server

  return {
    url: `http://127.0.0.1:${listening}`,
    requests,
    misbehave: (instead) => {
      misbehaves = instead
    },
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
