import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { callbackify } from 'node:util'
import { z } from 'zod'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A mail as it came in. */
export type ReceivedMail = {
  readonly from: string
  readonly to: readonly string[]
  readonly user: string | null
  readonly isEncrypted: boolean
  readonly header: (name: string) => string | undefined
  readonly text: string
}

export type MailServer = {
  readonly url: string
  readonly mails: readonly ReceivedMail[]
  readonly close: () => Promise<void>
}

/** The start of a recipient's address decides how the server answers. */
const answers: Readonly<Record<string, { readonly responseCode: number; readonly message: string }>> = {
  unknown: { responseCode: 550, message: '5.1.1 No such user' },
  full: { responseCode: 552, message: '5.2.2 Mailbox full' },
  greylisted: { responseCode: 450, message: '4.2.0 Try again later' },
  busy: { responseCode: 421, message: '4.3.2 Service shutting down' },
}

type Options = Pick<SMTPServerOptions, 'secure' | 'key' | 'cert' | 'disabledCommands'>

/** A mail server that takes mails and delivers none. Who signs in with the password `wrong` is refused. */
export const startMailServer = async (options: Options = {}, port = 0): Promise<MailServer> => {
  const mails: ReceivedMail[] = []
  const server = new SMTPServer({
    ...options,
    authOptional: true,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    logger: false,
    onAuth: ({ username = '', password }, _session, callback) =>
      password === 'wrong'
        ? callback(Object.assign(new Error('Invalid username or password'), { responseCode: 535 }))
        : callback(null, { user: username }),
    onMailFrom: ({ address }, _session, callback) =>
      callback(
        address.startsWith('blocked') ? Object.assign(new Error('Sender refused'), { responseCode: 550 }) : undefined,
      ),
    onRcptTo: ({ address }, _session, callback) => {
      const [name = ''] = address.split('@')
      if (name === 'silent') return
      const answer = answers[name]
      callback(answer && Object.assign(new Error(answer.message), answer))
    },
    onData: (stream, session, callback) => {
      const read = async () => {
        const chunks: Buffer[] = []
        for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk)
        const [head = '', ...body] = Buffer.concat(chunks).toString().split('\r\n\r\n')
        const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
        const headers = new Map(
          lines.map((line) => [line.split(':')[0]?.toLowerCase() ?? '', line.replace(/^[^:]*:\s*/, '')]),
        )
        mails.push({
          from: session.envelope.mailFrom ? session.envelope.mailFrom.address : '',
          to: session.envelope.rcptTo.map(({ address }) => address),
          user: z.string().nullish().parse(session.user) ?? null,
          isEncrypted: session.secure,
          header: (name) => headers.get(name.toLowerCase()),
          text: body.join('\r\n\r\n'),
        })
      }
      callbackify(read)((error) => callback(error))
    },
  })
  // Who goes away in the middle is no failure of the server.
  server.on('error', () => undefined)
  server.listen(port, '127.0.0.1')
  await once(server.server, 'listening')
  const { port: listening } = server.server.address() as AddressInfo // of a TCP server

  return {
    url: `${options.secure === true ? 'smtps' : 'smtp'}://127.0.0.1:${listening}`,
    mails,
    close: async () => {
      const closed = once(server.server, 'close')
      for (const connection of server.connections) connection.close()
      server.close()
      await closed
    },
  }
}
