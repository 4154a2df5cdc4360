import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startDraftWriter } from '../../stand-ins/draft-writer.ts'
import type { StandIn } from '../../stand-ins/stand-in.ts'
import { instantIn } from '#domain/time-zone.ts'
import { outreachStream } from '#domain/outreach/stream.ts'
import { CustomerId } from '#domain/values.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { linkIn, openFirm, type Firm } from './firm.ts'

// A message is drafted, sent and shown by one poll after the other, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

let firm: Firm
let writer: StandIn
beforeAll(async () => {
  writer = await startDraftWriter()
  firm = await openFirm({ DELIVERY_ALLOWED_HOSTS: '127.0.0.1', DELIVERY_ALLOW_HTTP: 'true' })
  const account = { base_url: writer.url, account: 'writer-1', secret: 'key' }
  await firm.service.send('PUT', `${firm.admin}/provider_accounts/outreach_writer`, { body: account })
  // 900 tokens read and 100 written make 13,000 millionths of a dollar, at 0.8 pounds 1.04 pence.
  const body = { writer_price: { input_usd: 10, output_usd: 40 } }
  await firm.service.send('PATCH', `${firm.admin}/outreach`, { body })
}, 90_000)
afterAll(async () => {
  await firm[Symbol.asyncDispose]()
  await writer.close()
})

const day = 86_400
const text = (body: string) => ({ subject: 'Hello', body })
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
const businessTime = async (): Promise<number> => {
  const { body } = await firm.service.send<{ now: string }>('GET', '/admin/v1/clock')
  return Date.parse(body.data.now)
}
const forwardTo = async (instant: string) =>
  firm.forward(Math.ceil((Date.parse(instant) - (await businessTime())) / 1_000) + 5)
const dateIn = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const dayBefore = (date: string, days: number) => dateIn(Date.parse(`${date}T12:00:00.000Z`) - days * day * 1_000)
const member = async (stream_id: string) => (await firm.members(stream_id))[0]

describe('a stream of drafted messages', () => {
  const drafted = { message_mode: 'drafted', texts: [{ subject: 'Hello', body: 'Tell them of us.' }] }

  test('sends what the writer writes, and its cost is that of the day’s rate', async () => {
    const stream = await firm.stream({ ...drafted, cost_ceiling_pence: 100 })
    const contact = await firm.lead({}, 'drew')
    await firm.join(stream, contact)

    const [sent] = await sentTo(contact)

    expect(sent?.content.text).toContain('Dear drew, Tell them of us.')
    expect(await counted(stream, 'sent_count', 1)).toMatchObject({ total_cost_pence: 1, analysed_count: 1 })
    expect(await firm.costs(stream)).toMatchObject([
      { contact_id: contact, model: 'writer-1', usd_micros: 13_000, usd_rate: '0.8', micro_pence: 1_040_000 },
    ])
  })

  test('stops when its ceiling is reached, which it passes by one draft at most, and goes on when it is raised', async () => {
    const stream = await firm.stream({ ...drafted, cost_ceiling_pence: 2 })
    const people = [await firm.lead(), await firm.lead(), await firm.lead(), await firm.lead()]
    await firm.join(stream, ...people)

    const stopped = await counted(stream, 'budget_exceeded', true)
    const costs = await firm.costs(stream)
    const sent = stopped['sent_count']
    await firm.service.send('PATCH', `${firm.admin}/outreach_streams/${stream}`, { body: { cost_ceiling_pence: 50 } })
    const raised = await counted(stream, 'sent_count', 4)

    expect([costs.length, stopped['total_cost_pence']]).toEqual([2, 2])
    expect(sent).toBeLessThanOrEqual(2)
    expect(raised).toMatchObject({ budget_exceeded: false, total_cost_pence: 4 })
  })

  test('waits for a writer that fails, and counts what cannot be written', async () => {
    const stream = await firm.stream({ ...drafted, cost_ceiling_pence: 100, texts: [text('[[unavailable]]')] })
    await firm.join(stream, await firm.lead())

    let failedAt: unknown
    for (const minutes of [1, 5, 30, 120]) {
      const failed = await firm.until('the draft has failed', async () => {
        const [message] = await firm.messages(stream)
        return message?.['reason'] === null || message?.['updated_at'] === failedAt ? undefined : message
      })
      failedAt = failed['updated_at']
      await firm.forward(minutes * 60 + 5)
    }

    expect(await counted(stream, 'errored_count', 1)).toMatchObject({ sent_count: 0, total_cost_pence: 0 })
  })

  test('a call whose process died counts as the most that it can have cost, and is listed', async () => {
    const stream = await firm.stream({ ...drafted, cost_ceiling_pence: 100 })
    const contact_id = CustomerId.parse(await firm.lead())
    const { eventLog } = firm.service.parts
    const { handle } = commandHandler(makeWriter({ log: eventLog, seen: async () => undefined }), outreachStream)
    const most = { usd_micros: 50_000, usd_rate: '0.8', rate_day: null, micro_pence: 4_000_000, model: 'writer-1' }
    const now = new Date(await businessTime()).toISOString()
    const drafts = [{ call_id: randomUUID(), message_id: randomUUID(), contact_id }]
    const asked_at = new Date(Date.now() - 10 * 60_000).toISOString()
    const context = {
      organisation_id: firm.id,
      actor: { type: 'system', id: 'dead' },
      correlation_id: 'dead',
      now,
    } as const
    await handle(stream, { type: 'ReserveDrafts', drafts, most, asked_at }, context)

    await firm.forward(10 * 60 + 5)

    expect(await counted(stream, 'total_cost_pence', 4)).toMatchObject({ budget_exceeded: false })
    expect(await firm.costs(stream)).toMatchObject([{ contact_id, usd_micros: 50_000, micro_pence: 4_000_000 }])
  })

  test('in a conversation, what a person writes is answered', async () => {
    const stream = await firm.stream({ ...drafted, kind: 'conversation', cost_ceiling_pence: 100 })
    const contact = await firm.lead()
    await firm.join(stream, contact)
    await sentTo(contact)

    const reply = { act: 'record_activity', kind: 'reply', summary: 'Do you cover bikes?' }
    await firm.service.send('POST', `${firm.admin}/leads/${contact}/acts`, { body: { acts: [reply] } })

    const [answer] = await sentTo(contact, 2)
    expect(answer?.content.text).toContain('you wrote: Do you cover bikes?')
    await counted(stream, 'outcomes', { replied: 1, booked: 0, applications: 0, bound: 0 })
  })
})

describe('a survey', () => {
  test('asks what follows an answer, and keeps the last answer', async () => {
    const survey = {
      question: 'How was it?',
      question_key: 'how',
      answer_type: 'rating',
      follow_up_question: 'What could be better?',
    }
    const stream = await firm.stream({ kind: 'survey', survey, follow_up_after_days: 3, follow_up: text('Again') })
    const contact = await firm.lead()
    await firm.join(stream, contact)
    const link = linkIn((await sentTo(contact))[0], '/outreach/survey')

    const page = await firm.page(link)
    await firm.page(link, 'POST', { answer: '5', follow_up_answer: 'The <b>colour</b>' })

    expect(page.html).toContain('What could be better?')
    expect(await counted(stream, 'survey_answered_count', 1)).toMatchObject({ survey })
    expect(await member(stream)).toMatchObject({
      survey_answer: '5',
      survey_follow_up_answer: 'The <b>colour</b>',
      next_at: null,
    })
  })
})

describe('a reminder', () => {
  test('is sent so many days before a date of the lead, at its time of the organisation’s zone', async () => {
    const renewal = dateIn((await businessTime()) + 30 * day * 1_000)
    const due = dateIn(Date.parse(renewal) - 7 * day * 1_000)
    const stream = await firm.stream({
      kind: 'reminder',
      date_field: 'renewal_on',
      offset_days: -7,
      send_at_local_time: '10:00',
    })
    const contact = await firm.lead({ declared: { renewal_on: renewal } })

    await firm.join(stream, contact)
    const waiting = await member(stream)
    await forwardTo(`${due}T09:00:00.000Z`)
    const before = await firm.read(stream)
    await forwardTo(`${due}T11:00:00.000Z`)

    expect(waiting?.['next_at']).toMatch(new RegExp(`^${due}T(09|10):00:00.000Z$`))
    expect(before['sent_count']).toBe(0)
    await counted(stream, 'sent_count', 1)
  })

  test('is sent earlier when its date moves earlier', async () => {
    const now = await businessTime()
    const inDays = (days: number) => dateIn(now + days * day * 1_000)
    const stream = await firm.stream({
      kind: 'reminder',
      date_field: 'renewal_on',
      offset_days: -7,
      send_at_local_time: '10:00',
    })
    const contact = await firm.lead({ declared: { renewal_on: inDays(30) } })
    await firm.join(stream, contact)

    const facts = { renewal_on: inDays(20) }
    await firm.service.send('POST', `${firm.admin}/leads/${contact}/acts`, {
      body: { acts: [{ act: 'record_facts', facts }] },
    })
    const due = inDays(13)
    await firm.until('it is due earlier', async () => {
      const shown = await member(stream)
      return String(shown?.['next_at']).startsWith(due) ? shown : undefined
    })
    await forwardTo(`${due}T11:00:00.000Z`)

    expect(await sentTo(contact)).toHaveLength(1)
  })

  test('takes its date from the column of the list that the person came by; without a date nobody is in it', async () => {
    const stream = await firm.stream({
      kind: 'reminder',
      date_column: 'MOT',
      offset_days: 1,
      send_at_local_time: '08:30',
      texts: [{ subject: 'MOT', body: 'Your MOT was on {{MOT}}.' }],
    })
    const date = dateIn((await businessTime()) + 3 * day * 1_000)
    const [one, other] = [await firm.lead(), await firm.lead()]

    const joined = await firm.join(stream, { contact_id: one, columns: { MOT: date } }, other)
    await firm.forward(5 * day)
    const [sent] = await sentTo(one)

    expect(joined.body.data.map(({ state }) => state)).toEqual(['in', 'refused'])
    expect(sent?.content.text).toContain(`Your MOT was on ${date}.`)
    expect(await counted(stream, 'sent_count', 1)).toMatchObject({ rows_count: 2, skipped_count: 1 })
  })
})

describe('a reminder whose offset is changed while the stream runs', () => {
  const inDays = async (days: number) => dateIn((await businessTime()) + days * day * 1_000)

  test.each([
    ['a date of the lead', { date_field: 'renewal_on' }],
    ['a column of the list', { date_column: 'birthday' }],
  ])('by %s is due at the new time, for everybody in it, earlier or later', async (_what, chosen) => {
    const stream = await firm.stream({ kind: 'reminder', ...chosen, offset_days: -7, send_at_local_time: '10:00' })
    const date = await inDays(20)
    const contacts = [await firm.lead(), await firm.lead()]
    for (const contact of contacts) {
      const act = { act: 'record_facts', facts: { renewal_on: date } }
      await firm.service.send('POST', `${firm.admin}/leads/${contact}/acts`, { body: { acts: [act] } })
    }
    const joined = await firm.join(
      stream,
      ...contacts.map((contact_id) => ({ contact_id, columns: { birthday: date } })),
    )
    expect(joined.body.data.map(({ state }) => state)).toEqual(['in', 'in'])
    const dueOn = async (offset: number, time: string) => {
      const expected = instantIn('Europe/London', dayBefore(date, offset), time)
      await firm.until(`all are due at ${expected}`, async () => {
        const members = await firm.members(stream)
        return members.every((each) => each['next_at'] === expected) ? true : undefined
      })
      return expected
    }
    const change = (body: object) => firm.service.send('PATCH', `${firm.admin}/outreach_streams/${stream}`, { body })

    await dueOn(7, '10:00')
    await change({ offset_days: -12 })
    await dueOn(12, '10:00')
    await change({ offset_days: -2, send_at_local_time: '08:30' })
    const last = await dueOn(2, '08:30')
    await forwardTo(last)
    await Promise.all(contacts.map((contact) => sentTo(contact)))
    expect((await counted(stream, 'sent_count', 2))['errored_count']).toBe(0)
  })
})

describe('a newsletter', () => {
  const weekly = { cadence: 'weekly', weekday: 1, starts_on: '2026-01-05' }
  const newsletter = { kind: 'newsletter', schedule: weekly, send_at_local_time: '09:00', skip_if_unchanged: true }
  const hourIn = (instant: unknown, timeZone: string) =>
    new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit' }).format(
      new Date(String(instant)),
    )

  test('goes to its subscribers at its time; who joins later gets the next issue; one that says the same is left out', async () => {
    const stream = await firm.stream(newsletter)
    const first = await firm.lead()
    await firm.join(stream, first)
    const subscribed = await firm.read(stream)
    await forwardTo(String(subscribed['next_issue_at']))
    const afterFirst = await counted(stream, 'issues_sent_count', 1)
    await counted(stream, 'sent_count', 1)
    const second = await firm.lead()
    await firm.join(stream, second)

    await forwardTo(String(afterFirst['next_issue_at']))
    const unchanged = await firm.until('the issue is left out', async () => {
      const shown = await firm.read(stream)
      return shown['next_issue_at'] === afterFirst['next_issue_at'] ? undefined : shown
    })
    const texts = [{ subject: 'News', body: 'Something new.' }]
    await firm.service.send('PATCH', `${firm.admin}/outreach_streams/${stream}`, { body: { texts } })
    await forwardTo(String(unchanged['next_issue_at']))
    await sentTo(first, 2)
    const [issue, ...others] = await sentTo(second)

    expect(subscribed).toMatchObject({ subscribed_count: 1, issues_sent_count: 0, sent_count: 0 })
    expect(hourIn(subscribed['next_issue_at'], 'Europe/London')).toBe('Mon 09:00')
    expect(unchanged).toMatchObject({ issues_sent_count: 1, sent_count: 1, subscribed_count: 2 })
    expect([issue?.content.subject, others]).toEqual(['News', []])
    expect(await counted(stream, 'sent_count', 3)).toMatchObject({ issues_sent_count: 2 })
  })

  test('keeps its local time over the change of the clocks, and after an outage one issue goes out', async () => {
    const year = new Date(await businessTime()).getUTCFullYear() + 1
    await forwardTo(`${year}-01-15T12:00:00.000Z`)
    const stream = await firm.stream({ ...newsletter, skip_if_unchanged: false })
    const contact = await firm.lead()
    await firm.join(stream, contact)
    const winter = await firm.read(stream)

    await forwardTo(`${year}-06-15T12:00:00.000Z`)
    const summer = await counted(stream, 'issues_sent_count', 1)

    expect([winter, summer].map((shown) => hourIn(shown['next_issue_at'], 'Europe/London'))).toEqual([
      'Mon 09:00',
      'Mon 09:00',
    ])
    expect([winter, summer].map((shown) => hourIn(shown['next_issue_at'], 'UTC'))).toEqual(['Mon 09:00', 'Mon 08:00'])
    expect(await sentTo(contact)).toHaveLength(1)
  })

  test('is not sent to who has unsubscribed', async () => {
    const stream = await firm.stream({ ...newsletter, skip_if_unchanged: false })
    const contact = await firm.lead()
    await firm.join(stream, contact)
    await forwardTo(String((await firm.read(stream))['next_issue_at']))
    const [sent] = await sentTo(contact)
    await counted(stream, 'sent_count', 1)
    await firm.page(linkIn(sent, '/outreach/unsubscribe'), 'POST')
    const ended = await counted(stream, 'subscribed_count', 0)

    await forwardTo(String(ended['next_issue_at']))

    expect(await counted(stream, 'issues_sent_count', 2)).toMatchObject({ sent_count: 1 })
  })
})
