import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startMessageGateway, tell, type MessageGateway } from '../../stand-ins/message-gateway.ts'
import { readableIn } from '../erasures/readable.ts'
import { openFirm, text, type Firm } from './firm.ts'

vi.setConfig({ testTimeout: 120_000 })

const secret = 'the webhook secret of the firm'
const otherSecret = 'the webhook secret of another'
let gateway: MessageGateway
let firm: Firm
let other: string

beforeAll(async () => {
  gateway = await startMessageGateway()
  firm = await openFirm({ DELIVERY_ALLOWED_HOSTS: '127.0.0.1', DELIVERY_ALLOW_HTTP: 'true' })
  other = await firm.service.organisation('other')
  await setAccount(firm.id, secret)
  await setAccount(other, otherSecret)
}, 90_000)
afterAll(async () => {
  await firm[Symbol.asyncDispose]()
  await gateway.close()
})

const setAccount = (organisation_id: string, webhook_secret: string | null) =>
  firm.service.send('PUT', `/admin/v1/organisations/${organisation_id}/provider_accounts/message_gateway`, {
    body: { base_url: gateway.url, account: 'FIRM', secret: 'key', webhook_secret },
  })

let told = 0
const newId = () => `news-${++told}`
const urlOf = (id: string) => `${firm.service.origin}/api/v1/webhooks/messages/${id}`
const say = (news: object, by = secret, to = firm.id) => tell({ url: urlOf(to), secret: by }, news)

const monthly = { cadence: 'monthly', day: 'last', starts_on: '2099-01-31' }
const consents = { email: true, sms: true }
const write = async (changes: object = {}, name?: string) => {
  const stream = await firm.stream({ channels: ['sms'], ...changes })
  const contact = await firm.lead({ consents }, name)
  await firm.join(stream, contact)
  return { stream, contact, sent: await receivedBy(contact, stream) }
}
const receivedBy = async (contact: string, stream: string) => {
  await counted(stream, 'sent_count', 1)
  // Counts and messages are shown by read models of their own.
  const own = await firm.until('it is shown as sent', async () =>
    (await firm.messages(stream, 'sent')).find(({ contact_id }) => contact_id === contact),
  )
  const [sent] = own['sent'] as readonly { readonly reference: string }[] // as the gateway answered
  const message = gateway.sent.get(String(sent?.reference).replace('gw-', ''))
  if (!message) throw new Error('The gateway has not received the message.')
  return message
}
const counted = (stream: string, field: string, value: unknown) =>
  firm.until(`${field} is ${JSON.stringify(value)}`, async () => {
    const shown = await firm.read(stream)
    return JSON.stringify(shown[field]) === JSON.stringify(value) ? shown : undefined
  })
const replied = (count: number) => ({ replied: count, booked: 0, applications: 0, bound: 0 })

type Activity = { readonly type: string; readonly payload: Readonly<Record<string, unknown>> }
const timeline = async (contact: string) => {
  const path = `${firm.admin}/lead_events?contact_id=${contact}&limit=200`
  const { body } = await firm.service.send<readonly { event_type: string; payload: Activity['payload'] }[]>('GET', path)
  return body.data.map(({ event_type: type, payload }): Activity => ({ type, payload }))
}
const onTimeline = (contact: string, type: string) =>
  firm.until(`${type} stands on the timeline`, async () => (await timeline(contact)).find((each) => each.type === type))
type News = {
  readonly kind: string
  readonly contact_id: string | null
  readonly text: string | null
  readonly id: string
}
const news = async (query = '') =>
  (await firm.service.send<readonly News[]>('GET', `${firm.admin}/message_news?limit=200${query}`)).body.data

describe('a reply', () => {
  test('is counted for the stream, stands on the timeline of the lead and is listed', async () => {
    const { stream, contact, sent } = await write()

    const { status } = await say({
      type: 'reply',
      channel: 'sms',
      reference: sent.reference,
      from: sent.to,
      text: 'Yes!',
    })

    expect(status).toBe(200)
    await counted(stream, 'outcomes', replied(1))
    expect((await onTimeline(contact, 'activity.reply')).payload).toMatchObject({
      summary: 'Yes!',
      channel: 'sms',
      direction: 'inbound',
      related: { type: 'outreach_stream', id: stream },
    })
    const listed = await firm.until('it is listed', async () => (await news(`&contact_id=${contact}`))[0])
    expect(listed).toMatchObject({
      kind: 'reply',
      contact_id: contact,
      stream_id: stream,
      text: 'Yes!',
      address: sent.to,
    })
  })

  test('that is told twice, with one id, is recorded once', async () => {
    const { stream, contact, sent } = await write()
    const one = { id: newId(), type: 'reply', channel: 'sms', reference: sent.reference, from: sent.to, text: 'Once' }

    const answers = await Promise.all([say(one), say(one), say(one)])
    await counted(stream, 'outcomes', replied(1))
    await say({ ...one, id: newId(), text: 'Twice' })

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const both = await firm.until('both are listed', async () => {
      const listed = await news(`&contact_id=${contact}`)
      return listed.length > 1 ? listed : undefined
    })
    expect(both.map(({ text }) => text)).toEqual(['Twice', 'Once'])
  })

  test('without the reference is that of the person who was sent something at the address', async () => {
    const { stream, contact, sent } = await write()
    await say({ type: 'reply', channel: 'sms', from: sent.to, text: 'By number' })
    await counted(stream, 'outcomes', replied(1))
    expect((await onTimeline(contact, 'activity.reply')).payload['summary']).toBe('By number')
  })

  test('by email is found by the address, whatever its case', async () => {
    const { stream, contact } = await write({ channels: ['email'] }, 'bella')
    await say({ type: 'reply', channel: 'email', from: 'Bella@Example.com', text: 'By mail\n\n> quoted' })
    await counted(stream, 'outcomes', replied(1))
    expect((await onTimeline(contact, 'activity.reply')).payload['channel']).toBe('email')
  })

  test('of somebody unknown is listed with nothing personal', async () => {
    await say({ type: 'reply', channel: 'sms', from: '+447400999999', text: 'Who are you?' })
    const [unknown] = await firm.until('it is listed', async () => {
      const listed = (await news()).filter(({ contact_id }) => contact_id === null)
      return listed.length > 0 ? listed : undefined
    })
    expect(unknown).toMatchObject({ kind: 'reply', channel: 'sms', text: null, address: null, stream_id: null })
  })

  test('of a person who is erased cannot be read any more', async () => {
    const { contact, sent } = await write()
    await say({ type: 'reply', channel: 'sms', from: sent.to, text: 'Call me at home' })
    await firm.until('it is listed', async () => (await news(`&contact_id=${contact}`))[0])

    await firm.service.send('POST', `${firm.admin}/people/${contact}/erasure`, { body: {} })

    await firm.until('it is empty', async () => {
      const [shown] = await news(`&contact_id=${contact}`)
      return shown?.text ? undefined : true
    })
    const { rows } = await firm.service.database.pool.query<{ text: string }>(
      'select string_agg(rows::text, $1) as text from message_news as rows',
      [' '],
    )
    expect(rows[0]?.text).not.toContain('Call me at home')
    expect(rows[0]?.text).not.toContain(sent.to)
  })

  test('of a drafted conversation is answered', async () => {
    const { stream, contact, sent } = await write({
      kind: 'conversation',
      message_mode: 'drafted',
      cost_ceiling_pence: 100,
    })
    await say({ type: 'reply', channel: 'sms', reference: sent.reference, from: sent.to, text: 'What does it cost?' })
    const answer = await firm.until('an answer is sent', async () =>
      (await firm.messages(stream, 'sent')).find((each) => each['role'] === 'answer'),
    )
    expect(answer).toMatchObject({ contact_id: contact, answers: 'What does it cost?' })
  })
})

describe('who asks to receive no more', () => {
  const withdrawn = (contact: string) =>
    firm.until('consent is withdrawn', async () => {
      type Lead = { readonly consent: readonly { purpose: string; channel: string; state: string }[] }
      const { body } = await firm.service.send<Lead>('GET', `${firm.admin}/leads/${contact}`)
      const found = body.data.consent.filter(({ state }) => state === 'withdrawn')
      return found.length > 0 ? found.map(({ purpose, channel }) => `${purpose} ${channel}`).toSorted() : undefined
    })
  const all = ['email', 'sms', 'whatsapp'].map((channel) => `first_party_marketing ${channel}`)

  test.each([
    [
      'with STOP by sms',
      'sms',
      (to: string, reference: string) => ({ type: 'reply', from: to, reference, text: ' Stop. ' }),
    ],
    [
      'with UNSUBSCRIBE by email',
      'email',
      (to: string) => ({ type: 'reply', from: to, text: 'Unsubscribe please\n> Hello' }),
    ],
    ['as the gateway says', 'sms', (to: string) => ({ type: 'unsubscribe', from: to })],
  ])('%s withdraws consent, leaves the stream and is sent nothing more', async (_how, channel, saying) => {
    const waiting = await firm.stream({ channels: [channel], auto_send: false })
    const { stream, contact, sent } = await write({ channels: [channel] })
    await firm.join(waiting, contact)
    await counted(waiting, 'awaiting_approval_count', 1)

    await say({ channel, ...saying(sent.to, sent.reference) })

    expect(await withdrawn(contact)).toEqual(all)
    await counted(waiting, 'awaiting_approval_count', 0)
    await onTimeline(contact, 'activity.unsubscribed')
    expect((await timeline(contact)).map(({ type }) => type)).not.toContain('activity.reply')
    expect((await firm.read(stream))['outcomes']).toEqual(replied(0))
    const [joined] = (await firm.join(await firm.stream({ channels: [channel] }), contact)).body.data
    expect(joined?.state).toBe('refused')
  })

  test('by a number that several people have withdraws for all of them', async () => {
    const one = await write()
    const another = await firm.lead({ consents })
    const { pool } = firm.service.database
    await pool.query('update customers set phone_number = $1 where id = $2', [one.sent.to, another])

    await say({ type: 'unsubscribe', channel: 'sms', from: one.sent.to })

    expect(await withdrawn(one.contact)).toEqual(all)
    expect((await withdrawn(another)).length).toBeGreaterThan(0)
  })

  test('is heard for a dozen people who have one number, and above a long mail that is quoted', async () => {
    const one = await write()
    const others = await Promise.all(Array.from({ length: 11 }, async () => firm.lead({ consents })))
    const { pool } = firm.service.database
    await pool.query('update customers set phone_number = $1 where id = any ($2)', [one.sent.to, others])

    const { status } = await say({
      type: 'reply',
      channel: 'sms',
      from: one.sent.to,
      text: `STOP\n${'> long '.repeat(20_000)}`,
    })

    expect(status).toBe(200)
    for (const contact of [one.contact, ...others]) expect((await withdrawn(contact)).length).toBeGreaterThan(0)
  })

  test('is heard although one of several people who have the number was erased', async () => {
    const one = await write()
    const another = await firm.lead({ consents })
    const { pool } = firm.service.database
    await firm.service.send('POST', `${firm.admin}/people/${one.contact}/erasure`, { body: {} })
    await firm.until('the person is erased', async () => {
      const path = `${firm.admin}/erasures/${one.contact}`
      const { body } = await firm.service.send<{ finished: boolean }>('GET', path)
      return body.data.finished ? true : undefined
    })
    // As a read model that has not forgotten them yet.
    await pool.query('update customers set phone_number = $1 where id = any ($2)', [
      one.sent.to,
      [one.contact, another],
    ])

    const { status } = await say({ type: 'unsubscribe', channel: 'sms', from: one.sent.to })

    expect(status).toBe(200)
    expect((await withdrawn(another)).length).toBeGreaterThan(0)
  })
})

describe('what could not be delivered', () => {
  const undeliverable = { type: 'undeliverable', channel: 'sms', reason: 'No such number' }

  test('goes by the next channel that reaches, and is no error then', async () => {
    const { stream, sent } = await write({ channels: ['sms', 'email'] })

    await say({ ...undeliverable, to: sent.to, reference: sent.reference })
    await counted(stream, 'sent_count', 2)

    const message = await firm.until('it is shown as sent', async () => (await firm.messages(stream, 'sent'))[0])
    expect(message).toMatchObject({ sent: [{ channel: 'sms' }, { channel: 'email' }] })
    expect(await firm.read(stream)).toMatchObject({ errored_count: 0 })
  })

  test('is counted as errored, stands on the timeline, and nothing more is sent to that address', async () => {
    const { stream, contact, sent } = await write()

    await say({ ...undeliverable, to: sent.to, reference: sent.reference })
    await counted(stream, 'errored_count', 1)
    await say({ ...undeliverable, to: sent.to })

    expect((await onTimeline(contact, 'activity.bounced')).payload['summary']).toMatch(/: No such number$/)
    const message = await firm.until('it is shown as errored', async () => (await firm.messages(stream, 'errored'))[0])
    expect(message).toMatchObject({ reason: 'No such number' })
    const bySms = (await firm.join(await firm.stream({ channels: ['sms'] }), contact)).body.data
    const byEmail = (await firm.join(await firm.stream({ channels: ['sms', 'email'] }), contact)).body.data
    expect([bySms[0]?.state, byEmail[0]?.state]).toEqual(['refused', 'in'])
    expect(await firm.read(stream)).toMatchObject({ sent_count: 1, errored_count: 1 })
  })
})

describe('a delivery', () => {
  const reply = { type: 'reply', channel: 'sms', from: '+447400100001', text: 'Yes' }
  const post = (body: string, signature: string | undefined, to = firm.id) =>
    fetch(urlOf(to), {
      method: 'POST',
      body,
      ...(signature !== undefined && { headers: { 'X-Integrations-Signature': signature } }),
    })
  const signed = (body: string, t = Math.floor(Date.now() / 1_000), by = secret) =>
    `t=${t},v1=${createHmac('sha256', by).update(`${t}.${body}`).digest('hex')}`
  const fault = async (answer: Response) => {
    const { error } = (await answer.json()) as { error: { code: string; fields?: object } }
    return [answer.status, error.code, ...Object.keys(error.fields ?? {})]
  }
  const whole = JSON.stringify({ id: 'whole', ...reply })

  test.each([
    ['without a signature', () => post(whole, undefined)],
    ['with a malformed signature', () => post(whole, 'v1=00')],
    ['with a signature of other bytes', () => post(whole, signed(`${whole} `))],
    ['six minutes old', () => post(whole, signed(whole, Math.floor(Date.now() / 1_000) - 360))],
    ['of another organisation', () => post(whole, signed(whole, undefined, otherSecret))],
    ['to another organisation', () => post(whole, signed(whole), other)],
    ['to an organisation that is not there', () => post(whole, signed(whole), 'c0000000-0000-4000-8000-0000000000ff')],
    ['that is no JSON, and not signed', () => post('{', undefined)],
  ])('%s is refused with 403, and records nothing', async (_what, send) => {
    expect(await fault(await send())).toEqual([403, 'forbidden'])
  })

  test.each([
    ['{', []],
    ['[]', []],
    ['"text"', []],
    [`${'['.repeat(100)}${']'.repeat(100)}`, []],
    [JSON.stringify(reply), ['id']],
    [JSON.stringify({ ...reply, id: 'x', channel: 'post' }), ['channel']],
    [JSON.stringify({ id: 'x', type: 'reply', channel: 'sms', text: 'Yes' }), ['from']],
    [JSON.stringify({ id: 'x', type: 'undeliverable', channel: 'sms' }), ['to']],
    [JSON.stringify({ ...reply, id: 'x', text: 'y'.repeat(300_000) }), []],
  ])('that is signed but unusable names the field: %.60s', async (body, fields) => {
    expect(await fault(await post(body, signed(body)))).toEqual([422, 'validation_failed', ...fields])
  })

  test('of a type that is no concern of ours is accepted and ignored', async () => {
    const body = JSON.stringify({ id: 'read', type: 'opened', channel: 'email' })
    expect((await post(body, signed(body))).status).toBe(200)
  })

  test('404: what is no organisation’s address', async () => {
    expect(await fault(await post(whole, signed(whole), 'nobody'))).toEqual([404, 'not_found'])
  })

  test('of another organisation names nobody of ours, also by our reference', async () => {
    const { stream, contact, sent } = await write()
    const answer = await say({ ...reply, from: sent.to, reference: sent.reference }, otherSecret, other)
    expect(answer.status).toBe(200)
    const list = `/admin/v1/organisations/${other}/message_news`
    await firm.until('it is listed there', async () => {
      const { body } = await firm.service.send<readonly News[]>('GET', list)
      return body.data[0]?.contact_id === null ? true : undefined
    })
    expect(await news(`&contact_id=${contact}`)).toEqual([])
    expect((await firm.read(stream))['outcomes']).toEqual(replied(0))
  })

  test('without a webhook secret is not taken; the account says whether it takes news', async () => {
    const accounts = async () =>
      (
        await firm.service.send<readonly { takes_news: boolean }[]>(
          'GET',
          `/admin/v1/organisations/${other}/provider_accounts`,
        )
      ).body
    const before = await accounts()
    await setAccount(other, null)
    const refused = await say(reply, otherSecret, other)
    expect([before.data[0]?.takes_news, (await accounts()).data[0]?.takes_news, refused.status]).toEqual([
      true,
      false,
      403,
    ])
    expect(JSON.stringify(before)).not.toContain('secret')
  })

  test('is listed with cursors, newest first', async () => {
    const [first] = await news()
    const path = `${firm.admin}/message_news?limit=1`
    const one = await firm.service.send<readonly News[]>('GET', path)
    const two = await firm.service.send<readonly News[]>('GET', `${path}&cursor=${one.body.next_cursor}`)
    expect(one.body.data[0]?.id).toBe(first?.id)
    expect(two.body.data[0]?.id).not.toBe(first?.id)
    expect((await firm.service.send('GET', `${path}&cursor=none`)).status).toBe(422)
  })
})

test('messages go when their time is over, with what was answered, while the person stays, and may be sent more', async () => {
  const keep = (period: string) =>
    firm.service.setUp(`organisations:\n  - { slug: firm, name: A firm, retention: [{ messages: ${period} }] }\n`)
  const due = async (contact: string) => {
    type Due = { readonly record: { readonly type: string }; readonly contact_id: string }
    const path = `${firm.admin}/retention/due?kind=messages&period=30%20days&limit=200`
    const { body } = await firm.service.send<readonly Due[]>('GET', path)
    return body.data.filter(({ contact_id }) => contact_id === contact).map(({ record }) => record.type)
  }
  const bodies = async (stream: string, contact: string) =>
    (await firm.messages(stream)).filter(({ contact_id }) => contact_id === contact).map(({ body }) => body)
  const texts = async (contact: string) => (await news(`&contact_id=${contact}`)).map(({ text }) => text)
  const subscribed = { channels: ['sms'], kind: 'newsletter', schedule: monthly, send_at_local_time: '09:00' }
  const { stream, contact, sent } = await write({ texts: [{ ...text, body: 'For {{first_name}}: marigolds' }] }, 'mary')
  const reader = await write({ texts: [{ ...text, body: 'About the foxgloves' }] }, 'nora')
  const newsletter = await firm.stream(subscribed)
  await firm.join(newsletter, reader.contact)
  await say({ type: 'reply', channel: 'sms', reference: sent.reference, from: sent.to, text: 'A primrose, please' })
  await counted(stream, 'outcomes', replied(1))
  await firm.forward(40 * 86_400)
  await firm.until('their time is over', async () => (await due(contact)).length === 2 || undefined)

  expect((await due(contact)).toSorted()).toEqual(['message_news', 'outreach_person'])
  // A subscriber is to be sent more.
  expect(await due(reader.contact)).toEqual([])
  expect(await bodies(stream, contact)).toEqual(['For mary: marigolds'])
  await keep('30 days')
  await firm.forward(86_400)
  await firm.until('it is gone', async () => (await texts(contact))[0] === null || undefined)
  await firm.until('they are gone', async () => (await bodies(stream, contact))[0] === null || undefined)

  expect(await bodies(reader.stream, reader.contact)).toEqual(['About the foxgloves'])
  expect(await readableIn(firm.service.database.pool, /mary: marigold/)).toEqual([])
  // On the timeline it is the lead's.
  expect((await onTimeline(contact, 'activity.reply')).payload['summary']).toBe('A primrose, please')
  await keep('null')
  const again = await firm.stream({ channels: ['sms'], texts: [{ ...text, body: 'About the lilies' }] })
  await firm.join(again, contact)
  await counted(again, 'sent_count', 1)
  expect(await bodies(again, contact)).toEqual(['About the lilies'])
  for (const act of ['stop', 'archive']) expect((await firm.act(newsletter, act)).status).toBe(200)
  await firm.until('nothing more is to come', async () => (await due(reader.contact)).length > 0 || undefined)
})
