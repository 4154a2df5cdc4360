import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startMailServer, type MailServer } from '../../stand-ins/mail-server.ts'
import { tell } from '../../stand-ins/message-gateway.ts'
import { openFirm, type Firm } from './firm.ts'

vi.setConfig({ testTimeout: 120_000 })

const secret = 'the webhook secret of the mailbox'
let firm: Firm
let server: MailServer
beforeAll(async () => {
  server = await startMailServer({ disabledCommands: ['STARTTLS'] })
  firm = await openFirm({ DELIVERY_ALLOWED_HOSTS: '127.0.0.1', DELIVERY_ALLOW_HTTP: 'true' })
  const account = { base_url: server.url, account: 'office@firm.example', secret: 'password', webhook_secret: secret }
  await firm.service.send('PUT', `${firm.admin}/provider_accounts/smtp`, { body: account })
}, 90_000)
afterAll(async () => {
  await firm[Symbol.asyncDispose]()
  await server.close()
})

const mailTo = (name: string) =>
  firm.until('the mail is there', async () => server.mails.find(({ to }) => to.includes(`${name}@example.com`)))
const consents = async (contact: string) => {
  type Lead = { readonly consent: readonly { channel: string; state: string }[] }
  const { body } = await firm.service.send<Lead>('GET', `${firm.admin}/leads/${contact}`)
  return body.data.consent.map(({ channel, state }) => `${channel} ${state}`).toSorted()
}
const counted = (stream_id: string, field: string, value: unknown) =>
  firm.until(`${field} is ${JSON.stringify(value)}`, async () => {
    const shown = await firm.read(stream_id)
    return JSON.stringify(shown[field]) === JSON.stringify(value) ? shown : undefined
  })

test('a message leaves by the mail server of the organisation, and its unsubscribe link withdraws consent at once', async () => {
  const stream = await firm.stream({ from_name: 'A firm' })
  const contact = await firm.lead({}, 'ida')
  await firm.join(stream, contact)

  const mail = await mailTo('ida')
  expect(mail.header('From')).toBe('A firm <office@firm.example>')
  expect(mail.header('Subject')).toBe('Hello ida')
  expect(mail.header('List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click')
  expect(mail.text).toContain('a word from us')
  await counted(stream, 'sent_count', 1)
  expect(await firm.outbox()).toEqual([])

  const link = mail.header('List-Unsubscribe')?.slice(1, -1) ?? ''
  const { status } = await firm.page(link, 'POST', { 'List-Unsubscribe': 'One-Click' })

  expect([status, await consents(contact)]).toEqual([200, ['email withdrawn', 'sms withdrawn', 'whatsapp withdrawn']])
  const [joined] = (await firm.join(await firm.stream(), contact)).body.data
  expect(joined?.state).toBe('refused')
})

test('a mail that the server never will take is errored; one that it does not take now is sent later', async () => {
  const stream = await firm.stream()
  await firm.join(stream, await firm.lead({}, 'unknown'), await firm.lead({}, 'greylisted'))

  await counted(stream, 'errored_count', 1)
  const states = await firm.until('both were tried', async () => {
    const messages = await firm.messages(stream)
    return messages.every(({ reason }) => reason !== null) ? messages : undefined
  })

  expect(states.map(({ state }) => state).toSorted()).toEqual(['errored', 'to_send'])
  expect(states.map(({ reason }) => String(reason)).toSorted()).toEqual([
    expect.stringContaining('4.2.0 Try again later'),
    expect.stringContaining('5.1.1 No such user'),
  ])
})

test('replies and bounces that reach the mailbox come in by the reference that the mail carries', async () => {
  const stream = await firm.stream()
  await firm.join(stream, await firm.lead({}, 'olga'), await firm.lead({}, 'paul'))
  const [toOlga, toPaul] = [await mailTo('olga'), await mailTo('paul')]
  await counted(stream, 'sent_count', 2)
  const webhook = { url: `${firm.service.origin}/api/v1/webhooks/messages/${firm.id}`, secret }
  const about = (mail: typeof toOlga) => ({ channel: 'email', reference: mail.header('X-Message-Reference') })

  await tell(webhook, { ...about(toOlga), type: 'reply', from: 'olga@work.example', text: 'Please call.' })
  await tell(webhook, { ...about(toPaul), type: 'undeliverable', to: 'paul@example.com', reason: '5.1.1' })

  await counted(stream, 'outcomes', { replied: 1, booked: 0, applications: 0, bound: 0 })
  expect(await counted(stream, 'errored_count', 1)).toMatchObject({ sent_count: 2 })
})
