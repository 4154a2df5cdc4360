import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
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
  reference: z.string(),
})
type Message = z.infer<typeof Message>

/** The address at which a service takes a gateway's reports, and the signing secret. */
export type ReportTarget = { readonly url: string; readonly secret: string }

export type MessageGateway = StandIn & {
  /** Messages that it passed on, each once, by its Idempotency-Key. */
  readonly sent: ReadonlyMap<string, Message>
}

/** The last digits of a number, or what begins an email address, decide how it fails. */
const magic: readonly (readonly [pattern: RegExp, answer: StandInAnswer])[] = [
  [/(94|^unknown@.*)$/, { status: 422, body: { message: 'There is no such recipient.' } }],
  [/(95|^unavailable@.*)$/, { status: 503, body: { message: 'Overloaded.' } }],
  [/(96|^silent@.*)$/, 'hang'],
  [/(97|^limited@.*)$/, { status: 429, body: { message: 'Too many messages.' } }],
]

/** And so does what it tells of afterwards, where it has a webhook. */
const magicReports: readonly (readonly [pattern: RegExp, news: object])[] = [
  [/(91|^keen@.*)$/, { type: 'reply', text: 'Yes, please call me.' }],
  [/(92|^weary@.*)$/, { type: 'reply', text: 'STOP' }],
  [/(93|^gone@.*)$/, { type: 'undeliverable', reason: 'There is no such recipient any more.' }],
]

const mostShown = 100

/** Tells a service of something, signed. */
export const tell = async ({ url, secret }: ReportTarget, news: object): Promise<Response> => {
  const body = JSON.stringify({ id: randomUUID(), ...news })
  const t = Math.floor(Date.now() / 1_000)
  const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')
  const headers = { 'content-type': 'application/json', 'x-integrations-signature': `t=${t},v1=${v1}` }
  return fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(5_000) })
}

const mostAttempts = 10

/** As the protocol says: again after 429, 5xx or no answer. A service that is gone for good is told no more. */
const postUntilTaken = async (webhook: ReportTarget, news: object): Promise<void> => {
  for (let times = 0; times < mostAttempts; times++) {
    const status = await tell(webhook, news).then(
      (answer) => answer.status,
      () => 503,
    )
    if (status !== 429 && (status < 500 || status > 599)) return
    await pause(1_000, undefined, { ref: false })
  }
}

/** Speaks docs/message-gateway.md. The key `wrong` is refused. */
export const startMessageGateway = async (port?: number, webhook?: ReportTarget): Promise<MessageGateway> => {
  const sent = new Map<string, Message>()

  const tellOf = ({ channel, to, reference }: Message): void => {
    const news = magicReports.find(([pattern]) => pattern.test(to))?.[1]
    if (news && webhook) void postUntilTaken(webhook, { id: randomUUID(), channel, reference, from: to, to, ...news })
  }

  const standIn = await startStandIn(({ method, url, header, text }): StandInAnswer => {
    // To be looked at: what it has passed on, the last first.
    if (method === 'GET' && url.pathname === '/stand-in/messages')
      return { status: 200, body: { messages: [...sent.values()].toReversed().slice(0, mostShown) } }
    if (method !== 'POST' || !url.pathname.endsWith('/messages')) return { status: 404, body: {} }
    const authorization = header('authorization') ?? ''
    if (!authorization.startsWith('Bearer ') || authorization.endsWith(' wrong'))
      return { status: 401, body: { message: 'The key is not valid.' } }
    const key = header('idempotency-key')
    const message = Message.safeParse(JSON.parse(text)).data
    if (key === undefined || !message) return { status: 400, body: { message: 'The message is not whole.' } }
    const failing = magic.find(([pattern]) => pattern.test(message.to))?.[1]
    if (failing) return failing
    if (!sent.has(key)) {
      sent.set(key, message)
      tellOf(message)
    }
    return { status: 202, body: { id: `gw-${key}` } }
  }, port)
  return { ...standIn, sent }
}
