import { z } from 'zod'
import { startStandIn, type StandIn, type StandInAnswer } from './stand-in.ts'

const Message = z.object({
  channel: z.enum(['email', 'sms', 'whatsapp']),
  from: z.string().nullable(),
  from_name: z.string().nullable(),
  to: z.string(),
  subject: z.string().nullable(),
  text: z.string(),
  unsubscribe_url: z.url(),
})
type Message = z.infer<typeof Message>

export type MessageGateway = StandIn & {
  /** What it passed on, each message once, by its Idempotency-Key. */
  readonly sent: ReadonlyMap<string, Message>
}

/** The last digits of a number, or what begins an email address, decide how it fails. */
const magic: readonly (readonly [pattern: RegExp, answer: StandInAnswer])[] = [
  [/(94|^unknown@.*)$/, { status: 422, body: { message: 'There is no such recipient.' } }],
  [/(95|^unavailable@.*)$/, { status: 503, body: { message: 'Overloaded.' } }],
  [/(96|^silent@.*)$/, 'hang'],
  [/(97|^limited@.*)$/, { status: 429, body: { message: 'Too many messages.' } }],
]

/** Speaks docs/message-gateway.md. The key `wrong` is refused. */
export const startMessageGateway = async (port?: number): Promise<MessageGateway> => {
  const sent = new Map<string, Message>()
  const standIn = await startStandIn(({ method, url, header, text }): StandInAnswer => {
    if (method !== 'POST' || !url.pathname.endsWith('/messages')) return { status: 404, body: {} }
    const authorization = header('authorization') ?? ''
    if (!authorization.startsWith('Bearer ') || authorization.endsWith(' wrong'))
      return { status: 401, body: { message: 'The key is not valid.' } }
    const key = header('idempotency-key')
    const message = Message.safeParse(JSON.parse(text)).data
    if (key === undefined || !message) return { status: 400, body: { message: 'The message is not whole.' } }
    const failing = magic.find(([pattern]) => pattern.test(message.to))?.[1]
    if (failing) return failing
    if (!sent.has(key)) sent.set(key, message)
    return { status: 202, body: { id: `gw-${key}` } }
  }, port)
  return { ...standIn, sent }
}
