import { once } from 'node:events'
import { get } from 'node:http'

type Event = { readonly id: string; readonly data: unknown }

const eventIn = (block: string): Event | undefined => {
  const lines = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string | undefined]))
  const [id, data] = [lines.get('id'), lines.get('data')]
  return id === undefined || data === undefined ? undefined : { id, data: JSON.parse(data) }
}

/** A stream of server-sent events, as a program reads it. */
export const openStream = async (address: string, headers: Readonly<Record<string, string>>) => {
  const request = get(address, { headers: { accept: 'text/event-stream', ...headers }, agent: false })
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage]
  response.setEncoding('utf8')
  let text = ''
  const events = (async function* () {
    for await (const part of response) {
      text += String(part)
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = eventIn(block)
        if (event) yield event
      }
    }
  })()
  return {
    status: response.statusCode,
    headers: response.headers,
    /** The next event; undefined: the service has ended the stream. */
    next: async (): Promise<Event | undefined> => (await events.next()).value ?? undefined,
    /** All that comes until the service ends it. */
    rest: async (): Promise<readonly Event[]> => Array.fromAsync(events),
    /** The body of an answer that is no stream. */
    body: async (): Promise<unknown> => {
      for await (const part of response) text += String(part)
      return JSON.parse(text)
    },
    close: () => request.destroy(),
    [Symbol.dispose]: () => request.destroy(),
  }
}
