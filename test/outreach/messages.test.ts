import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { linkIn, openFirm, type Firm } from './firm.ts'

// A message is drafted, sent and shown by one poll after the other, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

let firm: Firm
beforeAll(async () => {
  firm = await openFirm()
}, 90_000)
afterAll(() => firm[Symbol.asyncDispose]())

const sentTo = (contact_id: string, count = 1) =>
  firm.until('the message is sent', async () => {
    const own = (await firm.outbox()).filter((each) => each.contact_id === contact_id)
    return own.length >= count ? own : undefined
  })
const counted = (stream_id: string, field: string, value: unknown) =>
  firm.until(`${field} is ${JSON.stringify(value)}`, async () => {
    const shown = await firm.read(stream_id)
    return JSON.stringify(shown[field]) === JSON.stringify(value) ? shown : undefined
  })

describe('a person joins', () => {
  test('as a lead with consent, once, and is sent the message by the first channel that reaches', async () => {
    const stream = await firm.stream({ channels: ['email', 'sms'] })
    const contact = await firm.lead({}, 'ann')

    await firm.join(stream, contact)
    const again = await firm.join(stream, contact)
    const [message, ...others] = await sentTo(contact)

    expect(again.body.data).toEqual([{ contact_id: contact, state: 'in' }])
    expect(others).toEqual([])
    expect(message).toMatchObject({
      channel: 'email',
      asked: 1,
      content: { to: 'ann@example.com', subject: 'Hello ann' },
    })
    expect(message?.content.text).toContain('Hello ann, a word from us.')
    expect(await counted(stream, 'sent_count', 1)).toMatchObject({ rows_count: 1, analysed_count: 1, skipped_count: 0 })
  })

  test('who typed an address as their first name is sent none: it is stored, and left out of the message', async () => {
    const stream = await firm.stream()
    const contact = await firm.lead({}, 'eve', 'Win at http://evil.example')

    await firm.join(stream, contact)
    const [message] = await sentTo(contact)

    expect(message?.content.subject).toBe('Hello')
    expect(message?.content.text).toContain('Hello, a word from us.')
    expect(JSON.stringify(message?.content)).not.toContain('evil')
    const { body } = await firm.service.send<{ readonly person: object }>('GET', `${firm.admin}/leads/${contact}`)
    expect(body.data.person).toMatchObject({ first_name: 'Win at http://evil.example' })
  })

  test('nobody without consent is in a stream: unknown is not consent, and refused is not', async () => {
    const stream = await firm.stream()
    const people = [await firm.lead({ consents: null }), await firm.lead({ consents: { email: false, sms: true } })]

    const { body } = await firm.join(stream, ...people)

    expect(body.data.map(({ state }) => state)).toEqual(['refused', 'refused'])
    expect(await firm.read(stream)).toMatchObject({ rows_count: 2, skipped_count: 2, analysed_count: 2, sent_count: 0 })
    expect(await firm.messages(stream)).toEqual([])
  })

  test('who is no lead of the organisation cannot join', async () => {
    const stream = await firm.stream()
    const { body } = await firm.join(stream, 'c0000000-0000-4000-8000-0000000000ff')
    expect(body.data.map(({ state }) => state)).toEqual(['no_lead'])
  })

  test('409: nobody joins a stream that was stopped', async () => {
    const stream = await firm.stream()
    await firm.act(stream, 'stop')
    const { status, body } = await firm.join(stream, await firm.lead())
    expect([status, body.error?.code]).toEqual([409, 'conflict'])
  })

  test('by every channel where the stream says so', async () => {
    const stream = await firm.stream({ channels: ['email', 'sms', 'whatsapp'], all_channels: true })
    const contact = await firm.lead({ consents: { email: true, whatsapp: true } })
    await firm.join(stream, contact)
    const sent = await sentTo(contact, 2)
    expect(sent.map(({ channel }) => channel).toSorted()).toEqual(['email', 'whatsapp'])
    await counted(stream, 'sent_count', 2)
  })
})

describe('a message that waits for approval', () => {
  test('is edited, approved and sent as it was edited; it is counted while it waits', async () => {
    const stream = await firm.stream({ auto_send: false })
    const contact = await firm.lead()
    await firm.join(stream, contact)
    const [message] = await firm.messages(stream, 'awaiting_approval')
    const waiting = await firm.read(stream)

    await firm.judge(stream, contact, message?.id ?? '', { act: 'edit', body: 'Another word.' })
    await firm.judge(stream, contact, message?.id ?? '', { act: 'approve' })
    const [sent] = await sentTo(contact)

    expect(waiting).toMatchObject({ awaiting_approval_count: 1, sent_count: 0 })
    expect(sent?.content.text).toContain('Another word.')
    expect(await counted(stream, 'sent_count', 1)).toMatchObject({ awaiting_approval_count: 0 })
  })

  test('is discarded, and then is never sent', async () => {
    const stream = await firm.stream({ auto_send: false })
    const contact = await firm.lead()
    await firm.join(stream, contact)
    const [message] = await firm.messages(stream, 'awaiting_approval')

    await firm.judge(stream, contact, message?.id ?? '', { act: 'discard' })
    const late = await firm.judge(stream, contact, message?.id ?? '', { act: 'approve' })

    expect(late.status).toBe(404)
    expect(await firm.read(stream)).toMatchObject({ awaiting_approval_count: 0, sent_count: 0 })
  })
})

describe('the unsubscribe link of every message', () => {
  test('withdraws consent at once, without log-in; looking at the page does not', async () => {
    const stream = await firm.stream()
    const contact = await firm.lead()
    await firm.join(stream, contact)
    const [sent] = await sentTo(contact)
    const link = linkIn(sent, '/outreach/unsubscribe')
    const consents = async () =>
      (
        await firm.service.send<{ consent: { channel: string; state: string }[] }>(
          'GET',
          `${firm.admin}/leads/${contact}`,
        )
      ).body.data.consent

    const looked = await firm.page(link)
    const before = await consents()
    const done = await firm.page(link, 'POST', { 'List-Unsubscribe': 'One-Click' })
    const again = await firm.page(link, 'POST')

    expect([looked.status, done.status, again.status]).toEqual([200, 200, 200])
    expect(before.filter(({ state }) => state === 'withdrawn')).toEqual([])
    expect((await consents()).map(({ channel, state }) => `${channel} ${state}`).toSorted()).toEqual([
      'email withdrawn',
      'sms withdrawn',
      'whatsapp withdrawn',
    ])
    const other = await firm.stream()
    expect((await firm.join(other, contact)).body.data.map(({ state }) => state)).toEqual(['refused'])
  })

  test('what waited for approval is dropped when consent is withdrawn', async () => {
    const [first, second] = [await firm.stream(), await firm.stream({ auto_send: false })]
    const contact = await firm.lead()
    await firm.join(first, contact)
    await firm.join(second, contact)
    const [sent] = await sentTo(contact)
    expect(await firm.read(second)).toMatchObject({ awaiting_approval_count: 1 })

    await firm.page(linkIn(sent, '/outreach/unsubscribe'), 'POST')

    await counted(second, 'awaiting_approval_count', 0)
    await firm.until('the message is skipped', async () =>
      (await firm.messages(second)).every(({ state }) => state === 'skipped') ? true : undefined,
    )
  })

  test('a token that we did not make changes nothing', async () => {
    const page = await firm.page(`http://firm.test/outreach/unsubscribe?t=${'A'.repeat(108)}`, 'POST')
    expect(page.html).toContain('This link does not work')
  })
})

describe('what people do afterwards', () => {
  test('replies, bookings, applications and policies count once a person, and end the follow-up', async () => {
    const stream = await firm.stream({ follow_up_after_days: 2, follow_up: text('Still there?') })
    const contact = await firm.lead()
    await firm.join(stream, contact)
    await sentTo(contact)
    const activity = (kind: string) => ({ act: 'record_activity', kind, summary: 'Said yes' })

    const acts = ['reply', 'reply', 'booking', 'application_started', 'policy_bound'].map(activity)
    await firm.service.send('POST', `${firm.admin}/leads/${contact}/acts`, { body: { acts } })
    await counted(stream, 'outcomes', { replied: 1, booked: 1, applications: 1, bound: 1 })

    const found = await firm.until('all count', async () =>
      (await firm.members(stream)).find(({ outcomes }) => Array.isArray(outcomes) && outcomes.length === 4),
    )
    expect(found['next_at']).toBeNull()
  })

  test('the message stands on the timeline of the lead', async () => {
    const stream = await firm.stream()
    const contact = await firm.lead()
    await firm.join(stream, contact)
    const isRecorded = await firm.until('the activity is recorded', async () => {
      const { body } = await firm.service.send<readonly { event_type: string }[]>(
        'GET',
        `/api/v1/crm/events?contact_id=${contact}`,
        { token: firm.client.token },
      )
      return body.data.some(({ event_type }) => event_type === 'activity.email') ? true : undefined
    })
    expect(isRecorded).toBe(true)
  })

  test('a survey’s answers are counted once a person, and an answer that does not fit is refused', async () => {
    const survey = { question: 'Would you recommend us?', question_key: 'nps', answer_type: 'nps' }
    const stream = await firm.stream({ kind: 'survey', survey })
    const contact = await firm.lead()
    await firm.join(stream, contact)
    const [sent] = await sentTo(contact)
    const link = linkIn(sent, '/outreach/survey')

    const refused = await firm.page(link, 'POST', { answer: '11' })
    const page = await firm.page(link)
    await firm.page(link, 'POST', { answer: '9' })
    await firm.page(link, 'POST', { answer: '10' })

    expect(page.html).toContain('Would you recommend us?')
    expect(refused.html).toContain('from 0 to 10')
    await counted(stream, 'survey_answered_count', 1)
    expect((await firm.members(stream))[0]).toMatchObject({ survey_answer: '10' })
  })
})

const text = (body: string) => ({ subject: 'Again', body })

test('a paused stream sends nothing until it is resumed', async () => {
  const stream = await firm.stream()
  await firm.act(stream, 'pause')
  const contact = await firm.lead()
  await firm.join(stream, contact)
  const other = await firm.stream()
  await firm.join(other, contact)
  await counted(other, 'sent_count', 1)
  expect(await firm.read(stream)).toMatchObject({ sent_count: 0 })

  await firm.act(stream, 'resume')

  await counted(stream, 'sent_count', 1)
})

test('leads join by their campaign', async () => {
  const stream = await firm.stream({ campaigns: ['spring'] })
  await firm.service.send('POST', `${firm.admin}/campaigns`, { body: { key: 'spring', name: 'Spring' } })
  const contact = await firm.lead({ campaign: 'spring' })
  await counted(stream, 'rows_count', 1)
  expect((await firm.members(stream)).map(({ contact_id }) => contact_id)).toEqual([contact])
})

test('a sequence’s texts follow one another after their days, and then the follow-up', async () => {
  const texts = [text('One'), { ...text('Two'), after_days: 2 }]
  const stream = await firm.stream({ kind: 'sequence', texts, follow_up_after_days: 3, follow_up: text('Three') })
  const contact = await firm.lead()
  await firm.join(stream, contact)
  await sentTo(contact, 1)
  await counted(stream, 'sent_count', 1)

  await firm.forward(2 * 86_400 + 10)
  await counted(stream, 'sent_count', 2)
  await firm.forward(3 * 86_400 + 10)
  await counted(stream, 'sent_count', 3)

  const bodies = (await sentTo(contact, 3)).map(({ content }) => content.text.split('\n')[0])
  expect(bodies.toReversed()).toEqual(['One', 'Two', 'Three'])
})
