import { afterAll, describe, expect, test } from 'vitest'
import { LeaseLost, underLease } from '#infra/consumers/required-lease.ts'
import type { OutgoingMessage } from '#infra/message-channels/channel.ts'
import { sendByGateway } from '#infra/message-channels/gateway.ts'
import { makeSmtp } from '#infra/message-channels/smtp.ts'
import { startMailServer } from '../../stand-ins/mail-server.ts'
import { startMessageGateway } from '../../stand-ins/message-gateway.ts'
import { certificate, privateKey } from '../delivery/certificate.ts'
import { outsideHttp } from '../outside-http.ts'
import { local, saying } from '../delivery/guarded-http.ts'

const message: OutgoingMessage = {
  id: '0e000000-0000-4000-8000-000000000001',
  organisation_id: '6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f',
  contact_id: 'c0000000-0000-4000-8000-000000000001',
  channel: 'email',
  to: 'ann@example.com',
  from_name: 'A firm, "with" a name',
  subject: 'Hello Ann',
  text: 'A word from us.',
  unsubscribe_url: 'https://firm.example/outreach/unsubscribe?t=token',
  reference: 'reference-of-the-message',
  sent_at: '2026-01-16T12:00:00.000Z',
}
const to = (address: string) => ({ ...message, to: address })

describe('a mail server', async () => {
  const plain = await startMailServer({ disabledCommands: ['STARTTLS'] })
  const encrypted = await startMailServer({ secure: true, key: privateKey, cert: certificate })
  const upgrading = await startMailServer({ key: privateKey, cert: certificate })
  afterAll(() => Promise.all([plain, encrypted, upgrading].map((each) => each.close())))

  const account = { base_url: plain.url, account: 'office@firm.example', secret: 'secret' }
  const options = { ...local, allowHttp: true, ca: certificate, stepMs: 20_000, wholeMs: 20_000 }
  const send = makeSmtp(options)

  test('takes a message as a mail, with the link to unsubscribe in one step', async () => {
    const result = await send(account, message)

    const [mail] = plain.mails
    expect(result).toEqual({ outcome: 'sent', reference: `<${message.id}@firm.example>` })
    expect([mail?.from, mail?.to, mail?.user]).toEqual([
      'office@firm.example',
      ['ann@example.com'],
      'office@firm.example',
    ])
    expect(mail?.header('From')).toBe('"A firm, \\"with\\" a name" <office@firm.example>')
    expect(mail?.header('List-Unsubscribe')).toBe(`<${message.unsubscribe_url}>`)
    expect(mail?.header('List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click')
    expect(mail?.text).toContain('A word from us.')
  })

  test('gets the same Message-ID when a message is sent again', async () => {
    const before = plain.mails.length
    await send(account, message)
    await send(account, message)
    expect(plain.mails.slice(before).map(({ header }) => header('Message-ID'))).toEqual([
      `<${message.id}@firm.example>`,
      `<${message.id}@firm.example>`,
    ])
  })

  test.each([
    ['smtps://', encrypted],
    ['smtp:// with STARTTLS', upgrading],
  ])('is spoken to encrypted, by %s', async (_how, server) => {
    const result = await makeSmtp({ ...options, allowHttp: false })({ ...account, base_url: server.url }, message)
    expect(result.outcome).toBe('sent')
    expect(server.mails.at(-1)).toMatchObject({ isEncrypted: true, user: 'office@firm.example' })
  })

  test('without encryption is not used, unless the operator allows it', async () => {
    const before = plain.mails.length
    const result = await makeSmtp({ ...options, allowHttp: false })(account, message)
    expect(result).toEqual({ outcome: 'unanswered', reason: saying('command not recognized') })
    expect(plain.mails).toHaveLength(before)
  })

  test('whose certificate nobody vouches for is not used', async () => {
    const { ca: _ca, ...others } = options
    const result = await makeSmtp(others)({ ...account, base_url: encrypted.url }, message)
    expect(result).toEqual({ outcome: 'unanswered', reason: saying('certificate') })
  })

  test.each([
    ['unknown@example.com', 'refused', '5.1.1 No such user'],
    ['full@example.com', 'refused', '5.2.2 Mailbox full'],
    ['greylisted@example.com', 'unanswered', '4.2.0 Try again later'],
    ['busy@example.com', 'unanswered', '4.3.2'],
  ])('answers for %s: %s', async (address, outcome, reason) => {
    expect(await send(account, to(address))).toEqual({ outcome, reason: saying(reason) })
  })

  test('that falls silent is given up', async () => {
    const impatient = makeSmtp({ ...options, stepMs: 500 })
    expect((await impatient(account, to('silent@example.com'))).outcome).toBe('unanswered')
  })

  test.each([
    ['the sign-in', { secret: 'wrong' }],
    ['the sender', { account: 'blocked@firm.example' }],
  ])('that refuses %s says nothing of the message: it is tried again', async (_what, changed) => {
    expect((await send({ ...account, ...changed }, message)).outcome).toBe('unanswered')
  })

  test.each([
    'ann@example.com, bob@example.com',
    'ann@example.com\r\nBcc: bob@example.com',
    'Ann <ann@example.com>',
    'group: ann@example.com;',
    '"ann"@example.com',
    'ann',
    '',
  ])('is told of one recipient at most: %j', async (address) => {
    const before = plain.mails.length
    expect((await send(account, to(address))).outcome).toBe('refused')
    expect(plain.mails).toHaveLength(before)
  })

  test('gets no header from what a message says', async () => {
    const hostile = 'Hello\r\nBcc: bob@example.com'
    await send(account, { ...message, subject: hostile, from_name: hostile })
    expect(plain.mails.at(-1)?.header('Bcc')).toBeUndefined()
    expect(plain.mails.at(-1)?.to).toEqual(['ann@example.com'])
  })

  test.each(['127.0.0.1', '10.0.0.1', '169.254.169.254'])('on a private network is not reached: %s', async (host) => {
    const result = await makeSmtp({ ...options, allowedHosts: [] })(
      { ...account, base_url: `smtps://${host}` },
      message,
    )
    expect(result).toEqual({ outcome: 'unanswered', reason: saying('not a public address') })
  })

  test('whose name leads to a private network is not reached', async () => {
    const lookup = async () => [{ address: '192.168.0.1', family: 4 }]
    const mail = makeSmtp({ ...options, allowedHosts: [], lookup })
    const result = await mail({ ...account, base_url: 'smtps://mail.firm.example' }, message)
    expect(result).toEqual({ outcome: 'unanswered', reason: saying('not a public address') })
  })

  test('gets nothing from a process that lost its lease while it connected', async () => {
    const before = plain.mails.length
    let isHeld = true
    const lookup = async () => {
      isHeld = false
      return [{ address: '127.0.0.1', family: 4 }]
    }
    const mail = makeSmtp({ ...options, allowedHosts: ['mail.test'], lookup })
    const named = { ...account, base_url: plain.url.replace('127.0.0.1', 'mail.test') }

    await expect(underLease({ isHeld: () => isHeld }, () => mail(named, message))).rejects.toThrow(LeaseLost)
    await expect(underLease({ isHeld: () => isHeld }, () => send(account, message))).rejects.toThrow(LeaseLost)
    expect(plain.mails).toHaveLength(before)
    expect((await mail(named, message)).outcome).toBe('sent')
  })

  test('that is not there, or takes too long, is tried again', async () => {
    const closed = await startMailServer()
    await closed.close()
    expect((await send({ ...account, base_url: closed.url }, message)).outcome).toBe('unanswered')
    const hasty = makeSmtp({ ...options, wholeMs: 1, stepMs: 60_000 })
    expect((await hasty(account, to('silent@example.com'))).outcome).toBe('unanswered')
  })
})

describe('a message gateway', async () => {
  const gateway = await startMessageGateway()
  const http = outsideHttp(({ body }) => /96"|silent@/.test(body ?? ''))
  afterAll(() => Promise.all([gateway.close(), http.close()]))

  const account = { base_url: gateway.url, account: 'FIRM', secret: 'key' }
  const sms = { ...message, channel: 'sms', to: '+447400100001', subject: null } as const

  test('takes a message, with its key', async () => {
    const result = await sendByGateway(http, account, sms)
    expect(result).toEqual({ outcome: 'sent', reference: `gw-${sms.id}` })
    expect(gateway.sent.get(sms.id)).toEqual({
      channel: 'sms',
      from: 'FIRM',
      from_name: sms.from_name,
      to: '+447400100001',
      subject: null,
      text: 'A word from us.',
      unsubscribe_url: sms.unsubscribe_url,
      reference: sms.reference,
    })
  })

  test('that is asked again with the same key answers as the first time and sends nothing', async () => {
    const again = await sendByGateway(http, account, sms)
    expect(again).toEqual({ outcome: 'sent', reference: `gw-${sms.id}` })
    expect(gateway.sent.size).toBe(1)
  })

  test.each([
    ['+447400100094', 'refused', 'There is no such recipient.'],
    ['+447400100095', 'unanswered', 'Overloaded.'],
    ['+447400100096', 'unanswered', 'did not answer'],
    ['+447400100097', 'unanswered', 'Too many messages.'],
  ])('answers for %s: %s', async (number, outcome, reason) => {
    expect(await sendByGateway(http, account, { ...sms, to: number })).toEqual({ outcome, reason: saying(reason) })
  })

  test('that refuses the key says nothing of the message: it is tried again', async () => {
    const result = await sendByGateway(http, { ...account, secret: 'wrong' }, sms)
    expect(result).toEqual({ outcome: 'unanswered', reason: saying('The key is not valid.') })
  })

  test('that answers something else, or is not there, is tried again', async () => {
    gateway.misbehave(() => ({ status: 302, body: 'elsewhere' }))
    const elsewhere = await sendByGateway(http, account, sms)
    gateway.misbehave(undefined)
    const nowhere = await sendByGateway(http, { ...account, base_url: 'http://127.0.0.1:1' }, sms)
    const hostile = await sendByGateway(http, { ...account, base_url: 'https://10.0.0.1' }, sms)
    expect([elsewhere, nowhere, hostile].map(({ outcome }) => outcome)).toEqual([
      'unanswered',
      'unanswered',
      'unanswered',
    ])
  })
})
