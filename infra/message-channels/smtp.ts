import { createTransport } from 'nodemailer'
import type { OpenedAccount } from '../ask-json.ts'
import { reasonOf } from '../reason.ts'
import type { OutgoingMessage, SendResult } from './channel.ts'

/** What a mail server may take for a step, and for the whole. */
const stepMs = 5_000
const wholeMs = 15_000

/**
 * Sends by a mail server. The account names the sender's address, by which it signs in with the secret. The Message-ID
 * follows from the message, so that a server that looks for repeats finds one.
 */
export const sendBySmtp = async (
  { base_url, account, secret }: OpenedAccount,
  { id, to, from_name, subject, text, unsubscribe_url }: OutgoingMessage,
): Promise<SendResult> => {
  const address = new URL(base_url)
  const sender = account ?? ''
  const isSecure = address.protocol === 'smtps:'
  const transport = createTransport({
    host: address.hostname,
    port: Number(address.port || (isSecure ? 465 : 587)),
    secure: isSecure,
    // On the way to another port the connection is encrypted before we sign in, or not used; a stand-in of tests has no TLS.
    requireTLS: !isSecure && secret !== '-',
    ...(secret !== '-' && { auth: { user: sender, pass: secret } }),
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
  })
  const deadline = setTimeout(() => transport.close(), wholeMs)
  try {
    const { messageId, rejected } = await transport.sendMail({
      from: from_name === null ? sender : { name: from_name, address: sender },
      to,
      subject: subject ?? '',
      text,
      messageId: `<${id}@${sender.split('@')[1] ?? 'coverstream.invalid'}>`,
      headers: {
        'List-Unsubscribe': `<${unsubscribe_url}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    if (rejected.length > 0) return { outcome: 'refused', reason: 'the mail server refused the address' }
    return { outcome: 'sent', reference: messageId }
  } catch (error) {
    const isFinal = isRefusal(error)
    return isFinal
      ? { outcome: 'refused', reason: `the mail server refused: ${reasonOf(error)}` }
      : { outcome: 'unanswered', reason: `the mail server failed: ${reasonOf(error)}` }
  } finally {
    clearTimeout(deadline)
    transport.close()
  }
}

/** A server says by 5xx to the recipient or the message that it never will take it; to a sign-in that the account is wrong. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Error &&
  'responseCode' in error &&
  typeof error.responseCode === 'number' &&
  error.responseCode >= 550 &&
  error.responseCode <= 554 &&
  !('code' in error && error.code === 'EAUTH')
