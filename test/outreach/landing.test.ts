import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newId } from '#infra/ids.ts'
import { samples } from '../stored-events/samples.ts'
import { linkIn, openFirm, type Firm } from './firm.ts'

// A message is drafted, sent and shown by one poll after the other, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

let firm: Firm
beforeAll(async () => {
  firm = await openFirm()
}, 90_000)
afterAll(() => firm[Symbol.asyncDispose]())

const followed = {
  landing_url: 'https://firm.example/apply?from=mail',
  follow_up_after_days: 3,
  follow_up: { subject: 'Again', body: 'Still there?' },
}
const member = async (stream_id: string, contact_id: string) =>
  (await firm.members(stream_id)).find((each) => each['contact_id'] === contact_id)

const invited = async () => {
  const stream = await firm.stream(followed)
  const contact = await firm.lead()
  await firm.join(stream, contact)
  const sent = await firm.until('the message is sent', async () =>
    (await firm.outbox()).find((each) => each.contact_id === contact),
  )
  await firm.until('the follow-up is due', async () =>
    (await member(stream, contact))?.['next_at'] ? true : undefined,
  )
  const link = new URL(linkIn(sent, 'https://firm.example/apply'))
  return { stream, contact, link, token: link.searchParams.get('ol') ?? '' }
}

/** Somebody starts an application on the firm's page, which sends the token of its address on. */
const start = async (outreach_landing: string, organisation_id = firm.id) => {
  const [started] = samples.filter(({ event }) => event.type === 'ApplicationStarted').slice(-1)
  if (!started) throw new Error('There is no sample of ApplicationStarted.')
  const { data, metadata, ...event } = started.event
  await firm.service.parts.eventLog.append(`application-${newId()}`, 'no_stream', [
    {
      ...event,
      id: newId(),
      data: { ...data, outreach_landing },
      metadata: { ...metadata, organisation_id, occurred_at: new Date().toISOString() },
    },
  ])
}

test('who starts an application by the link of a message is engaged: no follow-up is sent to them', async () => {
  const { stream, contact, link, token } = await invited()

  await start(token)

  expect(link.searchParams.get('from')).toBe('mail')
  const engaged = await firm.until('the person is engaged', async () => {
    const found = await member(stream, contact)
    return found?.['engaged_at'] ? found : undefined
  })
  expect(engaged['next_at']).toBeNull()
  await firm.until('the visit stands on the timeline', async () => {
    const feed = `/api/v1/crm/events?contact_id=${contact}&type=activity.link_clicked`
    const { body } = await firm.service.send<readonly unknown[]>('GET', feed, { token: firm.client.token })
    return body.data.length === 1 ? true : undefined
  })
})

test('an invalid token, that of another link and that of another organisation are ignored', async () => {
  const [ours, ignored] = [await invited(), await invited()]
  const sent = (await firm.outbox()).find((each) => each.contact_id === ignored.contact)
  const unsubscribing = new URL(linkIn(sent, '/outreach/unsubscribe')).searchParams.get('t') ?? ''
  await firm.service.setUp('organisations: [{ slug: other, name: Another firm }]')
  const organisations = await firm.service.send<readonly { id: string; slug: string }[]>(
    'GET',
    '/admin/v1/organisations',
  )
  const other = String(organisations.body.data.find(({ slug }) => slug === 'other')?.id)

  await start(`${ignored.token.slice(0, -2)}xx`)
  await start(unsubscribing)
  await start(ignored.token, other)
  await start(ours.token)

  // The others were appended before it.
  await firm.until('the last one counts', async () =>
    (await member(ours.stream, ours.contact))?.['engaged_at'] ? true : undefined,
  )
  expect(await member(ignored.stream, ignored.contact)).toMatchObject({ engaged_at: null })
})
