import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A receiver's answer to a request: a status, optionally with more, or no answer at all. */
export type Reply =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string | Buffer }
  | 'hang'

export type WebhookRequest = {
  readonly idempotency_key: string
  readonly headers: Readonly<Record<string, string>>
  readonly raw_body: string
  /** The reason why it was not taken; undefined when it is genuine. */
  readonly refused?: string
  /** An Idempotency-Key that was handled before. */
  readonly repeated: boolean
  readonly status: number | undefined
}

export type ReceivedEvent = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string }

export type ReceiverOptions = {
  readonly port?: number
  readonly secret: string
  readonly now?: () => number
  /** Called with every genuine event, once for each Idempotency-Key. */
  readonly onEvent?: (event: ReceivedEvent, request: WebhookRequest) => void
}

const toleranceSeconds = 300
const path = '/webhooks'

/** The reason why a signature does not prove that the body comes from the service; undefined when it does. */
export const whyNotGenuine = (
  secret: string,
  signature: string | undefined,
  rawBody: string,
  nowMs: number,
): string | undefined => {
  if (signature === undefined) return 'no signature'
  const parts = new Map(
    signature.split(',').map((part) => {
      const equals = part.indexOf('=')
      return [part.slice(0, equals).trim(), part.slice(equals + 1).trim()] as const
    }),
  )
  const t = parts.get('t') ?? ''
  const v1 = parts.get('v1') ?? ''
  if (!/^\d+$/.test(t) || !/^[0-9a-f]{64}$/.test(v1)) return 'malformed signature'
  if (Math.abs(nowMs / 1000 - Number(t)) > toleranceSeconds) return 'timestamp more than 5 minutes out'
  const expected = createHmac('sha256', secret).update(`${t}.${rawBody}`).digest()
  return timingSafeEqual(expected, Buffer.from(v1, 'hex')) ? undefined : 'signature mismatch'
}

/**
 * A firm's own endpoint for webhooks, as the specification asks receivers to build it: the raw body is verified before it
 * is parsed, and what was handled once is not handled again. It can be made to fail.
 */
export const startReceiver = async ({ port = 0, secret, now = Date.now, onEvent }: ReceiverOptions) => {
  const requests: WebhookRequest[] = []
  const received: ReceivedEvent[] = []
  const handled = new Set<string>()
  const waiting = new Set<() => void>()
  let misbehaves: (request: WebhookRequest) => Reply | undefined = () => undefined

  const receive = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
    const raw_body = Buffer.concat(chunks).toString()

    const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
    const idempotency_key = headers['idempotency-key'] ?? ''
    const refused = whyNotGenuine(secret, headers['x-service-signature'], raw_body, now())
    const request: WebhookRequest = {
      idempotency_key,
      headers,
      raw_body,
      ...(refused !== undefined && { refused }),
      repeated: handled.has(idempotency_key),
      status: undefined,
    }
    const reply = misbehaves(request) ?? { status: refused === undefined ? 200 : 403 }
    const noted = reply === 'hang' ? request : { ...request, status: reply.status }

    requests.push(noted)
    if (noted.status === 200 && !noted.repeated) {
      handled.add(idempotency_key)
      const event = JSON.parse(raw_body) as ReceivedEvent // its signature says who made it
      received.push(event)
      onEvent?.(event, noted)
    }
    if (reply !== 'hang') response.writeHead(reply.status, reply.headers).end(reply.body)
    for (const check of waiting) check()
  }

  const server = createServer((incoming, response) => {
    receive(incoming, response).catch(() => response.destroy())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: listening } = server.address() as AddressInfo // of a TCP server
  const address = `http://127.0.0.1:${listening}${path}`

  const until = (isSo: () => boolean, what: string, timeoutMs = 10_000): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = () => {
        if (!isSo()) return
        finish()
        resolve()
      }
      const timer = setTimeout(() => {
        finish()
        reject(new Error(`${what}: not within ${timeoutMs / 1000} s; there were ${requests.length} requests.`))
      }, timeoutMs)
      const finish = () => {
        clearTimeout(timer)
        waiting.delete(check)
      }
      waiting.add(check)
      check()
    })

  return {
    url: address,
    /** Genuine events, each Idempotency-Key once, in the order in which they came. */
    received: received as readonly ReceivedEvent[],
    requests: requests as readonly WebhookRequest[],
    /** Replies like this, instead of as it should, wherever the function gives a reply. */
    misbehave: (reply: (request: WebhookRequest) => Reply | undefined): void => {
      misbehaves = reply
    },
    /** Fails so many requests, and then behaves. */
    failNext: (times: number, status = 500): void => {
      let left = times
      misbehaves = () => (left-- > 0 ? { status } : undefined)
    },
    /** Resolves when so many events, or so many requests, have come. */
    untilReceived: (count: number, timeoutMs?: number) =>
      until(() => received.length >= count, `${count} events`, timeoutMs),
    untilRequested: (count: number, timeoutMs?: number) =>
      until(() => requests.length >= count, `${count} requests`, timeoutMs),
    close: async (): Promise<void> => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
export type Receiver = Awaited<ReturnType<typeof startReceiver>>
