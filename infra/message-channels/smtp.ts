import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { OpenedAccount } from '../ask-json.ts'
import { LeaseLost, requireLease } from '../consumers/required-lease.ts'
import { makeAddressGuard, plainPermission, portOf, type Allowance, type Lookup } from '../guarded-addresses.ts'
import type { OutgoingMessage, SendResult } from './channel.ts'

type Options = Allowance & {
  readonly lookup?: Lookup
  /** Certificates that are trusted in place of the usual ones. */
  readonly ca?: string
  /** The time that a mail server may take for a step, 5 s by default, and for the whole, 15 s. */
  readonly stepMs?: number
  readonly wholeMs?: number
}

export type SendMail = (account: OpenedAccount, message: OutgoingMessage) => Promise<SendResult>

/** One address and no list, group or name: whatever stands there, one person receives the message. */
const isOneAddress = (to: string): boolean => /^[^\s@,;:<>()[\]"\\]+@[^\s@,;:<>()[\]"\\]+$/.test(to)

/**
 * Sends by mail servers that organisations name. Like `makeGuardedHttp` it reaches only public addresses and what the
 * operator allows. The account names the sender's address, by which it signs in with the secret. The Message-ID follows
 * from the message, so that a server that looks for repeats finds one.
 */
export const makeSmtp = ({ stepMs = 5_000, wholeMs = 15_000, ca, ...allowance }: Options): SendMail => {
  const guard = makeAddressGuard(allowance)
  const isPlainAllowed = plainPermission(allowance, 'smtp:')

  /** Nothing is sent by a socket before it is connected: until then its address was checked. */
  const connected = async (host: string, port: number, signal: AbortSignal): Promise<Socket> => {
    const { checkLiteral, lookup } = guard(host, port)
    checkLiteral()
    const socket = connect({ host, port, autoSelectFamily: true, lookup })
    try {
      await once(socket, 'connect', { signal })
      return socket
    } catch (error) {
      socket.destroy()
      throw error
    }
  }

  return async (
    { base_url, account, secret },
    { id, to, from_name, subject, text, unsubscribe_url, reference },
  ): Promise<SendResult> => {
    if (!isOneAddress(to)) return { outcome: 'refused', reason: 'it is not one email address' }
    const address = new URL(base_url)
    const host = address.hostname.replace(/^\[(.*)\]$/, '$1')
    const sender = account ?? ''
    const isSecure = address.protocol === 'smtps:'
    const signal = AbortSignal.timeout(wholeMs)
    let socket: Socket | undefined
    requireLease()
    try {
      socket = await connected(host, portOf(address), AbortSignal.any([signal, AbortSignal.timeout(stepMs)]))
      // Loaded when the first email is sent: most processes send none.
      const { createTransport } = await import('nodemailer')
      const transport = createTransport({
        host,
        connection: socket,
        secure: isSecure,
        // The connection is encrypted before we sign in, or not used.
        requireTLS: !isSecure && !isPlainAllowed(base_url),
        ...(ca !== undefined && { tls: { ca } }),
        auth: { user: sender, pass: secret },
        greetingTimeout: stepMs,
        socketTimeout: stepMs,
      })
      requireLease()
      const { messageId } = await transport.sendMail({
        from: from_name === null ? sender : { name: from_name, address: sender },
        to: { name: '', address: to },
        envelope: { from: sender, to: [to] },
        subject: subject ?? '',
        text,
        messageId: `<${id}@${sender.split('@')[1] ?? 'coverstream.invalid'}>`,
        headers: {
          'List-Unsubscribe': `<${unsubscribe_url}>`,
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          'X-Message-Reference': reference,
        },
        disableFileAccess: true,
        disableUrlAccess: true,
        signal,
      })
      return { outcome: 'sent', reference: messageId }
    } catch (error) {
      if (error instanceof LeaseLost) throw error
      return isRefusal(error)
        ? { outcome: 'refused', reason: `the mail server refused: ${whyOf(error)}` }
        : { outcome: 'unanswered', reason: `the mail server failed: ${whyOf(error)}` }
    } finally {
      socket?.destroy()
    }
  }
}

/**
 * A server says by 5xx to the recipient or to the message that it never will take it. To the sign-in or the sender it says
 * that the account is wrong, which is no fault of the message.
 */
const isRefusal = (error: unknown): boolean =>
  error instanceof Error &&
  'responseCode' in error &&
  typeof error.responseCode === 'number' &&
  error.responseCode >= 550 &&
  error.responseCode <= 554 &&
  'command' in error &&
  (error.command === 'RCPT TO' || error.command === 'DATA')

const mostReason = 300

/** The reason in the server's words, where it gave any. They may name the person, and are kept like a message's text. */
const whyOf = (error: unknown): string => {
  const said = error instanceof Error && 'response' in error ? error.response : undefined
  const why = typeof said === 'string' ? said : error instanceof Error ? error.message : String(error)
  return why.slice(0, mostReason)
}
