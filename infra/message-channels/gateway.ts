import { z } from 'zod'
import { askJson, type OpenedAccount } from '../ask-json.ts'
import type { GuardedHttp } from '../guarded-http.ts'
import type { OutgoingMessage, SendResult } from './channel.ts'

const Accepted = z.object({ id: z.string().max(200) })
const Refused = z.object({ message: z.string().max(500) })

/** Speaks the protocol of docs/message-gateway.md. A repeated Idempotency-Key is answered as the first time. */
export const sendByGateway = async (
  http: Pick<GuardedHttp, 'request'>,
  { base_url, account, secret }: OpenedAccount,
  { id, channel, to, from_name, subject, text, unsubscribe_url, reference }: OutgoingMessage,
): Promise<SendResult> => {
  const answer = await askJson(http, {
    method: 'POST',
    url: `${base_url}/messages`,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'idempotency-key': id },
    body: JSON.stringify({ channel, from: account, from_name, to, subject, text, unsubscribe_url, reference }),
  })
  if (!answer) return { outcome: 'unanswered', reason: 'the message gateway did not answer' }
  const { status, body } = answer
  if (status === 200 || status === 202) return { outcome: 'sent', reference: Accepted.safeParse(body).data?.id ?? null }
  const why = Refused.safeParse(body).data?.message ?? `status ${status}`
  // What is wrong with the account or for the moment is not wrong with the message.
  const isOfMessage = status === 400 || status === 404 || status === 410 || status === 422
  return isOfMessage
    ? { outcome: 'refused', reason: `the message gateway refused: ${why}` }
    : { outcome: 'unanswered', reason: `the message gateway answered: ${why}` }
}
